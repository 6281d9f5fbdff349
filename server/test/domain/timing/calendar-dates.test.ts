import { expect, test } from 'vitest';
import { calendarDates } from '../../../src/domain/timing/calendar.ts';
import type { CalendarRule } from '../../../src/domain/timing/calendar.ts';

test.each<[string, CalendarRule, string, string[]]>([
  ['a Monday', { every: 'week', step: 1, weekdays: [1] }, '2026-03-09', ['2026-03-02', '2026-03-09']],
  ['a first', { every: 'month', step: 1, dates: [1, 2], weekdays: [] }, '2026-04-01', ['2026-03-02', '2026-04-01']],
])('includes %s, the first day of its period, in a series that ends there', (_day, ...[rule, until, days]) => {
  const firstDate = '2026-03-02';
  expect([...calendarDates(rule, { firstDate, from: firstDate, until })]).toEqual(days);
});

test.each<[CalendarRule, string[]]>([
  [{ every: 'week', step: 1, weekdays: [5, 1, 5] }, ['2026-03-02', '2026-03-06']],
  [
    { every: 'month', step: 1, dates: [6, 2, 6], weekdays: [{ week: 1, weekday: 2 }] },
    ['2026-03-02', '2026-03-03', '2026-03-06'],
  ],
])('returns the days of %j in order, each once', (rule, days) => {
  const firstDate = '2026-03-02';
  expect([...calendarDates(rule, { firstDate, from: firstDate, until: '2026-03-08' })]).toEqual(days);
});
