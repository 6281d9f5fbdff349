import type { Clock } from '../../clock.ts';
import { isOutage } from '../../domain/outage.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { claimChunks, endChunk, postponeChunks, releaseChunk, renewLeases } from '../../storage/runs/chunks.ts';
import type { ClaimedChunk } from '../../storage/runs/chunks.ts';
import { findRunsToSend } from '../../storage/runs/run-states.ts';
import { outlastOutage } from './outlast-outage.ts';
import { makeLease } from '../make-lease.ts';
import { leaseEnd, leaseMilliseconds } from './chunk-lease.ts';
import type { SendWindow } from './send-window.ts';

const heartbeatMilliseconds = 10_000;
const pollMilliseconds = 1_000;
/** A chunk whose worker died this often without storing a window is set aside, so that it stops killing workers. */
const maxCrashes = 3;

export type WorkChunksDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Names this process in leases; unique per start. */
  owner: string;
  /** Chunks of any lane worked side by side. */
  parallelChunks: number;
  /** More slots that take only transactional sends, so that a huge campaign never delays a one-time password. */
  transactionalChunks: number;
  sendWindow: SendWindow;
  /** Called when a chunk has ended, so that its run can. */
  onChunkEnded: () => void;
};

export type ChunkWorkers = { wake(): void; stop(): Promise<void> };

/**
 * Claims chunks and sends them, window by window, until stopped. Each of `parallelChunks` slots works one chunk at a
 * time; a stop lets the open windows end, then gives the chunks back, so a deploy repeats nothing.
 */
export function startChunkWorkers(deps: WorkChunksDependencies): ChunkWorkers {
  const { database, clock, log, owner } = deps;
  let isStopping = false;
  const waits = new Set<() => void>();
  const held = new Set<ClaimedChunk>();

  const wait = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waits.delete(end);
        resolve();
      };
      const timer = setTimeout(end, pollMilliseconds);
      waits.add(end);
    });
  const wake = () => {
    for (const end of [...waits]) end();
  };

  const slot = async (lastLane: 0 | 1): Promise<void> => {
    while (!isStopping) {
      try {
        const claim = { owner, lastLane, limit: 1, at: clock.now(), ...makeLease(clock, leaseMilliseconds) };
        const [chunk] = await claimChunks(database, claim);
        if (!chunk) await wait();
        else {
          held.add(chunk);
          await workChunkThroughOutage(deps, chunk, () => isStopping).finally(() => held.delete(chunk));
        }
      } catch (error) {
        log.error({ err: error }, 'chunk worker failed');
        if (!isStopping) await wait();
      }
    }
  };

  const heartbeat = setInterval(() => {
    if (held.size === 0) return;
    renewLeases(database, { chunks: [...held], leaseUntil: leaseEnd(clock) }).catch((error: unknown) =>
      log.warn({ err: error }, 'leases were not renewed'),
    );
  }, heartbeatMilliseconds);
  const slots = [
    ...Array.from({ length: deps.transactionalChunks }, () => slot(0)),
    ...Array.from({ length: deps.parallelChunks }, () => slot(1)),
  ];

  return {
    wake,
    async stop() {
      isStopping = true;
      wake();
      await Promise.all(slots);
      clearInterval(heartbeat);
    },
  };
}

/**
 * A database that went away is no fault of the chunk: it is given back and not counted as a crash. After any other fault
 * its lease runs out, which is counted, so that a chunk that fails for ever is set aside.
 */
async function workChunkThroughOutage(
  deps: WorkChunksDependencies,
  chunk: ClaimedChunk,
  isStopping: () => boolean,
): Promise<void> {
  try {
    await workChunk(deps, chunk, isStopping);
  } catch (error) {
    if (!isOutage(error)) throw error;
    deps.log.warn({ err: error, runId: chunk.runId, chunk: chunk.number }, 'database is away; chunk is given back');
    await outlastOutage(() => releaseChunk(deps.database, chunk));
  }
}

async function workChunk(deps: WorkChunksDependencies, chunk: ClaimedChunk, isStopping: () => boolean): Promise<void> {
  const { database, clock, log } = deps;
  if (chunk.crashes >= maxCrashes) {
    log.error({ runId: chunk.runId, chunk: chunk.number, crashes: chunk.crashes }, 'chunk quarantined');
    await endChunk(database, { ...chunk, state: 'QUARANTINED', at: clock.now() });
    deps.onChunkEnded();
    return;
  }
  const [run] = await findRunsToSend(database, [chunk.runId]);
  if (!run) throw new Error(`chunk of a run that does not exist: ${chunk.runId}`);
  let cursor = { bucket: chunk.cursorBucket ?? -1, position: chunk.cursorPosition ?? '' };
  while (!isStopping()) {
    const sent = await deps.sendWindow({ run, chunk, cursor });
    if (sent.kind === 'ended') {
      deps.onChunkEnded();
      return;
    }
    if (sent.kind === 'throttled') {
      await releaseChunk(database, chunk);
      await postponeChunks(database, { runId: chunk.runId, until: sent.until });
      return;
    }
    // Lost to another worker, or the run was paused or stopped: giving it back changes only what is still ours.
    if (sent.kind === 'lost') break;
    cursor = sent.cursor;
  }
  await releaseChunk(database, chunk);
}
