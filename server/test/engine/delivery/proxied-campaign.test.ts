import { createServer as createHttpServer } from 'node:http';
import { connect } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveProviderCredential } from '../../../src/app/credentials.ts';
import { makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { bucketOf } from '../../../src/domain/users/users.ts';
import { openCredentials } from '../../../src/engine/credentials.ts';
import { listProviderCredentials } from '../../../src/storage/keys/provider-credentials.ts';
import { startCarillonBundle, until } from '../../carillon-bundle.ts';
import type { CarillonBundle } from '../../carillon-bundle.ts';
import { isTinyproxyInstalled, listen, startOwnProxy, startTinyproxy } from '../outgoing-http/proxy-bundle.ts';
import { makeCertificate } from './make-certificate.ts';

const google = ['oauth2.googleapis.com', 'fcm.googleapis.com'];
const apple = 'api.sandbox.push.apple.com';
const certificate = makeCertificate([...google, apple]);
const trusted = getCACertificates('default');
const masterKey = Buffer.alloc(32, 7);
const devicesPerPlatform = 100;

/** A provider as the internet has it: TLS, by its own name, before the simulator of the sandbox. */
async function startFront(simulator: string) {
  const server = createTlsServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
    const inner = connect(Number(new URL(simulator).port), '127.0.0.1');
    socket.on('error', () => {}).on('close', () => inner.destroy());
    inner.on('error', () => {}).on('close', () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  return { port: await listen(server), stop: () => void server.close() };
}

/** The demo's credentials, as those of real accounts: nothing leads them to the simulators any more but their names. */
async function useRealProviders({ database, workspaceId }: CarillonBundle): Promise<void> {
  const encryption = makeEncryption(masterKey);
  const { fcm, apns } = openCredentials(encryption, await listProviderCredentials(database, workspaceId));
  for (const credential of [fcm!, apns!])
    await saveProviderCredential({ encryption }, database, {
      workspaceId,
      appId: 'default',
      credential: { ...credential, simulated: false },
      at: new Date(),
    });
}

async function addDevices({ database, workspaceId }: CarillonBundle): Promise<void> {
  const at = new Date();
  const rows = Array.from({ length: 2 * devicesPerPlatform }, (_, number) => {
    const [customerId, isAndroid] = [`behind-proxy-${number}`, number % 2 === 0];
    const platform = isAndroid ? 'ANDROID' : 'IOS';
    const pushId = isAndroid ? `token-${'a'.repeat(130)}${number}` : `ab${String(number).padStart(62, '0')}`;
    return { customerId, id: makeId(at), bucket: bucketOf(customerId), platform, pushId };
  });
  await database`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${workspaceId}, row.bucket, row.id, row.customer_id, ${at}, ${at}
    from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.customerId)}::text[]) as row (bucket, id, customer_id)`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
      created_at, updated_at)
    select ${workspaceId}, row.bucket, row.id, row.id, 'phone', row.platform, row.push_id, 'ACTIVE', ${at}, ${at}, ${at}
    from unnest(${rows.map((row) => row.bucket)}::smallint[], ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.platform)}::text[], ${rows.map((row) => row.pushId)}::text[])
      as row (bucket, id, platform, push_id)`;
}

const ended: (() => unknown)[] = [];
beforeAll(() => setDefaultCACertificates([...trusted, certificate.cert]));
afterAll(async () => {
  for (const end of ended.toReversed()) await end();
  setDefaultCACertificates(trusted);
});

test.skipIf(!isTinyproxyInstalled)(
  'sends a campaign, a file request and its callback through an authenticating proxy, and resends under the same identity after the proxy dies',
  async () => {
    const own = await startOwnProxy();
    ended.push(() => own.stop());
    const proxy = await startTinyproxy({ user: 'ann', password: 'CANARY', upstream: own.port });
    ended.push(() => proxy.stop());
    const bundle = await startCarillonBundle({
      CARILLON_OUTGOING_PROXY: `http://ann:CANARY@127.0.0.1:${proxy.port}`,
      CARILLON_PROXY_RESOLVES: 'true',
      CARILLON_PROXY_HOSTS: 'files.example.com',
      // One small window after the other, so that the proxy dies between the first and the last.
      CARILLON_WORKER_CHUNKS: '1',
      CARILLON_WINDOW_DEVICES: '20',
      CARILLON_MASTER_KEY: masterKey.toString('hex'),
    });
    ended.push(() => bundle.stop());
    const { database } = bundle;
    const [node] = await database<{ simulators: { fcm: string; apns: string } }[]>`
      select simulators from nodes`;
    const fronts = [await startFront(node!.simulators.fcm), await startFront(node!.simulators.apns)];
    ended.push(() => fronts.forEach((front) => front.stop()));
    for (const name of google) own.lead(`${name}:443`, fronts[0]!.port);
    own.lead(`${apple}:443`, fronts[1]!.port);
    await useRealProviders(bundle);
    await addDevices(bundle);
    const proxyState = async () => (await bundle.call('GET', '/readyz?verbose')).json().proxy;
    expect(await proxyState()).toBe('UNUSED');

    // Each answer takes a while, so that the proxy dies with messages on their way.
    const slow = { delayMilliseconds: 150 };
    await bundle.call('POST', '/sandbox/faults', { body: { fcm: slow, apns: slow } });
    const text = { title: 'Title', message: 'Text' };
    const push = await bundle.push({
      campaignName: 'By the proxy',
      targetAudience: 'All Users',
      targetPlatform: ['ANDROID', 'IOS'],
      payload: { ANDROID: text, IOS: text },
      campaignDelivery: { type: 'soon' },
    });
    expect(push.json()).toMatchObject({ status: 'Success' });
    const counted = async () => (await bundle.call('GET', '/sandbox/counters')).json();
    await until(async () => (await counted()).ANDROID.accepted > 10);
    expect(await proxyState()).toBe('OK');
    await proxy.kill();
    await until(async () => (await proxyState()) === 'PROXY_UNREACHABLE');
    await bundle.call('POST', '/sandbox/faults', { body: {} });
    await proxy.restart();

    await until(async () => {
      // What waits for the proxy waits for seconds.
      await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 10 } });
      const [run] = await database<{ status: string }[]>`select status from runs`;
      return run!.status === 'SENT';
    });
    // Those of the demo are reached too.
    const [reached] = await database<{ devices: number }[]>`
      select count(*)::int as devices from devices where platform in ('ANDROID', 'IOS')`;
    const all = reached!.devices;
    expect(all).toBeGreaterThanOrEqual(2 * devicesPerPlatform);
    const outcomes = await database`
      select outcome, count(*)::int as devices from readable_deliveries group by outcome`;
    expect([...outcomes]).toEqual([{ outcome: 'ACCEPTED', devices: all }]);
    // The simulators store what they took a moment after their answer.
    const messages = await until(async () => {
      const [found] = await database<{ requests: number; devices: number; identities: number }[]>`
        select count(*)::int as requests, count(distinct device_token)::int as devices,
          count(distinct message_id)::int as identities from sandbox_messages`;
      return found!.requests >= all && found;
    });
    expect(messages).toMatchObject({ devices: all, identities: all });
    expect(await proxyState()).toBe('OK');
    expect(new Set(own.authorities())).toEqual(new Set([...google, apple].map((name) => `${name}:443`)));

    const called = Promise.withResolvers<string>();
    const host = createHttpServer((request, response) => {
      if (request.method === 'GET') return void response.end('behind-proxy-1\nbehind-proxy-2\n');
      request.on('data', (piece: Buffer) => called.resolve(piece.toString()));
      response.end();
    });
    own.lead('files.example.com:80', await listen(host));
    ended.push(() => void host.close());
    const segment = await bundle.call('POST', '/v2/custom-segments/file-segment', {
      headers: { ...bundle.basic(), 'svc-dbname': bundle.block.dbName! },
      body: {
        name: 'By the proxy',
        attribute_name: 'USER_ATTRIBUTE_UNIQUE_ID',
        attribute_type: 'string',
        file_url: 'http://files.example.com/users.csv',
        callback_url: 'http://files.example.com/callback',
        emails: [],
        expiry_time: 1,
      },
    });
    expect([segment.status, segment.text]).toEqual([202, expect.stringContaining('"success":true')]);
    expect(JSON.parse(await called.promise)).toMatchObject({ status: 201, values_processed: 2 });
  },
  60_000,
);
