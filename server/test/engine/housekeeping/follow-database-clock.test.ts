import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClock } from '../../../src/clock.ts';
import { makeFollowDatabaseClock } from '../../../src/engine/housekeeping/database-clock.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { setClockOffset } from '../../../src/storage/installation/installation.ts';
import { isAnybodyWaiting } from '../../is-anybody-waiting.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
  await bundle.database`
    insert into installation (created_at, master_key_check) values ('2026-03-01', '\\x00') on conflict do nothing`;
});
afterAll(() => bundle.drop());

test('a clock that another node moved is followed; one that this node moves while it looks is not set back', async () => {
  const { database } = bundle;
  const clock = makeClock();
  let moves = 0;
  const follow = makeFollowDatabaseClock({ database, clock, onMoved: () => (moves += 1) });
  await setClockOffset(database, 60_000);
  await follow.runOnce(clock.now());
  expect([clock.offsetMilliseconds(), moves]).toEqual([60_000, 1]);

  let looked: Promise<unknown> | undefined;
  await inTransaction(database, async (tx) => {
    await tx`lock table installation in access exclusive mode`;
    looked = follow.runOnce(clock.now());
    await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
    clock.setOffset(86_400_000);
  });
  await looked;
  expect([clock.offsetMilliseconds(), moves]).toEqual([86_400_000, 1]);
});
