import { inTransaction } from '../../src/storage/database.ts';
import type { LightMyRequestResponse } from 'fastify';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeAcceptPush } from '../../src/app/push/accept-push.ts';
import { makeAdmitPush } from '../../src/app/push/admit-push.ts';
import { registerDevice } from '../../src/app/users/devices.ts';
import { upsertUser } from '../../src/app/users/users.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeManualClock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { PushBodies } from '../../src/domain/push.ts';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { makeDoorbell } from '../../src/engine/doorbell.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import type { CompletedCall } from '../../src/http/server/build-server.ts';
import { pushRoutes } from '../../src/http/push/routes.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { measureForTests } from './measure-for-tests.ts';

export const start = new Date('2026-03-01T12:00:00Z');

export type PushBody = Record<string, unknown>;
export type PushBundle = Awaited<ReturnType<typeof makePushBundle>>;

/** A server with the push routes, one workspace with a push key, a database of its own, a clock that stands. */
export async function makePushBundle(
  options: { requestsPerMinute?: number; pushBodies?: PushBodies; headerPrefix?: string } = {},
) {
  const test = await createTestDatabase();
  const { database } = test;
  const clock = makeManualClock(start);
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const calls: CompletedCall[] = [];
  const log = makeLog({ level: 'silent', pretty: false });
  const tokens = makeTokenAuthority({ database, clock, encryption });
  const deps = { database, clock, encryption, tokens, vendorHeaders: makeVendorHeaders(options.headerPrefix ?? 'SVC') };
  const makeServer = () =>
    buildServer({ log, clock, trustProxy: false, onCall: (call) => void calls.push(call) }, [
      pushRoutes({
        ...deps,
        measure: measureForTests,
        admitPush: makeAdmitPush({ ...deps, ...options }),
        acceptPush: makeAcceptPush({ ...deps, doorbell: makeDoorbell(deps) }),
      }),
    ]);
  const server = await makeServer();
  const appId = await insertTestWorkspace(database, start);
  await database`update workspaces set push_bodies = ${options.pushBodies ?? 'strict'} where id = ${appId}`;
  const { secret: key } = await createKey({ encryption }, database, {
    workspaceId: appId,
    kind: 'push',
    name: 'Shop',
    at: start,
  });

  type Sending = {
    headers?: Record<string, string>;
    on?: Awaited<ReturnType<typeof makeServer>>;
    /** The source address. */
    from?: string;
  };

  /** Signs and sends through v2.1; headers given replace those made. */
  async function send(
    body: PushBody,
    { headers = {}, on = server, from = '192.0.2.1' }: Sending = {},
  ): Promise<LightMyRequestResponse> {
    const made: Record<string, string> = {
      'x-svc-appkey': appId,
      'x-svc-pushapi-signature': sign(asText(body.campaignName)),
      'x-svc-query-type': asText(body.targetAudience).toLowerCase(),
    };
    return on.inject({
      method: 'POST',
      url: '/v2.1/transaction/sendpush',
      headers: { ...made, ...headers },
      payload: body,
      remoteAddress: from,
    });
  }
  const sign = (campaignName: string): string => signPush({ appId, campaignName, key });

  return {
    ...test,
    clock,
    encryption,
    tokens,
    server,
    makeServer,
    calls,
    appId,
    key,
    sign,
    send,
    sendV2: (body: PushBody, more: PushBody = {}) =>
      server.inject({
        method: 'POST',
        url: '/v2/transaction/sendpush',
        payload: { appId, signature: sign(asText(body.campaignName)), ...body, ...more },
      }),
    /** Rows of the tables a push may leave behind. */
    async countRows() {
      const [row] = await database`
        select (select count(*) from campaigns) as campaigns, (select count(*) from campaign_names) as names,
          (select count(*) from runs) as runs, (select count(*) from chunks) as chunks,
          (select count(*) from push_requests) as requests`;
      return row as unknown as { campaigns: number; names: number; runs: number; chunks: number; requests: number };
    },
    async addUser(customerId: string, attributes: Record<string, unknown> = {}, gaid?: string) {
      await inTransaction(database, async (tx) => {
        await upsertUser(tx, { workspaceId: appId, customerId, attributes, at: clock.now() });
        const device = {
          workspaceId: appId,
          customerId,
          deviceId: 'phone',
          platform: 'ANDROID',
          pushId: `token-of-${customerId}`,
          ...(gaid === undefined ? {} : { gaid }),
        } as const;
        await registerDevice(tx, { ...device, at: clock.now() });
      });
    },
    async end() {
      await server.close();
      await test.drop();
    },
  };
}

/** What a header or signature can carry of a value that may be anything. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A request that is accepted; members given replace its own. */
export function goodBody(more: PushBody = {}): PushBody {
  return {
    campaignName: 'Spring sale',
    targetPlatform: ['ANDROID'],
    targetAudience: 'All Users',
    payload: { ANDROID: { title: 'Title', message: 'Text' } },
    campaignDelivery: { type: 'soon' },
    ...more,
  };
}

export function userBody(attributeValue: unknown = 'ada', more: PushBody = {}): PushBody {
  return goodBody({
    targetAudience: 'User',
    targetUserAttributes: {
      attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
      comparisonParameter: Array.isArray(attributeValue) ? 'in' : 'is',
      attributeValue,
    },
    ...more,
  });
}
