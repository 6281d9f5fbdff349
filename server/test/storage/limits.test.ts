import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitSubject } from '../../src/domain/access/keys.ts';
import { secondsUntilPass } from '../../src/domain/access/rate-limits.ts';
import type { LimitWindow } from '../../src/domain/access/rate-limits.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { countBeforehand, countEachWithinLimit, countWithinLimit } from '../../src/storage/limits/push-rate-limit.ts';
import type { LimitGrant } from '../../src/storage/limits/push-rate-limit.ts';
import {
  capLimitWindows,
  countEvent,
  countEvents,
  deleteIdleLimitWindows,
  findLimitWindows,
  trimLimitWindows,
} from '../../src/storage/limits/sliding-windows.ts';
import { collectPlans } from '../collect-plans.ts';
import { propertyRuns } from '../property-runs.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

describe('the marks of a limit', () => {
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  const windowSeconds = 60;
  const rest = { operation: 'test', windowSeconds };
  const count = ({
    workspaceId,
    wanted,
    limit,
    at,
  }: {
    workspaceId: string;
    wanted: number;
    limit: number;
    at: number;
  }) =>
    inTransaction(bundle.database, (tx) =>
      countWithinLimit(tx, { operation: 'test', workspaceId, wanted, limit, windowSeconds, at: new Date(at) }),
    );

  test('pass exactly the limit in every window, whatever the batches, like a log of every event', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 40_000 })), {
          minLength: 1,
          maxLength: 25,
        }),
        async (limit, batches) => {
          const workspaceId = `ws-${(run += 1)}`;
          const log: number[] = [];
          let now = 1_800_000_000_000;
          for (const [wanted, pause] of batches) {
            now += pause;
            const inWindow = log.filter((at) => at > now - windowSeconds * 1000).length;
            const expected = Math.max(0, Math.min(wanted, limit - inWindow));
            const grant = await count({ workspaceId, wanted, limit, at: now });
            log.push(...Array.from({ length: expected }, () => now));
            const left = limit - inWindow - expected;
            const oldest = log.filter((at) => at > now - windowSeconds * 1000)[0];
            expect(grant).toEqual({
              granted: expected,
              remaining: left,
              retryAfterSeconds: left > 0 ? 0 : Math.max(1, Math.ceil((oldest! + windowSeconds * 1000 - now) / 1000)),
            });
          }
        },
      ),
      { numRuns: propertyRuns(60) },
    );
  });

  test('count several workspaces together like each on its own', async () => {
    let run = 0;
    const asked = fc.record({
      pause: fc.integer({ min: 0, max: 40_000 }),
      wanted: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 10 }), async (batches) => {
        run += 1;
        let now = 1_800_000_000_000;
        for (const { pause, wanted } of batches) {
          now += pause;
          const counts = wanted.map((events, index) => ({ wanted: events, limit: 4 + 3 * index, at: now }));
          const together = await inTransaction(bundle.database, (tx) =>
            countEachWithinLimit(
              tx,
              // The last first: what is locked in another order than asked for comes back in the order asked.
              counts.map((each, index) => ({
                ...each,
                ...rest,
                workspaceId: `z${9 - index}-${run}`,
                at: new Date(now),
              })),
            ),
          );
          const each: LimitGrant[] = [];
          for (const [index, one] of counts.entries())
            each.push(await count({ ...one, workspaceId: `a${index}-${run}` }));
          expect(together).toEqual(each);
        }
      }),
      { numRuns: propertyRuns(15) },
    );
  });

  test('are read through indexes only, even in a long window', async () => {
    const { database } = bundle;
    const from = 1_800_000_000_000;
    await database`
      insert into limit_marks (operation, workspace_id, counted, at)
      select 'test', 'w' || workspace, number, to_timestamp(${from / 1000}) + number * interval '1 millisecond'
      from generate_series(1, 5) as workspace, generate_series(1, 8000) as number`;
    await database`analyze limit_marks`;
    const at = new Date(from + 63_000);
    const counts = [1, 2, 3].map((number) => ({ ...rest, workspaceId: `w${number}`, wanted: 2, limit: 10_000, at }));
    await inTransaction(database, (tx) => countEachWithinLimit(tx, counts));
    const plans: string[] = [];
    await inTransaction(database, (tx) => countEachWithinLimit(collectPlans(tx, plans) as typeof tx, counts));
    expect(plans.join('\n')).toMatch(/limit_marks_time/);
    expect(plans.join('\n')).not.toMatch(/Seq Scan on limit_marks/);
    // Not once for each mark of the window.
    expect(plans.join('\n')).toMatch(/Tid Scan on limit_marks/);
  });

  test('are looked up by position even if the plan was made while there were none', async () => {
    const fresh = await createTestDatabase();
    try {
      const counts = [1, 2].map((number) => ({
        ...{ ...rest, workspaceId: `w${number}`, wanted: 2, limit: 10_000, at: new Date(1_800_000_000_000) },
      }));
      const plans: string[] = [];
      await inTransaction(fresh.database, (tx) => countEachWithinLimit(collectPlans(tx, plans) as typeof tx, counts));
      expect(plans.join('\n')).toMatch(/Tid Scan on limit_marks/);
      expect(plans.join('\n')).not.toMatch(/Seq Scan on limit_marks/);
    } finally {
      await fresh.drop();
    }
  });

  test('pass no more than the limit on two concurrent nodes together', async () => {
    const grants = await Promise.all(
      Array.from({ length: 20 }, () => count({ workspaceId: 'shared', wanted: 3, limit: 25, at: 1_800_000_000_000 })),
    );
    expect(grants.reduce((sum, grant) => sum + grant.granted, 0)).toBe(25);
  });

  test('pass the limit of each workspace for batches of nodes in any order, and report the time of the next', async () => {
    const at = new Date(1_800_000_000_000);
    const workspaces = ['first', 'second', 'third'];
    const batches = await Promise.all(
      Array.from({ length: 30 }, async (_, number) => {
        const order = number % 2 === 0 ? workspaces : workspaces.toReversed();
        const counts = order.map((workspaceId) => ({ ...rest, workspaceId, wanted: 3, limit: 25, at }));
        const grants = await countBeforehand(bundle.database, counts);
        return order.map((workspaceId, place) => ({ workspaceId, ...grants[place]! }));
      }),
    );
    for (const name of workspaces) {
      const grants = batches.flat().filter(({ workspaceId }) => workspaceId === name);
      expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(25);
      for (const { remaining, retryAfterSeconds } of grants) expect(retryAfterSeconds).toBe(remaining > 0 ? 0 : 60);
    }
  });

  test('are dropped outside the window, except the base', async () => {
    for (let minute = 0; minute < 30; minute += 1)
      await count({ workspaceId: 'tidy', wanted: 1, limit: 100, at: 1_800_000_000_000 + minute * 61_000 });
    const [row] = await bundle.database`select count(*) as marks from limit_marks where workspace_id = 'tidy'`;
    expect(row!.marks).toBeLessThanOrEqual(3);
  });
});

describe('the windows of a limit', () => {
  const start = Date.parse('2026-03-01T12:00:00Z');
  let bundle: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    ({ database } = bundle);
  });
  afterAll(() => bundle.drop());

  let subjects = 0;
  const nextSubject = () => limitSubject([`subject ${(subjects += 1)}`]);

  test('decide in one statement as a naive model does, with a wait up to the first passing second', async () => {
    const windows = fc.constantFrom<LimitWindow[]>(
      [
        { events: 5, seconds: 60 },
        { events: 30, seconds: 600 },
      ],
      [{ events: 1, seconds: 1 }],
      [{ events: 3, seconds: 10 }],
      [
        { events: 4, seconds: 7 },
        { events: 2, seconds: 3 },
        { events: 9, seconds: 60 },
      ],
    );
    // Steps on, just before and just after the edges of the windows, and some in between.
    const step = fc.oneof(
      fc.constantFrom(0, 0, 1, 999, 1000, 1001, 2999, 3000, 9999, 10_000, 59_999, 60_000, 60_001, 600_000),
      fc.integer({ min: 0, max: 20_000 }),
    );
    await fc.assert(
      fc.asyncProperty(windows, fc.array(step, { minLength: 1, maxLength: 60 }), async (limits, steps) => {
        const model = makeModel(limits);
        const counter = { operation: 'token', subject: nextSubject() };
        let now = start;
        for (const milliseconds of steps) {
          now += milliseconds;
          const at = new Date(now);
          const { counted } = await countEvent(database, { ...counter, at, windows: limits });
          expect(counted).toBe(model.count(now));
          const [events] = await findLimitWindows(database, [counter]);
          expect(secondsUntilPass(limits, { events: events!, at })).toBe(model.waitAt(now));
          expect(events!.length).toBeLessThanOrEqual(Math.max(...limits.map((limit) => limit.events)));
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('count exactly the limit of concurrent events on many connections', async () => {
    const event = {
      operation: 'token',
      subject: nextSubject(),
      at: new Date(start),
      windows: [{ events: 7, seconds: 60 }],
    };
    const answers = await Promise.all(Array.from({ length: 100 }, () => countEvent(database, event)));
    expect(answers.filter(({ counted }) => counted)).toHaveLength(7);
    expect(answers.filter(({ isFirst }) => isFirst)).toHaveLength(1);
  });

  test('count exactly the limit of each subject for batches that name them in other orders', async () => {
    const asked = Array.from({ length: 6 }, () => ({ operation: 'token', subject: nextSubject() }));
    const event = { at: new Date(start), windows: [{ events: 7, seconds: 60 }] };
    const batches = await Promise.all(
      Array.from({ length: 40 }, async (_, number) => {
        const subjects = number % 2 === 0 ? asked : asked.toReversed();
        const counted = await inTransaction(database, (tx) => countEvents(tx, { ...event, subjects }));
        return number % 2 === 0 ? counted : counted.toReversed();
      }),
    );
    for (const [place] of asked.entries()) {
      expect(batches.filter((batch) => batch[place]!.counted)).toHaveLength(7);
      expect(batches.filter((batch) => batch[place]!.isFirst)).toHaveLength(1);
    }
  });

  test('count an event a few milliseconds older than the last one like any other', async () => {
    const event = { operation: 'token', subject: nextSubject(), windows: [{ events: 2, seconds: 60 }] };
    const count = (milliseconds: number) => countEvent(database, { ...event, at: new Date(start + milliseconds) });
    expect((await count(5)).counted).toBe(true);
    expect((await count(0)).counted).toBe(true);
    expect((await count(3)).counted).toBe(false);
    expect((await count(60_000)).counted).toBe(true);
  });

  test('report an event as the first of the longest window only if there is no other', async () => {
    const event = { operation: 'token', subject: nextSubject(), windows: [{ events: 5, seconds: 60 }] };
    const count = async (seconds: number) =>
      (await countEvent(database, { ...event, at: new Date(start + seconds * 1000) })).isFirst;
    expect([await count(0), await count(59), await count(118), await count(178)]).toEqual([true, false, false, true]);
  });

  test('are separate by operation and subject, and returned in the requested order', async () => {
    const [a, b] = [nextSubject(), nextSubject()];
    const windows = [{ events: 5, seconds: 60 }];
    const at = (seconds: number) => new Date(start + seconds * 1000);
    await countEvent(database, { operation: 'token', subject: a, at: at(1), windows });
    await countEvent(database, { operation: 'refresh', subject: a, at: at(2), windows });
    await countEvent(database, { operation: 'token', subject: b, at: at(3), windows });
    expect(
      await findLimitWindows(database, [
        { operation: 'token', subject: b },
        { operation: 'refresh', subject: b },
        { operation: 'token', subject: a },
        { operation: 'refresh', subject: a },
      ]),
    ).toEqual([[at(3)], [], [at(1)], [at(2)]]);
  });

  test('are removed by the clean-up for idle subjects and except the newest, for the named operations only', async () => {
    await database`delete from limit_windows`;
    const windows = [{ events: 5, seconds: 60 }];
    const at = (seconds: number) => new Date(start + seconds * 1000);
    for (let second = 0; second < 10; second += 1) {
      await countEvent(database, { operation: 'token', subject: nextSubject(), at: at(second), windows });
    }
    await countEvent(database, { operation: 'file', subject: nextSubject(), at: at(-86_000), windows });
    const left = async () =>
      (await database`select operation from limit_windows order by last_event_at`).map(
        (row) => row.operation as string,
      );
    expect(await deleteIdleLimitWindows(database, { operations: ['token'], before: at(4) })).toBe(4);
    expect(await left()).toEqual(['file', ...Array.from({ length: 6 }, () => 'token')]);
    expect(await capLimitWindows(database, { operations: ['token'], rows: 2 })).toBe(4);
    const [{ oldest }] = (await database<{ oldest: Date }[]>`
      select min(last_event_at) as oldest from limit_windows where operation = 'token'`) as unknown as [
      { oldest: Date },
    ];
    expect(oldest).toEqual(at(8));
    expect(await left()).toEqual(['file', 'token', 'token']);
    expect(await trimLimitWindows(database, { at: at(9 + 600) })).toBe(1);
    expect(await left()).toEqual(['file', 'token']);
  });
});

/** The rule by the book: every counted event is kept for ever and looked at each time. */
function makeModel(windows: readonly LimitWindow[]) {
  const counted: number[] = [];
  const passesAt = (now: number) =>
    windows.every(
      ({ events, seconds }) =>
        counted.filter((occurrence) => occurrence > now - seconds * 1000 && occurrence <= now).length < events,
    );
  return {
    count(now: number): boolean {
      const passes = passesAt(now);
      if (passes) counted.push(now);
      return passes;
    },
    /** The first whole second from now at which an event would pass. */
    waitAt(now: number): number {
      for (let seconds = 0; ; seconds += 1) if (passesAt(now + seconds * 1000)) return seconds;
    },
  };
}
