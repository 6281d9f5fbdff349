import type { Queryable } from '../database.ts';

/** Which calls of the API log a pass reads: those of the workspace, or those that named no known workspace. */
export type ErasedCalls = 'WORKSPACE' | 'UNKNOWN';

export type CallPosition = { receivedAt: Date; id: string };

/** One pass over the API log, for all users of a workspace who were erased since the previous one began. */
export type LogPass = {
  workspaceId: string;
  calls: ErasedCalls;
  /** The last call that was read. */
  readUntil: CallPosition | undefined;
  until: Date;
  erasures: { erasureId: string; names: string[] }[];
};

/** Requests that the calls that name a user are emptied: those of the workspace, and those that named no known one. */
export async function insertLogErasure(
  tx: Queryable,
  { workspaceId, erasureId, names, until }: { workspaceId: string; erasureId: string; names: string[]; until: Date },
): Promise<void> {
  await tx`
    insert into log_erasures (workspace_id, erasure_id, calls, names, until_at)
    select ${workspaceId}, ${erasureId}, calls, ${JSON.stringify(names)}::text::jsonb, ${until}
    from unnest(array['WORKSPACE', 'UNKNOWN']) as calls
    on conflict (workspace_id, erasure_id, calls) do nothing`;
}

type Claimed = { workspaceId: string; calls: ErasedCalls; until: Date; readAt: Date | null; readId: string | null };

/**
 * Claims the pass that is due for longest, skipping passes that another node has claimed. Erasures of the same workspace that
 * are at the same position join it, at most `limit`. Indexes: log_erasures_due, primary key.
 */
export async function claimLogPass(
  tx: Queryable,
  { at, limit }: { at: Date; limit: number },
): Promise<LogPass | undefined> {
  const [first] = await tx<Claimed[]>`
    select workspace_id as "workspaceId", calls, until_at as until, read_at as "readAt", read_id as "readId"
    from log_erasures
    where until_at <= ${at}
    order by until_at, workspace_id, erasure_id, calls
    limit 1
    for update skip locked`;
  if (!first) return undefined;
  const { workspaceId, calls, readAt, readId } = first;
  const rows = await tx<{ erasureId: string; names: string[]; until: Date }[]>`
    select erasure_id as "erasureId", names, until_at as until from log_erasures
    where workspace_id = ${workspaceId} and calls = ${calls} and until_at <= ${at}
      and (read_at, read_id) is not distinct from (${readAt}::timestamptz, ${readId}::text)
    order by erasure_id
    limit ${limit}
    for update skip locked`;
  return {
    workspaceId,
    calls,
    readUntil: readAt === null ? undefined : { receivedAt: readAt, id: readId! },
    until: new Date(Math.max(...rows.map(({ until }) => until.getTime()))),
    erasures: rows.map(({ erasureId, names }) => ({ erasureId, names })),
  };
}

export type LoggedTexts = CallPosition & {
  path: string;
  errorDetail: string | null;
  warnings: string[];
  requestBody: string | null;
  responseBody: string | null;
};

/** Returns the next calls of a pass, oldest first. Index: api_log_workspace, backwards. */
export async function listCallsOfPass(
  tx: Queryable,
  { pass, limit }: { pass: LogPass; limit: number },
): Promise<LoggedTexts[]> {
  const { readUntil } = pass;
  return tx<LoggedTexts[]>`
    select received_at as "receivedAt", id, path, error_detail as "errorDetail", warnings, request_body as "requestBody",
      response_body as "responseBody"
    from api_log
    where ${pass.calls === 'UNKNOWN' ? tx`workspace_id is null` : tx`workspace_id = ${pass.workspaceId}`}
      and received_at <= ${pass.until}
      ${readUntil ? tx`and (received_at, id) > (${readUntil.receivedAt}, ${readUntil.id})` : tx``}
    order by received_at, id
    limit ${limit}`;
}

/** Removes the texts of calls. What remains: time, method, route, status, key and error name. Index: primary key. */
export async function emptyCalls(tx: Queryable, calls: readonly { id: string; path: string }[]): Promise<void> {
  await tx`
    update api_log
    set path = emptied.path, error_detail = null, warnings = '{}', request_body = null, response_body = null
    from unnest(${calls.map(({ id }) => id)}::text[], ${calls.map(({ path }) => path)}::text[]) as emptied (id, path)
    where api_log.id = emptied.id collate "C"`;
}

/** Stores how far a pass has read. Index: primary key. */
export async function advanceLogPass(tx: Queryable, { pass, to }: { pass: LogPass; to: CallPosition }): Promise<void> {
  await tx`
    update log_erasures set read_at = ${to.receivedAt}, read_id = ${to.id}
    where workspace_id = ${pass.workspaceId} and calls = ${pass.calls} and erasure_id = any(${idsOf(pass)})`;
}

/** Ends a pass, and with it the knowledge of whom it was about. Index: primary key. */
export async function endLogPass(tx: Queryable, pass: LogPass): Promise<void> {
  await tx`
    delete from log_erasures
    where workspace_id = ${pass.workspaceId} and calls = ${pass.calls} and erasure_id = any(${idsOf(pass)})`;
}

/** Adds emptied calls to the proofs of their erasures. Index: erasures primary key. */
export async function countEmptiedCalls(
  tx: Queryable,
  counts: readonly { erasureId: string; calls: number }[],
): Promise<void> {
  await tx`
    update erasures
    set counts = jsonb_set(counts, '{api_log}', to_jsonb(coalesce((counts ->> 'api_log')::integer, 0) + counted.calls))
    from unnest(${counts.map(({ erasureId }) => erasureId)}::text[], ${counts.map(({ calls }) => calls)}::integer[])
      as counted (erasure_id, calls)
    where erasures.id = counted.erasure_id collate "C"`;
}

function idsOf({ erasures }: LogPass): string[] {
  return erasures.map(({ erasureId }) => erasureId);
}
