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
import type { ClaimedChunk, Cursor, Window } from '../../storage/runs/chunks.ts';
import { findRunsToSend } from '../../storage/runs/run-states.ts';
import type { Rest } from '../jobs/job.ts';
import { makeLease, chunkLeaseEnd, chunkLeaseMilliseconds } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { makeFairSlots } from './fair-slots.ts';
import type { FairSlots, SlotKind } from './fair-slots.ts';
import { WindowFailedError, WindowRefusedError } from './send-window.ts';
import type { Search, SendWindow } from './send-window.ts';

export const heartbeatMilliseconds = 10_000;
export const pollMilliseconds = 1_000;
/** A chunk whose workers died this often before they opened a window cannot be searched, and is quarantined. */
const maxCrashes = 10;
/** If this many devices of a chunk crash workers, the cause is the message and not the devices. */
const maxSetAside = 10;

export type WorkChunksDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  /** Identifies this process in leases; unique per start. */
  owner: string;
  /** The number of chunks of any lane that are processed concurrently. */
  parallelChunks: number;
  /** Additional slots for transactional sends only, so that a huge campaign never delays a one-time password. */
  transactionalChunks: number;
  /** The part of the slots for any lane that one workspace may use at the same time. */
  workspacePercent?: number;
  sendWindow: SendWindow;
  outcomes: OutcomeBuffer;
  /** `apart`: chunks of runs to named users are claimed first by another worker (send-named-runs.ts). */
  namedRuns?: 'apart' | undefined;
  /** Shared with that worker. */
  turns?: WindowTurns | undefined;
  rest?: Rest | undefined;
  /** Called when a chunk has ended, so that its run can end. */
  onChunkEnded: () => void;
};

export type ChunkWorkers = { wake(): void; stop(): Promise<void> };

export type ChunkWorker = {
  /** Claims a chunk of these lanes and processes it until it has ended, is released or fails. */
  workNextChunk(lastLane: 0 | 1, kind?: SlotKind): Promise<'worked' | 'failed' | 'nothing to do'>;
  /** Returns how many spare slots may begin a chunk. */
  countSpare(): number;
  /** Heartbeat for the chunks in progress. */
  renewLeases(): Promise<void>;
};

/** The steps of a worker without timing. `startChunkWorkers` runs them in sequence, in several slots. */
export function makeChunkWorker(
  deps: WorkChunksDependencies,
  { isStopping, onClaimed }: { isStopping: () => boolean; onClaimed: (lastLane: 0 | 1) => void },
): ChunkWorker {
  const { database, clock, owner, outcomes, namedRuns } = deps;
  const held = new Set<ClaimedChunk>();
  const turns = deps.turns ?? makeWindowTurns();
  const { parallelChunks: slots, workspacePercent = 100 } = deps;
  const fair = makeFairSlots({ ...{ database, clock, owner, namedRuns }, slots, workspacePercent });
  return {
    countSpare: fair.countSpare,
    async workNextChunk(lastLane, kind = 'usual') {
      await outcomes.settled();
      if (isStopping()) return 'nothing to do';
      const lease = makeLease(clock, chunkLeaseMilliseconds);
      const at = clock.now();
      const chunk =
        lastLane === 1
          ? await fair.claim(kind, { at, lease })
          : (await claimChunks(database, { owner, lastLane, limit: 1, at, namedRuns, ...lease }))[0];
      if (!chunk) return 'nothing to do';
      held.add(chunk);
      onClaimed(lastLane);
      try {
        await workChunk(deps, { chunk, isStopping, turns, fair });
        return 'worked';
      } catch (error) {
        held.delete(chunk);
        await giveUp(deps, chunk, { error });
        return 'failed';
      } finally {
        held.delete(chunk);
        fair.leave(chunk);
      }
    },
    async renewLeases() {
      if (held.size > 0) await renewLeases(database, { chunks: [...held], leaseUntil: chunkLeaseEnd(clock) });
    },
  };
}

/**
 * Claims chunks and sends them, window by window, until stopped. Each of the `parallelChunks` slots processes one chunk at a time.
 * On stop, open windows finish and the chunks are released, so that a deploy repeats nothing.
 */
export function startChunkWorkers(deps: WorkChunksDependencies): ChunkWorkers {
  const { log } = deps;
  let isStopping = false;
  const idle = { 0: makeIdleSlots(deps.rest), 1: makeIdleSlots(deps.rest) };
  // A wake during a slot's claim may concern a chunk that its statement did not see yet.
  let wakes = 0;
  // One slot of each kind checks, and wakes the next if it claims a chunk. Usually there is no chunk, or only one.
  const wake = () => {
    wakes += 1;
    idle[0].wakeOne();
    idle[1].wakeOne();
  };
  const worker = makeChunkWorker(deps, {
    isStopping: () => isStopping,
    onClaimed: (lastLane) => idle[lastLane].wakeOne(),
  });

  const slot = async (lastLane: 0 | 1): Promise<void> => {
    while (!isStopping) {
      try {
        const wakesBefore = wakes;
        const result = await worker.workNextChunk(lastLane);
        // After a failure the slot waits, so that a persistent fault is not retried immediately.
        const isIdle = result === 'failed' || (result === 'nothing to do' && wakes === wakesBefore);
        if (isIdle && !isStopping) await idle[lastLane].wait();
      } catch (error) {
        log.error({ err: error }, 'chunk worker failed');
        if (!isStopping) await idle[lastLane].wait();
      }
    }
  };

  const spare = startSpareSlots(worker, { deps, isStopping: () => isStopping });
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
      idle[0].wakeAll();
      idle[1].wakeAll();
      await Promise.all([...slots, spare.stop()]);
      clearInterval(heartbeat);
    },
  };
}

/** Once a second, begins a chunk for each slot whose window is slow, in a slot that ends with the chunk. */
export function startSpareSlots(
  worker: Pick<ChunkWorker, 'countSpare' | 'workNextChunk'>,
  { deps, isStopping }: { deps: Pick<WorkChunksDependencies, 'log'>; isStopping: () => boolean },
) {
  const working = new Set<Promise<void>>();
  const work = async (): Promise<void> => {
    try {
      await worker.workNextChunk(1, 'spare');
    } catch (error) {
      deps.log.error({ err: error }, 'chunk worker failed');
    }
  };
  const timer = setInterval(() => {
    for (let free = worker.countSpare(); free > 0 && !isStopping(); free -= 1) {
      const one: Promise<void> = work().finally(() => working.delete(one));
      working.add(one);
    }
  }, pollMilliseconds);
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(working);
    },
  };
}

/** Slots without work wait for a wake-up, in the order in which they began, or for the next poll. */
export function makeIdleSlots(rest: Rest | undefined) {
  const waiting = new Set<() => void>();
  return {
    wait: () =>
      new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          resolve();
        };
        const timer = setTimeout(end, rest?.stretch(pollMilliseconds) ?? pollMilliseconds);
        waiting.add(end);
      }),
    wakeOne(): void {
      waiting.values().next().value?.();
    },
    wakeAll(): void {
      for (const end of waiting) end();
    },
  };
}

type GiveUpDependencies = Pick<WorkChunksDependencies, 'database' | 'clock' | 'log' | 'outcomes'>;

/**
 * Handles a chunk's failure. If the database is unavailable, full or locked, the chunk is not at fault: it is released and no
 * crash is counted. If a window cannot be sent or stored, the search for its device starts immediately: `window` is given if it
 * was not recorded before it was sent. After any other fault the lease expires, which counts as a crash.
 */
export async function giveUp(
  { database, clock, log, outcomes }: GiveUpDependencies,
  chunk: ClaimedChunk,
  { error, window }: { error: unknown; window?: Window | undefined },
) {
  const which = { runId: chunk.runId, chunk: chunk.number };
  if (isDatabaseFault(error)) {
    log.warn({ err: error, ...which }, 'the database has a fault; chunk is given back');
    await outcomes.store(() => releaseChunk(database, chunk));
    return;
  }
  log.error({ err: error, ...which }, 'chunk failed');
  const abandoned = { ...chunk, at: clock.realNow() };
  if (error instanceof WindowFailedError) await abandonChunk(database, abandoned);
  if (error instanceof WindowRefusedError) await suspectWindow(database, { ...abandoned, window });
}

/**
 * A device that was alone in the window in which a worker died must not crash another worker. If the cursor is at the end of a
 * window, that window was stored. On a cluster, where the chunk's row is elsewhere, its worker may have died before recording
 * that.
 */
function beginSearch(
  { suspectDevices, windowDevices, windowBucket, windowPosition }: ClaimedChunk,
  cursor: Cursor,
): Search | undefined {
  if (suspectDevices === null) return undefined;
  if (cursor.bucket === windowBucket && cursor.position === windowPosition) return undefined;
  return { suspectDevices, treatment: suspectDevices === 1 && windowDevices === 1 ? 'set aside' : 'send' };
}

type ChunkTurn = { chunk: ClaimedChunk; isStopping: () => boolean; turns: WindowTurns; fair: FairSlots };

async function workChunk(deps: WorkChunksDependencies, { chunk, isStopping, turns, fair }: ChunkTurn): Promise<void> {
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
  const turn = fair.begin(chunk);
  while (!isStopping()) {
    // Outcomes of other windows are stored first. Otherwise this window's outcomes may be lost in the same way.
    await outcomes.settled();
    const asked = { run, chunk, cursor, search };
    const send = () => fair.noteWindow(chunk, () => deps.sendWindow(asked));
    const sent = await turns.take(search ? 'alone' : 'usual', send);
    if (sent.kind === 'ended') {
      await turn.end('ended');
      deps.onChunkEnded();
      return;
    }
    if (sent.kind === 'throttled') {
      await turn.end('given back');
      await releaseChunk(database, { ...chunk, until: sent.until });
      await postponeChunks(database, { runId: chunk.runId, until: sent.until, besides: sent.besides ?? [] });
      return;
    }
    // Lost to another worker, or the run was paused or stopped. The release only changes what is still ours.
    if (sent.kind === 'lost') break;
    ({ cursor, search } = sent);
    // A search goes on: the next worker would begin it again.
    if (!search && (await turn.mustEnd())) break;
  }
  await turn.end('given back');
  await releaseChunk(database, chunk);
}

/** Coordinates open windows: several ordinary windows, or a single one that searches. */
export type WindowTurns = { take<Result>(kind: 'usual' | 'alone', work: () => Promise<Result>): Promise<Result> };

/**
 * A worker that dies loses all its open windows. While searching for a device, the process opens no other window, so that no
 * window is suspected because of a fault in another.
 */
export function makeWindowTurns(): WindowTurns {
  let usual = 0;
  /** Waiting or running searches. While there is one, no ordinary window opens, so that the search gets its turn. */
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
