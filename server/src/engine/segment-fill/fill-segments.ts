import { DownloadFailedError } from './download-failed-error.ts';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import { isOutage, refusesWrites } from '../../domain/outage.ts';
import type { FillResult } from '../../domain/metrics/metric-table.ts';
import { toStorableText } from '../../domain/storable-text.ts';
import type { OperationFault } from '../../domain/segments/operation-outcome.ts';
import { withSession } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { claimOperation, noteProgress, releaseOperation } from '../../storage/segments/segment-operations.ts';
import type { ClaimedOperation } from '../../storage/segments/segment-operations.ts';
import { analyzeSegmentMembers } from '../../storage/segments/segment-members.ts';
import { dropSegmentStaging, stagingKeyOf } from '../../storage/segments/segment-staging.ts';
import type { Job } from '../job.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';
import { makeLease } from '../make-lease.ts';
import type { OutgoingClient } from '../outgoing-http/outgoing-client.ts';
import { applyStagedFile, failOperation, LostOperationError } from './end-fill.ts';
import type { EndFillDependencies } from './end-fill.ts';
import { countValues, stageFile } from './fill-segment.ts';
import type { FillProgress } from './fill-segment.ts';
import { FileUnreadableError } from './prepare-lines.ts';
import { fileRetrySeconds } from '../../domain/segments/limits.ts';

export type FillSegmentsDependencies = EndFillDependencies & {
  log: Logger;
  outgoing: OutgoingClient;
  outcomes: KeptOutcomes;
  /** Names this process in leases; unique per start. */
  owner: string;
  /** Called when an operation has ended: callbacks, emails and waiting sends are due. */
  onEnded: (result: FillResult) => void;
};

const leaseMilliseconds = 60_000;
const progressMilliseconds = 1_000;
// A surprise is tried again; the third ends the operation with 500.
const surpriseSeconds = 30;
// A database that is away or takes no writes says nothing about the file: the operation waits for it, and nothing counts.
const outageSeconds = 5;
const maxCrashes = 3;

class StoppedError extends Error {}

export type SegmentFills = Job & {
  /** Releases operations in progress: they are queued again without counting an attempt. */
  abort(): void;
};

/**
 * The job that fills segments from files: each run claims one due operation and completes it. A few of these run
 * concurrently.
 */
export function makeFillSegments(deps: FillSegmentsDependencies): SegmentFills {
  const stopping = new AbortController();
  return {
    name: 'fill-segments',
    intervalMilliseconds: 1_000,
    async runOnce() {
      if (stopping.signal.aborted || deps.outcomes.waiting() > 0) return 0;
      const { database, clock, owner } = deps;
      const operation = await claimOperation(database, {
        owner,
        at: clock.now(),
        ...makeLease(clock, leaseMilliseconds),
      });
      if (!operation) return 0;
      await workOperation(deps, operation, stopping.signal);
      return 1;
    },
    abort: () => stopping.abort(new StoppedError('this node is stopping')),
  };
}

async function workOperation(
  deps: FillSegmentsDependencies,
  operation: ClaimedOperation,
  stopping: AbortSignal,
): Promise<void> {
  const progress: FillProgress = { bytesRead: 0, valuesFound: 0 };
  const lost = new AbortController();
  const heartbeat = startHeartbeat(deps, { operation, progress, lost });
  try {
    if (operation.crashes >= maxCrashes) throw new Error('the operation ended its worker repeatedly');
    const outcome = await fill(deps, { operation, progress, signal: AbortSignal.any([stopping, lost.signal]) });
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

type Work = { operation: ClaimedOperation; progress: FillProgress; signal: AbortSignal };

async function fill(deps: FillSegmentsDependencies, { operation, progress, signal }: Work) {
  return withSession(deps.database, async (session) => {
    try {
      const staged = await stageFile(deps, { operation, session, progress, signal });
      const counting = countValues(deps, { operation, staged });
      // Awaited when applying; if that fails first, this failure adds nothing.
      counting.catch(() => {});
      const outcome = await applyStagedFile(deps, { operation, session, staged, counting, progress });
      // The result is stored; the planner's figures are renewed by autovacuum as well.
      await analyzeSegmentMembers(session).catch((error: unknown) =>
        deps.log.warn({ err: error, operationId: operation.id }, 'the members of segments were not analyzed'),
      );
      return outcome;
    } finally {
      // After a lost connection there is nothing to drop here; housekeeping finds what stays.
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
    // While the result is being applied the row is locked; one note waits, not one a second.
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
  if (isAway(error)) {
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
    if (isAway(failed)) await waitForDatabase(deps, operation, failed);
    else if (!(failed instanceof LostOperationError)) throw failed;
  }
}

const isAway = (error: unknown): boolean => isOutage(error) || refusesWrites(error);

/** What failed may quote the server the file came from. */
function detailOf(error: unknown): string {
  return toStorableText(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

/** The operation is worked again, its end with it, and nothing is counted. */
async function waitForDatabase(
  deps: FillSegmentsDependencies,
  operation: ClaimedOperation,
  error: unknown,
): Promise<void> {
  const { attempts, crashes } = operation;
  deps.log.warn({ err: error, operationId: operation.id }, 'the database was away from a segment operation');
  const counted = { attempts: attempts - 1, crashes };
  await release(deps, operation, { seconds: outageSeconds, detail: detailOf(error), counted });
}

type Release = { seconds: number; detail: string | null; counted: { attempts: number; crashes: number } };

/** Again and again where the database is away: an operation that is not given back counts as a crash of its worker. */
async function release(
  { database, clock, outcomes }: { database: Database; clock: Clock; outcomes: KeptOutcomes },
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
