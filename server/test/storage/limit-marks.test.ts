import { inTransaction } from '../../src/storage/database.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countBeforehand, countEachWithinLimit, countWithinLimit } from '../../src/storage/limits/push-rate-limit.ts';
import type { LimitGrant } from '../../src/storage/limits/push-rate-limit.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { propertyRuns } from '../property-runs.ts';

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

test('exactly the limit passes in every window, whatever the batches: equal to a log of every event', async () => {
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

test('workspaces that are counted together are counted as each by itself', async () => {
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
            counts.map((each, index) => ({ ...each, ...rest, workspaceId: `z${9 - index}-${run}`, at: new Date(now) })),
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

test('with marks of a long window the statement reads by the indexes alone', async () => {
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

test('a plan that was made while there were no marks looks old ones up by their places, too', async () => {
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

test('two concurrent nodes together pass no more than the limit', async () => {
  const grants = await Promise.all(
    Array.from({ length: 20 }, () => count({ workspaceId: 'shared', wanted: 3, limit: 25, at: 1_800_000_000_000 })),
  );
  expect(grants.reduce((sum, grant) => sum + grant.granted, 0)).toBe(25);
});

test('batches of nodes that count beforehand, in other orders, pass the limit of each workspace and tell when the next passes', async () => {
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

test('marks that are out of the window are dropped, all but the base', async () => {
  for (let minute = 0; minute < 30; minute += 1)
    await count({ workspaceId: 'tidy', wanted: 1, limit: 100, at: 1_800_000_000_000 + minute * 61_000 });
  const [row] = await bundle.database`select count(*) as marks from limit_marks where workspace_id = 'tidy'`;
  expect(row!.marks).toBeLessThanOrEqual(3);
});
