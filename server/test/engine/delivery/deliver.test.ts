import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { forAllProviders } from '../../../src/domain/delivery/providers.ts';
import type { ProviderName } from '../../../src/domain/delivery/providers.ts';
import { magicTokens } from '../../../src/domain/sandbox/magic-tokens.ts';
import { makeLog } from '../../../src/log.ts';
import { isYoungToken, makeAccessTokens } from '../../../src/providers/access-tokens.ts';
import type { DeliveryBatch } from '../../../src/providers/batch.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import type { Delivery } from '../../../src/providers/deliver.ts';
import type { Answer, Outcome } from '../../../src/providers/provider.ts';
import { realProviderEndpoints, simulatorEndpointsAt } from '../../../src/providers/registry.ts';
import { http2Clients, startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, failedAnswer } from './scripted-transport.ts';

describe('delivery', () => {
  const everyPlatform: Platform[] = ['ANDROID', 'IOS', 'WEB'];
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;

  describe.each(http2Clients)('delivery by the HTTP/2 client %s', (http2Client) => {
    beforeAll(async () => {
      bundle = await startDeliveryBundle(http2Client);
    });
    afterEach(async () => {
      await bundle.simulators.reset();
      bundle.delivered.length = 0;
    });
    afterAll(() => bundle.stop());

    async function sendMany(platform: Platform, count: number): Promise<string[]> {
      const outcomes = await Promise.all(
        Array.from({ length: count }, (_, number) => bundle.send(platform, { number })),
      );
      return outcomes.map(({ kind }) => kind);
    }

    describe('delivery through the real provider code to the simulators', () => {
      test.each(everyPlatform)('%s: delivers a message as the device displays it', async (platform) => {
        expect(await bundle.send(platform)).toMatchObject({ kind: 'accepted' });
        expect(await bundle.simulators.counters()).toMatchObject({
          [platform]: { received: 1, accepted: 1, refused: 0 },
        });
        await expect.poll(() => bundle.delivered).toHaveLength(1);
        expect(bundle.delivered[0]).toMatchObject({
          workspaceId: 'WORKSPACE',
          platform,
          title: 'Title',
          body: 'Text',
          campaignId: 'c'.repeat(24),
          collapseId: expect.stringMatching(/^[\w-]{32}$/),
        });
      });

      test.each(everyPlatform)(
        '%s: gives the same device in the same run the same identity on every attempt',
        async (platform) => {
          await bundle.send(platform, { number: 7 });
          await bundle.send(platform, { number: 7 });
          await bundle.send(platform, { number: 8 });
          await expect.poll(() => bundle.delivered).toHaveLength(3);
          const identities = bundle.delivered.map(({ collapseId, messageId }) => `${collapseId} ${messageId}`);
          expect(new Set(identities).size).toBe(2);
        },
      );

      const expectations = {
        gone: ['gone', 'gone', 'ambiguous'],
        invalid: ['gone', 'ambiguous', 'ambiguous'],
        rejected: ['rejected', 'rejected', 'rejected'],
        busy: ['wait', 'wait', 'wait'],
      };
      test.each(Object.entries(expectations))(
        'returns the documented outcome for the magic address "%s"',
        async (name, expected) => {
          const { fcm, apns, webpush: web } = magicTokens.find(({ outcome }) => outcome === name)!;
          const outcomes = await Promise.all([
            bundle.send('ANDROID', { pushId: `${fcm}-${'a'.repeat(100)}` }),
            bundle.send('IOS', { pushId: apns!.padEnd(64, '0') }),
            bundle.send('WEB', { pushId: bundle.subscription(`${web}-1`) }),
          ]);
          expect(outcomes.map(({ kind }) => kind)).toEqual(expected);
          expect(bundle.delivered).toEqual([]);
        },
      );
    });

    test('hands over the messages of the phones when they settle, and when they are stopped', async () => {
      await bundle.send('ANDROID', { number: 1 });
      await bundle.simulators.settle();
      expect(bundle.delivered).toHaveLength(1);
      const other = await startDeliveryBundle();
      await other.send('ANDROID', { number: 1 });
      await other.stop();
      expect(other.delivered).toHaveLength(1);
    });

    describe('faults of a provider', () => {
      test.each(everyPlatform)(
        '%s: loses and repeats nothing if a GOAWAY follows every tenth stream',
        async (platform) => {
          const count = platform === 'WEB' ? 100 : 500;
          const provider = { ANDROID: 'fcm', IOS: 'apns', WEB: 'webpush' }[platform];
          await bundle.simulators.setFaults({ [provider]: { goawayEvery: 10 } });
          // Far more requests than streams: what cannot be had in three tries comes back as "wait", surely unsent.
          const kinds = await sendMany(platform, count);
          const accepted = kinds.filter((kind) => kind === 'accepted').length;
          expect(kinds.filter((kind) => kind !== 'accepted' && kind !== 'wait')).toEqual([]);
          await expect.poll(() => bundle.delivered.length).toBe(accepted);
          expect(new Set(bundle.delivered.map(({ messageId }) => messageId)).size).toBe(accepted);
        },
      );

      test('keeps to one stream at a time, and delivers all messages', async () => {
        await bundle.simulators.setFaults({ apns: { maxStreams: 1 } });
        expect(new Set(await sendMany('IOS', 100))).toEqual(new Set(['accepted']));
        expect((await bundle.simulators.counters()).IOS.accepted).toBe(100);
      });

      test('reports a reset stream as unknown, because the message may have been delivered', async () => {
        await bundle.simulators.setFaults({ fcm: { reset: true, count: 1 } });
        // The access token comes first; it is cached by an earlier test or fetched by this one.
        const kinds = [await bundle.send('ANDROID'), await bundle.send('ANDROID'), await bundle.send('ANDROID')].map(
          ({ kind }) => kind,
        );
        expect(kinds).toContain('unknown');
        expect(kinds.at(-1)).toBe('accepted');
      });

      test('waits as long as a 429 with Retry-After says', async () => {
        await bundle.simulators.setFaults({
          apns: { status: 429, body: '{"reason":"TooManyRequests"}', headers: { 'retry-after': '9' } },
        });
        expect(await bundle.send('IOS')).toEqual({
          kind: 'wait',
          code: 'TooManyRequests',
          scope: 'device',
          retryAfterSeconds: 9,
        });
      });

      test('waits after HTML instead of JSON, and never throws', async () => {
        await bundle.simulators.setFaults({ webpush: { status: 502, body: '<html>Bad Gateway</html>' } });
        expect(await bundle.send('WEB')).toMatchObject({ kind: 'wait', code: '502' });
      });

      test('keeps the simulators running when connections are cut while a fault is set', async () => {
        const origin = bundle.simulators.endpoints.apns;
        for (let round = 0; round < 20; round += 1) {
          const sessions = await Promise.all(
            Array.from({ length: 10 }, async () => {
              const session = connect(origin);
              await once(session, 'remoteSettings');
              return session;
            }),
          );
          for (const session of sessions) session.destroy();
          for (let look = 0; look < 10; look += 1) await bundle.simulators.setFaults({ apns: { maxStreams: 1 } });
        }
        expect((await bundle.simulators.counters()).IOS.accepted).toBe(0);
      });

      test('rejects an unknown fault switch by name', async () => {
        await expect(bundle.simulators.setFaults({ fcm: { latency: 5 } })).rejects.toMatchObject({
          context: { field: 'fcm.latency' },
        });
      });
    });

    describe('credentials and addresses', () => {
      test('stops the run for a foreign key, in the words of the provider', async () => {
        const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
        const foreign = {
          ...bundle.credentials.apns,
          keyId: 'OTHERKEY00',
          privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        };
        expect(await bundle.send('IOS', { credentials: { apns: foreign } })).toMatchObject({
          kind: 'stopped',
          code: 'InvalidProviderToken',
        });
      });

      test('stops the run for a service account that Google does not know', async () => {
        const unknown = { ...bundle.credentials.fcm, clientEmail: 'nobody@example.com' };
        expect(await bundle.send('ANDROID', { credentials: { fcm: unknown } })).toMatchObject({
          kind: 'stopped',
          code: 'TOKEN_REFUSED',
        });
      });

      test('stops the run for a missing or unreadable credential, and names the reason', async () => {
        expect(await bundle.send('WEB', { credentials: {} })).toMatchObject({ kind: 'stopped', code: 'NO_CREDENTIAL' });
        const broken = { ...bundle.credentials.apns, keyId: 'BROKENKEY0', privateKey: 'not a key' };
        expect(await bundle.send('IOS', { credentials: { apns: broken } })).toMatchObject({
          kind: 'stopped',
          code: 'CREDENTIAL_UNUSABLE',
        });
      });

      test('renews the provider token after an hour, and the provider accepts it', async () => {
        expect(await bundle.send('IOS')).toMatchObject({ kind: 'accepted' });
        bundle.clock.advance(3_700_000);
        bundle.simulators.syncClock();
        expect(await bundle.send('IOS')).toMatchObject({ kind: 'accepted' });
        expect(await bundle.send('ANDROID')).toMatchObject({ kind: 'accepted' });
        expect(await bundle.send('WEB')).toMatchObject({ kind: 'accepted' });
      });

      test('never connects to a browser endpoint on a private address', async () => {
        const keys = (JSON.parse(bundle.addresses.WEB) as { keys: object }).keys;
        for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', '[::1]', '2130706433']) {
          const pushId = JSON.stringify({ endpoint: `https://${host}/push/x`, keys });
          expect(await bundle.send('WEB', { pushId })).toEqual({ kind: 'gone', code: 'ADDRESS_BLOCKED' });
        }
      });

      test.each([
        [
          'ANDROID',
          'MESSAGE_TOO_LARGE',
          { title: 'x'.repeat(5000), message: 'm', richContent: [], additionalActions: [] },
        ],
        [
          'IOS',
          'PayloadTooLarge',
          { title: 'x'.repeat(5000), message: 'm', enableBadge: false, richContent: [], additionalActions: [] },
        ],
        [
          'WEB',
          'MESSAGE_TOO_LARGE',
          {
            title: 'x'.repeat(5000),
            message: 'm',
            redirectUrl: 'https://e.com',
            iconUrl: 'https://e.com',
            autoDismiss: false,
          },
        ],
      ] as const)('%s: rejects a message that is too large before it is sent', async (platform, code, content) => {
        expect(await bundle.send(platform, { message: { content } })).toMatchObject({ kind: 'rejected', code });
        expect((await bundle.simulators.counters())[platform].received).toBe(0);
      });

      test.each([
        'not JSON',
        '{}',
        '{"endpoint":"http://e.com/x","keys":{}}',
        '{"endpoint":"https://e.com/x","keys":{"p256dh":"AA","auth":"AA"}}',
      ])('treats an invalid subscription as a dead device: %s', async (pushId) =>
        expect(await bundle.send('WEB', { pushId })).toEqual({ kind: 'gone', code: 'INVALID_SUBSCRIPTION' }),
      );

      test('treats a subscription that Chrome or Edge reports as removed as a dead device, without a lookup', async () => {
        const { keys } = JSON.parse(bundle.subscription('one')) as { keys: object };
        const pushId = JSON.stringify({ endpoint: 'https://permanently-removed.invalid/fcm/send/1', keys });
        expect(await bundle.send('WEB', { pushId })).toEqual({ kind: 'gone', code: 'HOST_INVALID' });
        expect((await bundle.simulators.counters()).WEB.received).toBe(0);
      });
    });
  });
});

type Given = { platform: Platform; provider?: ProviderName; pushId?: string; credentials?: object; content?: object };

describe('provider selection', () => {
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

  const ways: [ProviderName, Platform, Outcome][] = [
    ['fcm', 'ANDROID', { kind: 'accepted', providerMessageId: 'from Google' }],
    ['fcm', 'IOS', { kind: 'accepted', providerMessageId: 'from Google' }],
    ['apns', 'IOS', { kind: 'accepted', providerMessageId: 'from Apple' }],
    ['hms', 'ANDROID', { kind: 'accepted', providerMessageId: 'from Huawei' }],
  ];

  describe('the provider of a message', () => {
    test.each(ways)(
      'is the one that the device names or the default of its platform: %s, %s',
      async (provider, platform, outcome) => {
        expect(await delivery.deliver(requestOf({ platform, provider }))).toEqual(outcome);
      },
    );

    test.each<[Platform, Outcome]>([
      ['ANDROID', { kind: 'accepted', providerMessageId: 'from Google' }],
      ['IOS', { kind: 'accepted', providerMessageId: 'from Apple' }],
      ['WEB', { kind: 'gone', code: 'INVALID_SUBSCRIPTION' }],
    ])('is the default of the platform: %s', async (platform, outcome) => {
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
  ])('%s by %s: stops without a credential, and names what is missing', async (platform, provider, missing) => {
    const detail = `this workspace has no credential for ${missing}`;
    const request = requestOf({ platform, ...(provider ? { provider } : {}), credentials: {} });
    expect(await delivery.deliver(request)).toEqual({ kind: 'stopped', code: 'NO_CREDENTIAL', detail });
  });

  test('stops for an unusable credential, with the reason of the failure', async () => {
    const broken = { ...credentials, apns: { ...credentials.apns, keyId: 'BROKEN', privateKey: 'no key' } };
    const stopped = { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: expect.stringMatching(/\w/) };
    expect(await delivery.deliver(requestOf({ platform: 'IOS', credentials: broken }))).toEqual(stopped);
    const event = { id: '1', token: 'ab'.repeat(32), priority: 5, body: '{}', expiresAt: new Date(0) } as const;
    expect(await delivery.deliverLiveActivity({ message: event, credential: broken.apns })).toEqual(stopped);
  });

  describe('a validation request', () => {
    const lastBody = async (request: ReturnType<typeof requestOf>, ask: 'probe' | 'deliver') => {
      seen.length = 0;
      expect(await delivery[ask](request)).toMatchObject({ kind: 'accepted' });
      expect(seen).toHaveLength(1);
      return seen[0]!.body as object;
    };

    test.each(ways)(
      '%s, %s: sends the same message, flagged for FCM and Huawei as not to be delivered (delivery 1)',
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

    test('is sent to Apple', async () => {
      seen.length = 0;
      const outcome = await delivery.deliverLiveActivity({ message: event, credential: credentials.apns });
      expect(outcome).toEqual({ kind: 'accepted', providerMessageId: 'from Apple' });
      expect(seen).toEqual([{ path: `/3/device/${event.token}`, body: { aps: {} } }]);
    });

    test('is not sent to an invalid Apple token', async () => {
      const message = { ...event, token: 'x' };
      expect(await delivery.deliverLiveActivity({ message, credential: credentials.apns })).toMatchObject({
        kind: 'gone',
      });
    });
  });

  describe('a batch', () => {
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

    test.each(ways)('uses the same provider as a single message: %s, %s', async (provider, platform, outcome) => {
      // Through a lane the id of Apple's is the one that was sent.
      const ofLane =
        provider === 'apns' ? { ...outcome, providerMessageId: makeMessage('IOS', '0').identity.id } : outcome;
      expect(await sendBatch({ platform, provider }, 'in turn')).toEqual(ofLane);
      expect(await sendBatch({ platform, provider }, 'promptly')).toEqual(outcome);
      expect(await sendBatch({ platform, provider, credentials: {} }, 'in turn')).toMatchObject({
        code: 'NO_CREDENTIAL',
      });
    });

    test('is sent to browsers one message at a time', async () => {
      expect(await sendBatch({ platform: 'WEB', pushId: '{}' }, 'in turn')).toMatchObject({
        code: 'INVALID_SUBSCRIPTION',
      });
    });
  });

  function requestOf({
    platform,
    provider,
    pushId = 'ab'.repeat(32),
    credentials: given = credentials,
    content,
  }: Given) {
    const message = makeMessage(platform, '0');
    return {
      message: { ...message, content: { ...message.content, ...content } } as never,
      device: { deviceId: '0', platform, pushId, ...(provider === undefined ? {} : { provider }) },
      credentials: given,
    };
  }
});

describe('invalid requests', () => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle();
  });
  afterAll(() => bundle.stop());

  test('rejects a subscription with an undecodable address in its simulator, which then keeps working', async () => {
    const subscription = JSON.parse(bundle.subscription('one')) as { endpoint: string };
    const pushId = JSON.stringify({ ...subscription, endpoint: subscription.endpoint.replace('one', '%E0%A4%A') });
    expect(await bundle.send('WEB', { pushId })).toMatchObject({ kind: 'ambiguous' });
    expect(await bundle.simulators.refusals()).toEqual([
      expect.objectContaining({
        provider: 'webpush',
        status: 400,
        rule: 'payload',
        reason: expect.stringContaining('URI'),
      }),
    ]);
    for (const platform of ['WEB', 'ANDROID', 'IOS'] as const)
      expect(await bundle.send(platform), platform).toMatchObject({ kind: 'accepted' });
  });

  test('rejects an override with invalid buttons, and delivers the next message', async () => {
    const { content, ...message } = makeMessage('ANDROID', '0');
    const payload = { mode: 'data', pushFrom: 'carillon', dataPrefix: 'svc' };
    const overrides = { fcm: { data: { gcm_actions: 'no list' } } };
    const sent = await bundle.send('ANDROID', { message: { ...message, payload, content: { ...content, overrides } } });
    expect(sent).toMatchObject({ kind: 'rejected' });
    expect(await bundle.send('ANDROID')).toMatchObject({ kind: 'accepted' });
  });
});

describe('access tokens', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const target = { key: 'k', origin: 'https://token.example', isGuarded: false };

  test('are requested once, and kept for their usable lifetime', async () => {
    const { clock, get, asked } = makeBundle();
    expect(await get()).toEqual({ token: 'token-1' });
    clock.advance(49_999);
    expect(await get()).toEqual({ token: 'token-1' });
    clock.advance(1);
    expect(await get()).toEqual({ token: 'token-2' });
    expect(await get('b')).toEqual({ token: 'token-3' });
    expect(asked).toEqual(['a', 'a', 'b']);
  });

  test('live from their arrival, and are shared by callers that wait for the same request', async () => {
    const clock = makeManualClock(now);
    let asked = 0;
    const come: ((answer: Answer) => void)[] = [];
    const tokens = makeAccessTokens<string>({
      clock,
      keyOf: (account) => account,
      ask: () => {
        asked += 1;
        return new Promise((resolve) => come.push(resolve));
      },
      lifeMillisecondsOf: (seconds) => seconds * 1_000,
    });
    const first = tokens.get('a', target);
    clock.advance(3_600_000);
    const second = tokens.get('a', target);
    come[0]!(answerWith(200, { access_token: 'x', expires_in: 10 }));
    expect([await first, await second]).toEqual([{ token: 'x' }, { token: 'x' }]);
    clock.advance(9_999);
    expect(await tokens.get('a', target)).toEqual({ token: 'x' });
    expect(asked).toBe(1);
  });

  test('live for an hour if their response has no lifetime', async () => {
    const { clock, get } = makeBundle((number) => answerWith(200, { access_token: `t${number}`, expires_in: '5' }));
    await get();
    clock.advance(1_799_999);
    expect(await get()).toEqual({ token: 't1' });
    clock.advance(1);
    expect(await get()).toEqual({ token: 't2' });
  });

  test.each<[string, Answer]>([
    ['another status', answerWith(400, { access_token: 'x', expires_in: 100 })],
    ['no token', answerWith(200, { expires_in: 100 })],
    ['a token that is not a text', answerWith(200, { access_token: 7 })],
    ['no JSON', answerWith(200, 'x')],
    ['null', answerWith(200, 'null')],
    ['no answer', failedAnswer],
  ])('are refused by %s, and requested again by the next message', async (_what, answer) => {
    const { get, asked } = makeBundle((number) => (number === 1 ? answer : undefined));
    expect(await get()).toEqual({ refusal: answer });
    expect(await get()).toEqual({ token: 'token-2' });
    expect(await get()).toEqual({ token: 'token-2' });
    expect(asked).toHaveLength(2);
  });

  test('are forgotten if rejected, but not their successors', async () => {
    const { tokens, get } = makeBundle();
    await get();
    tokens.forget('a', 'token-0');
    tokens.forget('b', 'token-1');
    expect(await get()).toEqual({ token: 'token-1' });
    tokens.forget('a', 'token-1');
    expect(await get()).toEqual({ token: 'token-2' });
  });

  test('are not removed by a late refusal of an earlier request', async () => {
    const come: ((answer: Answer) => void)[] = [];
    const clock = makeManualClock(now);
    const tokens = makeAccessTokens<string>({
      clock,
      keyOf: (account) => account,
      ask: () => new Promise((resolve) => come.push(resolve)),
      lifeMillisecondsOf: (seconds) => seconds * 1_000,
    });
    const late = tokens.get('a', target);
    // A clock that was ahead is right again: what was begun in the future counts no more.
    clock.advance(-60_000);
    const next = tokens.get('a', target);
    come[1]!(answerWith(200, { access_token: 'x', expires_in: 100 }));
    expect(await next).toEqual({ token: 'x' });
    come[0]!(answerWith(400));
    expect(await late).toEqual({ refusal: answerWith(400) });
    expect(await tokens.get('a', target)).toEqual({ token: 'x' });
  });

  test('are requested again for the least recently used of 1,001 accounts', async () => {
    const { get, asked } = makeBundle();
    for (let account = 0; account < 1_000; account += 1) await get(String(account));
    await get('0');
    expect(asked).toHaveLength(1_000);
    await get('1000');
    await get('1');
    expect(asked).toHaveLength(1_001);
    await get('0');
    expect(asked).toHaveLength(1_002);
  });

  describe('a self-signed token', () => {
    test.each([
      [0, true],
      [999, true],
      [1_000, false],
      [-10_000, true],
      [-10_001, false],
    ])('is young at an age of %d ms, with a lifetime of 1,000 ms: %s', (age, isYoung) => {
      const given = {
        issuedAtMilliseconds: now.getTime(),
        nowMilliseconds: now.getTime() + age,
        lifeMilliseconds: 1_000,
      };
      expect(isYoungToken(given)).toBe(isYoung);
    });
  });

  /** A token service that gives out `token-1`, `token-2`, …, unless `reply` says otherwise; tokens live half as long here. */
  function makeBundle(reply: (number: number) => Answer | undefined = () => undefined) {
    const clock = makeManualClock(now);
    const asked: string[] = [];
    const tokens = makeAccessTokens<string>({
      clock,
      keyOf: (account) => account,
      async ask(account) {
        asked.push(account);
        const token = { access_token: `token-${asked.length}`, expires_in: 100 };
        return reply(asked.length) ?? answerWith(200, token);
      },
      lifeMillisecondsOf: (seconds) => seconds * 500,
    });
    return { clock, tokens, asked, get: (account = 'a') => tokens.get(account, target) };
  }
});
