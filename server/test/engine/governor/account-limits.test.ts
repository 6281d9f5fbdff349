import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Seen } from '../../../src/domain/delivery/evidence.ts';
import { makeGovernor } from '../../../src/engine/governor/governor.ts';
import type { Governor } from '../../../src/engine/governor/governor.ts';
import { makeEvidence, probeMilliseconds } from '../../../src/engine/governor/provider-evidence.ts';
import type { BatchKey } from '../../../src/engine/governor/provider-evidence.ts';
import { makeLog } from '../../../src/log.ts';
import type { Logger } from '../../../src/log.ts';
import type { SendAccount } from '../../../src/providers/send-account.ts';
import type { Database } from '../../../src/storage/database.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

describe('account limits', () => {
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

  describe('shared limits', () => {
    let test_: TestDatabase;
    beforeEach(async () => {
      test_ = await createTestDatabase();
    });
    afterEach(() => test_.drop());

    const store = (row: { silent?: Date; penalty?: Date }) => test_.database`
      insert into send_budgets (key, tokens, refilled_at, busy_since, silent_until, silent_reason, penalty_until)
      values ('fcm:shop', 0, ${start}, ${start}, ${row.silent ?? null}, ${row.silent ? 'QUOTA_EXCEEDED' : null}, ${row.penalty ?? null})
      on conflict (key) do update set silent_until = excluded.silent_until, silent_reason = excluded.silent_reason, penalty_until = excluded.penalty_until`;

    test('are read once a second, whichever way the clock moved, and pause every message', async () => {
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

    test('end a pause at its time without another read', async () => {
      await store({ silent: later(500) });
      const governor = node(test_.database);
      expect(await turnsOf(governor, account())).toEqual([later(500)]);
      clock.advance(499);
      expect(await turnsOf(governor, account())).toEqual([later(500)]);
      clock.advance(1);
      expect(await turnsOf(governor, account())).toEqual([undefined]);
    });

    test('keep the pause of a node that others do not know', async () => {
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

    test('pause an unreachable account for other nodes too, with the reason', async () => {
      const until = node(test_.database).pauseAfterFailure(account());
      await expect
        .poll(() => test_.database`select silent_until, silent_reason from send_budgets`)
        .toEqual([{ silent_until: until, silent_reason: 'not reached' }]);
      expect(await turnsOf(node(test_.database), account())).toEqual([until]);
    });

    test('keep a separate budget for each account', async () => {
      const governor = node(test_.database);
      for (const key of ['fcm:one', 'fcm:two'])
        expect(await turnsOf(governor, account({ key, perMinute: 6_000 }))).toEqual([undefined]);
      expect(await test_.database`select key from send_budgets order by key`).toEqual([
        { key: 'fcm:one' },
        { key: 'fcm:two' },
      ]);
    });

    test('apply a penalty to the rate of its account until its end, even through a pause', async () => {
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

    test('lower the rate of a node after twenty throttling responses in a minute, and log it', async () => {
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

  describe('a database that is unavailable', () => {
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

    test('does not stop messages of an account without a quota, and is asked again after a second', async () => {
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

    test('grants nothing of a quota: every message gets a time to return, and the operator a reason', async () => {
      const governor = node(openAway().database);
      // 60 a minute: one behind the other, a second apart.
      expect(await turnsOf(governor, account({ perMinute: 60 }), 2)).toEqual([later(1_000), later(2_000)]);
      expect(lines).toContainEqual(['warn', 'no lease of a budget', 'fcm:shop']);
    });

    test('leaves a node with the pause that it knows; only a longer one is logged', async () => {
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

    test('stores no penalty, which is logged', async () => {
      const governor = node(openAway().database);
      const site = account({ throttledPerMinute: 600 });
      for (let time = 0; time < 20; time += 1) governor.report(site, { kind: 'wait', code: '429', scope: 'device' });
      await settled();
      expect(lines).toEqual([['warn', 'the lower rate of an account is not stored', 'fcm:shop']]);
    });

    test('does not change how long an unreachable account is paused', () => {
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

    test('does not limit memory use: ten thousand accounts are remembered, then the oldest is evicted', async () => {
      const governor = node(openAway().database);
      const until = later(60_000);
      for (let number = 0; number <= 10_000; number += 1)
        governor.pauseAfterFailure(account({ key: `site ${number}` }));
      expect(await turnsOf(governor, account({ key: 'site 0' }))).toEqual([undefined]);
      expect(await turnsOf(governor, account({ key: 'site 1' }))).toEqual([later(5_000)]);
      clock.advance(60_000);
      expect(governor.pauseAfterFailure(account({ key: 'site 0' }))).toEqual(new Date(until.getTime() + 5_000));
      expect(governor.pauseAfterFailure(account({ key: 'site 10000' }))).toEqual(new Date(until.getTime() + 10_000));
    });
  });

  function node(database: Database): Governor {
    const write = (level: string) => (values: { account?: string }, words: string) =>
      void lines.push([level, words, values.account]);
    const log = { debug: write('debug'), warn: write('warn') } as unknown as Logger;
    return makeGovernor({ database, clock, log, pause: async () => {} });
  }
});

describe('shared evidence', () => {
  const start = new Date('2026-11-26T12:00:00Z');
  const log = makeLog({ level: 'silent', pretty: false });
  let database: TestDatabase;
  let clock: ReturnType<typeof makeManualClock>;
  let key: BatchKey;
  beforeAll(async () => {
    database = await createTestDatabase();
    const workspaceId = await insertTestWorkspace(database.database, start);
    const text = `${workspaceId} apns default 1 production com.example.shop`;
    key = { text, credential: text, canHold: true, workspaceId, provider: 'apns', appId: 'default' };
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    clock = makeManualClock(start);
    await database.database`delete from provider_evidence`;
  });

  const node = (of: Database = database.database) => makeEvidence({ database: of, clock, log });
  const answers = (from: number, count: number, code: string | null = 'BadDeviceToken'): Seen[] =>
    Array.from({ length: count }, (_, index) => ({ deviceId: `d${from + index}`, code, at: clock.now().getTime() }));
  const bad = {
    code: 'BadDeviceToken',
    detail: 'HTTP 400',
    effect: 'hold',
    isDrop: false,
    retryAfterSeconds: undefined,
  } as const;
  const judge = async (evidence: ReturnType<typeof node>, given: Seen[], codes = [bad]) =>
    (await evidence.judge(key, { answers: given, codes })).get('BadDeviceToken')!;
  /** A database that is away: every statement fails once it is waited for; a part of a statement is never waited for. */
  const away = (() => {
    const fail = () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- postgres.js sends a statement when it is waited for
      then: (...handlers: Parameters<Promise<never>['then']>) => Promise.reject(new Error('away')).then(...handlers),
      catch: (handler: (error: unknown) => unknown) => Promise.reject(new Error('away')).catch(handler),
    });
    return Object.assign(fail, { begin: fail, transaction: fail }) as unknown as Database;
  })();

  describe('the evidence of two nodes about one credential', () => {
    test('is added up: ten devices of each make twenty', async () => {
      const [one, other] = [node(), node()];
      expect((await judge(one, answers(0, 10))).verdict).toBe('undecided');
      expect((await judge(other, answers(10, 10))).verdict).toBe('account');
    });

    test('shares a hold with the other node within a second, and its end, too', async () => {
      const [one, other] = [node(), node()];
      expect((await other.findHolds()).size).toBe(0);
      await judge(one, answers(0, 20));
      clock.advance(1_000);
      expect((await other.findHolds()).get(key.text)).toMatchObject({ code: 'BadDeviceToken', until: null });
      await other.release(key.text);
      expect((await other.findHolds()).size).toBe(0);
      clock.advance(1_000);
      expect((await one.findHolds()).size).toBe(0);
      // What failed before the release says nothing after it.
      expect((await judge(one, answers(100, 1))).verdict).toBe('undecided');
    });

    test('allows one probe in five seconds on all nodes, and none to a device that has just failed', async () => {
      const [one, other] = [node(), node()];
      await judge(one, answers(0, 20));
      clock.advance(probeMilliseconds);
      const hold = (await one.findHolds()).get(key.text)!;
      expect(await one.mayProbe(hold, 'd3')).toBe(false);
      const asked = await Promise.all([one.mayProbe(hold, 'new'), other.mayProbe(hold, 'another')]);
      expect(asked.filter(Boolean)).toHaveLength(1);
      clock.advance(probeMilliseconds - 1);
      expect(await other.mayProbe(hold, 'another')).toBe(false);
      clock.advance(1);
      expect(await other.mayProbe(hold, 'another')).toBe(true);
    });

    test('shares an acceptance after an ambiguous response with the other node immediately', async () => {
      const [one, other] = [node(), node()];
      expect((await judge(one, answers(0, 1))).verdict).toBe('undecided');
      one.noteAccepted(key, ['d10']);
      const stored = async () => (await database.database`select remembered from provider_evidence`)[0]!.remembered;
      await vi.waitUntil(async () => JSON.stringify(await stored()).includes('d10'));
      expect(await judge(other, answers(0, 1))).toMatchObject({ verdict: 'device', isHealthy: true });
    });

    test('remains valid for twelve quiet hours', async () => {
      const [one, other] = [node(), node()];
      one.noteAccepted(
        key,
        answers(0, 10, null).map(({ deviceId }) => deviceId),
      );
      await vi.waitUntil(async () => (await database.database`select from provider_evidence`).length === 1);
      clock.advance(12 * 3_600_000);
      expect(await judge(other, answers(50, 1))).toMatchObject({ verdict: 'device', isHealthy: true });
      clock.advance(12 * 3_600_000);
      expect((await judge(other, answers(60, 1))).verdict).toBe('undecided');
    });
  });

  test('holds the credential after a definite rejection, which a later check may end', async () => {
    const one = node();
    await one.hold(key, { code: 'InvalidProviderToken', detail: 'no such key' });
    expect((await one.findHolds()).get(key.text)).toMatchObject({
      code: 'InvalidProviderToken',
      detail: 'no such key',
    });
    const [row] = await database.database`select held_for_sure as "isSure" from provider_evidence`;
    expect(row!.isSure).toBe(true);
  });

  test('ends a pause after the time that the provider requested', async () => {
    const one = node();
    const pause = { ...bad, effect: 'pause', retryAfterSeconds: 90 } as const;
    const { hold } = await judge(one, answers(0, 20), [pause as never]);
    expect(hold!.until).toEqual(new Date(start.getTime() + 90_000));
    clock.advance(90_000);
    expect((await node().findHolds()).size).toBe(0);
  });

  test('is limited to that of the own node without the database, and rejects nothing', async () => {
    const one = node(away);
    expect((await one.findHolds()).size).toBe(0);
    expect((await judge(one, answers(0, 10))).verdict).toBe('undecided');
    expect((await judge(one, answers(10, 10))).verdict).toBe('account');
    expect((await one.findHolds()).has(key.text)).toBe(true);
    expect(await one.findAccepted([{ bucket: 0, userId: 'u', id: 'd' }])).toEqual(new Set());
    expect(await one.mayProbe((await one.findHolds()).get(key.text)!, 'new')).toBe(false);
    await one.release(key.text);
    expect((await one.findHolds()).size).toBe(0);
  });
});

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
