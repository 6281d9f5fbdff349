import type { Clock } from '../../clock.ts';
import { isDatabaseFault } from '../../domain/database-faults.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import {
  abandonChunk,
  claimChunks,
  endChunk,
  postponeChunks,
  releaseChunk,
  renewLeases,
  suspectWindow,
  findCursor,
} from '../../storage/runs/chunks.ts';
import type { ClaimedChunk, Cursor } from '../../storage/runs/chunks.ts';
import { findRunsToSend } from '../../storage/runs/run-states.ts';
import type { Rest } from '../jobs/job.ts';
import { makeLease, chunkLeaseEnd, chunkLeaseMilliseconds } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { WindowFailedError, WindowRefusedError } from './send-window.ts';
import type { Search, SendWindow } from './send-window.ts';

export const heartbeatMilliseconds = 10_000;
export const pollMilliseconds = 1_000;
/** A chunk whose workers died this often before they opened a window cannot be searched, and is given up. */
const maxCrashes = 10;
/** A chunk with so many devices that end workers: it is the message, and not the devices. */
const maxSetAside = 10;

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
  outcomes: OutcomeBuffer;
  rest?: Rest | undefined;
  /** Called when a chunk has ended, so that its run can. */
  onChunkEnded: () => void;
};

export type ChunkWorkers = { wake(): void; stop(): Promise<void> };

export type ChunkWorker = {
  /** Claims a chunk of these lanes and works it until it has ended, is given back or fails. */
  workNextChunk(lastLane: 0 | 1): Promise<'worked' | 'failed' | 'nothing to do'>;
  /** Heartbeat of the chunks that are being worked. */
  renewLeases(): Promise<void>;
};

/** The steps of a worker without their times; `startChunkWorkers` takes them one after another, in several slots. */
export function makeChunkWorker(
  deps: WorkChunksDependencies,
  { isStopping, onClaimed }: { isStopping: () => boolean; onClaimed: (lastLane: 0 | 1) => void },
): ChunkWorker {
  const { database, clock, owner, outcomes } = deps;
  const held = new Set<ClaimedChunk>();
  const turns = makeWindowTurns();
  return {
    async workNextChunk(lastLane) {
      await outcomes.settled();
      if (isStopping()) return 'nothing to do';
      const claim = { owner, lastLane, limit: 1, at: clock.now(), ...makeLease(clock, chunkLeaseMilliseconds) };
      const [chunk] = await claimChunks(database, claim);
      if (!chunk) return 'nothing to do';
      held.add(chunk);
      onClaimed(lastLane);
      try {
        await workChunk(deps, { chunk, isStopping, turns });
        return 'worked';
      } catch (error) {
        held.delete(chunk);
        await giveUp(deps, chunk, error);
        return 'failed';
      } finally {
        held.delete(chunk);
      }
    },
    async renewLeases() {
      if (held.size > 0) await renewLeases(database, { chunks: [...held], leaseUntil: chunkLeaseEnd(clock) });
    },
  };
}

/**
 * Claims chunks and sends them, window by window, until stopped. Each of `parallelChunks` slots works one chunk at a
 * time; a stop lets the open windows end, then gives the chunks back, so a deploy repeats nothing.
 */
export function startChunkWorkers(deps: WorkChunksDependencies): ChunkWorkers {
  const { log } = deps;
  let isStopping = false;
  // Each for a kind of slot, in the order in which they began to wait.
  const waits = { 0: new Set<() => void>(), 1: new Set<() => void>() };
  // One that comes while a slot reads may be about a chunk that its statement did not see yet.
  let wakes = 0;

  const wait = (lastLane: 0 | 1) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waits[lastLane].delete(end);
        resolve();
      };
      const timer = setTimeout(end, deps.rest?.stretch(pollMilliseconds) ?? pollMilliseconds);
      waits[lastLane].add(end);
    });
  const wakeOne = (lastLane: 0 | 1): void => waits[lastLane].values().next().value?.();
  // One of each kind looks, and wakes the next when it has found something: mostly there is nothing, or one chunk.
  const wake = () => {
    wakes += 1;
    wakeOne(0);
    wakeOne(1);
  };
  const worker = makeChunkWorker(deps, { isStopping: () => isStopping, onClaimed: wakeOne });

  const slot = async (lastLane: 0 | 1): Promise<void> => {
    while (!isStopping) {
      try {
        const wakesBefore = wakes;
        const result = await worker.workNextChunk(lastLane);
        // A fault that stays is not met again at once.
        const isIdle = result === 'failed' || (result === 'nothing to do' && wakes === wakesBefore);
        if (isIdle && !isStopping) await wait(lastLane);
      } catch (error) {
        log.error({ err: error }, 'chunk worker failed');
        if (!isStopping) await wait(lastLane);
      }
    }
  };

  const heartbeat = setInterval(() => {
    worker.renewLeases().catch((error: unknown) => log.warn({ err: error }, 'leases were not renewed'));
  }, heartbeatMilliseconds);
  const slots = [
    ...Array.from({ length: deps.transactionalChunks }, () => slot(0)),
    ...Array.from({ length: deps.parallelChunks }, () => slot(1)),
  ];

  return {
    wake,
    async stop() {
      isStopping = true;
      for (const end of [...waits[0], ...waits[1]]) end();
      await Promise.all(slots);
      clearInterval(heartbeat);
    },
  };
}

/**
 * A database that is away, full or locked is no fault of the chunk: it is given back and not counted as a crash. A window
 * that cannot be sent or stored is: its device is looked for at once. After any other fault the lease runs out, which is counted.
 */
async function giveUp({ database, clock, log, outcomes }: WorkChunksDependencies, chunk: ClaimedChunk, error: unknown) {
  const which = { runId: chunk.runId, chunk: chunk.number };
  if (isDatabaseFault(error)) {
    log.warn({ err: error, ...which }, 'the database has a fault; chunk is given back');
    await outcomes.store(() => releaseChunk(database, chunk));
    return;
  }
  log.error({ err: error, ...which }, 'chunk failed');
  const abandoned = { ...chunk, at: clock.realNow() };
  if (error instanceof WindowFailedError) await abandonChunk(database, abandoned);
  if (error instanceof WindowRefusedError) await suspectWindow(database, abandoned);
}

/**
 * A device that was alone in the window in which a worker died ends no other. A window at whose end the cursor stands was
 * stored: on a cluster, where the chunk's row lies elsewhere, its worker may have died before that was written down.
 */
function beginSearch(
  { suspectDevices, windowDevices, windowBucket, windowPosition }: ClaimedChunk,
  cursor: Cursor,
): Search | undefined {
  if (suspectDevices === null) return undefined;
  if (cursor.bucket === windowBucket && cursor.position === windowPosition) return undefined;
  return { suspectDevices, treatment: suspectDevices === 1 && windowDevices === 1 ? 'set aside' : 'send' };
}

type ChunkTurn = { chunk: ClaimedChunk; isStopping: () => boolean; turns: WindowTurns };

async function workChunk(deps: WorkChunksDependencies, { chunk, isStopping, turns }: ChunkTurn): Promise<void> {
  const { database, clock, log, outcomes } = deps;
  const { windowDevices } = chunk;
  let cursor = (await findCursor(database, chunk)) ?? { bucket: chunk.bucketFrom, position: '' };
  let search = beginSearch(chunk, cursor);
  const isHopeless = search ? chunk.setAside >= maxSetAside : windowDevices === null && chunk.crashes >= maxCrashes;
  if (isHopeless) {
    log.error({ runId: chunk.runId, chunk: chunk.number, crashes: chunk.crashes }, 'chunk quarantined');
    await endChunk(database, { ...chunk, state: 'QUARANTINED', at: clock.now() });
    deps.onChunkEnded();
    return;
  }
  const [run] = await findRunsToSend(database, [chunk.runId]);
  if (!run) throw new Error(`chunk of a run that does not exist: ${chunk.runId}`);
  if (search) log.error({ runId: run.id, chunk: chunk.number, ...search }, 'looking for a device that ends workers');
  while (!isStopping()) {
    // What is known of other windows is stored first, or this one may be lost in the same way.
    await outcomes.settled();
    const asked = { run, chunk, cursor, search };
    const sent = await turns.take(search ? 'alone' : 'usual', () => deps.sendWindow(asked));
    if (sent.kind === 'ended') {
      deps.onChunkEnded();
      return;
    }
    if (sent.kind === 'throttled') {
      await releaseChunk(database, chunk);
      await postponeChunks(database, { runId: chunk.runId, until: sent.until, besides: sent.besides ?? [] });
      return;
    }
    // Lost to another worker, or the run was paused or stopped: giving it back changes only what is still ours.
    if (sent.kind === 'lost') break;
    ({ cursor, search } = sent);
  }
  await releaseChunk(database, chunk);
}

/** Who may have a window open: several that send as usual, or a single one that searches. */
type WindowTurns = { take<Result>(kind: 'usual' | 'alone', work: () => Promise<Result>): Promise<Result> };

/**
 * A worker that dies takes all its open windows with it. So that none is suspected of what happened in another, the window
 * in which a device is looked for is the only one of its process.
 */
export function makeWindowTurns(): WindowTurns {
  let usual = 0;
  /** Waiting or at work: while there is one, no usual window is opened, so that it comes to its turn. */
  let searching = 0;
  let alone = 0;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const look of woken) look();
  };
  const pause = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));

  return {
    async take(kind, work) {
      if (kind === 'alone') {
        searching += 1;
        while (alone > 0 || usual > 0) await pause();
        alone += 1;
      } else {
        while (searching > 0) await pause();
        usual += 1;
      }
      try {
        return await work();
      } finally {
        if (kind === 'alone') {
          alone -= 1;
          searching -= 1;
        } else usual -= 1;
        wake();
      }
    },
  };
}
