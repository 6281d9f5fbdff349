import type { Clock } from '../../clock.ts';
import { makeId } from '../../domain/ids.ts';
import { maxRejectsKept } from '../../domain/limits/segments.ts';
import {
  rejectReasons,
  callbackBody,
  describeFault,
  operationReport,
  valueMeaningOf,
} from '../../domain/segments/file-operations.ts';
import type { RejectReason, OperationFault, OperationOutcome } from '../../domain/segments/file-operations.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Session, Queryable, Transaction } from '../../storage/database.ts';
import { insertCallback, insertEmail } from '../../storage/outbox/outbox.ts';
import {
  deleteFilePieces,
  endOperation,
  insertRejects,
  listRejects,
  lockHeldOperation,
  lockUploadedUsers,
  settleSegment,
  sumCountedUsers,
} from '../../storage/segments/segment-operations.ts';
import type { ClaimedOperation, OperationResult } from '../../storage/segments/segment-operations.ts';
import {
  analyzeSegmentLines,
  countDistinctValues,
  listRepeatedLines,
  stageSegmentLines,
  stagingKeyOf,
  addMatchedMembers,
  addNamedMembers,
  areMembersDistributed,
  countLiveMembers,
  removeMatchedMembers,
  removeUnmatchedMembers,
  stageMatches,
} from '../../storage/segments/segment-staging.ts';
import type { OpenFile } from './download-file.ts';
import { makeSegmentFileParser } from './segment-file-parser.ts';

export type FillDependencies = {
  database: Database;
  clock: Clock;
};

/** Progress of a fill, read once a second for display. */
export type FillProgress = { bytesRead: number; valuesFound: number };

type StagedFile = {
  valuesFound: number;
  /** Lines with a value. `countValues` finds duplicates among them. */
  valuesKept: number;
  /** In file order, at most 10,000. */
  rejects: Reject[];
};

export type Reject = { line: number; reason: RejectReason };

type Fill = {
  operation: ClaimedOperation;
  file: OpenFile;
  session: Session;
  progress: FillProgress;
  signal: AbortSignal;
};

/**
 * Loads the file of an operation into its staging table. Everything streams: bytes are decoded, split into lines, checked and
 * copied to the database piece by piece, so memory use does not grow with the file. No change is visible to readers yet.
 *
 * @throws DownloadFailedError, FileUnreadableError, the abort's reason, and the database's errors
 */
export async function stageFile(fill: Fill): Promise<StagedFile> {
  const { operation, session, signal } = fill;
  const stagingKey = stagingKeyOf(operation);
  const lines = await copyFile(fill);
  signal.throwIfAborted();
  await analyzeSegmentLines(session, stagingKey);
  signal.throwIfAborted();
  return { valuesFound: lines.found(), valuesKept: lines.kept(), rejects: lines.rejects() };
}

type CountedValues = { valuesProcessed: number; rejects: Reject[] };

/**
 * Counts the distinct values of a staged file. The database finds the duplicates, because more than 16.7 million values do not
 * fit in a JavaScript set (finding 10). Uses a separate connection, so that it runs in parallel with the matching.
 */
export async function countValues(
  { database }: FillDependencies,
  { operation, staged }: { operation: ClaimedOperation; staged: StagedFile },
): Promise<CountedValues> {
  const stagingKey = stagingKeyOf(operation);
  return await inTransaction(database, async (tx) => {
    const values = await countDistinctValues(tx, stagingKey);
    if (values === staged.valuesKept) return { valuesProcessed: values, rejects: staged.rejects };
    const repeated = await listRepeatedLines(tx, { stagingKey, limit: maxRejectsKept });
    const rejects = [...staged.rejects, ...repeated.map((line) => ({ line, reason: 'repeated' as const }))];
    return {
      valuesProcessed: values,
      rejects: rejects.sort((one, other) => one.line - other.line).slice(0, maxRejectsKept),
    };
  });
}

async function copyFile({ operation, file, session, progress, signal }: Fill) {
  const lines = makeSegmentFileParser(operation.attributeType);
  async function* prepared(): AsyncGenerator<Buffer> {
    for await (const piece of file.pieces) {
      signal.throwIfAborted();
      progress.bytesRead += piece.length;
      const rows = lines.push(piece);
      if (rows !== undefined) yield rows;
      progress.valuesFound = lines.found();
    }
    const rows = lines.end();
    if (rows !== undefined) yield rows;
    progress.valuesFound = lines.found();
  }
  await stageSegmentLines(session, { stagingKey: stagingKeyOf(operation), lines: prepared() });
  return lines;
}

export type EndFillDependencies = {
  database: Database;
  clock: Clock;
  /** Maximum users uploaded in 24 hours (interface 8). */
  usersPerDay: number;
  /** PENDING with SMTP. KEPT without SMTP, to be read in the console (decision D28). */
  emailState: 'PENDING' | 'KEPT';
};

/** Another worker has taken over the operation; nothing was stored. */
export class LostOperationError extends Error {
  override readonly name = 'LostOperationError';
}

const dayMilliseconds = 24 * 3_600_000;

/**
 * Applies a staged file: members, counts, the segment's new version, the callback and the report, in one transaction on the
 * fill's connection. Readers see all of it or nothing (decision D26), and a crash leaves all or nothing.
 *
 * @throws LostOperationError
 */
export async function applyStagedFile(
  deps: EndFillDependencies,
  fill: {
    operation: ClaimedOperation;
    session: Session;
    staged: StagedFile;
    /** Runs in parallel with the matching. */
    counting: Promise<CountedValues>;
    progress: FillProgress;
  },
): Promise<OperationOutcome> {
  const { operation, session, staged, counting, progress } = fill;
  const source = await stageNamed(session, operation);
  try {
    return await inTransaction(session, async (tx) => {
      if (!(await lockHeldOperation(tx, operation))) throw new LostOperationError('the lease ran out');
      // Operations of a segment run one after another, so its row need not be locked while millions of members change.
      const members = await changeMembers(tx, { operation, source });
      const values = await counting;
      await lockUploadedUsers(tx, operation.workspaceId);
      const at = deps.clock.now();
      const since = new Date(at.getTime() - dayMilliseconds);
      const counted = members.added + (await sumCountedUsers(tx, { workspaceId: operation.workspaceId, since }));
      if (counted > deps.usersPerDay) throw new TooManyUsersError(`${counted} users`);
      const result: OperationResult = {
        status: 201,
        valuesFound: staged.valuesFound,
        valuesProcessed: values.valuesProcessed,
        userCount: members.reported,
        countedUsers: members.added,
      };
      await endOperation(tx, { id: operation.id, result, bytesRead: progress.bytesRead, at });
      const { segmentId } = operation;
      await settleSegment(tx, { segmentId, version: operation.number, userCount: members.now, reason: null, at });
      const rejects = values.rejects.map(({ line, reason }) => ({ line, reason: rejectReasons[reason] }));
      await insertRejects(tx, { operationId: operation.id, rejects, most: maxRejectsKept });
      await tell(deps, tx, { operation, outcome: result, at });
      return result;
    });
  } catch (error) {
    if (!(error instanceof TooManyUsersError)) throw error;
    return failOperation(deps, { operation, progress, fault: { kind: 'daily-users' }, detail: error.message });
  }
}

/** Rolls back the members, which are counted only after they have been added. */
class TooManyUsersError extends Error {}

type Source = 'lines' | 'matches';

/**
 * Stages the named users where the change needs them as a set, or needs them next to the members in their shards. Runs before
 * the transaction: the tables are created as their owner, and within one transaction a cluster lets no other role change what
 * that role created.
 */
async function stageNamed(session: Session, operation: ClaimedOperation): Promise<Source> {
  const needsSet = operation.kind === 'REMOVE' || operation.kind === 'REPLACE';
  if (!needsSet && !(await areMembersDistributed(session))) return 'lines';
  const { workspaceId } = operation;
  await stageMatches(session, { stagingKey: stagingKeyOf(operation), workspaceId, meaning: valueMeaningOf(operation) });
  return 'matches';
}

/**
 * Applies the file's changes to the segment. `reported` is the callback's user_count (decision D23). `now` is the segment's
 * number of members afterwards.
 */
async function changeMembers(
  tx: Transaction,
  { operation, source }: { operation: ClaimedOperation; source: Source },
): Promise<{ added: number; reported: number; now: number }> {
  const { workspaceId, segmentId, number: version } = operation;
  const meaning = valueMeaningOf(operation);
  const change = { stagingKey: stagingKeyOf(operation), workspaceId, segmentId, version, meaning };
  switch (operation.kind) {
    case 'CREATE':
    case 'ADD': {
      const added = source === 'matches' ? await addMatchedMembers(tx, change) : await addNamedMembers(tx, change);
      // Counting two million members again would take a second. A new segment has exactly the members that were added.
      const now = operation.kind === 'CREATE' ? added : await countLiveMembers(tx, change);
      return { added, reported: added, now };
    }
    case 'REMOVE': {
      const removed = await removeMatchedMembers(tx, change);
      return { added: 0, reported: removed, now: await countLiveMembers(tx, change) };
    }
    case 'REPLACE': {
      await removeUnmatchedMembers(tx, change);
      const added = await addMatchedMembers(tx, change);
      const now = await countLiveMembers(tx, change);
      return { added, reported: now, now };
    }
    default:
      return unknownCase(operation.kind);
  }
}

export type Failure = {
  operation: ClaimedOperation;
  progress: FillProgress;
  fault: OperationFault;
  /** Private: for the log and the console. */
  detail: string;
};

/** Ends an operation that cannot succeed. Its segment keeps its members. @throws LostOperationError */
export async function failOperation(
  deps: EndFillDependencies,
  { operation, progress, fault, detail }: Failure,
): Promise<OperationOutcome> {
  const failure = describeFault(fault, operation.kind);
  await inTransaction(deps.database, async (tx) => {
    if (!(await lockHeldOperation(tx, operation))) throw new LostOperationError('the lease ran out');
    const at = deps.clock.now();
    const result: OperationResult = { ...failure, errorDetail: detail };
    await endOperation(tx, { id: operation.id, result, bytesRead: progress.bytesRead, at });
    await settleSegment(tx, {
      segmentId: operation.segmentId,
      version: null,
      userCount: null,
      reason: failure.errorMessage,
      at,
    });
    await tell(deps, tx, { operation, outcome: failure, at });
  });
  return failure;
}

type Telling = { operation: ClaimedOperation; outcome: OperationOutcome; at: Date };

/** Stores callback and report with the outcome itself, so that neither can be lost or contradict it (fault F25). */
async function tell(deps: EndFillDependencies, tx: Queryable, { operation, outcome, at }: Telling): Promise<void> {
  const { id: operationId, workspaceId } = operation;
  await deleteFilePieces(tx, operationId);
  if (operation.callbackUrl !== null) {
    const body = callbackBody({ ...operation, outcome });
    await insertCallback(tx, { id: makeId(at), workspaceId, operationId, url: operation.callbackUrl, body, at });
  }
  if (operation.emails.length > 0) {
    const rejects = await listRejects(tx, { workspaceId, operationId, limit: 20 });
    const report = operationReport({ ...operation, result: outcome, rejects });
    await insertEmail(tx, {
      id: makeId(at),
      workspaceId,
      operationId,
      recipients: operation.emails,
      subject: report.subject,
      body: report.body,
      state: deps.emailState,
      at,
    });
  }
}
