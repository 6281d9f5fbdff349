import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { SendAccount } from '../../../src/providers/send-account.ts';
import { makeGovernor } from '../../../src/engine/governor/governor.ts';
import type { Governor } from '../../../src/engine/governor/governor.ts';
import type { Logger } from '../../../src/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';

const start = new Date('2026-03-01T12:00:00Z');
const day = 24 * 3_600_000;
const later = (milliseconds: number) => new Date(start.getTime() + milliseconds);
const settled = () => new Promise((resolve) => setImmediate(resolve));

const account = (more: Partial<SendAccount> = {}): SendAccount => ({
  key: 'fcm:shop',
  perMinute: undefined,
  throttledPerMinute: undefined,
  ...more,
});

let clock: ReturnType<typeof makeManualClock>;
let lines: [level: string, words: string, account: unknown][];
beforeEach(() => {
  clock = makeManualClock(start);
  lines = [];
});

function node(database: Database): Governor {
  const write = (level: string) => (values: { account?: string }, words: string) =>
    void lines.push([level, words, values.account]);
  const log = { debug: write('debug'), warn: write('warn') } as unknown as Logger;
  return makeGovernor({ database, clock, log, pause: async () => {} });
}

/** What so many messages of an account are told. */
function turnsOf(governor: Governor, of: SendAccount, messages = 1): Promise<(Date | undefined)[]> {
  const told: (Date | undefined)[] = [];
  return new Promise((resolve) =>
    governor.acquire(of, {
      lane: 1,
      messages,
      onTurn(at) {
        told.push(at);
        if (told.length === messages) resolve(told);
      },
    }),
  );
}

describe('what the nodes tell one another', () => {
  let test_: TestDatabase;
  beforeEach(async () => {
    test_ = await createTestDatabase();
  });
  afterEach(() => test_.drop());

  const store = (row: { silent?: Date; penalty?: Date }) => test_.database`
    insert into send_budgets (key, tokens, refilled_at, busy_since, silent_until, silent_reason, penalty_until)
    values ('fcm:shop', 0, ${start}, ${start}, ${row.silent ?? null}, ${row.silent ? 'QUOTA_EXCEEDED' : null}, ${row.penalty ?? null})
    on conflict (key) do update set silent_until = excluded.silent_until, silent_reason = excluded.silent_reason, penalty_until = excluded.penalty_until`;

  test('silence is read when a second has passed, whichever way the clock went, and holds for every message', async () => {
    const governor = node(test_.database);
    expect(await turnsOf(governor, account())).toEqual([undefined]);
    await store({ silent: later(60_000) });
    clock.advance(999);
    expect(await turnsOf(governor, account())).toEqual([undefined]);
    clock.advance(1);
    expect(await turnsOf(governor, account(), 3)).toEqual([later(60_000), later(60_000), later(60_000)]);
    await store({ silent: later(90_000) });
    clock.advance(-2_000);
    expect(await turnsOf(governor, account())).toEqual([later(90_000)]);
  });

  test('silence ends at its instant, without being read again', async () => {
    await store({ silent: later(500) });
    const governor = node(test_.database);
    expect(await turnsOf(governor, account())).toEqual([later(500)]);
    clock.advance(499);
    expect(await turnsOf(governor, account())).toEqual([later(500)]);
    clock.advance(1);
    expect(await turnsOf(governor, account())).toEqual([undefined]);
  });

  test('a node keeps the silence that it was asked for, also when the others do not know of it', async () => {
    const governor = node(test_.database);
    governor.pause(account(), { until: later(60_000), reason: 'QUOTA_EXCEEDED' });
    await expect.poll(() => test_.database`select silent_reason from send_budgets`).toHaveLength(1);
    await test_.database`delete from send_budgets`;
    clock.advance(5_000);
    expect(await turnsOf(governor, account())).toEqual([later(60_000)]);
    // A longer one of the others is not shortened by its own.
    await store({ silent: later(90_000) });
    clock.advance(5_000);
    expect(await turnsOf(governor, account())).toEqual([later(90_000)]);
  });

  test('an account that is not reached is silent for the others too, with the reason', async () => {
    const until = node(test_.database).pauseAfterFailure(account());
    await expect
      .poll(() => test_.database`select silent_until, silent_reason from send_budgets`)
      .toEqual([{ silent_until: until, silent_reason: 'not reached' }]);
    expect(await turnsOf(node(test_.database), account())).toEqual([until]);
  });

  test('each account draws from a budget of its own', async () => {
    const governor = node(test_.database);
    for (const key of ['fcm:one', 'fcm:two'])
      expect(await turnsOf(governor, account({ key, perMinute: 6_000 }))).toEqual([undefined]);
    expect(await test_.database`select key from send_budgets order by key`).toEqual([
      { key: 'fcm:one' },
      { key: 'fcm:two' },
    ]);
  });

  test('a penalty lowers the rate of its account until its instant, through a silence too', async () => {
    await store({ penalty: later(600) });
    const governor = node(test_.database);
    const site = account({ perMinute: undefined, throttledPerMinute: 600 });
    const allNow = Array.from({ length: 30 }, () => undefined);
    // Ten a second, of which a rested account has a tenth.
    const isLimited = async () => (await turnsOf(governor, site, 30)).some((at) => at !== undefined);
    expect(await isLimited()).toBe(true);
    expect(await turnsOf(governor, account({ key: 'other', throttledPerMinute: 600 }), 30)).toEqual(allNow);
    governor.pause(site, { until: later(300), reason: 'QUOTA_EXCEEDED' });
    expect(await turnsOf(governor, site)).toEqual([later(300)]);
    clock.advance(300);
    expect(await isLimited()).toBe(true);
    clock.advance(299);
    expect(await isLimited()).toBe(true);
    clock.advance(1);
    expect(await isLimited()).toBe(false);
  });

  test('a node that is told twenty times in a minute sends at the lower rate at once, and says so', async () => {
    const governor = node(test_.database);
    const site = account({ throttledPerMinute: 600 });
    expect(await turnsOf(governor, site, 30)).toEqual(Array.from({ length: 30 }, () => undefined));
    for (let time = 0; time < 20; time += 1) governor.report(site, { kind: 'wait', code: '429', scope: 'device' });
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines).toEqual([['warn', expect.stringMatching(/limits this site/), 'fcm:shop']]);
    expect(await turnsOf(governor, site, 30)).toContainEqual(expect.any(Date));
    // Another node's twenty of the same minute change nothing, and are not news.
    const other = node(test_.database);
    for (let time = 0; time < 20; time += 1) other.report(site, { kind: 'wait', code: '429', scope: 'device' });
    await expect.poll(() => turnsOf(other, site, 30)).toContainEqual(expect.any(Date));
    const [row] = await test_.database`select penalties, penalty_until from send_budgets`;
    expect(row).toEqual({ penalties: 1, penalty_until: later(day) });
    expect(lines).toHaveLength(1);
  });
});

describe('a database that is away', () => {
  function openAway() {
    const asked: string[] = [];
    const away = () => new Error('away');
    const query = (texts: TemplateStringsArray) => {
      asked.push(texts.join('?').trim().split(/\s/, 1)[0]!);
      return Promise.reject(away());
    };
    const database = Object.defineProperty(query, 'reach', {
      get() {
        throw away();
      },
    });
    return { database: database as unknown as Database, asked };
  }

  test('keeps no message of an account without a quota, and is asked again after a second', async () => {
    const { database, asked } = openAway();
    const governor = node(database);
    for (let time = 0; time < 3; time += 1)
      expect(await turnsOf(governor, account(), 2)).toEqual([undefined, undefined]);
    expect(asked).toEqual(['select']);
    clock.advance(1_000);
    await Promise.all([turnsOf(governor, account()), turnsOf(governor, account())]);
    expect(asked).toEqual(['select', 'select']);
    expect(lines.map(([level]) => level)).toEqual(['debug', 'debug']);
  });

  test('gives nothing of a quota: all are told when to return, and the operator why', async () => {
    const governor = node(openAway().database);
    // 60 a minute: one behind the other, a second apart.
    expect(await turnsOf(governor, account({ perMinute: 60 }), 2)).toEqual([later(1_000), later(2_000)]);
    expect(lines).toContainEqual(['warn', 'no lease of a budget', 'fcm:shop']);
  });

  test('leaves a node with the silence that it knows; only a longer one is told', async () => {
    const { database, asked } = openAway();
    const governor = node(database);
    const silence = (milliseconds: number) =>
      governor.pause(account(), { until: later(milliseconds), reason: 'QUOTA_EXCEEDED' });
    for (const milliseconds of [60_000, 60_000, 59_999, 60_001]) silence(milliseconds);
    await settled();
    expect(asked).toEqual(['insert', 'insert']);
    expect(lines).toEqual([
      ['warn', 'the pause of an account is not shared', 'fcm:shop'],
      ['warn', 'the pause of an account is not shared', 'fcm:shop'],
    ]);
    clock.advance(30_000);
    expect(await turnsOf(governor, account())).toEqual([later(60_001)]);
    expect(await turnsOf(governor, account({ key: 'fcm:other' }))).toEqual([undefined]);
  });

  test('stores no penalty, which the operator is told', async () => {
    const governor = node(openAway().database);
    const site = account({ throttledPerMinute: 600 });
    for (let time = 0; time < 20; time += 1) governor.report(site, { kind: 'wait', code: '429', scope: 'device' });
    await settled();
    expect(lines).toEqual([['warn', 'the lower rate of an account is not stored', 'fcm:shop']]);
  });

  test('does not change how long an account is left alone that cannot be reached', () => {
    const governor = node(openAway().database);
    const wait = (key: string) => governor.pauseAfterFailure(account({ key })).getTime() - clock.now().getTime();
    expect([wait('a'), wait('b'), wait('a')]).toEqual([5_000, 5_000, 5_000]);
    clock.advance(5_000);
    expect([wait('a'), wait('b')]).toEqual([10_000, 10_000]);
    // What the provider asked for is longer than what would follow from the failure.
    governor.pause(account({ key: 'b' }), { until: later(100_000), reason: 'QUOTA_EXCEEDED' });
    expect(governor.pauseAfterFailure(account({ key: 'b' }))).toEqual(later(100_000));
    governor.report(account({ key: 'b' }), { kind: 'accepted' });
    clock.advance(100_000);
    // An answer of one account says nothing about the other.
    expect([wait('a'), wait('b')]).toEqual([20_000, 5_000]);
  });

  test('ten thousand accounts are remembered, then the oldest is forgotten', async () => {
    const governor = node(openAway().database);
    const until = later(60_000);
    for (let number = 0; number <= 10_000; number += 1) governor.pauseAfterFailure(account({ key: `site ${number}` }));
    expect(await turnsOf(governor, account({ key: 'site 0' }))).toEqual([undefined]);
    expect(await turnsOf(governor, account({ key: 'site 1' }))).toEqual([later(5_000)]);
    clock.advance(60_000);
    expect(governor.pauseAfterFailure(account({ key: 'site 0' }))).toEqual(new Date(until.getTime() + 5_000));
    expect(governor.pauseAfterFailure(account({ key: 'site 10000' }))).toEqual(new Date(until.getTime() + 10_000));
  });
});
