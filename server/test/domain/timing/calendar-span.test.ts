import { expect, test } from 'vitest';
import { calendarSpan } from '../../../src/domain/timing/calendar.ts';

// 2026-03-01 is a Sunday, 2026-06-01 a Monday; February 2021 has four whole weeks.
test.each([
  ['week', '2026-03-04', { date: '2026-03-04', from: '2026-03-02', days: 7 }],
  ['week', '2026-03-01', { date: '2026-03-01', from: '2026-02-23', days: 7 }],
  ['week', '2026-06-01', { date: '2026-06-01', from: '2026-06-01', days: 7 }],
  ['month', '2026-03-04', { date: '2026-03-04', from: '2026-02-23', days: 42 }],
  ['month', '2026-06-30', { date: '2026-06-30', from: '2026-06-01', days: 35 }],
  ['month', '2021-02-14', { date: '2021-02-14', from: '2021-02-01', days: 28 }],
  ['month', '2026-02-30', { date: '2026-02-28', from: '2026-01-26', days: 35 }],
  ['week', '2026-02-31', { date: '2026-02-28', from: '2026-02-23', days: 7 }],
] as const)('returns the %s of %s in whole weeks', (view, date, span) => {
  expect(calendarSpan({ view, date })).toStrictEqual(span);
});
