import { describe, expect, test } from 'vitest';
import { bestTimeOf, bestTimeOfTiming } from '../../../src/domain/timing/timing.ts';
import type { BestTime } from '../../../src/domain/timing/timing.ts';

const start = new Date('2026-03-01T00:00:00Z');
const opensAt = (opens: Record<number, number>): number[] => Array.from({ length: 24 }, (_, hour) => opens[hour] ?? 0);
const rule: BestTime = { windowHours: 24, ifUnknown: 'DO_NOT_SEND', ifOutside: 'DO_NOT_SEND' };

/** Hours after the start; undefined: not at all. */
function hourOf(opens: Record<number, number>, more: Partial<BestTime> = {}): number | undefined {
  const at = bestTimeOf({ ...rule, ...more }, { opens: opensAt(opens), start });
  return at && (at.getTime() - start.getTime()) / 3_600_000;
}

describe('the best time of a user', () => {
  test.each<[string, Record<number, number>, number]>([
    ['is the hour with the most opens', { 5: 3, 9: 4, 20: 3 }, 9],
    ['the earliest of equal ones', { 9: 3, 20: 3 }, 9],
    ['counts half what was opened in the hour before', { 9: 4, 14: 1, 15: 4 }, 15],
    ['and in the hour after', { 9: 4, 15: 4, 16: 1 }, 15],
    ['which is not the hour itself', { 10: 3, 14: 2, 15: 2 }, 10],
    ['across the end of the day', { 12: 3, 22: 1, 23: 2, 0: 2 }, 23],
    ['and its beginning', { 12: 3, 23: 2, 0: 2, 1: 1 }, 0],
    ['is known from three opens', { 7: 3 }, 7],
  ])('%s', (_what, ...[opens, hour]) => expect(hourOf(opens)).toBe(hour));

  test('is unknown from two opens: the campaign decides', () => {
    const policies = ['DO_NOT_SEND', 'SEND_AT_START', 'SEND_AT_END'] as const;
    for (const opens of [{}, { 7: 2 }])
      expect(policies.map((ifUnknown) => hourOf(opens, { ifUnknown, windowHours: 6 }))).toEqual([undefined, 0, 6]);
  });

  test('may be outside the time of the campaign, which then decides', () => {
    const policies = ['DO_NOT_SEND', 'SEND_AT_START', 'SEND_AT_END'] as const;
    const ask = (hour: number) =>
      policies.map((ifOutside) => hourOf({ [hour]: 3 }, { ifOutside, windowHours: 6, ifUnknown: 'SEND_AT_START' }));
    expect(ask(5)).toEqual([5, 5, 5]);
    expect(ask(6)).toEqual([undefined, 0, 6]);
  });
});

test('reports whether a timing uses the best time', () => {
  const daily = { firstDate: '2026-03-01', endDate: '2026-03-09', time: '09:00', timeZone: 'UTC' };
  expect(bestTimeOfTiming({ kind: 'periodic', repeatAfterDays: 1, ...daily, bestTime: rule })).toBe(rule);
  expect(bestTimeOfTiming({ kind: 'periodic', repeatAfterDays: 1, ...daily })).toBeNull();
  expect(bestTimeOfTiming({ kind: 'soon' })).toBeNull();
});
