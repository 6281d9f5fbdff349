import type { LightMyRequestResponse } from 'fastify';
import { dataLimits } from '../../src/app/data.ts';
import { makeEnsureToday } from '../../src/app/users/events.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import type { CompletedCall } from '../../src/http/server/build-server.ts';
import { dataRoutes } from '../../src/http/data/routes.ts';
import { sourceRoutes } from '../../src/http/source/routes.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

export const start = new Date('2026-03-01T12:00:00Z');

/** Answers of the data family, whichever they are. */
export type DataAnswerBody = {
  status: string;
  error: { attribute?: string; message: string; type: string };
  data: { users: { user_attributes: Record<string, unknown> }[]; users_not_found: unknown[] };
} & Record<string, unknown>;

export type DataBundle = Awaited<ReturnType<typeof makeDataBundle>>;

/** A server with the data routes, one workspace with a key of each kind, a database of its own, a clock that stands. */
export async function makeDataBundle({ requestsPerMinute }: { requestsPerMinute?: number } = {}) {
  const test = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const calls: CompletedCall[] = [];
  const limits =
    requestsPerMinute === undefined
      ? undefined
      : Object.fromEntries(Object.keys(dataLimits).map((operation) => [operation, requestsPerMinute]));
  const ensureToday = makeEnsureToday({ database, clock });
  const tokens = makeTokenAuthority({ database, clock, encryption });
  const deps = { database, clock, encryption, tokens, ensureToday, ...(limits ? { limits } : {}) };
  const server = await buildServer(
    {
      log: makeLog({ level: 'silent', pretty: false }),
      clock,
      trustProxy: false,
      onCall: (call) => void calls.push(call),
    },
    [
      dataRoutes({ ...deps, vendorHeaders: makeVendorHeaders('SVC') }),
      sourceRoutes({ ...deps, vendorHeaders: makeVendorHeaders('SVC') }),
    ],
  );
  const workspaceId = await insertTestWorkspace(database, start);
  const makeKey = async (kind: 'data' | 'push' | 'oauth', ofWorkspace = workspaceId) =>
    (await createKey({ encryption }, database, { workspaceId: ofWorkspace, kind, name: kind, at: start })).secret;
  const key = await makeKey('data');
  const basic = (secret: string, ofWorkspace = workspaceId) =>
    `Basic ${Buffer.from(`${ofWorkspace}:${secret}`).toString('base64')}`;

  type Sending = { headers?: Record<string, string | undefined>; workspace?: string };
  function post(
    family: 'customer' | 'device',
    payload: unknown,
    sending: Sending = {},
  ): Promise<LightMyRequestResponse> {
    const headers = { authorization: basic(key), 'content-type': 'application/json', ...sending.headers };
    return server.inject({
      method: 'POST',
      url: `/v1/${family}/${sending.workspace ?? workspaceId}`,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >,
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    });
  }

  /** A call of a route that names the workspace in the query, or in the path when it ends with a slash. */
  async function call(path: string, payload: unknown, { headers, workspace = workspaceId }: Sending = {}) {
    const answer = await server.inject({
      method: 'POST',
      url: path.endsWith('/') ? `${path}${workspace}` : `${path}?app_id=${workspace}`,
      headers: { authorization: basic(key), 'content-type': 'application/json', ...headers } as Record<string, string>,
      payload: JSON.stringify(payload),
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() as DataAnswerBody };
  }

  return {
    ...test,
    clock,
    encryption,
    tokens,
    server,
    call,
    calls,
    workspaceId,
    key,
    makeKey,
    basic,
    post,
    addUser: (customerId: string, attributes: Record<string, unknown> = {}) =>
      post('customer', { type: 'customer', customer_id: customerId, attributes }),
    addDevice: (customerId: string, deviceId: string, attributes: Record<string, unknown> = {}) =>
      post('device', {
        type: 'device',
        customer_id: customerId,
        device_id: deviceId,
        attributes: { platform: 'ANDROID', push_id: `token-${customerId}-${deviceId}`, ...attributes },
      }),
    async devices(): Promise<{ customer: string; device: string; push: string; state: string; platform: string }[]> {
      const rows = await database`
        select users.customer_id as customer, devices.device_id as device, devices.push_id as push, devices.state,
          devices.platform
        from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
          and users.id = devices.user_id
        order by 1, 2`;
      return [...rows] as never;
    },
    async identifiers(customerId: string): Promise<string[]> {
      const rows = await database`
        select identifiers.attribute || ':' || identifiers.type || '=' || identifiers.value as text
        from identifiers join users on users.workspace_id = identifiers.workspace_id
          and users.bucket = identifiers.bucket and users.id = identifiers.user_id
        where users.customer_id = ${customerId} order by 1`;
      return rows.map((row) => row.text as string);
    },
    async attributes(customerId: string): Promise<Record<string, unknown> | undefined> {
      const [row] = await database`select attributes from users where customer_id = ${customerId}`;
      return row?.attributes as Record<string, unknown> | undefined;
    },
    async end() {
      await server.close();
      await test.drop();
    },
  };
}
