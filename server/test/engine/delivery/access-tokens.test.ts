import { describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { makeAccessTokens, isYoungToken } from '../../../src/providers/access-tokens.ts';
import type { Answer } from '../../../src/providers/provider.ts';
import { answerWith, failedAnswer } from './scripted-transport.ts';

const now = new Date('2026-11-21T12:00:00Z');
const target = { key: 'k', origin: 'https://token.example', isGuarded: false };

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

test('a token is asked for once, and kept for as long as it is to be used', async () => {
  const { clock, get, asked } = makeBundle();
  expect(await get()).toEqual({ token: 'token-1' });
  clock.advance(49_999);
  expect(await get()).toEqual({ token: 'token-1' });
  clock.advance(1);
  expect(await get()).toEqual({ token: 'token-2' });
  expect(await get('b')).toEqual({ token: 'token-3' });
  expect(asked).toEqual(['a', 'a', 'b']);
});

test('the life of a token begins when it came, and whoever asks meanwhile waits for it', async () => {
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

test('a token that does not say how long it lives does so for an hour', async () => {
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
  ['a token that is no text', answerWith(200, { access_token: 7 })],
  ['no JSON', answerWith(200, 'x')],
  ['null', answerWith(200, 'null')],
  ['no answer', failedAnswer],
])('%s is a refusal, and the next message asks again', async (_what, answer) => {
  const { get, asked } = makeBundle((number) => (number === 1 ? answer : undefined));
  expect(await get()).toEqual({ refusal: answer });
  expect(await get()).toEqual({ token: 'token-2' });
  expect(await get()).toEqual({ token: 'token-2' });
  expect(asked).toHaveLength(2);
});

test('a refused token is forgotten, but not the one that has taken its place', async () => {
  const { tokens, get } = makeBundle();
  await get();
  tokens.forget('a', 'token-0');
  tokens.forget('b', 'token-1');
  expect(await get()).toEqual({ token: 'token-1' });
  tokens.forget('a', 'token-1');
  expect(await get()).toEqual({ token: 'token-2' });
});

test('a refusal that comes late takes no later token away', async () => {
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

test('of a thousand and one accounts the one that came first is asked for again', async () => {
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

describe('a token of ours is young', () => {
  test.each([
    [0, true],
    [999, true],
    [1_000, false],
    [-10_000, true],
    [-10_001, false],
  ])('at %d ms of its age, of 1,000 that it lives: %s', (age, isYoung) => {
    const given = {
      issuedAtMilliseconds: now.getTime(),
      nowMilliseconds: now.getTime() + age,
      lifeMilliseconds: 1_000,
    };
    expect(isYoungToken(given)).toBe(isYoung);
  });
});
