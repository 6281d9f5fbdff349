import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { OutgoingRequest } from '../../../src/providers/http2/requests.ts';
import type { LaneOwner } from '../../../src/providers/http2/transport.ts';
import { makeLaneBatch } from '../../../src/providers/lane-batch.ts';
import type { LaneBatchOptions } from '../../../src/providers/lane-batch.ts';
import type { Answer, Outcome, Route } from '../../../src/providers/provider.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, failedAnswer } from './scripted-transport.ts';

const origin = 'https://push.example';
const target = { key: 'k', origin, isGuarded: false };
const routeOf = (number: number): Route => ({ target, authorization: `token-${number}` });
const unsent: Answer = { kind: 'failure', certainty: 'unsent', reason: 'refused', detail: '' };
const refused = answerWith(401);

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

/** Until all is done that needs no more than its turn. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

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

test('messages wait until the provider lets them in, and then leave in their order as there is space', async () => {
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

test('an answer is the outcome of its message', async () => {
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

test('a success of which no more is read has the id that was sent; of another status it is an answer', async () => {
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

describe('a message is sent by itself', () => {
  test('when the lane could not send it, by the same way', async () => {
    const { send, owner, told, alone } = makeBundle();
    send(0);
    await settle();
    owner().onAnswer(0, unsent);
    await settle();
    expect(told).toEqual([[0, { kind: 'accepted', providerMessageId: 'alone' }]]);
    expect(alone).toEqual([{ path: '/d0', authorization: 'token-1' }]);
  });

  test('when its token was refused, with another', async () => {
    const { send, owner, told, alone } = makeBundle();
    send(0);
    await settle();
    owner().onAnswer(0, refused);
    await settle();
    expect(told).toEqual([[0, { kind: 'accepted', providerMessageId: 'alone' }]]);
    expect(alone).toEqual([{ path: '/d0', authorization: 'token-2' }]);
  });

  test('and not where there is no other token: the refusal is its outcome', async () => {
    const { send, owner, told, alone } = makeBundle({ renew: async () => undefined });
    send(0);
    await settle();
    owner().onAnswer(0, refused);
    await settle();
    expect(told).toEqual([[0, { kind: 'rejected', code: '401', detail: '' }]]);
    expect(alone).toEqual([]);
  });

  test('and when the service refuses another token, that is its outcome', async () => {
    const { send, owner, told } = makeBundle({ renew: async () => ({ refusal: answerWith(403, 'no') }) });
    send(0);
    await settle();
    owner().onAnswer(0, refused);
    await settle();
    expect(told).toEqual([[0, { kind: 'rejected', code: '403', detail: 'no' }]]);
  });

  test('and a credential that breaks then stops it', async () => {
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

  test('whose address is not plain, while the others take the lane', async () => {
    const { send, lane, alone, told } = makeBundle({ addressOf: (pushId) => (pushId === 'd1' ? undefined : pushId) });
    for (const place of [0, 1, 2]) send(place);
    await settle();
    expect(told).toEqual([[1, { kind: 'accepted', providerMessageId: 'alone' }]]);
    expect([lane, alone.map(({ path }) => path)]).toEqual([['/d0', '/d2'], ['/d1']]);
  });
});

test('a message that is not to be sent is told so at once, and holds up no other', async () => {
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
])('a credential that is %s is the outcome of each message, also of later ones', async (_what, find, outcome) => {
  const { send, lane, told } = makeBundle({ find: find! });
  send(0);
  send(1);
  await settle();
  expect(told).toHaveLength(2);
  send(2);
  expect(told).toEqual([0, 1, 2].map((place) => [place, outcome]));
  expect(lane).toEqual([]);
});

test('when no connection comes to be, what waits is told so, and later messages are tried', async () => {
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

test('what waits for space is made once', async () => {
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
