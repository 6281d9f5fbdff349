import { inTransaction } from '../../src/storage/database.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countWithinLimit } from '../../src/storage/limits/limit-windows.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { propertyRuns } from '../property-runs.ts';

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

const windowSeconds = 60;
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
}, 60_000);

test('two concurrent nodes together pass no more than the limit', async () => {
  const grants = await Promise.all(
    Array.from({ length: 20 }, () => count({ workspaceId: 'shared', wanted: 3, limit: 25, at: 1_800_000_000_000 })),
  );
  expect(grants.reduce((sum, grant) => sum + grant.granted, 0)).toBe(25);
});

test('marks that are out of the window are dropped, all but the base', async () => {
  for (let minute = 0; minute < 30; minute += 1)
    await count({ workspaceId: 'tidy', wanted: 1, limit: 100, at: 1_800_000_000_000 + minute * 61_000 });
  const [row] = await bundle.database`select count(*) as marks from limit_marks where workspace_id = 'tidy'`;
  expect(row!.marks).toBeLessThanOrEqual(3);
});
