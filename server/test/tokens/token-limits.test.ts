import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generation, makeTokenBundle, postTo, refreshing } from './token-bundle.ts';
import type { TokenBundle } from './token-bundle.ts';

// Every test moves the clock, so each has a bundle of its own.
let bundle: TokenBundle;
let workspaceId: string;
let secret: string;
beforeEach(async () => {
  bundle = await makeTokenBundle();
  workspaceId = await bundle.makeWorkspace();
  ({ secret } = await bundle.makeKey({ workspaceId }));
});
afterEach(() => bundle.end());

const token = '/v1/oauth/token';
const renewal = '/v1/oauth/refresh';

/** Status, and Retry-After when there is one. */
async function send(form: Record<string, string>, { path = token, address = '127.0.0.1' } = {}) {
  const answer = await bundle.post(path, form, { address });
  const retryAfter = answer.headers['retry-after'];
  if (answer.statusCode === 429) {
    expect(answer.json()).toMatchObject({ status: 'FAILURE', error_type: 'RATE_LIMIT_EXCEEDED' });
    expect(retryAfter).toMatch(/^[1-9]\d*$/);
  }
  return retryAfter === undefined ? answer.statusCode : `${answer.statusCode} ${retryAfter}`;
}

describe('5 in a minute and 30 in ten minutes per pair (interface 8, decision D11)', () => {
  test('the sixth call in a minute is refused until exactly 60 s after the first', async () => {
    const form = generation(workspaceId, secret);
    for (let call = 0; call < 5; call += 1) {
      expect(await send(form)).toBe(200);
      bundle.clock.advance(1000);
    }
    expect(await send(form)).toBe('429 55');
    bundle.clock.advance(54_999);
    expect(await send(form)).toBe('429 1');
    bundle.clock.advance(1);
    expect(await send(form)).toBe(200);
    // The second call leaves a second later: refused calls were not counted.
    expect(await send(form)).toBe('429 1');
    bundle.clock.advance(1000);
    expect(await send(form)).toBe(200);
  });

  test('waiting the seconds of Retry-After is enough, one less is not', async () => {
    const form = generation(workspaceId, secret);
    bundle.clock.advance(123);
    for (let call = 0; call < 5; call += 1) await send(form);
    bundle.clock.advance(20_500);
    expect(await send(form)).toBe('429 40');
    bundle.clock.advance(39_000);
    expect(await send(form)).toBe('429 1');
    bundle.clock.advance(1000);
    expect(await send(form)).toBe(200);
  });

  test('the thirty-first call in ten minutes is refused until exactly 600 s after the first', async () => {
    const form = generation(workspaceId, secret);
    for (let call = 0; call < 30; call += 1) {
      expect(await send(form)).toBe(200);
      bundle.clock.advance(15_000);
    }
    // 450 s have passed; the first leaves at 600 s.
    expect(await send(form)).toBe('429 150');
    bundle.clock.advance(149_999);
    expect(await send(form)).toBe('429 1');
    bundle.clock.advance(1);
    expect(await send(form)).toBe(200);
  });

  test('wrong credentials count in the same windows: 30 answers, then the limit, as documented', async () => {
    const form = generation(workspaceId, 'a-forgotten-secret');
    for (let call = 0; call < 30; call += 1) {
      expect(await send(form)).toBe(401);
      bundle.clock.advance(15_000);
    }
    expect(await send(form)).toBe('429 150');
  });

  test('pairs and operations have limits of their own', async () => {
    const second = await bundle.makeKey({ workspaceId, name: 'Second' });
    const { refresh_token } = (await bundle.post(token, generation(workspaceId, secret))).json();
    for (let call = 0; call < 4; call += 1) await send(generation(workspaceId, secret));
    expect(await send(generation(workspaceId, secret))).toBe('429 60');
    expect(await send(generation(workspaceId, second.secret))).toBe(200);
    expect(await send(refreshing(workspaceId, refresh_token), { path: renewal })).toBe(200);
  });

  test('two refresh tokens of one key share the limit; a mismatched client_id counts in it', async () => {
    const tokens: string[] = [];
    for (let call = 0; call < 2; call += 1) {
      tokens.push((await bundle.post(token, generation(workspaceId, secret))).json().refresh_token);
    }
    for (let call = 0; call < 4; call += 1) {
      expect(await send(refreshing(workspaceId, tokens[call % 2]!), { path: renewal })).toBe(200);
    }
    expect(await send(refreshing('ANOTHER', tokens[0]!), { path: renewal })).toBe(401);
    expect(await send(refreshing(workspaceId, tokens[1]!), { path: renewal })).toBe('429 60');
  });

  test('an unknown refresh token is limited as (client_id, token)', async () => {
    for (let call = 0; call < 5; call += 1) {
      expect(await send(refreshing(workspaceId, 'unknown-1'), { path: renewal })).toBe(401);
    }
    expect(await send(refreshing(workspaceId, 'unknown-1'), { path: renewal })).toBe('429 60');
    expect(await send(refreshing(workspaceId, 'unknown-2'), { path: renewal })).toBe(401);
  });

  test('two nodes on one database share the limit, also for concurrent calls', async () => {
    const other = await bundle.makeServer();
    const form = generation(workspaceId, secret);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, call) => postTo(call % 2 ? other : bundle.server, { path: token, form })),
    );
    const statuses = answers.map((answer) => answer.statusCode);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
    await other.close();
    // A restart forgets nothing.
    const restarted = await bundle.makeServer();
    expect((await postTo(restarted, { path: token, form })).statusCode).toBe(429);
    await restarted.close();
  });

  test('a clock that was moved back does not lock the caller out', async () => {
    const form = generation(workspaceId, secret);
    bundle.clock.setOffset(30 * 24 * 60 * 60 * 1000);
    for (let call = 0; call < 5; call += 1) await send(form);
    bundle.clock.setOffset(0);
    expect(await send(form)).toBe(200);
  });
});

describe('guesses (decision D19, fault 3.12)', () => {
  const wrong = (number: number) => generation(workspaceId, `wrong-${number}`);

  test('of 1,000 wrong secrets from one address 20 are answered; the owner elsewhere is served, slowly', async () => {
    const statuses: number[] = [];
    for (let first = 0; first < 1000; first += 50) {
      const calls = Array.from({ length: 50 }, (_, index) =>
        bundle.post(token, wrong(first + index), { address: '203.0.113.7' }),
      );
      statuses.push(...(await Promise.all(calls)).map((answer) => answer.statusCode));
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(980);
    bundle.waits.length = 0;
    expect(await send(generation(workspaceId, secret), { address: '203.0.113.7' })).toBe('429 600');
    expect(bundle.waits).toEqual([]);
    expect(await send(generation(workspaceId, secret), { address: '198.51.100.1' })).toBe(200);
    expect(bundle.waits).toEqual([1000]);
    bundle.clock.advance(600_000);
    expect(await send(generation(workspaceId, secret), { address: '203.0.113.7' })).toBe(200);
    expect(bundle.waits).toEqual([1000]);
  });

  test('an address that guesses at many workspaces is refused after 100, another address is not', async () => {
    for (let guess = 0; guess < 100; guess += 1) {
      expect(await send(generation(`WS${guess}`, 'x'), { address: '203.0.113.8' })).toBe(401);
    }
    expect(await send(generation('WS100', 'x'), { address: '203.0.113.8' })).toBe('429 600');
    expect(await send(generation('WS100', 'x'), { address: '203.0.113.9' })).toBe(401);
  });

  test('addresses of one IPv6 /64 are one source', async () => {
    for (let guess = 0; guess < 20; guess += 1) {
      expect(await send(wrong(guess), { address: `2001:db8:1:2::${guess}` })).toBe(401);
    }
    expect(await send(wrong(20), { address: '2001:db8:1:2:ffff::1' })).toBe('429 600');
    expect(await send(wrong(20), { address: '2001:db8:1:3::1' })).toBe(401);
  });

  test('a forged X-Forwarded-For changes nothing', async () => {
    const statuses: number[] = [];
    for (let guess = 0; guess < 25; guess += 1) {
      const headers = { 'x-forwarded-for': `192.0.2.${guess}` };
      statuses.push((await bundle.post(token, wrong(guess), { headers })).statusCode);
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  });

  test('the same wrong secret again is one guess', async () => {
    for (let minute = 0; minute < 5; minute += 1) {
      for (let call = 0; call < 5; call += 1) expect(await send(wrong(0))).toBe(401);
      bundle.clock.advance(60_000);
    }
    const rows = await bundle.database<{ events: number }[]>`
      select cardinality(events) as events from limit_windows where operation = 'guess-client'`;
    expect(rows).toEqual([{ events: 1 }]);
  });

  test('guessed refresh tokens and secrets at refresh count as well', async () => {
    const { refresh_token } = (await bundle.post(token, generation(workspaceId, secret))).json();
    const guess = { ...refreshing(workspaceId, refresh_token), client_secret: 'wrong' };
    expect(await send(guess, { path: renewal })).toBe(401);
    for (let number = 0; number < 19; number += 1) {
      expect(await send(refreshing(workspaceId, `guess-${number}`), { path: renewal })).toBe(401);
    }
    expect(await send(refreshing(workspaceId, 'guess-19'), { path: renewal })).toBe('429 600');
  });

  test('an expired token or an archived key of the owner is no guess', async () => {
    const { refresh_token } = (await bundle.post(token, generation(workspaceId, secret))).json();
    bundle.clock.advance(31 * 24 * 60 * 60 * 1000);
    expect(await send(refreshing(workspaceId, refresh_token), { path: renewal })).toBe(401);
    const [row] = await bundle.database<{ rows: number }[]>`
      select count(*)::integer as rows from limit_windows where operation like 'guess%'`;
    expect(row).toEqual({ rows: 0 });
  });
});
