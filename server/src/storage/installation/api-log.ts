import type { Fragment, Queryable } from '../database.ts';

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
  responseBody: string | null;
  /** JSON of `{ request, response }`, each an object by header name. */
  headers: string | null;
};

/**
 * Stores a batch of finished calls. Passes arrays, so that the statement's text is the same for any number of calls.
 * Does not wait for the disk: a database crash loses the calls of the last half second, as a crash of the node does.
 * Responses that become durable meanwhile wait for one flush less. Warnings are rare, and parsing an empty list of them took a
 * twelfth of the statement.
 */
export async function insertApiLogEntries(tx: Queryable, entries: ApiLogEntry[]): Promise<void> {
  await tx`
    insert into api_log (
      id, workspace_id, received_at, method, path, route, status, duration_ms, key_id, error_name, error_detail, request_body,
      response_body, headers, warnings
    )
    select id, workspace_id, received_at, method, path, route, status, duration_ms, key_id, error_name, error_detail,
      request_body, response_body, headers,
      case when warnings is null then '{}' else array(select jsonb_array_elements_text(warnings::jsonb)) end
    from unnest(
      ${entries.map(({ id }) => id)}::text[], ${entries.map(({ workspaceId }) => workspaceId)}::text[],
      ${entries.map(({ receivedAt }) => receivedAt)}::timestamptz[], ${entries.map(({ method }) => method)}::text[],
      ${entries.map(({ path }) => path)}::text[], ${entries.map(({ route }) => route)}::text[],
      ${entries.map(({ status }) => status)}::int[],
      ${entries.map(({ durationMilliseconds }) => durationMilliseconds)}::float8[],
      ${entries.map(({ keyId }) => keyId)}::text[], ${entries.map(({ errorName }) => errorName)}::text[],
      ${entries.map(({ errorDetail }) => errorDetail)}::text[], ${entries.map(({ requestBody }) => requestBody)}::text[],
      ${entries.map(({ responseBody }) => responseBody)}::text[], ${entries.map(({ headers }) => headers)}::text[],
      ${entries.map(({ warnings }) => (warnings.length === 0 ? null : JSON.stringify(warnings)))}::text[]
    ) as entry (
      id, workspace_id, received_at, method, path, route, status, duration_ms, key_id, error_name, error_detail, request_body,
      response_body, headers, warnings
    ), set_config('synchronous_commit', 'off', true) as unflushed`;
}

export type LogPlace = { receivedAt: Date; id: string };

export type ApiLogFilters = {
  /** Undefined: calls that named no known workspace. */
  workspaceId: string | undefined;
  isRefused: boolean | undefined;
  keyId: string | undefined;
  /** The first digit of the status. */
  statusClass: number | undefined;
  /** A substring of the path. */
  path: string | undefined;
  /** A substring of the path or of a body, as far as they are kept. */
  text: string | undefined;
  from: Date | undefined;
  /** Exclusive. */
  before: Date | undefined;
  /** The last call of the previous page. */
  after: LogPlace | undefined;
};

export type ListedCall = Omit<ApiLogEntry, 'workspaceId' | 'requestBody' | 'responseBody' | 'headers'> & {
  keyName: string | null;
};

/**
 * Lists calls of a workspace, newest first, down to `until` if given. Indexes: api_log_workspace, api_log_refused; for
 * the names the keys' primary key.
 */
export async function listCalls(
  tx: Queryable,
  { until, limit, ...filters }: ApiLogFilters & { until?: LogPlace | undefined; limit: number },
): Promise<ListedCall[]> {
  const { keyId, statusClass, path, text } = filters;
  return tx<ListedCall[]>`
    select call.id, received_at as "receivedAt", method, path, route, status, duration_ms as "durationMilliseconds",
      key_id as "keyId", api_keys.name as "keyName", error_name as "errorName", error_detail as "errorDetail", warnings
    from (
      select * from api_log
      where ${inOrder(tx, filters)}
        ${until ? tx`and (received_at, id) >= (${until.receivedAt}, ${until.id})` : tx``}
        ${keyId === undefined ? tx`` : tx`and key_id = ${keyId}`}
        ${statusClass === undefined ? tx`` : tx`and status >= ${statusClass * 100} and status < ${statusClass * 100 + 100}`}
        ${path === undefined ? tx`` : tx`and strpos(path, ${path}) > 0`}
        ${text === undefined ? tx`` : holdsText(tx, text)}
      order by received_at desc, id desc
      limit ${limit}
    ) as call
    left join api_keys on api_keys.id = call.key_id
    order by received_at desc, call.id desc`;
}

/**
 * Returns where a search continues after it has read `calls` calls; undefined if fewer are left. Indexes: as listCalls.
 */
export async function findCallBehind(
  tx: Queryable,
  { calls, ...filters }: ApiLogFilters & { calls: number },
): Promise<LogPlace | undefined> {
  const [row] = await tx<LogPlace[]>`
    select received_at as "receivedAt", id from api_log
    where ${inOrder(tx, filters)}
    order by received_at desc, id desc
    offset ${calls} limit 1`;
  return row;
}

/** Conditions that use the order of an index. */
function inOrder(tx: Queryable, { workspaceId, isRefused, from, before, after }: ApiLogFilters): Fragment {
  return tx`
    ${workspaceId === undefined ? tx`workspace_id is null` : tx`workspace_id = ${workspaceId}`}
    ${isRefused ? tx`and error_name is not null` : tx``}
    ${from ? tx`and received_at >= ${from}` : tx``}
    ${before ? tx`and received_at < ${before}` : tx``}
    ${after ? tx`and (received_at, id) < (${after.receivedAt}, ${after.id})` : tx``}`;
}

function holdsText(tx: Queryable, text: string): Fragment {
  return tx`and (id = ${text} or strpos(path, ${text}) > 0 or strpos(request_body, ${text}) > 0
    or strpos(response_body, ${text}) > 0)`;
}

export type OpenedCall = ListedCall & Pick<ApiLogEntry, 'requestBody' | 'responseBody' | 'headers'>;

/** Finds one call of a workspace, or of none. Index: primary key. */
export async function findCall(
  tx: Queryable,
  { workspaceId, id, scope }: { workspaceId: string; id: string; scope: 'workspace' | 'installation' },
): Promise<OpenedCall | undefined> {
  const [row] = await tx<OpenedCall[]>`
    select api_log.id, received_at as "receivedAt", method, path, route, status, duration_ms as "durationMilliseconds",
      key_id as "keyId", api_keys.name as "keyName", error_name as "errorName", error_detail as "errorDetail", warnings,
      request_body as "requestBody", response_body as "responseBody", headers
    from api_log
    left join api_keys on api_keys.id = api_log.key_id
    where api_log.id = ${id}
      and (api_log.workspace_id = ${workspaceId} ${scope === 'installation' ? tx`or api_log.workspace_id is null` : tx``})`;
  return row;
}

/** Deletes calls older than the retention, at most 10,000 per call. Index: api_log_age. */
export async function deleteOldApiLogEntries(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from api_log where id in (select id from api_log where received_at < ${before} limit 10000)`;
  return rows.count;
}
