import type { Clock } from '../../clock.ts';
import { isOutage, refusesWrites } from '../../domain/database-faults.ts';
import { fileRetrySeconds } from '../../domain/limits/segments.ts';
import type { FillResult } from '../../domain/operations/metrics.ts';
import type { OperationFault } from '../../domain/segments/file-operations.ts';
import { toStorableText } from '../../domain/storable-text.ts';
import type { Logger } from '../../log.ts';
import type { OutgoingClient } from '../../outgoing/client.ts';
import { withSession } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { analyzeSegmentMembers } from '../../storage/segments/segment-members.ts';
import {
  claimOperation,
  listDueFiles,
  noteProgress,
  releaseOperation,
} from '../../storage/segments/segment-operations.ts';
import type { ClaimedOperation, DueFiles } from '../../storage/segments/segment-operations.ts';
import { dropSegmentStaging, stagingKeyOf } from '../../storage/segments/segment-staging.ts';
import { makeLease } from '../jobs/leased-job.ts';
import type { LeasedJob } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { makeReceiverSlots } from '../outbox/receiver-slots.ts';
import type { ContactKind, Receiver, ReceiverSlots, Slot } from '../outbox/receiver-slots.ts';
import { DownloadFailedError } from './content-codings.ts';
import { openFile } from './download-file.ts';
import type { OpenFile } from './download-file.ts';
import { FileUnreadableError } from './segment-file-parser.ts';
import { applyStagedFile, failOperation, LostOperationError, countValues, stageFile } from './staged-file.ts';
import type { EndFillDependencies, FillProgress } from './staged-file.ts';

export type FillSegmentsDependencies = EndFillDependencies & {
  log: Logger;
  outgoing: OutgoingClient;
  outcomes: OutcomeBuffer;
  /** Identifies this process in leases; unique per start. */
  owner: string;
  /** Called when an operation has ended: callbacks, emails and waiting sends are due. */
  onEnded: (result: FillResult) => void;
  /** Called when an operation has ended: another may begin. */
  onFreed?: (() => void) | undefined;
};

const leaseMilliseconds = 60_000;
const progressMilliseconds = 1_000;
// The pause after an unexpected fault. The third one ends the operation with 500.
const surpriseSeconds = 30;
// The pause if the database is unavailable or read-only. This is no fault of the file, so no attempt is counted.
const outageSeconds = 5;
// The pause if other fills hold all turns when the file has been opened. The file is opened again later, and no attempt is counted.
const noTurnSeconds = 5;
const maxCrashes = 3;

class StoppedError extends Error {}

export type SegmentFills = LeasedJob & {
  /** Releases operations in progress: they are queued again without counting an attempt. */
  abort(): void;
};

/**
 * Limits for files whose first piece has not arrived yet. A server that does not respond holds one of these slots for up to 40
 * s, but no turn (decision 0058).
 */
const openingLimits = { total: 16, perWorkspace: 4, perHost: 8, perReceiver: 2 };
/** Servers usually respond within this time. During it, a file that is being opened is expected to take a turn. */
const promptMilliseconds = 2_000;
const maxDueFiles = 1_000;

type Opening = { slot: Slot; startedAt: number };
type FillState = { turns: FillTurns; slots: ReceiverSlots; opening: Set<Opening> };

/**
 * The job that fills segments from files. A run claims the files that may be opened now and lets them continue in the
 * background. Workspaces and hosts take turns.
 */
export function makeFillSegments(deps: FillSegmentsDependencies): SegmentFills {
  const stopping = new AbortController();
  const state: FillState = { turns: makeFillTurns(), slots: makeReceiverSlots(openingLimits), opening: new Set() };
  const underWay = new Set<Promise<void>>();
  const faults: unknown[] = [];

  const start = (operation: ClaimedOperation, slot: Slot): void => {
    const opening = { slot, startedAt: performance.now() };
    state.opening.add(opening);
    const ended: Promise<void> = processOperation(deps, { operation, opening, state, stopping: stopping.signal })
      .catch((error: unknown) => void faults.push(error))
      .finally(() => {
        noteOpened(state, { opening, kind: 'none' });
        underWay.delete(ended);
        deps.onFreed?.();
      });
    underWay.add(ended);
  };

  return {
    name: 'fill-segments',
    intervalMilliseconds: 1_000,
    async runOnce() {
      // An operation that could not be settled counts as a failure of this job, so that the system page shows it.
      if (faults.length > 0) throw faults.shift();
      if (stopping.signal.aborted || deps.outcomes.waiting() > 0) return 0;
      const { database, clock, owner } = deps;
      const claim = { at: clock.now(), ...makeLease(clock, leaseMilliseconds) };
      const due = await listDueFiles(database, { ...claim, limit: maxDueFiles });
      let started = 0;
      for (const slot of takeSlots(state, due)) {
        const { workspaceId, key: origin } = slot.receiver;
        const operation = await claimOperation(database, { workspaceId, origin, owner, ...claim }).catch((error) => {
          state.slots.giveBack(slot, { kind: 'none', milliseconds: 0 });
          throw error;
        });
        if (operation) start(operation, slot);
        else state.slots.giveBack(slot, { kind: 'none', milliseconds: 0 });
        if (operation) started += 1;
      }
      return started;
    },
    abort: () => stopping.abort(new StoppedError('this node is stopping')),
    async settled() {
      await Promise.all(underWay);
    },
  };
}

/** Returns slots for files that may be opened now. Leaves a free turn for each file that is already being opened. */
function takeSlots({ turns, slots, opening }: FillState, due: readonly DueFiles[]): Slot[] {
  const now = performance.now();
  const soon = [...opening]
    .filter(({ slot, startedAt }) => !slot.isDoubtful && now - startedAt < promptMilliseconds)
    .map(({ slot }) => slot.receiver.workspaceId);
  const taken: Slot[] = [];
  for (const slot of slots.take(due.map(toReceiver))) {
    const { workspaceId } = slot.receiver;
    if (turns.isFree(workspaceId, soon)) {
      if (!slot.isDoubtful) soon.push(workspaceId);
      taken.push(slot);
    } else slots.giveBack(slot, { kind: 'none', milliseconds: 0 });
  }
  return taken;
}

function toReceiver({ workspaceId, origin }: DueFiles): Receiver {
  const host = URL.canParse(origin) ? new URL(origin).host : `${workspaceId} ${origin}`;
  return { workspaceId, key: origin, host };
}

/** Releases the slot of an opening, once. */
function noteOpened(
  { slots, opening: all }: FillState,
  { opening, kind }: { opening: Opening; kind: ContactKind },
): void {
  if (!all.delete(opening)) return;
  slots.giveBack(opening.slot, { kind, milliseconds: performance.now() - opening.startedAt });
}

type Started = { operation: ClaimedOperation; opening: Opening; state: FillState; stopping: AbortSignal };

async function processOperation(deps: FillSegmentsDependencies, started: Started): Promise<void> {
  const { operation, stopping } = started;
  const progress: FillProgress = { bytesRead: 0, valuesFound: 0 };
  const lost = new AbortController();
  const heartbeat = startHeartbeat(deps, { operation, progress, lost });
  try {
    if (operation.crashes >= maxCrashes) throw new Error('the operation crashed its worker repeatedly');
    const signal = AbortSignal.any([stopping, lost.signal]);
    const outcome = await fill(deps, { ...started, progress, signal });
    deps.log.info(
      { operationId: operation.id, kind: operation.kind, ...progress, ...outcome },
      'segment operation ended',
    );
    deps.onEnded(outcome.status === 201 ? 'applied' : 'failed');
  } catch (error) {
    await settleFault(deps, { operation, progress, error });
  } finally {
    clearInterval(heartbeat);
  }
}

type Work = Started & { progress: FillProgress; signal: AbortSignal };

async function fill(deps: FillSegmentsDependencies, work: Work) {
  const { operation, opening, state, signal } = work;
  const file = await openFile(deps, work).catch((error: unknown) => {
    noteOpened(state, { opening, kind: contactOf(error) });
    throw error;
  });
  try {
    // Take the turn before the slot is released, so that no other check sees the turn as free.
    const turn = state.turns.take(operation.workspaceId, signal);
    noteOpened(state, { opening, kind: 'answered' });
    const end = await turn;
    try {
      return await fillFrom(deps, { ...work, file });
    } finally {
      end();
    }
  } finally {
    await file.close();
  }
}

function contactOf(error: unknown): ContactKind {
  if (!(error instanceof DownloadFailedError)) return 'none';
  if (error.kind === 'unreachable' || error.kind === 'stalled') return 'silent';
  return error.kind === 'refused' ? 'none' : 'answered';
}

async function fillFrom(deps: FillSegmentsDependencies, work: Work & { file: OpenFile }) {
  const { operation, progress } = work;
  return withSession(deps.database, async (session) => {
    try {
      const staged = await stageFile({ ...work, session });
      const counting = countValues(deps, { operation, staged });
      // Awaited when applying. If applying fails first, this failure adds no information.
      counting.catch(() => {});
      const outcome = await applyStagedFile(deps, { operation, session, staged, counting, progress });
      // The result is stored. Autovacuum updates the planner's statistics too.
      await analyzeSegmentMembers(session).catch((error: unknown) =>
        deps.log.warn({ err: error, operationId: operation.id }, 'segment members were not analyzed'),
      );
      return outcome;
    } finally {
      // After a lost connection nothing can be dropped here; housekeeping removes what remains.
      await dropSegmentStaging(session, stagingKeyOf(operation)).catch(() => {});
    }
  });
}

function startHeartbeat(
  { database, clock, log }: FillSegmentsDependencies,
  { operation, progress, lost }: { operation: ClaimedOperation; progress: FillProgress; lost: AbortController },
): NodeJS.Timeout {
  let isNoting = false;
  return setInterval(() => {
    // The row is locked while the result is being applied. Without this check, one more update would wait every second.
    if (isNoting) return;
    isNoting = true;
    noteProgress(database, { ...operation, ...progress, ...makeLease(clock, leaseMilliseconds) })
      .then(
        (isOurs) => isOurs || lost.abort(new LostOperationError('the lease ran out')),
        (error: unknown) => log.warn({ err: error, operationId: operation.id }, 'progress was not noted'),
      )
      .finally(() => {
        isNoting = false;
      });
  }, progressMilliseconds);
}

type Fault = { operation: ClaimedOperation; progress: FillProgress; error: unknown };

async function settleFault(deps: FillSegmentsDependencies, { operation, progress, error }: Fault): Promise<void> {
  const { attempts, crashes } = operation;
  if (error instanceof LostOperationError) return;
  if (error instanceof StoppedError) {
    await release(deps, operation, { seconds: 0, detail: null, counted: { attempts: attempts - 1, crashes } });
    return;
  }
  if (error instanceof NoTurnError) {
    const counted = { attempts: attempts - 1, crashes };
    await release(deps, operation, { seconds: noTurnSeconds, detail: null, counted });
    return;
  }
  if (isUnavailable(error)) {
    await waitForDatabase(deps, operation, error);
    return;
  }
  const detail = detailOf(error);
  const fault = faultOf(error);
  const retry = fileRetrySeconds[attempts - crashes - 1];
  if (error instanceof DownloadFailedError && error.isRepeatable && retry !== undefined) {
    await release(deps, operation, { seconds: retry, detail, counted: { attempts, crashes } });
    return;
  }
  if (fault.kind === 'internal') {
    deps.log.error({ err: error, operationId: operation.id }, 'segment operation failed');
    if (crashes + 1 < maxCrashes) {
      await release(deps, operation, { seconds: surpriseSeconds, detail, counted: { attempts, crashes: crashes + 1 } });
      return;
    }
  }
  try {
    await failOperation(deps, { operation, progress, fault, detail });
    deps.onEnded('failed');
  } catch (failed) {
    if (isUnavailable(failed)) await waitForDatabase(deps, operation, failed);
    else if (!(failed instanceof LostOperationError)) throw failed;
  }
}

const isUnavailable = (error: unknown): boolean => isOutage(error) || refusesWrites(error);

/** Returns an error's text for storage. It may quote the server that the file came from. */
function detailOf(error: unknown): string {
  return toStorableText(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

/** Queues the operation again from its start. No attempt is counted. */
async function waitForDatabase(
  deps: FillSegmentsDependencies,
  operation: ClaimedOperation,
  error: unknown,
): Promise<void> {
  const { attempts, crashes } = operation;
  deps.log.warn({ err: error, operationId: operation.id }, 'the database was unavailable during a segment operation');
  const counted = { attempts: attempts - 1, crashes };
  await release(deps, operation, { seconds: outageSeconds, detail: detailOf(error), counted });
}

type Release = { seconds: number; detail: string | null; counted: { attempts: number; crashes: number } };

/** Retries while the database is unavailable: an operation that is not released counts as a crash of its worker. */
async function release(
  { database, clock, outcomes }: { database: Database; clock: Clock; outcomes: OutcomeBuffer },
  operation: ClaimedOperation,
  { seconds, detail, counted }: Release,
): Promise<void> {
  const notBefore = new Date(clock.now().getTime() + seconds * 1000);
  await outcomes.store(() => releaseOperation(database, { ...operation, notBefore, detail, counted }));
}

function faultOf(error: unknown): OperationFault {
  if (error instanceof FileUnreadableError) return { kind: 'unreadable', reason: error.message };
  if (!(error instanceof DownloadFailedError)) return { kind: 'internal' };
  switch (error.kind) {
    case 'too-large':
    case 'too-slow':
    case 'content-type':
      return { kind: error.kind };
    case 'encoding':
      return { kind: 'encoding', reason: error.detail };
    default:
      return { kind: 'download' };
  }
}

/**
 * Limits the fills that read their file and change members at a time. Each has a session, and may occupy a core of the database
 * for a while.
 */
type FillTurns = {
  /** True if a fill of the workspace gets a turn immediately, assuming that `others` are about to take one as well. */
  isFree(workspaceId: string, others: readonly string[]): boolean;
  /**
   * Waits for a turn. @returns the function that ends it
   *
   * @throws NoTurnError if none is free in time, or the signal's reason
   */
  take(workspaceId: string, signal: AbortSignal): Promise<() => void>;
};

/** The other fills take too long. The operation is released, and no attempt is counted. */
export class NoTurnError extends Error {
  override readonly name = 'NoTurnError';
}

type Limits = { total: number; perWorkspace: number; maxWaitMilliseconds: number };

/**
 * A workspace gets at most two of the three turns, so that its large or slow files never block all others. The wait is short,
 * because the file server keeps its connection open meanwhile.
 */
export const fillTurnLimits: Limits = { total: 3, perWorkspace: 2, maxWaitMilliseconds: 10_000 };

export function makeFillTurns({ total, perWorkspace, maxWaitMilliseconds }: Limits = fillTurnLimits): FillTurns {
  const held: string[] = [];
  const waiting: { workspaceId: string; start: () => void }[] = [];

  const isFree = (workspaceId: string, others: readonly string[]): boolean => {
    const taken = [...held, ...others];
    return taken.length < total && taken.filter((each) => each === workspaceId).length < perWorkspace;
  };

  function end(workspaceId: string): void {
    held.splice(held.indexOf(workspaceId), 1);
    const next = waiting.findIndex((each) => isFree(each.workspaceId, []));
    if (next >= 0) waiting.splice(next, 1)[0]!.start();
  }

  function hold(workspaceId: string): () => void {
    held.push(workspaceId);
    return () => end(workspaceId);
  }

  return {
    isFree: (workspaceId, others) => isFree(workspaceId, [...others, ...waiting.map((each) => each.workspaceId)]),
    take(workspaceId, signal) {
      if (isFree(workspaceId, [])) return Promise.resolve(hold(workspaceId));
      return new Promise((resolve, reject) => {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMilliseconds)]);
        const giveUp = (): void => {
          waiting.splice(waiting.indexOf(own), 1);
          reject(signal.aborted ? signal.reason : new NoTurnError('other fills take too long'));
        };
        const own = {
          workspaceId,
          start(): void {
            limit.removeEventListener('abort', giveUp);
            resolve(hold(workspaceId));
          },
        };
        waiting.push(own);
        limit.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}
