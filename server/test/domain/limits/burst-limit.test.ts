import { describe, expect, test } from 'vitest';
import { passBurst } from '../../../src/domain/access/rate-limits.ts';

describe('the limit of bursts', () => {
  const limit = { events: 5, seconds: 10 };
  const passed = (occurrences: number[]): number => {
    let fullAt: number | undefined;
    return occurrences.filter((now) => {
      const result = passBurst(limit, { fullAt, now });
      if ('fullAt' in result) fullAt = result.fullAt;
      return 'fullAt' in result;
    }).length;
  };

  test('allows a full burst, then one event at a time', () => {
    expect(passed([0, 0, 0, 0, 0, 0, 0])).toBe(5);
    expect(passed([0, 0, 0, 0, 0, 2000, 2000])).toBe(6);
    expect(passed([0, 0, 0, 0, 0, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000])).toBe(10);
  });

  test('allows an even stream at its rate forever', () => {
    const stream = Array.from({ length: 1000 }, (_, index) => index * 2000);
    expect(passed(stream)).toBe(1000);
  });

  test('returns when the next event is allowed, and locks no caller out when the clock is set back', () => {
    expect(passBurst(limit, { fullAt: 10_000, now: 0 })).toEqual({ retryAfterSeconds: 2 });
    expect(passBurst(limit, { fullAt: 10_000, now: 2000 })).toEqual({ fullAt: 12_000 });
    expect(passBurst(limit, { fullAt: 400_000_000, now: 0 })).toEqual({ fullAt: 2000 });
  });

  test('starts with the full burst for a subject that was idle', () => {
    expect(passBurst(limit, { fullAt: undefined, now: 5_000 })).toEqual({ fullAt: 7_000 });
    expect(passBurst(limit, { fullAt: 1_000, now: 5_000 })).toEqual({ fullAt: 7_000 });
    expect(passBurst(limit, { fullAt: 6_000, now: 5_000 })).toEqual({ fullAt: 8_000 });
  });

  test('tolerates the rounding of a millisecond, and no more', () => {
    expect(passBurst(limit, { fullAt: 8_000.4, now: 0 })).toEqual({ fullAt: 10_000.4 });
    expect(passBurst(limit, { fullAt: 8_000.5, now: 0 })).toEqual({ retryAfterSeconds: 1 });
  });

  test('never delays longer than its period', () => {
    expect(passBurst(limit, { fullAt: 18_000, now: 0 })).toEqual({ retryAfterSeconds: 10 });
    expect(passBurst(limit, { fullAt: 18_001, now: 0 })).toEqual({ fullAt: 2_000 });
  });
});
