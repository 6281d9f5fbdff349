import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '../../../src/domain/content/message.ts';
import { magicTokens } from '../../../src/domain/sandbox/magic-tokens.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import { realProviderEndpoints } from '../../../src/providers/registry.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { makeLog } from '../../../src/log.ts';
import { http2Clients, sendTogether, makeMessage, startDeliveryBundle } from './delivery-bundle.ts';

type Phone = 'ANDROID' | 'IOS';
const phones: Phone[] = ['ANDROID', 'IOS'];
const switchOf = { ANDROID: 'fcm', IOS: 'apns' } as const;
const many = 300;

let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;

const messagesTo = (platform: Phone, count: number): Message[] =>
  Array.from({ length: count }, (_, number) => makeMessage(platform, String(number)));

const tokenOf = (platform: Phone, number: number): string =>
  platform === 'ANDROID'
    ? `token-${number}-${'a'.repeat(120)}`
    : (0xab000 + number).toString(16).toUpperCase().padStart(64, '0');

/** Of every kind that a provider tells apart, and what JSON writes otherwise, and is no address of Apple’s. */
const mixedTokens = (platform: Phone): string[] => [
  ...Array.from({ length: 20 }, (_, number) => tokenOf(platform, number)),
  ...magicTokens
    // What changes from message to message cannot be compared.
    .filter(({ outcome }) => outcome !== 'silent' && outcome !== 'sporadic')
    .flatMap(({ fcm, apns }) =>
      platform === 'ANDROID' ? (fcm ? [`${fcm}-${'a'.repeat(100)}`] : []) : apns ? [apns.padEnd(64, '0')] : [],
    ),
  'a "token" with \\ and é',
];

describe.each(http2Clients)('by the HTTP/2 client %s', (http2Client) => {
  beforeAll(async () => {
    bundle = await startDeliveryBundle(http2Client);
  });
  afterEach(async () => {
    // Simulators tell of what they took when they have the time; the next test would count it as its own.
    const { ANDROID, IOS } = await bundle.simulators.counters();
    await expect.poll(() => bundle.delivered).toHaveLength(ANDROID.accepted + IOS.accepted);
    await bundle.simulators.reset();
    bundle.delivered.length = 0;
  });
  afterAll(() => bundle.stop());

  describe.each(phones)('a batch to %s', (platform) => {
    const sendTo = (pushIds: string[], more: Partial<Parameters<typeof sendTogether>[1]> = {}) =>
      sendTogether(bundle.delivery, {
        messages: messagesTo(platform, pushIds.length),
        pushIds,
        credentials: bundle.credentials,
        ...more,
      });
    const tokens = Array.from({ length: many }, (_, number) => tokenOf(platform, number));
    const received = async () => (await bundle.simulators.counters())[platform];

    test.each(['shared', 'none'] as const)(
      'tells of each device what it is told by itself, and each gets the same message (form: %s)',
      async (form) => {
        const pushIds = mixedTokens(platform);
        const messages = messagesTo(platform, pushIds.length);
        const together = await sendTo(pushIds, { form });
        const seen = (from: number, to: number) =>
          bundle.delivered
            .slice(from, to)
            .map(({ receivedAt: _, ...message }) => message)
            .sort(byToken);
        const taken = together.filter(({ kind }) => kind === 'accepted');
        expect(taken.length).toBeGreaterThanOrEqual(20);
        await expect.poll(() => bundle.delivered).toHaveLength(taken.length);
        const alone = await Promise.all(
          messages.map((message, place) =>
            bundle.delivery.deliver({
              message,
              device: { deviceId: String(place), platform, pushId: pushIds[place]! },
              credentials: bundle.credentials,
            }),
          ),
        );
        await expect.poll(() => bundle.delivered).toHaveLength(2 * taken.length);
        expect(together.map(comparable)).toEqual(alone.map(comparable));
        const [first, second] = [seen(0, taken.length), seen(taken.length, 2 * taken.length)];
        expect(first.map(withoutIds)).toEqual(second.map(withoutIds));
      },
    );

    test('reaches everyone once, over connections that end while it is under way', async () => {
      await bundle.simulators.setFaults({ [switchOf[platform]]: { goawayEvery: 40 } });
      const outcomes = await sendTo(tokens);
      expect(outcomes.map(({ kind }) => kind)).toEqual(tokens.map(() => 'accepted'));
      await expect.poll(() => bundle.delivered.length).toBe(many);
      expect(new Set(bundle.delivered.map(({ deviceToken }) => deviceToken)).size).toBe(many);
    });

    test('is sent once more with another token when the first is not taken, and not a third time', async () => {
      const refusal =
        platform === 'ANDROID' ? { status: 401 } : { status: 403, body: '{"reason":"ExpiredProviderToken"}' };
      await bundle.simulators.setFaults({ [switchOf[platform]]: { ...refusal, count: 1 } });
      // Apple lets a token be replaced when it is 20 minutes old.
      bundle.clock.advance(21 * 60_000);
      bundle.simulators.syncClock();
      expect((await sendTo(tokens.slice(0, 20))).map(({ kind }) => kind)).toEqual(Array(20).fill('accepted'));
      expect(await received()).toMatchObject({ received: 21, accepted: 20 });
    });

    test('tells everyone alike of a credential that nobody can use, and asks no provider', async () => {
      const [fcm, apns] = [bundle.credentials.fcm, bundle.credentials.apns];
      const broken = {
        fcm: { ...fcm, clientEmail: 'other@x.test', privateKey: 'no key' },
        apns: { ...apns, privateKey: 'no key' },
      };
      const outcomes = await sendTo(tokens.slice(0, 5), { credentials: broken });
      expect(outcomes).toEqual(
        Array(5).fill({ kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: expect.any(String) }),
      );
      expect(await received()).toMatchObject({ received: 0 });
    });

    test('a message that cannot be made is that device’s alone, be it the first', async () => {
      for (const [form, broken] of [
        ['shared', 0],
        ['shared', 3],
        ['none', 3],
      ] as const) {
        const outcomes = await sendTo(tokens.slice(0, 6), { form, broken });
        expect(outcomes.map(({ kind }) => kind)).toEqual(
          Array.from({ length: 6 }, (_, place) => (place === broken ? 'rejected' : 'accepted')),
        );
      }
    });

    test('whose message is too large is told so for everyone, and nothing is sent', async () => {
      const messages = messagesTo(platform, 3).map(
        (message) => ({ ...message, content: { ...message.content, message: 'x'.repeat(5_000) } }) as Message,
      );
      const outcomes = await sendTo(tokens.slice(0, 3), { messages });
      expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
      expect(outcomes[0]).toMatchObject({ kind: 'rejected' });
      expect(await received()).toMatchObject({ received: 0 });
    });

    test('finds nobody at the provider’s address, and says so of everyone', async () => {
      const origin = await closedOrigin();
      const endpoints = { fcm: { messagesOrigin: origin, tokenOrigin: bundle.simulators.endpoints.fcm.tokenOrigin } };
      const delivery = makeDelivery({
        clock: bundle.clock,
        log: makeLog({ level: 'silent', pretty: false }),
        allowedNetworks: [],
        http2Client,
        endpoints: {
          ...realProviderEndpoints,
          simulators: { ...bundle.simulators.endpoints, ...endpoints, apns: origin },
        },
      });
      const messages = messagesTo(platform, 40);
      const sending = { messages, pushIds: tokens.slice(0, 40), credentials: bundle.credentials };
      const outcomes = await sendTogether(delivery, sending);
      await delivery.close();
      expect(outcomes).toEqual(Array(40).fill({ kind: 'unreached', code: 'NOT_CONNECTED' }));
    });
  });
});

function byToken(one: { deviceToken: string }, other: { deviceToken: string }): number {
  return one.deviceToken < other.deviceToken ? -1 : 1;
}

/** FCM names each message anew. */
function comparable(outcome: Outcome): Outcome {
  if (outcome.kind !== 'accepted' || !outcome.providerMessageId?.startsWith('projects/')) return outcome;
  return { ...outcome, providerMessageId: outcome.providerMessageId.replace(/[^/]+$/, '') };
}

function withoutIds<Arrived extends { messageId: string }>({ messageId, ...rest }: Arrived) {
  return { ...rest, messageId: messageId.startsWith('projects/') ? '' : messageId };
}

/** Where nobody listens. */
async function closedOrigin(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
