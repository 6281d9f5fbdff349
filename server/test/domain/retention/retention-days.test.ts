import { expect, test } from 'vitest';
import { keptSince, retentionTime } from '../../../src/domain/operations/retention.ts';

test('keeps a record for days of twenty-four hours', () => {
  expect(keptSince(new Date('2026-03-31T12:30:00Z'), 30)).toEqual(new Date('2026-03-01T12:30:00Z'));
  const now = new Date();
  expect(keptSince(now, 0)).toEqual(now);
});

test('ages records by the earlier of two clocks, so that a sandbox whose clock is ahead deletes nothing', () => {
  const [early, late] = [new Date('2026-03-01T00:00:00Z'), new Date('2026-06-01T00:00:00Z')];
  expect(retentionTime({ now: late, realNow: early })).toEqual(early);
  expect(retentionTime({ now: early, realNow: late })).toEqual(early);
  expect(retentionTime({ now: early, realNow: early })).toEqual(early);
});
