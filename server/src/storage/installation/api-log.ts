import type { Queryable } from '../database.ts';

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

/** Stores a batch of finished calls; lists, so that the text is the same for any number of them. */
export async function insertApiLogEntries(tx: Queryable, entries: ApiLogEntry[]): Promise<void> {
  await tx`
    insert into api_log (
      id, workspace_id, received_at, method, path, route, status, duration_ms, key_id, error_name, error_detail, request_body,
      warnings
    )
    select id, workspace_id, received_at, method, path, route, status, duration_ms, key_id, error_name, error_detail,
      request_body, array(select jsonb_array_elements_text(warnings::jsonb))
    from unnest(
      ${entries.map(({ id }) => id)}::text[], ${entries.map(({ workspaceId }) => workspaceId)}::text[],
      ${entries.map(({ receivedAt }) => receivedAt)}::timestamptz[], ${entries.map(({ method }) => method)}::text[],
      ${entries.map(({ path }) => path)}::text[], ${entries.map(({ route }) => route)}::text[],
      ${entries.map(({ status }) => status)}::int[],
      ${entries.map(({ durationMilliseconds }) => durationMilliseconds)}::float8[],
      ${entries.map(({ keyId }) => keyId)}::text[], ${entries.map(({ errorName }) => errorName)}::text[],
      ${entries.map(({ errorDetail }) => errorDetail)}::text[], ${entries.map(({ requestBody }) => requestBody)}::text[],
      ${entries.map(({ warnings }) => JSON.stringify(warnings))}::text[]
    ) as entry (
      id, workspace_id, received_at, method, path, route, status, duration_ms, key_id, error_name, error_detail, request_body,
      warnings
    )`;
}

export type ApiLogFilters = {
  /** Undefined: calls that named no workspace we know. */
  workspaceId: string | undefined;
  isRefused: boolean | undefined;
  keyId: string | undefined;
  /** The last one of the page before. */
  after: { receivedAt: Date; id: string } | undefined;
  limit: number;
};

export type ListedCall = Omit<ApiLogEntry, 'workspaceId' | 'requestBody'> & { keyName: string | null };

/** Calls of a workspace, newest first. Indexes: api_log_workspace, api_log_refused; of the names the keys' primary key. */
export async function listCalls(tx: Queryable, filters: ApiLogFilters): Promise<ListedCall[]> {
  const { workspaceId, isRefused, keyId, after, limit } = filters;
  return tx<ListedCall[]>`
    select call.id, received_at as "receivedAt", method, path, route, status, duration_ms as "durationMilliseconds",
      key_id as "keyId", api_keys.name as "keyName", error_name as "errorName", error_detail as "errorDetail", warnings
    from (
      select * from api_log
      where ${workspaceId === undefined ? tx`workspace_id is null` : tx`workspace_id = ${workspaceId}`}
        ${isRefused ? tx`and error_name is not null` : tx``}
        ${keyId === undefined ? tx`` : tx`and key_id = ${keyId}`}
        ${after ? tx`and (received_at, id) < (${after.receivedAt}, ${after.id})` : tx``}
      order by received_at desc, id desc
      limit ${limit}
    ) as call
    left join api_keys on api_keys.id = call.key_id
    order by received_at desc, call.id desc`;
}

/** One call of a workspace, or of none. Index: primary key. */
export async function findCall(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<(ListedCall & { requestBody: string | null }) | undefined> {
  const [row] = await tx<(ListedCall & { requestBody: string | null })[]>`
    select api_log.id, received_at as "receivedAt", method, path, route, status, duration_ms as "durationMilliseconds",
      key_id as "keyId", api_keys.name as "keyName", error_name as "errorName", error_detail as "errorDetail", warnings,
      request_body as "requestBody"
    from api_log
    left join api_keys on api_keys.id = api_log.key_id
    where api_log.id = ${id} and (api_log.workspace_id = ${workspaceId} or api_log.workspace_id is null)`;
  return row;
}

/** Drops calls older than the retention; at most 10,000 a call. Index: api_log_age. */
export async function deleteOldApiLogEntries(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from api_log where id in (select id from api_log where received_at < ${before} limit 10000)`;
  return rows.count;
}
