import type { Database, Fragment, Queryable, Session, Lease } from '../database.ts';

export type OperationKind = 'CREATE' | 'ADD' | 'REMOVE' | 'REPLACE';
export type OperationState = 'QUEUED' | 'FILLING' | 'WAITING' | 'SUCCEEDED' | 'FAILED';

export type NewOperation = {
  id: string;
  workspaceId: string;
  segmentId: string;
  kind: OperationKind;
  requestId: string;
  /** Null: the file was uploaded. */
  fileUrl: string | null;
  callbackUrl: string | null;
  emails: string[];
  requestedBy: string;
  at: Date;
};

/** Inserts the next operation of a segment; the caller holds the segment's lock, so numbers follow each other. */
export async function insertOperation(tx: Queryable, operation: NewOperation): Promise<void> {
  await tx`
    insert into segment_operations (
      id, workspace_id, segment_id, number, kind, request_id, file_url, callback_url, emails, state, not_before,
      requested_by, created_at
    )
    select ${operation.id}, ${operation.workspaceId}, ${operation.segmentId}, coalesce(max(number), 0) + 1,
      ${operation.kind}, ${operation.requestId}, ${operation.fileUrl}, ${operation.callbackUrl}, ${operation.emails},
      'QUEUED', ${operation.at}, ${operation.requestedBy}, ${operation.at}
    from segment_operations where segment_id = ${operation.segmentId}`;
}

/** An operation this worker holds, with the fields it needs of its segment and workspace. */
export type ClaimedOperation = {
  id: string;
  workspaceId: string;
  dbName: string;
  segmentId: string;
  segmentName: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  number: number;
  kind: OperationKind;
  requestId: string;
  fileUrl: string | null;
  callbackUrl: string | null;
  emails: string[];
  attempts: number;
  crashes: number;
  owner: string;
  createdAt: Date;
};

type Due = { at: Date; leasedAt: Date };

/**
 * True if an operation is due, or its lease ran out. Operations of one segment run in order, so one with an unfinished
 * predecessor is not due.
 */
const isDue = (tx: Queryable, { at, leasedAt }: Due): Fragment => tx`
  operation.state in ('QUEUED', 'FILLING', 'WAITING')
  and operation.not_before <= ${at}
  and (operation.state <> 'FILLING' or operation.lease_until <= ${leasedAt})
  and not exists (
    select 1 from segment_operations as earlier
    where earlier.segment_id = operation.segment_id and earlier.number < operation.number
      and earlier.ended_at is null
  )`;

/** The origin of a file: scheme, host and port of its URL; empty for an uploaded file. */
const originOf = (tx: Queryable): Fragment => tx`
  coalesce(lower(substring(operation.file_url from '^[^:/?#]+://[^/?#]+')), '')`;

/** A workspace with files at one host, and when the oldest is due. */
export type DueFiles = { workspaceId: string; origin: string; dueAt: Date };

/**
 * Lists the workspaces and hosts that have files to read, those with the oldest first. Reads every operation that is
 * due: a workspace may request a hundred a day. Locks nothing. Index: segment_operations_open.
 */
export async function listDueFiles(database: Database, due: Due & { limit: number }): Promise<DueFiles[]> {
  return database<DueFiles[]>`
    select operation.workspace_id as "workspaceId", ${originOf(database)} as origin, min(operation.not_before) as "dueAt"
    from segment_operations as operation
    where ${isDue(database, due)}
    group by 1, 2
    order by 3
    limit ${due.limit}`;
}

/**
 * Claims the oldest operation of a workspace with a file at a host; a lease that ran out counts as a crash. Rows locked
 * by another claim are skipped. Index: segment_operations_open.
 */
export async function claimOperation(
  database: Database,
  claim: { workspaceId: string; origin: string; owner: string; at: Date } & Lease,
): Promise<ClaimedOperation | undefined> {
  const [operation] = await database<ClaimedOperation[]>`
    with due as (
      select operation.id, operation.state
      from segment_operations as operation
      where ${isDue(database, claim)} and operation.workspace_id = ${claim.workspaceId}
        and ${originOf(database)} = ${claim.origin}
      order by operation.not_before, operation.id
      limit 1
      for update skip locked
    )
    update segment_operations as operation
    set state = 'FILLING', owner = ${claim.owner}, lease_until = ${claim.leaseUntil},
      attempts = operation.attempts + 1, crashes = operation.crashes + (due.state = 'FILLING')::int
    from due, segments, workspaces
    where operation.id = due.id and segments.id = operation.segment_id and workspaces.id = operation.workspace_id
    returning operation.id, operation.workspace_id as "workspaceId", workspaces.db_name as "dbName",
      operation.segment_id as "segmentId", segments.name as "segmentName",
      segments.attribute_name as "attributeName", segments.attribute_type as "attributeType", operation.number,
      operation.kind, operation.request_id as "requestId", operation.file_url as "fileUrl",
      operation.callback_url as "callbackUrl", operation.emails, operation.attempts, operation.crashes,
      operation.owner, operation.created_at as "createdAt"`;
  return operation;
}

/** Proves that this worker still holds an operation. */
export type OperationHold = Pick<ClaimedOperation, 'id' | 'owner' | 'attempts'>;

/** Renews the lease and stores the progress. Index: primary key. @returns false when this worker no longer holds it */
export async function noteProgress(
  database: Database,
  hold: OperationHold & { bytesRead: number; valuesFound: number; leaseUntil: Date },
): Promise<boolean> {
  const rows = await database`
    update segment_operations
    set bytes_read = ${hold.bytesRead}, values_found = ${hold.valuesFound}, lease_until = ${hold.leaseUntil}
    where id = ${hold.id} and state = 'FILLING' and owner = ${hold.owner} and attempts = ${hold.attempts}
    returning 1`;
  return rows.length === 1;
}

/** Locks the operation to end it. @returns false when this worker no longer holds it: the caller must roll back */
export async function lockHeldOperation(tx: Queryable, hold: OperationHold): Promise<boolean> {
  const rows = await tx`
    select 1 from segment_operations
    where id = ${hold.id} and state = 'FILLING' and owner = ${hold.owner} and attempts = ${hold.attempts}
    for update`;
  return rows.length === 1;
}

/**
 * Releases an operation, to be retried at `notBefore`, with the caller's counts of `attempts` and `crashes`. Index:
 * primary key.
 */
export async function releaseOperation(
  database: Database,
  hold: OperationHold & { notBefore: Date; detail: string | null; counted: { attempts: number; crashes: number } },
): Promise<void> {
  await database`
    update segment_operations
    set state = case when ${hold.detail}::text is null then 'QUEUED' else 'WAITING' end, owner = null,
      lease_until = null, not_before = ${hold.notBefore}, error_detail = ${hold.detail},
      attempts = ${hold.counted.attempts}, crashes = ${hold.counted.crashes}
    where id = ${hold.id} and state = 'FILLING' and owner = ${hold.owner} and attempts = ${hold.attempts}`;
}

export type OperationResult =
  | { status: 201; valuesFound: number; valuesProcessed: number; userCount: number; countedUsers: number }
  | { status: 400 | 500; errorMessage: string; errorDetail: string };

/** FILLING → SUCCEEDED or FAILED. The caller holds the row's lock. */
export async function endOperation(
  tx: Queryable,
  { id, result, bytesRead, at }: { id: string; result: OperationResult; bytesRead: number; at: Date },
): Promise<void> {
  const done = result.status === 201 ? result : undefined;
  const failed = result.status === 201 ? undefined : result;
  await tx`
    update segment_operations
    set state = ${done ? 'SUCCEEDED' : 'FAILED'}, owner = null, lease_until = null, status = ${result.status},
      bytes_read = ${bytesRead}, values_found = coalesce(${done?.valuesFound ?? null}, values_found),
      values_processed = ${done?.valuesProcessed ?? null}, user_count = ${done?.userCount ?? null},
      counted_users = ${done?.countedUsers ?? null}, error_message = ${failed?.errorMessage ?? null},
      error_detail = ${failed?.errorDetail ?? null}, ended_at = ${at}
    where id = ${id}`;
}

/**
 * Updates the segment after an operation ended: its version and size if that succeeded. It is filling while further
 * operations are open, else ready, or failed if none ever succeeded. An archived one stays archived.
 */
export async function settleSegment(
  tx: Queryable,
  settled: { segmentId: string; version: number | null; userCount: number | null; reason: string | null; at: Date },
): Promise<void> {
  await tx`
    update segments
    set version = coalesce(${settled.version}::int, version), user_count = coalesce(${settled.userCount}::bigint, user_count),
      state = case
        when state = 'ARCHIVED' then state
        when exists (
          select 1 from segment_operations as open where open.segment_id = segments.id and open.ended_at is null
        ) then 'FILLING'
        when coalesce(${settled.version}::int, version) = 0 then 'FAILED'
        else 'READY'
      end,
      state_reason = ${settled.reason}, updated_at = ${settled.at}
    where id = ${settled.segmentId}`;
}

/** Lets one transaction at a time add to the uploaded users of a workspace, so that the daily limit is exact. */
export async function lockUploadedUsers(tx: Queryable, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`segment-users:${workspaceId}`}, 0))`;
}

/** Sums the users that files added after `since` (interface 8). Index: segment_operations_users. */
export async function sumCountedUsers(
  tx: Queryable,
  { workspaceId, since }: { workspaceId: string; since: Date },
): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select coalesce(sum(counted_users), 0)::bigint as users from segment_operations
    where workspace_id = ${workspaceId} and state = 'SUCCEEDED' and ended_at > ${since}`;
  return row!.users;
}

export type ListedOperation = {
  id: string;
  number: number;
  kind: OperationKind;
  requestId: string;
  fileUrl: string | null;
  state: OperationState;
  attempts: number;
  bytesRead: number;
  valuesFound: number;
  valuesProcessed: number | null;
  userCount: number | null;
  status: number | null;
  errorMessage: string | null;
  errorDetail: string | null;
  requestedBy: string;
  createdAt: Date;
  endedAt: Date | null;
};

/** Lists the operations of a segment, newest first. Index: segment_operations (segment_id, number). */
export async function listOperations(
  tx: Queryable,
  { workspaceId, segmentId, limit }: { workspaceId: string; segmentId: string; limit: number },
): Promise<ListedOperation[]> {
  return tx<ListedOperation[]>`
    select id, number, kind, request_id as "requestId", file_url as "fileUrl", state, attempts,
      bytes_read as "bytesRead", values_found as "valuesFound", values_processed as "valuesProcessed",
      user_count as "userCount", status, error_message as "errorMessage", error_detail as "errorDetail",
      requested_by as "requestedBy", created_at as "createdAt", ended_at as "endedAt"
    from segment_operations
    where workspace_id = ${workspaceId} and segment_id = ${segmentId}
    order by number desc limit ${limit}`;
}

/**
 * Creates the empty temporary table where a file is stored until all of it has arrived: not logged, visible to this
 * connection alone, dropped with it. No lock is held and no transaction is open while the rest of the file is awaited.
 */
export async function makeFileStaging(session: Session): Promise<void> {
  await session`create temporary table posted_file_pieces (number integer primary key, bytes bytea not null)`;
}

/** Stores the next piece of a file that is being uploaded. */
export async function stageFilePiece(
  session: Session,
  { number, bytes }: { number: number; bytes: Uint8Array },
): Promise<void> {
  await session`insert into posted_file_pieces (number, bytes) values (${number}, ${bytes})`;
}

/** Stores the file staged on this connection as the file of an operation, which must exist. */
export async function storeStagedFile(tx: Queryable, operationId: string): Promise<void> {
  await tx`
    insert into segment_file_pieces (operation_id, number, bytes)
    select ${operationId}, number, bytes from posted_file_pieces`;
}

/** Returns one piece, or undefined after the last. Index: primary key. */
export async function findFilePiece(
  tx: Queryable,
  { operationId, number }: { operationId: string; number: number },
): Promise<Buffer | undefined> {
  const [piece] = await tx<{ bytes: Buffer }[]>`
    select bytes from segment_file_pieces where operation_id = ${operationId} and number = ${number}`;
  return piece?.bytes;
}

/** Deletes the file of an operation that has ended. */
export async function deleteFilePieces(tx: Queryable, operationId: string): Promise<void> {
  await tx`delete from segment_file_pieces where operation_id = ${operationId}`;
}

export type Reject = { line: number; reason: string };

/** Stores the first `most` rejected lines of an operation's file. */
export async function insertRejects(
  tx: Queryable,
  { operationId, rejects, most }: { operationId: string; rejects: readonly Reject[]; most: number },
): Promise<void> {
  if (rejects.length === 0) return;
  await tx`
    insert into segment_rejects (operation_id, line, reason)
    select ${operationId}, reject.line, reject.reason
    from unnest(${rejects.map(({ line }) => line)}::int[], ${rejects.map(({ reason }) => reason)}::text[])
      as reject (line, reason)
    order by reject.line limit ${most}
    on conflict (operation_id, line) do nothing`;
}

/** Lists rejected lines in the order of the file. Index: primary key. */
export async function listRejects(
  tx: Queryable,
  { workspaceId, operationId, limit }: { workspaceId: string; operationId: string; limit: number },
): Promise<Reject[]> {
  return tx<Reject[]>`
    select segment_rejects.line, segment_rejects.reason
    from segment_rejects
    join segment_operations on segment_operations.id = segment_rejects.operation_id
    where segment_rejects.operation_id = ${operationId} and segment_operations.workspace_id = ${workspaceId}
    order by segment_rejects.line limit ${limit}`;
}
