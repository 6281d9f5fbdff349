import type { Queryable } from '../pool.ts';

export type ApiLogEntry = {
  id: string;
  workspaceId: string | null;
  receivedAt: Date;
  method: string;
  path: string;
  route: string;
  status: number;
  durationMilliseconds: number;
  keyId: string | null;
  errorName: string | null;
  errorDetail: string | null;
  warnings: string[];
  requestBody: string | null;
};

/** Stores a batch of finished calls. */
export async function insertApiLogEntries(tx: Queryable, entries: ApiLogEntry[]): Promise<void> {
  const rows = entries.map((entry) => ({
    id: entry.id,
    workspace_id: entry.workspaceId,
    received_at: entry.receivedAt,
    method: entry.method,
    path: entry.path,
    route: entry.route,
    status: entry.status,
    duration_ms: entry.durationMilliseconds,
    key_id: entry.keyId,
    error_name: entry.errorName,
    error_detail: entry.errorDetail,
    warnings: entry.warnings,
    request_body: entry.requestBody,
  }));
  await tx`insert into api_log ${tx(rows)}`;
}

/** Newest calls of a workspace. Index: api_log_workspace. */
export async function listApiLogEntries(
  tx: Queryable,
  page: { workspaceId: string; before: Date; limit: number },
): Promise<ApiLogEntry[]> {
  return tx<ApiLogEntry[]>`
    select id, workspace_id as "workspaceId", received_at as "receivedAt", method, path, route, status,
      duration_ms as "durationMilliseconds", key_id as "keyId", error_name as "errorName",
      error_detail as "errorDetail", warnings, request_body as "requestBody"
    from api_log
    where workspace_id = ${page.workspaceId} and received_at < ${page.before}
    order by received_at desc
    limit ${page.limit}`;
}

/** Drops calls older than the retention; at most 10,000 a call. Index: api_log_age. */
export async function deleteOldApiLogEntries(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from api_log where id in (select id from api_log where received_at < ${before} limit 10000)`;
  return rows.count;
}
