import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Platform } from '../../../src/domain/content/content.ts';
import { magicTokens } from '../../../src/domain/sandbox/magic-tokens.ts';
import { http2Clients, startDeliveryBundle } from './delivery-bundle.ts';

const everyPlatform: Platform[] = ['ANDROID', 'IOS', 'WEB'];
let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;

describe.each(http2Clients)('by the HTTP/2 client %s', (http2Client) => {
  beforeAll(async () => {
    bundle = await startDeliveryBundle(http2Client);
  });
  afterEach(async () => {
    await bundle.simulators.reset();
    bundle.delivered.length = 0;
  });
  afterAll(() => bundle.stop());

  async function sendMany(platform: Platform, count: number): Promise<string[]> {
    const outcomes = await Promise.all(Array.from({ length: count }, (_, number) => bundle.send(platform, { number })));
    return outcomes.map(({ kind }) => kind);
  }

  describe('through the real provider code to the simulators', () => {
    test.each(everyPlatform)('%s: a message arrives as the device sees it', async (platform) => {
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
      '%s: the same device in the same run has the same identity on every attempt',
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
      'the magic address "%s" does what its table says',
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

  test('what the phones have received is handed over when they settle, and when they are stopped', async () => {
    await bundle.send('ANDROID', { number: 1 });
    await bundle.simulators.settle();
    expect(bundle.delivered).toHaveLength(1);
    const other = await startDeliveryBundle();
    await other.send('ANDROID', { number: 1 });
    await other.stop();
    expect(other.delivered).toHaveLength(1);
  });

  describe('faults of a provider', () => {
    test.each(everyPlatform)('%s: a GOAWAY after every tenth stream loses and repeats nothing', async (platform) => {
      const count = platform === 'WEB' ? 100 : 500;
      const provider = { ANDROID: 'fcm', IOS: 'apns', WEB: 'webpush' }[platform];
      await bundle.simulators.setFaults({ [provider]: { goawayEvery: 10 } });
      // Far more requests than streams: what cannot be had in three tries comes back as "wait", surely unsent.
      const kinds = await sendMany(platform, count);
      const accepted = kinds.filter((kind) => kind === 'accepted').length;
      expect(kinds.filter((kind) => kind !== 'accepted' && kind !== 'wait')).toEqual([]);
      await expect.poll(() => bundle.delivered.length).toBe(accepted);
      expect(new Set(bundle.delivered.map(({ messageId }) => messageId)).size).toBe(accepted);
    });

    test('one stream at a time is kept to, and all arrive', async () => {
      await bundle.simulators.setFaults({ apns: { maxStreams: 1 } });
      expect(new Set(await sendMany('IOS', 100))).toEqual(new Set(['accepted']));
      expect((await bundle.simulators.counters()).IOS.accepted).toBe(100);
    });

    test('a reset stream is unknown, because it may have been delivered', async () => {
      await bundle.simulators.setFaults({ fcm: { reset: true, count: 1 } });
      // The access token comes first; it is cached by an earlier test or fetched by this one.
      const kinds = [await bundle.send('ANDROID'), await bundle.send('ANDROID'), await bundle.send('ANDROID')].map(
        ({ kind }) => kind,
      );
      expect(kinds).toContain('unknown');
      expect(kinds.at(-1)).toBe('accepted');
    });

    test('a 429 with Retry-After says how long', async () => {
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

    test('HTML instead of JSON is a wait, never an exception', async () => {
      await bundle.simulators.setFaults({ webpush: { status: 502, body: '<html>Bad Gateway</html>' } });
      expect(await bundle.send('WEB')).toMatchObject({ kind: 'wait', code: '502' });
    });

    test('connections that are cut at the moment a fault is set do not end the simulators', async () => {
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

    test('an unknown fault switch is refused by name', async () => {
      await expect(bundle.simulators.setFaults({ fcm: { latency: 5 } })).rejects.toMatchObject({
        context: { field: 'fcm.latency' },
      });
    });
  });

  describe('credentials and addresses', () => {
    test('a foreign key stops the run in the words of the provider', async () => {
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

    test('a service account Google does not know stops the run', async () => {
      const unknown = { ...bundle.credentials.fcm, clientEmail: 'nobody@example.com' };
      expect(await bundle.send('ANDROID', { credentials: { fcm: unknown } })).toMatchObject({
        kind: 'stopped',
        code: 'TOKEN_REFUSED',
      });
    });

    test('a missing or unreadable credential stops the run and names the reason', async () => {
      expect(await bundle.send('WEB', { credentials: {} })).toMatchObject({ kind: 'stopped', code: 'NO_CREDENTIAL' });
      const broken = { ...bundle.credentials.apns, keyId: 'BROKENKEY0', privateKey: 'not a key' };
      expect(await bundle.send('IOS', { credentials: { apns: broken } })).toMatchObject({
        kind: 'stopped',
        code: 'CREDENTIAL_UNUSABLE',
      });
    });

    test('an hour later the provider token is a new one and still accepted', async () => {
      expect(await bundle.send('IOS')).toMatchObject({ kind: 'accepted' });
      bundle.clock.advance(3_700_000);
      bundle.simulators.syncClock();
      expect(await bundle.send('IOS')).toMatchObject({ kind: 'accepted' });
      expect(await bundle.send('ANDROID')).toMatchObject({ kind: 'accepted' });
      expect(await bundle.send('WEB')).toMatchObject({ kind: 'accepted' });
    });

    test('a browser endpoint on a private address is never connected to', async () => {
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
    ] as const)('%s: a message that is too large is caught before it is sent', async (platform, code, content) => {
      expect(await bundle.send(platform, { message: { content } })).toMatchObject({ kind: 'rejected', code });
      expect((await bundle.simulators.counters())[platform].received).toBe(0);
    });

    test.each([
      'not JSON',
      '{}',
      '{"endpoint":"http://e.com/x","keys":{}}',
      '{"endpoint":"https://e.com/x","keys":{"p256dh":"AA","auth":"AA"}}',
    ])('an invalid subscription is a dead device: %s', async (pushId) =>
      expect(await bundle.send('WEB', { pushId })).toEqual({ kind: 'gone', code: 'INVALID_SUBSCRIPTION' }),
    );

    test('a subscription that Chrome or Edge says is removed is a dead device, and nothing is looked up', async () => {
      const { keys } = JSON.parse(bundle.subscription('one')) as { keys: object };
      const pushId = JSON.stringify({ endpoint: 'https://permanently-removed.invalid/fcm/send/1', keys });
      expect(await bundle.send('WEB', { pushId })).toEqual({ kind: 'gone', code: 'HOST_INVALID' });
      expect((await bundle.simulators.counters()).WEB.received).toBe(0);
    });
  });
});
