import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freezeShares, makeRunVariationOf } from '../../../src/engine/fan-out/experiments.ts';
import type { Database } from '../../../src/storage/database.ts';
import { addLearned } from '../../../src/storage/campaigns/variations.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');

let testDatabase: TestDatabase;
let workspaceId: string;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  workspaceId = await insertTestWorkspace(testDatabase.database, now);
  await insertSentRun(testDatabase.database, { workspaceId, id: 'run', at: now });
  await testDatabase.database`update runs set learns_by = 'CLICKS', contents_digest = 'digest'`;
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  await testDatabase.database`delete from run_variations`;
});

const learning = { by: 'CLICKS', floorPercent: 10 } as const;
const freeze = (buckets: readonly number[]) =>
  freezeShares(testDatabase.database, {
    ...{ run: { id: 'run', workspaceId, canonicalCampaignId: 'run' }, buckets, learning, variations: 2 },
  });

/** Of the second variation many were clicked, of the first none. */
const learn = (bucket: number) =>
  addLearned(testDatabase.database, [
    { workspaceId, runId: 'run', bucket, variation: 1, trials: 500, successes: 0 },
    { workspaceId, runId: 'run', bucket, variation: 2, trials: 500, successes: 250 },
  ]);

test('of no buckets nothing is asked', async () => {
  const noDatabase = undefined as unknown as Database;
  const asked = { run: { id: 'run', workspaceId, canonicalCampaignId: 'run' }, buckets: [], learning, variations: 2 };
  expect(await freezeShares(noDatabase, asked)).toEqual(new Map());
});

test('before anything is known both variations are tried, and the shares are whole', async () => {
  const shares = await freeze([7]);
  const [first, second] = shares.get(7)!;
  expect(first! + second!).toBe(10_000);
  expect(Math.min(first!, second!)).toBeGreaterThan(3_000);
});

test('what is known then decides, but for the floor, and stays as it is for the bucket whatever is learned later', async () => {
  const before = await freeze([7]);
  await learn(9);
  const after = await freeze([3, 7, 3]);
  expect([...after.keys()]).toEqual([3, 7]);
  expect(after.get(7)).toEqual(before.get(7));
  expect(after.get(3)).toEqual([1_000, 9_000]);
  expect(await freeze([3, 7])).toEqual(after);
});

test('buckets that are frozen together have the same shares', async () => {
  const shares = await freeze([200, 4, 90]);
  expect([...shares.keys()]).toEqual([4, 90, 200]);
  expect(new Set([...shares.values()].map(String)).size).toBe(1);
});

test('nodes that freeze a bucket at the same time send it by the same shares', async () => {
  const [one, other] = await Promise.all([freeze([1, 2, 3]), freeze([3, 4])]);
  expect(one.get(3)).toEqual(other.get(3));
});

test('users of a learning run are drawn by the shares of their buckets', async () => {
  await learn(9);
  const users = Array.from({ length: 300 }, (_, number) => ({ bucket: number % 3, userId: `user ${number}` }));
  const variants = { locales: [], percents: [50, 50], contents: [[{}], [{}]], learning };
  const run = { id: 'run', workspaceId, canonicalCampaignId: 'run', variants } as unknown as RunToSend;
  const variationOf = (await makeRunVariationOf(testDatabase.database, { run, users }))!;
  const second = users.filter((user) => variationOf(user) === 2).length;
  // Nine tenths of them, as far as chance allows.
  expect(second).toBeGreaterThan(240);
  expect(second).toBeLessThan(295);
});
