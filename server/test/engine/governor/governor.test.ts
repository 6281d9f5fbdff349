import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { drawFromBudget, newSendBudget } from '../../../src/domain/delivery/send-budget.ts';
import { fcmMessagesPerMinute } from '../../../src/domain/limits/delivery.ts';
import { makeAnswerWatch, makeGovernor } from '../../../src/engine/governor/governor.ts';
import { leaseBudget, makeShare } from '../../../src/engine/governor/send-budgets.ts';
import { makeLog } from '../../../src/log.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { sendAccountOf } from '../../../src/providers/send-account.ts';
import type { SendAccount } from '../../../src/providers/send-account.ts';
import { dropIdleBudgets } from '../../../src/storage/limits/governor.ts';
import { propertyRuns } from '../../property-runs.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';

const start = new Date('2026-03-01T12:00:00Z');

describe('governor', () => {
  const second = 1_000;
  const day = 24 * 3_600_000;

  let test_: TestDatabase;
  let clock: ReturnType<typeof makeManualClock>;
  beforeEach(async () => {
    test_ = await createTestDatabase();
    clock = makeManualClock(start);
  });
  afterEach(() => test_.drop());

  /** A node: what it does between two leases is up to the test. */
  const node = (pause: (milliseconds: number) => Promise<void> = async () => {}) =>
    makeGovernor({ database: test_.database, clock, log: makeLog({ level: 'silent', pretty: false }), pause });

  /** One message's turn. */
  const turnOf = (governor: ReturnType<typeof node>, of: SendAccount, lane: 0 | 1): Promise<Date | undefined> =>
    new Promise((onTurn) => governor.acquire(of, { lane, messages: 1, onTurn }));

  const account = (more: Partial<SendAccount> = {}): SendAccount => ({
    key: 'fcm:shop',
    perMinute: undefined,
    throttledPerMinute: undefined,
    ...more,
  });
  const accepted = { kind: 'accepted' } as const;

  describe('a budget', () => {
    test('is not exceeded in any minute, whoever draws and whenever (property)', () => {
      const draws = fc.array(
        fc.record({ after: fc.integer({ min: 0, max: 5_000 }), wanted: fc.integer({ min: 0, max: 900 }) }),
        {
          minLength: 1,
          maxLength: 120,
        },
      );
      const settings = fc.record({
        perMinute: fc.integer({ min: 1, max: 6_000 }),
        holdSeconds: fc.constantFrom(1, 5),
        isRamped: fc.boolean(),
        reserve: fc.constantFrom(0, 0.1),
      });
      fc.assert(
        fc.property(draws, settings, (steps, setting) => {
          let at = start.getTime();
          let budget = newSendBudget(start);
          const granted: { at: number; count: number }[] = [];
          for (const { after, wanted } of steps) {
            at += after;
            const drawn = drawFromBudget(budget, { ...setting, wanted, returned: 0, at: new Date(at) });
            budget = drawn.budget;
            granted.push({ at, count: drawn.granted });
            const lastMinute = granted.filter((grant) => grant.at > at - 60_000);
            // A rate below one a minute and a half still lets a first message go.
            expect(lastMinute.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(
              Math.max(1, setting.perMinute),
            );
          }
        }),
        { numRuns: propertyRuns(100) },
      );
    });

    test('grants its rate to a steady caller, less the reserve that keeps every minute within it', () => {
      let budget = newSendBudget(start);
      let granted = 0;
      for (let passed = 0; passed < 600; passed += 1) {
        const drawn = drawFromBudget(budget, {
          perMinute: 6_000,
          holdSeconds: 1,
          isRamped: false,
          reserve: 0,
          wanted: 10_000,
          returned: 0,
          at: new Date(start.getTime() + passed * second),
        });
        budget = drawn.budget;
        granted += drawn.granted;
      }
      expect(granted).toBeGreaterThan(58_000);
      expect(granted).toBeLessThanOrEqual(60_000);
    });

    test('grows for an idle account to its rate over a minute (delivery 1)', async () => {
      const draw = { key: 'fcm:shop', perMinute: 61_000, holdSeconds: 1, isRamped: true, reserve: 0, returned: 0 };
      const perSecond: number[] = [];
      for (let passed = 0; passed <= 90; passed += 1) {
        perSecond.push(await leaseBudget(test_.database, { ...draw, wanted: 5_000, at: clock.now() }));
        clock.advance(second);
      }
      expect(perSecond[0]).toBe(100);
      expect(perSecond[30]).toBeGreaterThan(400);
      expect(perSecond[30]).toBeLessThan(600);
      expect(perSecond[90]).toBe(1_000);
      clock.advance(120 * second);
      expect(await leaseBudget(test_.database, { ...draw, wanted: 5_000, at: clock.now() })).toBe(100);
    });

    test('is shared: two nodes that draw at the same instant get one second of it together', async () => {
      const draw = { key: 'fcm:shop', perMinute: 6_100, holdSeconds: 1, isRamped: false, reserve: 0, returned: 0 };
      const grants = await Promise.all(
        Array.from({ length: 20 }, () => leaseBudget(test_.database, { ...draw, wanted: 30, at: clock.now() })),
      );
      expect(grants.reduce((sum, granted) => sum + granted, 0)).toBe(100);
    });
  });

  describe('an account with a quota', () => {
    test('sends what a second allows and gives the other messages successive times', async () => {
      const governor = node();
      const quota = account({ perMinute: 6_100 });
      clock.advance(0);
      const turns = await Promise.all(Array.from({ length: 50 }, () => turnOf(governor, quota, 1)));
      // The first second of a ramp is a tenth: 10, of which mass sends leave one to urgent messages.
      expect(turns.filter((turn) => turn === undefined)).toHaveLength(9);
      const later = turns.filter((turn) => turn !== undefined).map((turn) => turn.getTime());
      expect(later).toEqual(later.toSorted((one, other) => one - other));
      expect(later.every((at) => at > clock.now().getTime())).toBe(true);
    });

    test('serves a one-time password before a waiting mass send', async () => {
      const order: string[] = [];
      const governor = node(async () => clock.advance(second));
      const quota = account({ perMinute: 610 });
      await Promise.all([
        ...Array.from({ length: 5 }, async () => {
          if (!(await turnOf(governor, quota, 1))) order.push('mass');
        }),
        turnOf(governor, quota, 0).then((until) => until ?? order.push('urgent')),
      ]);
      expect(order[0]).toBe('urgent');
      expect(order).toContain('mass');
    });

    test('grants as many turns together as one by one, with urgent ones in between', async () => {
      const governor = node(async () => clock.advance(second));
      const quota = account({ perMinute: 610 });
      const turns: (Date | undefined)[] = [];
      const order: string[] = [];
      const all = new Promise<void>((resolve) =>
        governor.acquire(quota, {
          lane: 1,
          messages: 60,
          onTurn(later) {
            turns.push(later);
            if (!later) order.push('mass');
            if (turns.length === 60) resolve();
          },
        }),
      );
      const urgent = turnOf(governor, quota, 0).then(() => order.push('urgent'));
      await Promise.all([all, urgent]);
      // Three seconds of leases, each a quarter of a second apart by the test's clock of whole ones.
      const sent = turns.filter((turn) => turn === undefined).length;
      expect(sent).toBeGreaterThan(3);
      expect(sent).toBeLessThan(60);
      expect(order.indexOf('urgent')).toBeLessThan(sent);
      const later = turns.filter((turn) => turn !== undefined).map((turn) => turn.getTime());
      expect(later).toHaveLength(60 - sent);
      expect(later).toEqual([...new Set(later)].toSorted((one, other) => one - other));
    });

    test('returns the unused part of a lease', async () => {
      const governor = node();
      const quota = account({ perMinute: 61_000 });
      expect(await turnOf(governor, quota, 0)).toBeUndefined();
      clock.advance(2 * second);
      expect(await turnOf(governor, quota, 0)).toBeUndefined();
      const [row] = await test_.database`select tokens from send_budgets where key = 'fcm:shop'`;
      expect(row!.tokens).toBeGreaterThanOrEqual(0);
      expect(row!.tokens).toBeLessThan(200);
    });
  });

  describe('a pause', () => {
    test('is shared with the other nodes within a second, and affects no other account', async () => {
      const [one, other] = [node(), node()];
      expect(await turnOf(other, account(), 1)).toBeUndefined();
      const until = new Date(start.getTime() + 90 * second);
      one.pause(account(), { until, reason: 'QUOTA_EXCEEDED' });
      expect(await turnOf(one, account(), 1)).toEqual(until);
      await row('fcm:shop');
      clock.advance(second);
      expect(await turnOf(other, account(), 1)).toEqual(until);
      expect(await turnOf(other, account({ key: 'fcm:other' }), 1)).toBeUndefined();
      clock.advance(90 * second);
      expect(await turnOf(other, account(), 1)).toBeUndefined();
    });

    test('is not ended by a shorter one', async () => {
      const governor = node();
      const until = new Date(start.getTime() + 90 * second);
      governor.pause(account(), { until, reason: 'QUOTA_EXCEEDED' });
      governor.pause(account(), { until: new Date(start.getTime() + 5 * second), reason: 'QUOTA_EXCEEDED' });
      expect(await turnOf(governor, account(), 1)).toEqual(until);
    });

    test('after a failed connection doubles up to two minutes, and starts over after a response', () => {
      const governor = node();
      const waits: number[] = [];
      for (let failure = 0; failure < 7; failure += 1) {
        const until = governor.pauseAfterFailure(account());
        // All requests that waited for the same connection fail together, which is one failure.
        expect(governor.pauseAfterFailure(account())).toEqual(until);
        waits.push((until.getTime() - clock.now().getTime()) / second);
        clock.advance(until.getTime() - clock.now().getTime());
      }
      expect(waits).toEqual([5, 10, 20, 40, 80, 120, 120]);
      governor.report(account(), accepted);
      expect(governor.pauseAfterFailure(account()).getTime() - clock.now().getTime()).toBe(5 * second);
    });
  });

  describe('a push service that throttles a noisy site (delivery 3)', () => {
    const site = account({ key: 'webpush:site:https://push.example', throttledPerMinute: 1_000 });
    const refused = { kind: 'wait', code: '429', scope: 'device' } as const;

    async function refuse(governor: ReturnType<typeof node>, times: number): Promise<void> {
      for (let count = 0; count < times; count += 1) governor.report(site, refused);
    }

    test('gets 1,000 messages a minute for a day, the second time for a week, then for two weeks', async () => {
      const governor = node();
      await refuse(governor, 19);
      clock.advance(60 * second);
      await refuse(governor, 19);
      // Twenty within one minute tell; fewer are single browsers.
      expect(await test_.database`select 1 from send_budgets`).toHaveLength(0);
      const lengths: number[] = [];
      for (let time = 0; time < 4; time += 1) {
        clock.advance(60 * second);
        await refuse(governor, 20);
        const { penalty_until: until } = await row(site.key, 'penalty_until');
        lengths.push((until.getTime() - clock.now().getTime()) / day);
        clock.advance(2 * second);
        const other = node();
        const turns = await Promise.all(Array.from({ length: 30 }, () => turnOf(other, site, 1)));
        expect(turns.filter((turn) => turn === undefined).length).toBeLessThan(17);
        clock.advance(until.getTime() - clock.now().getTime());
      }
      expect(lengths).toEqual([1, 7, 14, 14]);
    });

    test('is forgotten 42 days after the last time', async () => {
      const governor = node();
      await refuse(governor, 20);
      await row(site.key, 'penalty_until');
      clock.advance(44 * day);
      expect(await dropIdleBudgets(test_.database, clock.now())).toBe(1);
      await refuse(governor, 20);
      const { penalty_until: until } = await row(site.key, 'penalty_until');
      expect((until.getTime() - clock.now().getTime()) / day).toBe(1);
    });
  });

  test('counts by the accounts of the providers: a project, a team, a site at a push service', () => {
    const credentials = {
      fcm: { projectId: 'shop', simulated: false },
      apns: { teamId: 'TEAM1', simulated: false },
      webpush: { publicKey: 'B'.repeat(87) },
    } as never;
    const keys = { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: Buffer.alloc(16).toString('base64url') };
    const of = (platform: 'ANDROID' | 'IOS' | 'WEB', pushId = 'token') =>
      sendAccountOf({ platform, pushId }, credentials);
    expect(of('ANDROID')).toEqual({ key: 'fcm:shop', perMinute: fcmMessagesPerMinute, throttledPerMinute: undefined });
    expect(of('IOS')?.key).toBe('apns:TEAM1');
    expect(of('WEB', JSON.stringify({ endpoint: 'https://push.example/a/b?c', keys }))?.key).toBe(
      `webpush:${'B'.repeat(22)}:https://push.example`,
    );
    expect(of('WEB', 'no subscription')).toBeUndefined();
    expect(sendAccountOf({ platform: 'IOS', pushId: 't' }, {})).toBeUndefined();
  });

  /** What a node has told the others: it does so on its own, so the row is awaited. */
  async function row(
    key: string,
    column: 'silent_until' | 'penalty_until' = 'silent_until',
  ): Promise<{ silent_until: Date; penalty_until: Date }> {
    for (;;) {
      const [found] = await test_.database`
        select * from send_budgets where key = ${key} and ${test_.database(column)} > ${clock.now()}`;
      if (found) return found as never;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a share of a budget', () => {
  test('is leased for the waiting messages, at least for a tenth of a second, and the rest is held for a second', async () => {
    const { clock, draws, told, take, pauses } = openShare([5, 2]);
    take('a', { messages: 2 });
    await settled();
    // 600 a minute is one a tenth of a second; mass sends leave a tenth to others.
    expect(draws).toEqual([{ wanted: 2, returned: 0, reserve: 0.1 }]);
    expect(told).toEqual([
      ['a', undefined],
      ['a', undefined],
    ]);
    take('b', { messages: 2 });
    expect([told.length, draws.length]).toEqual([4, 1]);
    clock.advance(999);
    take('c');
    expect([told.length, draws.length]).toEqual([5, 1]);
    take('d');
    await settled();
    expect(draws.slice(1)).toEqual([{ wanted: 1, returned: 0, reserve: 0.1 }]);
    clock.advance(1_000);
    take('e');
    await settled();
    // What was held too long goes back.
    expect(draws.slice(2, 3)).toEqual([{ wanted: 1, returned: 1, reserve: 0.1 }]);
    expect(pauses.length).toBeGreaterThan(0);
  });

  test('is leased for at least a tenth of a second, even for few waiting messages', async () => {
    const { draws, take } = openShare([100], { perMinute: 60_500 });
    take('a');
    await settled();
    expect(draws).toEqual([{ wanted: 101, returned: 0, reserve: 0.1 }]);
  });

  test('goes to urgent messages first, for which nothing is reserved', async () => {
    const { draws, told, take } = openShare([0, 2, 1]);
    take('mass', { messages: 2 });
    take('urgent', { lane: 0 });
    await settled();
    expect(draws.map(({ wanted, reserve }) => [wanted, reserve])).toEqual([
      [2, 0.1],
      [3, 0],
      [1, 0.1],
    ]);
    expect(told.map(([name]) => name)).toEqual(['urgent', 'mass', 'mass']);
  });

  test('serves in part if it is too small: some now, the others after further leases', async () => {
    const { draws, told, take } = openShare([2, 1]);
    take('a', { messages: 3 });
    take('b');
    await settled();
    expect(draws.slice(0, 2).map(({ wanted }) => wanted)).toEqual([3, 2]);
    expect(told.slice(0, 3)).toEqual([
      ['a', undefined],
      ['a', undefined],
      ['a', undefined],
    ]);
    expect(told[3]).toEqual(['b', 100]);
  });

  test('is requested twelve times, a quarter of a second apart; then each message gets a time by the rate', async () => {
    const { draws, pauses, told, take } = openShare([]);
    take('a', { messages: 2 });
    take('b');
    await settled();
    expect([draws.length, pauses]).toEqual([12, Array.from({ length: 11 }, () => 250)]);
    expect(told).toEqual([
      ['a', 100],
      ['a', 200],
      ['b', 300],
    ]);
    take('c');
    await settled();
    expect([draws.length, told.at(-1)]).toEqual([24, ['c', 100]]);
  });

  test('gives no message a turn before those that wait', async () => {
    const { told, take } = openShare([1, 5]);
    take('a', { messages: 2 });
    take('b');
    expect(told).toEqual([]);
    await settled();
    expect(told.map(([name]) => name)).toEqual(['a', 'a', 'b']);
  });
});

describe('the responses of an account', () => {
  function openWatch() {
    const clock = makeManualClock(start);
    const lines: Record<string, unknown>[] = [];
    const log = makeLog(
      { level: 'info', pretty: false },
      { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    const noisy: string[] = [];
    const watch = makeAnswerWatch({ clock, log, onNoisy: ({ key }) => void noisy.push(key) });
    const note = (kind: Outcome['kind'], { times = 1, key = 'webpush:a', code = '429', isJudged = true } = {}) => {
      for (let time = 0; time < times; time += 1)
        watch.note({ key, perMinute: undefined, throttledPerMinute: isJudged ? 60 : undefined }, {
          kind,
          code,
        } as Outcome);
    };
    return { clock, lines, noisy, note };
  }

  // Google raises quotas below 5 % client errors only (delivery 1).
  test.each([
    ['a thousand answers with 51 errors', 949, 51, 1],
    ['a thousand with 50', 950, 50, 0],
    ['999 with more', 899, 100, 0],
  ])('cause a warning above 5 % of client errors: %s of a minute', (_what, ...[good, bad, warnings]) => {
    const { clock, lines, note } = openWatch();
    note('accepted', { times: good });
    note('rejected', { times: bad });
    expect(lines).toEqual([]);
    clock.advance(60_000);
    note('accepted');
    expect(lines).toHaveLength(warnings);
    if (warnings === 1) expect(lines[0]).toMatchObject({ account: 'webpush:a', answers: 1_000, clientErrors: 51 });
  });

  test.each([
    ['gone', 1],
    ['stopped', 1],
    ['rejected', 1],
    ['wait', 0],
    ['unknown', 0],
    ['unreached', 0],
  ] as const)('count as client errors: %s: %d', (kind, warnings) => {
    const { clock, lines, note } = openWatch();
    note('accepted', { times: 900 });
    note(kind, { times: 100, code: '500' });
    clock.advance(60_000);
    note('accepted');
    clock.advance(60_000);
    note('accepted');
    expect(lines).toHaveLength(warnings);
  });

  test('make a site noisy, once, after twenty 429 responses of a push service in a minute', () => {
    const { clock, noisy, note } = openWatch();
    note('wait', { times: 19 });
    note('wait', { times: 40, key: 'webpush:b', code: '503' });
    note('wait', { times: 40, key: 'fcm:c', isJudged: false });
    note('unknown', { times: 40 });
    expect(noisy).toEqual([]);
    clock.advance(59_999);
    note('wait', { times: 10 });
    expect(noisy).toEqual(['webpush:a']);
    clock.advance(1);
    note('wait', { times: 19 });
    expect(noisy).toHaveLength(1);
    note('wait');
    expect(noisy).toHaveLength(2);
  });

  test('are kept for ten thousand accounts, and evicted for the one that was idle longest', () => {
    const { noisy, note } = openWatch();
    note('wait', { times: 19, key: 'first' });
    note('wait', { times: 19, key: 'second' });
    for (let number = 0; number < 9_999; number += 1) note('accepted', { key: String(number) });
    note('wait', { key: 'second' });
    expect(noisy).toEqual(['second']);
    note('wait', { key: 'first' });
    expect(noisy).toEqual(['second']);
  });
});

/** A share whose leases are granted in their order: the numbers, then nothing. */
function openShare(grants: number[], { perMinute = 600 } = {}) {
  const clock = makeManualClock(start);
  const draws: { wanted: number; returned: number; reserve: number }[] = [];
  const pauses: number[] = [];
  const told: [string, number | undefined][] = [];
  const share = makeShare({
    clock,
    perMinute,
    async lease(draw) {
      draws.push(draw);
      return grants.shift() ?? 0;
    },
    async pause(milliseconds) {
      pauses.push(milliseconds);
    },
  });
  const take = (name: string, { lane = 1 as 0 | 1, messages = 1 } = {}): void =>
    share.take({
      lane,
      messages,
      onTurn: (later) => void told.push([name, later && later.getTime() - start.getTime()]),
    });
  return { clock, draws, pauses, told, take };
}
