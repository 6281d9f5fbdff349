import type { AccessTokens } from './access-tokens.ts';
import { CarillonError, readJson, toCarillonError, unreachable } from './carillon-error.ts';
import { operations } from './generated/operations.ts';
import type { Operations } from './generated/operations.ts';
import { readWhole } from './read-whole.ts';
import { hostOf } from './service-hosts.ts';
import type { ServiceHosts } from './service-hosts.ts';
import { waitMilliseconds } from './wait-milliseconds.ts';

export type OperationId = keyof Operations;

export type CallOptions = {
  /** Ends the call and every wait of it; it rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Made by the client unless given, for every operation that takes one: a repeat is then done once. */
  idempotencyKey?: string | undefined;
};

/** What an operation is given; a member that it does not have is left out. */
export type Given<Id extends OperationId> = (Record<never, never> extends Operations[Id]['parameters']
  ? { parameters?: Operations[Id]['parameters'] }
  : { parameters: Operations[Id]['parameters'] }) &
  (Operations[Id]['body'] extends undefined ? { body?: undefined } : { body: Operations[Id]['body'] });

/** Calls any operation of the service. @throws CarillonError, and the reason of a signal that ends it */
export type CallService = <Id extends OperationId>(
  operation: Id,
  given: Given<Id>,
  options?: CallOptions & {
    /** Headers of one attempt, which a repeat makes anew: some are good for one alone. */
    sign?: (rawBody: string) => Promise<Record<string, string>>;
  },
) => Promise<Operations[Id]['reply']>;

export type CallServiceOptions = {
  hosts: string | ServiceHosts;
  workspaceId: string;
  headerPrefix: string;
  dbName: string | undefined;
  keys: { data: string | undefined; campaigns: string | undefined; push: string | undefined };
  tokens: AccessTokens | undefined;
  fetch: typeof fetch;
  maxRepeats: number;
  timeoutMilliseconds: number;
};

type Row = {
  method: string;
  path: string;
  family: string;
  key: 'data' | 'campaigns' | 'push' | 'none';
  query: readonly string[];
  headers: readonly string[];
};

const maxWaitSeconds = 60;

/** What every call has in common: address, credentials, patience with 429 and 503, repeats after a broken connection. */
export function makeCallService(options: CallServiceOptions): CallService {
  const { tokens, maxRepeats, timeoutMilliseconds } = options;

  async function attempt(url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
    const late = AbortSignal.timeout(timeoutMilliseconds);
    const ending = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      return await readWhole(await options.fetch(url, { ...init, signal: ending }));
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw unreachable(cause);
    }
  }

  return async (operation, { parameters, body }, { signal, idempotencyKey, sign } = {}) => {
    const row: Row = operations[operation];
    const url = addressOf(row, { options, parameters: parameters ?? {} });
    const rawBody = body === undefined ? undefined : JSON.stringify(body);
    const takesKey = row.headers.includes('Idempotency-Key');
    const key = takesKey ? (idempotencyKey ?? crypto.randomUUID()) : undefined;
    // A search changes nothing; what changes something is done once by its key.
    const isRepeatable =
      takesKey ||
      row.method === 'GET' ||
      /\/(search|meta|executions|validate|preview|export|campaign-stats)$/.test(row.path);
    let hasRenewed = false;
    for (let repeats = 0; ; repeats += 1) {
      signal?.throwIfAborted();
      let token: string | undefined;
      let answer: Response | undefined;
      try {
        if (bearerOf(row, options)) token = await unlessEnded(tokens!.get(), signal);
        const headers = {
          ...fixedHeaders(row, options),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(rawBody === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'Idempotency-Key': key }),
          ...(await sign?.(rawBody ?? '')),
        };
        const init: RequestInit = { method: row.method, headers };
        if (rawBody !== undefined) init.body = rawBody;
        answer = await attempt(url, init, signal);
      } catch (error) {
        // Without an answer nothing was sent yet, or nobody knows what became of it.
        if (!(error instanceof CarillonError) || repeats >= maxRepeats) throw error;
        const wasSent = token !== undefined || !bearerOf(row, options);
        if (error.fault.kind === 'unreachable' ? wasSent && !isRepeatable : ![429, 503].includes(error.status))
          throw error;
        await waitMilliseconds(patienceOf(error) ?? 250 * 2 ** repeats, signal);
        continue;
      }
      if (answer.ok) return (answer.status === 204 ? undefined : await readJson(answer)) as never;
      const refusal = await toCarillonError(answer);
      // A token that ended elsewhere is made anew, once.
      if (token !== undefined && answer.status === 401 && !hasRenewed) {
        hasRenewed = true;
        tokens!.forget(token);
        continue;
      }
      const isBusy = answer.status === 429 || (answer.status === 503 && isRepeatable);
      if (!isBusy || repeats >= maxRepeats) throw refusal;
      await waitMilliseconds(patienceOf(refusal) ?? 1_000, signal);
    }
  };
}

/** As long as the service asks, within a bound. */
function patienceOf({ retryAfterSeconds }: CarillonError): number | undefined {
  return retryAfterSeconds === undefined ? undefined : Math.min(retryAfterSeconds, maxWaitSeconds) * 1_000;
}

/** What many wait for goes on when one of them no longer does. */
async function unlessEnded<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  const waiting = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: waiting.signal });
  });
  try {
    return await Promise.race([promise, ended]);
  } finally {
    waiting.abort();
  }
}

function addressOf(
  { path, family, query }: Row,
  { options, parameters }: { options: CallServiceOptions; parameters: Record<string, unknown> },
): URL {
  const all: Record<string, unknown> = {
    app_id: options.workspaceId,
    workspace_id: options.workspaceId,
    ...parameters,
  };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(all[name])));
  const url = new URL(`${hostOf(options.hosts, family)}${filled}`);
  for (const name of query) if (all[name] !== undefined) url.searchParams.set(name, String(all[name]));
  return url;
}

function keyOf({ key }: Row, { keys }: CallServiceOptions): string | undefined {
  return key === 'none' ? undefined : keys[key];
}

/** Without a key of the family its calls travel under an access token. */
function bearerOf(row: Row, options: CallServiceOptions): boolean {
  if (row.key === 'none' || keyOf(row, options) !== undefined) return false;
  if (options.tokens) return true;
  throw new TypeError(`${row.key}Key or oauthKey is needed for ${row.path}`);
}

function fixedHeaders(row: Row, options: CallServiceOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const starred of row.headers) {
    const name = starred.replace('*', options.headerPrefix);
    if (starred.endsWith('APPKEY')) headers[name] = options.workspaceId;
    if (starred.endsWith('DBNAME') && options.dbName !== undefined) headers[name] = options.dbName;
  }
  const key = keyOf(row, options);
  // A key is ASCII; btoa takes it in browsers and Node alike.
  if (key !== undefined) headers.authorization = `Basic ${btoa(`${options.workspaceId}:${key}`)}`;
  return headers;
}
