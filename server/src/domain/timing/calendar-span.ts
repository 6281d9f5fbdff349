import { Temporal } from 'temporal-polyfill';

export const calendarViews = ['month', 'week'] as const;
export type CalendarView = (typeof calendarViews)[number];

/** Days of a calendar in whole weeks, from a Monday on, and the day that was asked for; dates are YYYY-MM-DD. */
export type CalendarSpan = { date: string; from: string; days: number };

/** The week that a day is in, or every week that has a day of its month. Of 30 February it is the last of the month. */
export function calendarSpan({ view, date }: { view: CalendarView; date: string }): CalendarSpan {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const asked = Temporal.PlainDate.from({ year, month, day });
  const [first, last] =
    view === 'week' ? [asked, asked] : [asked.with({ day: 1 }), asked.with({ day: asked.daysInMonth })];
  const from = first.subtract({ days: first.dayOfWeek - 1 });
  const { days } = from.until(last, { largestUnit: 'day' });
  return { date: asked.toString(), from: from.toString(), days: (Math.floor(days / 7) + 1) * 7 };
}
