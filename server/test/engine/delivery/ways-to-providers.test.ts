import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { forAllProviders } from '../../../src/domain/delivery/providers.ts';
import type { ProviderName } from '../../../src/domain/delivery/providers.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import type { Delivery } from '../../../src/providers/deliver.ts';
import type { DeliveryBatch } from '../../../src/providers/batch.ts';
import { realProviderEndpoints, simulatorEndpointsAt } from '../../../src/providers/registry.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { makeLog } from '../../../src/log.ts';
import { makeMessage } from './make-message.ts';

const pem = { type: 'pkcs8', format: 'pem' } as const;
const credentials: Partial<Record<ProviderName, any>> = {
  fcm: {
    ...{ provider: 'fcm', projectId: 'shop', clientEmail: 'a@shop.test', privateKeyId: 'K', simulated: true },
    privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem),
  },
  apns: {
    ...{ provider: 'apns', teamId: 'TEAM000001', keyId: 'KEY0000001', topic: 'test.shop', simulated: true },
    environment: 'production',
    privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem),
  },
  webpush: { provider: 'webpush', publicKey: 'x', privateKey: 'x', subject: 'mailto:a@shop.test', simulated: true },
  hms: { provider: 'hms', clientId: '10', clientSecret: 's', owner: { kind: 'app', id: '42' }, simulated: true },
};

/** What stands for all providers here: gives out tokens, and accepts each message in the words of each. */
const server = createServer();
const seen: { path: string; body: any }[] = [];
server.on('stream', (stream, { ':path': path }) => {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => (text += piece));
  stream.on('end', () => {
    const isToken = path!.endsWith('/token');
    if (!isToken) seen.push({ path: path!, body: JSON.parse(text) });
    stream.respond({ ':status': 200, 'apns-id': 'from Apple' });
    stream.end(
      JSON.stringify(
        isToken
          ? { access_token: 'x', expires_in: 3600 }
          : { name: 'from Google', code: '80000000', requestId: 'from Huawei' },
      ),
    );
  });
});

let delivery: Delivery;
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  delivery = makeDelivery({
    clock: makeManualClock(new Date('2026-11-21T12:00:00Z')),
    log: makeLog({ level: 'silent', pretty: false }),
    allowedNetworks: [],
    endpoints: {
      ...realProviderEndpoints,
      simulators: simulatorEndpointsAt(forAllProviders(origin)),
    },
  });
});
afterAll(async () => {
  await delivery.close();
  server.close();
});

type Given = { platform: Platform; provider?: ProviderName; pushId?: string; credentials?: object; content?: object };

function requestOf({ platform, provider, pushId = 'ab'.repeat(32), credentials: given = credentials, content }: Given) {
  const message = makeMessage(platform, '0');
  return {
    message: { ...message, content: { ...message.content, ...content } } as never,
    device: { deviceId: '0', platform, pushId, ...(provider === undefined ? {} : { provider }) },
    credentials: given,
  };
}

const ways: [ProviderName, Platform, Outcome][] = [
  ['fcm', 'ANDROID', { kind: 'accepted', providerMessageId: 'from Google' }],
  ['fcm', 'IOS', { kind: 'accepted', providerMessageId: 'from Google' }],
  ['apns', 'IOS', { kind: 'accepted', providerMessageId: 'from Apple' }],
  ['hms', 'ANDROID', { kind: 'accepted', providerMessageId: 'from Huawei' }],
];

describe('a message goes to the provider that the device names, else to the usual one of its platform', () => {
  test.each(ways)('%s, %s', async (provider, platform, outcome) => {
    expect(await delivery.deliver(requestOf({ platform, provider }))).toEqual(outcome);
  });

  test.each<[Platform, Outcome]>([
    ['ANDROID', { kind: 'accepted', providerMessageId: 'from Google' }],
    ['IOS', { kind: 'accepted', providerMessageId: 'from Apple' }],
    ['WEB', { kind: 'gone', code: 'INVALID_SUBSCRIPTION' }],
  ])('%s', async (platform, outcome) => {
    expect(await delivery.deliver(requestOf({ platform }))).toEqual(outcome);
  });
});

test.each<[Platform, ProviderName | undefined, string]>([
  ['ANDROID', undefined, 'ANDROID'],
  ['ANDROID', 'fcm', 'ANDROID'],
  ['ANDROID', 'hms', 'ANDROID by hms'],
  ['IOS', undefined, 'IOS'],
  ['IOS', 'fcm', 'IOS by fcm'],
  ['WEB', undefined, 'WEB'],
  ['WEB', 'fcm', 'WEB by fcm'],
])('%s by %s without a credential stops, and says what is missing', async (platform, provider, missing) => {
  const detail = `this workspace has no credential for ${missing}`;
  const request = requestOf({ platform, ...(provider ? { provider } : {}), credentials: {} });
  expect(await delivery.deliver(request)).toEqual({ kind: 'stopped', code: 'NO_CREDENTIAL', detail });
});

test('a credential that cannot be used stops, in the words of what it broke on', async () => {
  const broken = { ...credentials, apns: { ...credentials.apns, keyId: 'BROKEN', privateKey: 'no key' } };
  const stopped = { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: expect.stringMatching(/\w/) };
  expect(await delivery.deliver(requestOf({ platform: 'IOS', credentials: broken }))).toEqual(stopped);
  const event = { id: '1', token: 'ab'.repeat(32), priority: 5, body: '{}', expiresAt: new Date(0) } as const;
  expect(await delivery.deliverLiveActivity({ message: event, credential: broken.apns })).toEqual(stopped);
});

describe('a question whether a message would be taken', () => {
  const lastBody = async (request: ReturnType<typeof requestOf>, ask: 'probe' | 'deliver') => {
    seen.length = 0;
    expect(await delivery[ask](request)).toMatchObject({ kind: 'accepted' });
    expect(seen).toHaveLength(1);
    return seen[0]!.body as object;
  };

  test.each(ways)(
    '%s, %s: is the same message, which FCM and Huawei are told not to deliver (delivery 1)',
    async (provider, platform) => {
      const request = requestOf({ platform, provider });
      const sent = await lastBody(request, 'deliver');
      expect(sent).not.toHaveProperty('validate_only');
      expect(await lastBody(request, 'probe')).toEqual(provider === 'apns' ? sent : { ...sent, validate_only: true });
    },
  );
});

describe('an event of a Live Activity', () => {
  const event = { id: '1', token: 'ab'.repeat(32), priority: 5, body: '{"aps":{}}', expiresAt: new Date(0) } as const;

  test('goes to Apple', async () => {
    seen.length = 0;
    const outcome = await delivery.deliverLiveActivity({ message: event, credential: credentials.apns });
    expect(outcome).toEqual({ kind: 'accepted', providerMessageId: 'from Apple' });
    expect(seen).toEqual([{ path: `/3/device/${event.token}`, body: { aps: {} } }]);
  });

  test('to what is no token of Apple’s is not sent', async () => {
    const message = { ...event, token: 'x' };
    expect(await delivery.deliverLiveActivity({ message, credential: credentials.apns })).toMatchObject({
      kind: 'gone',
    });
  });
});

describe('a batch goes the same ways', () => {
  const sendBatch = (
    { platform, provider, pushId = 'ab'.repeat(32), credentials: given = credentials }: Given,
    pace: DeliveryBatch['pace'],
  ) =>
    new Promise<Outcome>((onOutcome, reject) => {
      const send = delivery.openBatch({
        credentials: given,
        devices: [{ id: '0', platform, pushId, provider: provider ?? null, pushIdType: null }],
        messageOf: () => makeMessage(platform, '0'),
        pace,
        onOutcome: (_place, outcome) => onOutcome(outcome),
        onFault: (_place, error) => reject(error as Error),
      });
      send(0);
      setTimeout(() => reject(new Error('no outcome was told')), 3_000).unref();
    });

  test.each(ways)('%s, %s', async (provider, platform, outcome) => {
    // Through a lane the id of Apple's is the one that was sent.
    const ofLane =
      provider === 'apns' ? { ...outcome, providerMessageId: makeMessage('IOS', '0').identity.id } : outcome;
    expect(await sendBatch({ platform, provider }, 'in turn')).toEqual(ofLane);
    expect(await sendBatch({ platform, provider }, 'promptly')).toEqual(outcome);
    expect(await sendBatch({ platform, provider, credentials: {} }, 'in turn')).toMatchObject({
      code: 'NO_CREDENTIAL',
    });
  });

  test('to browsers each by itself', async () => {
    expect(await sendBatch({ platform: 'WEB', pushId: '{}' }, 'in turn')).toMatchObject({
      code: 'INVALID_SUBSCRIPTION',
    });
  });
});
