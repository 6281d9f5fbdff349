import { SignJWT } from 'jose';
import { makeAppEvents } from '../../src/app/installations/app-events.ts';
import { addIdentityKey, putAppAccess } from '../../src/app/installations/app-access.ts';
import { makeInboxStreams } from '../../src/app/installations/inbox-streams.ts';
import { makeInstallationInbox } from '../../src/app/installations/installation-inbox.ts';
import { makeInstallationTopics } from '../../src/app/installations/installation-topics.ts';
import { makeInstallations } from '../../src/app/installations/installations.ts';
import { makeReceipts } from '../../src/app/installations/receipts.ts';
import { makeInteractionReports } from '../../src/app/interactions.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeEnsureToday } from '../../src/app/users/events.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { makeDoorbell } from '../../src/engine/doorbell.ts';
import { appAccessRoutes } from '../../src/http/app-access.ts';
import { appRoutes } from '../../src/http/apps.ts';
import { dataRoutes } from '../../src/http/data/routes.ts';
import { installationRoutes } from '../../src/http/installations/routes.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import type { CompletedCall } from '../../src/http/server/build-server.ts';
import { makeLog } from '../../src/log.ts';
import { makeTriggerBundle } from '../triggers/trigger-bundle.ts';

export type InstallationBundle = Awaited<ReturnType<typeof makeInstallationBundle>>;

/** A phone's side of an installation: what the app would keep on the device. */
export type Phone = { id: string; secret: string };

/** A secret of the form that apps make. */
export const secretOf = (letter: string): string => letter.repeat(43);

type Sending = {
  body?: unknown;
  secret?: string | undefined;
  key?: string | undefined;
  origin?: string;
  address?: string;
};

/** The app API over the engine's bundle, as in production unless `isSandbox`. */
export async function makeInstallationBundle({ isSandbox = false }: { isSandbox?: boolean } = {}) {
  const engine = await makeTriggerBundle();
  const { database, clock, workspaceId } = engine;
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const vendorHeaders = makeVendorHeaders('SVC');
  const tokens = makeTokenAuthority({ database, clock, encryption });
  const deps = { database, acrossWorkspaces: database, clock, encryption, tokens, vendorHeaders };
  const reportTokens = makeInteractionTokens(Buffer.alloc(32, 7));
  const installations = makeInstallations(deps);
  const doorbell = makeDoorbell({ database });
  const streaming = {
    ...{ acrossWorkspaces: database, clock, installations, doorbell },
    // Longer than any test: what arrives was rung for.
    heartbeatMilliseconds: 600_000,
    limits: { streams: 3, ofInstallation: 2 },
  };
  const streams = makeInboxStreams(streaming);
  const interactions = makeInteractionReports({ database, clock, tokens: reportTokens });
  const ensureToday = makeEnsureToday(deps);
  const calls: CompletedCall[] = [];
  const log = makeLog({ level: 'silent', pretty: false });
  const server = await buildServer({ log, clock, trustProxy: 1, onCall: (call) => void calls.push(call) }, [
    appAccessRoutes(deps),
    appRoutes(deps),
    dataRoutes({ ...deps, ensureToday }),
    installationRoutes({
      ...{ authentication: { database, clock, isSandbox }, vendorHeaders, identity: { ...deps, isSandbox } },
      installations,
      topics: makeInstallationTopics({ ...deps, installations }),
      inbox: makeInstallationInbox({ ...deps, installations }),
      streams,
      acceptEvents: makeAppEvents({ ...deps, ensureToday }),
      acceptReceipts: makeReceipts({ installations, interactions }),
    }),
  ]);
  const made = { workspaceId, kind: 'app' as const, name: 'Shop app', at: clock.now() };
  const { key, secret: appKey } = await createKey({ encryption }, database, made);
  const actor = { kind: 'system', name: 'a test' } as const;
  const { id: kid, secret } = await addIdentityKey(deps, {
    actor,
    workspaceId,
    algorithm: 'HS256',
    publicKey: undefined,
  });
  await putAppAccess(deps, {
    ...{ actor, workspaceId, prefixes: vendorHeaders.prefixes },
    ...{ webOrigins: ['https://shop.example'], attributes: ['team', 'level'] },
  });

  async function call(method: 'POST' | 'PATCH' | 'OPTIONS' | 'GET', url: string, sending: Sending = {}) {
    const { body, secret: own, key: sent = appKey, origin, address = '198.51.100.7' } = sending;
    const answer = await server.inject({
      ...{
        method,
        url,
        headers: {
          ...(sent === '' ? {} : { authorization: `Bearer ${sent}` }),
          ...(own === undefined ? {} : { 'carillon-installation-secret': own }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(origin === undefined ? {} : { origin }),
          'x-forwarded-for': address,
        },
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body === '' ? {} : (answer.json() as any),
    };
  }

  const bundle = {
    ...engine,
    doorbell,
    streams,
    streaming,
    deps,
    installationServer: server,
    calls,
    appKey,
    appKeyId: key.id,
    kid,
    identitySecret: secret!,
    app: call,
    register: ({ id, secret: own }: Phone, body: object = {}, sending: Sending = {}) =>
      call('POST', '/v1/app/installations', {
        ...sending,
        ...{ secret: own, body: { installation_id: id, platform: 'ANDROID', push_token: `token-${id}`, ...body } },
      }),
    /** A token as the workspace's server would issue it. */
    sign(claims: Record<string, unknown> = {}, header: { alg?: string; kid?: string } = {}): Promise<string> {
      const now = Math.floor(clock.realNow().getTime() / 1000);
      return new SignJWT({ sub: 'ada', aud: workspaceId, iat: now, exp: now + 3_600, ...claims })
        .setProtectedHeader({ alg: 'HS256', kid, ...header })
        .sign(new TextEncoder().encode(secret));
    },
    async signIn(phone: Phone, customerId = 'ada') {
      const body = { identity_token: await bundle.sign({ sub: customerId }) };
      return call('POST', `/v1/app/installations/${phone.id}/identify`, { secret: phone.secret, body });
    },
    signOut: (phone: Phone) => call('POST', `/v1/app/installations/${phone.id}/logout`, { secret: phone.secret }),
    report: (phone: Phone, events: object[], more: object = {}) =>
      call('POST', '/v1/app/events', {
        ...{ secret: phone.secret, body: { installation_id: phone.id, events, ...more } },
      }),
    /** Every device as `user token state`. */
    async devices(): Promise<string[]> {
      const rows = await database<{ customer: string; token: string; state: string }[]>`
        select users.customer_id as customer, devices.push_id as token, devices.state
        from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
          and users.id = devices.user_id
        where devices.is_from_app order by devices.push_id`;
      return rows.map(
        ({ customer, token, state }) => `${customer.replace(/^anonymous-.*/, 'anonymous')} ${token} ${state}`,
      );
    },
    async attributes(customerId: string): Promise<Record<string, unknown> | undefined> {
      const [row] = await database`select attributes from users where customer_id = ${customerId}`;
      return row?.attributes as Record<string, unknown> | undefined;
    },
    async events(customerId: string): Promise<string[]> {
      const rows = await database`
        select events.name from events join users on users.bucket = events.bucket and users.id = events.user_id
        where users.customer_id = ${customerId} order by events.id`;
      return rows.map(({ name }) => name as string);
    },
    async stop() {
      await server.close();
      await engine.close();
    },
  };
  return bundle;
}
