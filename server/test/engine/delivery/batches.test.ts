import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import { magicTokens } from '../../../src/domain/sandbox/magic-tokens.ts';
import { makeLog } from '../../../src/log.ts';
import { escapeText, isLeft, makeSingleBatch, ownMarks } from '../../../src/providers/batch.ts';
import { makeDelivery } from '../../../src/providers/deliver.ts';
import type { OutgoingRequest } from '../../../src/providers/http2/requests.ts';
import type { LaneOwner } from '../../../src/providers/http2/transport.ts';
import { makeLaneBatch } from '../../../src/providers/lane-batch.ts';
import type { LaneBatchOptions } from '../../../src/providers/lane-batch.ts';
import type { Answer, DeliveryRequest, Outcome, Route } from '../../../src/providers/provider.ts';
import { realProviderEndpoints } from '../../../src/providers/registry.ts';
import { http2Clients, sendTogether, startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, failedAnswer } from './scripted-transport.ts';

const origin = 'https://push.example';

type Phone = 'ANDROID' | 'IOS';

describe('batches', () => {
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

  describe.each(http2Clients)('batch delivery by the HTTP/2 client %s', (http2Client) => {
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
        'reports the same outcome for each device as a single message, and delivers the same message (form: %s)',
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

      test('reaches every device once over connections that end during the batch', async () => {
        await bundle.simulators.setFaults({ [switchOf[platform]]: { goawayEvery: 40 } });
        const outcomes = await sendTo(tokens);
        expect(outcomes.map(({ kind }) => kind)).toEqual(tokens.map(() => 'accepted'));
        await expect.poll(() => bundle.delivered.length).toBe(many);
        expect(new Set(bundle.delivered.map(({ deviceToken }) => deviceToken)).size).toBe(many);
      });

      test('is sent again once with another token if the first is rejected, and not a third time', async () => {
        const refusal =
          platform === 'ANDROID' ? { status: 401 } : { status: 403, body: '{"reason":"ExpiredProviderToken"}' };
        await bundle.simulators.setFaults({ [switchOf[platform]]: { ...refusal, count: 1 } });
        // Apple lets a token be replaced when it is 20 minutes old.
        bundle.clock.advance(21 * 60_000);
        bundle.simulators.syncClock();
        expect((await sendTo(tokens.slice(0, 20))).map(({ kind }) => kind)).toEqual(Array(20).fill('accepted'));
        expect(await received()).toMatchObject({ received: 21, accepted: 20 });
      });

      test('reports an unusable credential for every device, and sends no request', async () => {
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

      test('rejects a message that cannot be created for its own device only, even if it is the first', async () => {
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

      test('reports a message that is too large for every device, and sends nothing', async () => {
        const messages = messagesTo(platform, 3).map(
          (message) => ({ ...message, content: { ...message.content, message: 'x'.repeat(5_000) } }) as Message,
        );
        const outcomes = await sendTo(tokens.slice(0, 3), { messages });
        expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
        expect(outcomes[0]).toMatchObject({ kind: 'rejected' });
        expect(await received()).toMatchObject({ received: 0 });
      });

      test('reports an unreachable provider for every device', async () => {
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
});

describe('the delivery batch', () => {
  test('sends each message of a batch to its device, and reports its outcome by index', async () => {
    const asked: DeliveryRequest[] = [];
    const told: unknown[] = [];
    const broken = new Error('cannot be made');
    const lost = new Error('cannot be sent');
    const outcome: Outcome = { kind: 'accepted' };
    const credentials = { fcm: { projectId: 'shop' } } as never;
    const devices = ['a', 'b', 'c', 'd'].map((pushId, number) => ({
      ...{ id: `device-${number}`, platform: 'ANDROID', provider: 'fcm', pushId, bucket: 7 },
      pushIdType: number === 0 ? ('fid' as const) : null,
    }));
    const send = makeSingleBatch(async (request) => {
      asked.push(request);
      if (request.device.pushId === 'c') throw lost;
      return outcome;
    })({
      ...{ credentials, devices: devices as never, pace: 'promptly' },
      messageOf(place) {
        if (place === 1) throw broken;
        return makeMessage('ANDROID', String(place));
      },
      onOutcome: (place, known) => told.push([place, known]),
      onFault: (place, error) => told.push([place, error]),
    });
    for (const place of [3, 1, 2, 0]) send(place);
    await new Promise(setImmediate);
    expect(told).toHaveLength(4);
    expect(told).toEqual(
      expect.arrayContaining([
        [3, outcome],
        [1, broken],
        [2, lost],
        [0, outcome],
      ]),
    );
    expect(asked.map(({ device }) => device)).toEqual([
      { deviceId: 'device-3', platform: 'ANDROID', provider: 'fcm', pushId: 'd', pushIdType: null },
      { deviceId: 'device-2', platform: 'ANDROID', provider: 'fcm', pushId: 'c', pushIdType: null },
      { deviceId: 'device-0', platform: 'ANDROID', provider: 'fcm', pushId: 'a', pushIdType: 'fid' },
    ]);
    expect(asked.map(({ message }) => message)).toEqual(['3', '2', '0'].map((id) => makeMessage('ANDROID', id)));
    expect(asked.every((request) => request.credentials === credentials)).toBe(true);
  });

  test('escapes a text for nested JSON so that as many parses restore it', () => {
    const text = 'a "quote"\n\\ é😀';
    let written = escapeText(text, 2);
    for (let depth = 2; depth >= 0; depth -= 1) {
      expect(written).toBe(escapeText(text, depth));
      written = JSON.parse(`"${written}"`) as string;
    }
    expect(written).toBe(text);
  });

  test('recognizes a marker by each of its ends, writes it as JSON does, and makes no two alike', () => {
    const marks = ownMarks(3);
    expect(marks).toHaveLength(3);
    expect(ownMarks(0)).toEqual([]);
    expect(new Set(marks.flatMap(({ ends }) => ends)).size).toBe(6);
    for (const { text, ends, written } of marks) {
      expect(written).toEqual([0, 1, 2].map((depth) => escapeText(text, depth)));
      expect(JSON.stringify({ deep: JSON.stringify({ text }) })).toContain(written[1]);
      for (const end of ends) {
        expect(text).toContain(end);
        expect(isLeft(`x${end}y`, marks)).toBe(true);
        expect(isLeft(Buffer.from(`x${end}y`), marks)).toBe(true);
      }
      // Whatever trims, unescapes, encodes or cleans a text changes one.
      for (const change of [
        encodeURIComponent,
        decodeURIComponent,
        (of: string) => of.trim(),
        (of: string) => of.replaceAll(/<[^>]*>/g, ''),
      ])
        expect(change(text)).not.toBe(text);
    }
    expect(isLeft('nothing of them', marks)).toBe(false);
    expect(isLeft(marks[0]!.ends[0], ownMarks(1))).toBe(false);
  });
});

describe('lanes', () => {
  const away = { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail: 'away' } as const;

  test.each(['at once', 'later'])(
    'reports a failed connection, notified %s, once per message, also for one sent from the callback',
    async (when) => {
      const told: string[] = [];
      const sent: string[] = [];
      let owner: LaneOwner | undefined;
      let isOpen = false;
      const batch = makeLaneBatch({
        clock: makeManualClock(new Date('2026-03-01T12:00:00Z')),
        transport: {
          openLane(_target: object, of: LaneOwner) {
            owner = of;
            return {
              send({ path, ticket }: { path: string; ticket: number }) {
                if (!isOpen && when === 'at once') of.onUnreachable(away);
                if (!isOpen) return false;
                sent.push(path);
                queueMicrotask(() => of.onAnswer(ticket, { kind: 'answer', status: 200, headers: {}, body: '' }));
                return true;
              },
            };
          },
        },
        provider: {
          access: { find: async () => ({ target: { key: 'k', origin }, authorization: 'x' }), isRefused: () => false },
          plan: ({ device }: { device: { pushId: string } }) => ({
            plan: { origin, path: `/${device.pushId}`, headers: {}, body: Buffer.from('{}') },
          }),
          classify: ({ kind }: { kind: string }) => (kind === 'answer' ? { kind: 'accepted' } : { kind: 'unreached' }),
          reads: 'bodies',
          addressOf: (pushId: string) => pushId,
        },
        batch: {
          devices: ['0', '1', '2'].map((pushId) => ({ id: pushId, platform: 'ANDROID', provider: null, pushId })),
          messageOf: (place: number) => makeMessage('ANDROID', String(place)),
          onOutcome(place: number, { kind }: { kind: string }) {
            told.push(`${place} ${kind}`);
            if (place === 0) batch(1);
          },
        },
      } as unknown as LaneBatchOptions<object>);

      batch(0);
      await expect.poll(() => owner).toBeDefined();
      await Promise.resolve();
      if (when === 'later') owner!.onUnreachable(away);
      expect(told).toEqual(['0 unreached', '1 unreached']);
      isOpen = true;
      batch(2);
      await expect.poll(() => told).toEqual(['0 unreached', '1 unreached', '2 accepted']);
      expect(sent).toEqual(['/2']);
    },
  );
});

type Given = {
  find?: () => Promise<Route | { refusal: Answer }>;
  renew?: () => Promise<Route | { refusal: Answer } | undefined>;
  reads?: 'failures' | 'bodies';
  addressOf?: (pushId: string) => string | undefined;
  plan?: (pushId: string) => { plan: object } | { outcome: Outcome };
  messageOf?: (place: number) => object;
  /** What a message that is sent by itself is answered. */
  alone?: Answer;
};

describe('rules of a lane', () => {
  const target = { key: 'k', origin, isGuarded: false };
  const routeOf = (number: number): Route => ({ target, authorization: `token-${number}` });
  const unsent: Answer = { kind: 'failure', certainty: 'unsent', reason: 'refused', detail: '' };
  const refused = answerWith(401);

  /** Until all is done that needs no more than its turn. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('queues messages until the provider is ready, then sends them in order as space allows', async () => {
    let open: ((route: Route) => void) | undefined;
    let asked = 0;
    const { send, lane, space, owner, told } = makeBundle({
      find: () => {
        asked += 1;
        return new Promise((resolve) => (open = resolve));
      },
    });
    for (const place of [2, 0, 1]) send(place);
    expect([lane, asked]).toEqual([[], 1]);
    space.left = 2;
    open!(routeOf(1));
    await settle();
    expect(lane).toEqual(['/d2', '/d0']);
    send(3);
    expect(lane).toHaveLength(2);
    space.left = 5;
    owner().onSpace();
    expect(lane).toEqual(['/d2', '/d0', '/d1', '/d3']);
    owner().onSpace();
    expect(lane).toHaveLength(4);
    expect(told).toEqual([]);
  });

  test('reports a response as the outcome of its message', async () => {
    const { send, owner, told } = makeBundle();
    send(0);
    send(1);
    await settle();
    owner().onAnswer(1, answerWith(400, 'bad'));
    owner().onAnswer(0, answerWith(200, 'id'));
    expect(told).toEqual([
      [1, { kind: 'rejected', code: '400', detail: 'bad' }],
      [0, { kind: 'accepted', providerMessageId: 'id' }],
    ]);
    owner().onAnswer(2, failedAnswer);
    expect(told[2]).toEqual([2, { kind: 'unknown', code: 'timeout' }]);
  });

  test('uses the sent id for a success whose body is not read, and treats another status as a response', async () => {
    const { send, owner, told } = makeBundle({ reads: 'failures' });
    send(0);
    await settle();
    expect(owner().reads).toBe('failures');
    await Promise.resolve();
    owner().onAccepted(0, 200);
    owner().onAccepted(0, 202);
    expect(told).toEqual([
      [0, { kind: 'accepted', providerMessageId: makeMessage('ANDROID', '0').identity.id }],
      [0, { kind: 'rejected', code: '202', detail: '' }],
    ]);
  });

  describe('a message sent outside the lane', () => {
    test('is sent the same way if the lane could not send it', async () => {
      const { send, owner, told, alone } = makeBundle();
      send(0);
      await settle();
      owner().onAnswer(0, unsent);
      await settle();
      expect(told).toEqual([[0, { kind: 'accepted', providerMessageId: 'alone' }]]);
      expect(alone).toEqual([{ path: '/d0', authorization: 'token-1' }]);
    });

    test('is sent with another token if its token was rejected', async () => {
      const { send, owner, told, alone } = makeBundle();
      send(0);
      await settle();
      owner().onAnswer(0, refused);
      await settle();
      expect(told).toEqual([[0, { kind: 'accepted', providerMessageId: 'alone' }]]);
      expect(alone).toEqual([{ path: '/d0', authorization: 'token-2' }]);
    });

    test('is not sent if there is no other token; the rejection is its outcome', async () => {
      const { send, owner, told, alone } = makeBundle({ renew: async () => undefined });
      send(0);
      await settle();
      owner().onAnswer(0, refused);
      await settle();
      expect(told).toEqual([[0, { kind: 'rejected', code: '401', detail: '' }]]);
      expect(alone).toEqual([]);
    });

    test('is not sent if the service refuses another token; the refusal is its outcome', async () => {
      const { send, owner, told } = makeBundle({ renew: async () => ({ refusal: answerWith(403, 'no') }) });
      send(0);
      await settle();
      owner().onAnswer(0, refused);
      await settle();
      expect(told).toEqual([[0, { kind: 'rejected', code: '403', detail: 'no' }]]);
    });

    test('is not sent if the credential breaks during renewal; it is stopped', async () => {
      const { send, owner, told } = makeBundle({
        renew: async () => {
          throw new Error('no key');
        },
      });
      send(0);
      await settle();
      owner().onAnswer(0, refused);
      await settle();
      expect(told).toEqual([[0, { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: 'no key' }]]);
    });

    test('is sent if its address is not plain, while the others use the lane', async () => {
      const { send, lane, alone, told } = makeBundle({ addressOf: (pushId) => (pushId === 'd1' ? undefined : pushId) });
      for (const place of [0, 1, 2]) send(place);
      await settle();
      expect(told).toEqual([[1, { kind: 'accepted', providerMessageId: 'alone' }]]);
      expect([lane, alone.map(({ path }) => path)]).toEqual([['/d0', '/d2'], ['/d1']]);
    });
  });

  test('reports a message that must not be sent immediately, and does not delay others', async () => {
    const outcome: Outcome = { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail: 'x' };
    const broken = new Error('cannot be made');
    const { send, lane, told, faults } = makeBundle({
      plan: (pushId) =>
        pushId === 'd0' ? { outcome } : { plan: { origin, path: `/${pushId}`, headers: {}, body: Buffer.from('{}') } },
      messageOf(place) {
        if (place === 1) throw broken;
        return makeMessage('ANDROID', String(place));
      },
    });
    for (const place of [0, 1, 2]) send(place);
    await settle();
    expect(lane).toEqual(['/d2']);
    expect(told).toEqual([[0, outcome]]);
    expect(faults).toEqual([[1, broken]]);
  });

  test.each<[string, Given['find'], Outcome]>([
    ['refused', async () => ({ refusal: answerWith(403, 'no') }), { kind: 'rejected', code: '403', detail: 'no' }],
    [
      'unusable',
      async () => {
        throw new Error('no key');
      },
      { kind: 'stopped', code: 'CREDENTIAL_UNUSABLE', detail: 'no key' },
    ],
  ])(
    'reports a credential that is %s as the outcome of each message, also of later ones',
    async (_what, find, outcome) => {
      const { send, lane, told } = makeBundle({ find: find! });
      send(0);
      send(1);
      await settle();
      expect(told).toHaveLength(2);
      send(2);
      expect(told).toEqual([0, 1, 2].map((place) => [place, outcome]));
      expect(lane).toEqual([]);
    },
  );

  test('reports a failed connection for waiting messages, and still tries later ones', async () => {
    const { send, owner, lane, told, space } = makeBundle();
    space.left = 0;
    send(0);
    send(1);
    await settle();
    const away: Answer = { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail: '' };
    owner().onUnreachable(away);
    const outcome = { kind: 'unknown', code: 'unreachable' };
    expect(told).toEqual([
      [0, outcome],
      [1, outcome],
    ]);
    space.left = 5;
    send(2);
    expect(lane).toEqual(['/d2']);
  });

  test('creates a message that waits for space once', async () => {
    const made: number[] = [];
    const { send, owner, space, lane } = makeBundle({
      messageOf(place) {
        made.push(place);
        return makeMessage('ANDROID', String(place));
      },
    });
    space.left = 0;
    send(0);
    await settle();
    for (let look = 0; look < 3; look += 1) owner().onSpace();
    space.left = 5;
    owner().onSpace();
    expect([lane, made]).toEqual([['/d0'], [0]]);
  });

  /** One provider whose lane takes as many messages as it has space for, and whose answers the test gives. */
  function makeBundle(given: Given = {}) {
    const lane: string[] = [];
    const alone: { path: string; authorization: string }[] = [];
    const told: [number, Outcome][] = [];
    const faults: [number, unknown][] = [];
    let owner: LaneOwner | undefined;
    const space = { left: Number.POSITIVE_INFINITY };
    const devices = Array.from({ length: 5 }, (_, place) => ({
      id: String(place),
      platform: 'ANDROID',
      pushId: `d${place}`,
    }));
    const send = makeLaneBatch({
      clock: makeManualClock(new Date('2026-11-21T12:00:00Z')),
      transport: {
        openLane(_target: object, of: LaneOwner) {
          owner = of;
          return {
            send({ path }: OutgoingRequest) {
              if (space.left < 1) return false;
              space.left -= 1;
              lane.push(path);
              return true;
            },
          };
        },
        async request(_target: object, { path, headers }: { path: string; headers: { authorization: string } }) {
          alone.push({ path, authorization: headers.authorization });
          return given.alone ?? answerWith(200, 'alone');
        },
      },
      provider: {
        access: {
          find: given.find ?? (async () => routeOf(1)),
          isRefused: (answer: Answer) => answer === refused,
          renew: given.renew ?? (async () => routeOf(2)),
        },
        plan: ({ device }: { device: { pushId: string } }) =>
          given.plan?.(device.pushId) ?? {
            plan: { origin, path: `/${device.pushId}`, headers: {}, body: Buffer.from('{}') },
          },
        classify: (answer: Answer): Outcome =>
          answer.kind === 'failure'
            ? { kind: 'unknown', code: answer.reason }
            : answer.status === 200
              ? { kind: 'accepted', providerMessageId: answer.body }
              : { kind: 'rejected', code: String(answer.status), detail: answer.body },
        reads: given.reads ?? 'bodies',
        texts: 'copied',
        smallBodyBytes: 100,
        addressOf: given.addressOf ?? ((pushId: string) => pushId),
      },
      credential: {},
      batch: {
        devices,
        messageOf: given.messageOf ?? ((place: number) => makeMessage('ANDROID', String(place))),
        onOutcome: (place: number, outcome: Outcome) => told.push([place, outcome]),
        onFault: (place: number, error: unknown) => faults.push([place, error]),
      },
    } as unknown as LaneBatchOptions<object>);
    return {
      send,
      lane,
      alone,
      told,
      faults,
      space,
      owner: () => owner!,
    };
  }
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
