import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';
import apn from '@parse/node-apn';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDeliveryBundle } from './delivery-bundle.ts';
import { makeCertificate } from './make-certificate.ts';

// @parse/node-apn as it is published, with token authentication, in place of our sender.
const certificate = makeCertificate();
const good = 'ab'.repeat(32);
const taken = { device: good, 'apns-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) };
let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
let front: Awaited<ReturnType<typeof startTlsFront>>;
let provider: apn.Provider;

/** The library speaks TLS only; this ends it and hands the bytes to the simulator. */
async function startTlsFront(origin: string) {
  const sockets = new Set<Socket>();
  const server = createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
    const inner = connect(Number(new URL(origin).port), '127.0.0.1');
    for (const end of [socket, inner]) {
      sockets.add(end);
      end.on('error', () => {});
      end.on('close', () => {
        socket.destroy();
        inner.destroy();
      });
    }
    socket.pipe(inner).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function makeProvider(change: Partial<apn.ProviderToken> = {}): apn.Provider {
  const { privateKey, keyId, teamId } = bundle.credentials.apns;
  return new apn.Provider({
    token: { key: privateKey, keyId, teamId, ...change },
    address: 'localhost',
    port: front.port,
    ca: [certificate.cert],
  });
}

function makeNotification(topic = bundle.credentials.apns.topic): apn.Notification {
  const notification = new apn.Notification();
  notification.topic = topic;
  notification.pushType = 'alert';
  notification.alert = { title: 'Title', body: 'Text' };
  notification.expiry = Math.floor(Date.now() / 1000) + 3600;
  notification.collapseId = 'one';
  return notification;
}

beforeAll(async () => {
  bundle = await startDeliveryBundle();
  // The library signs with the machine's time.
  bundle.clock.advance(Date.now() - bundle.clock.now().getTime());
  bundle.simulators.syncClock();
  front = await startTlsFront(bundle.simulators.endpoints.apns);
  provider = makeProvider();
});
afterAll(async () => {
  await provider.shutdown();
  await front.stop();
  await bundle.stop();
});

test('an alert push is taken and arrives as the device sees it', async () => {
  const { sent, failed } = await provider.send(makeNotification(), good);
  // Apple makes an id for a notification that comes without one, and says it.
  expect({ sent, failed }).toEqual({ sent: [taken], failed: [] });
  await expect.poll(() => bundle.delivered).toHaveLength(1);
  expect(bundle.delivered[0]).toMatchObject({
    platform: 'IOS',
    deviceToken: good,
    title: 'Title',
    body: 'Text',
    collapseId: 'one',
    messageId: (sent[0] as typeof taken)['apns-id'],
  });
});

test('many devices over its one connection are all answered', async () => {
  const devices = Array.from({ length: 500 }, (_, number) => number.toString(16).padStart(64, 'a'));
  const { sent, failed } = await provider.send(makeNotification(), devices);
  expect({ sent: sent.length, failed }).toEqual({ sent: 500, failed: [] });
});

// The shapes of the library's own documentation (doc/provider.markdown): device, status, response.reason.
test.each<[string, { device: string; status: number; response: object }]>([
  [
    'a dead token',
    {
      device: 'dead0410'.padEnd(64, '0'),
      status: 410,
      response: { reason: 'Unregistered', timestamp: expect.any(Number) },
    },
  ],
  ['a token that is none', { device: 'dead0400'.padEnd(64, '0'), status: 400, response: { reason: 'BadDeviceToken' } }],
  ['a token of letters', { device: 'xyz', status: 400, response: { reason: 'BadDeviceToken' } }],
])('%s fails with the status and reason that Apple gives', async (_what, refused) => {
  const result = await provider.send(makeNotification(), [good, refused.device]);
  expect(result).toEqual({ sent: [taken], failed: [refused] });
});

test('another topic is refused', async () => {
  const { failed } = await provider.send(makeNotification('com.example.other'), good);
  expect(failed).toMatchObject([{ status: 400, response: { reason: 'DeviceTokenNotForTopic' } }]);
});

test('a foreign key is refused', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const foreign = makeProvider({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string });
  const { sent, failed } = await foreign.send(makeNotification(), good);
  expect(sent).toEqual([]);
  expect(failed).toMatchObject([{ status: 403, response: { reason: 'InvalidProviderToken' } }]);
  await foreign.shutdown();
});
