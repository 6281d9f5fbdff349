import type { FilterTime } from './iso-time.ts';
import type { TimeTest } from './segment-filter.ts';
import { unknownCase } from '../unknown-case.ts';

/** Milliseconds since 1970, from the first to before the second. */
export type TimeRange = { from: number; until: number };

const dayMilliseconds = 86_400_000;
// Beyond every year a time can have, so that "before" and "after" are ranges like the others.
const earliest = -1e15;
const latest = 1e15;

/** The ranges of which one must hold the time, for a test made at `at`. */
export function timeRanges(test: TimeTest, at: Date): TimeRange[] {
  const now = at.getTime();
  switch (test.operator) {
    case 'exists':
      return [{ from: earliest, until: latest }];
    case 'today':
      return [dayOf(now)];
    case 'inTheLast':
      return [{ from: now - test.days * dayMilliseconds, until: now + 1 }];
    case 'inTheNext':
      return [{ from: now, until: now + test.days * dayMilliseconds + 1 }];
    case 'on':
      return [dayOf(spanOf(test.value, now).from)];
    case 'before':
      return [{ from: earliest, until: spanOf(test.value, now).from }];
    case 'after':
      return [{ from: spanOf(test.value, now).until, until: latest }];
    case 'between':
      return [{ from: spanOf(test.lower, now).from, until: spanOf(test.upper, now).until }];
    case 'in':
      return test.values.map((value) => spanOf(value, now));
    default:
      return unknownCase(test);
  }
}

function spanOf(time: FilterTime, now: number): TimeRange {
  switch (time.kind) {
    case 'instant':
      return { from: time.at.getTime(), until: time.at.getTime() + 1 };
    case 'day':
      return dayOf(time.startsAt.getTime());
    case 'relative':
      return dayOf(now + time.days * dayMilliseconds);
    default:
      return unknownCase(time);
  }
}

function dayOf(milliseconds: number): TimeRange {
  const from = Math.floor(milliseconds / dayMilliseconds) * dayMilliseconds;
  return { from, until: from + dayMilliseconds };
}
