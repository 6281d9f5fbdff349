import { Temporal } from 'temporal-polyfill';

/** Monday is 1, Sunday 7 (ISO 8601). */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** `week` counts the occurrences of a weekday in its month: the first to the fifth, or the last. */
export type MonthWeekday = { week: 1 | 2 | 3 | 4 | 5 | 'last'; weekday: Weekday };

/** Days that repeat by the calendar. Steps are counted from the week (Monday to Sunday) or the month of the first day. */
export type CalendarRule =
  | { every: 'week'; step: number; weekdays: Weekday[] }
  /** A day that a month does not have (the 31st, a fifth Friday) is skipped in that month. */
  | { every: 'month'; step: number; dates: number[]; weekdays: MonthWeekday[] };

export type RuleSpan = {
  /** The first day of the series, YYYY-MM-DD; periods are counted from it. */
  firstDate: string;
  /** Days before this one are skipped; the count is not restarted. */
  from: string;
  until: string;
};

/** Yields the days of a rule in order, each once, from `firstDate` or `from` (the later) to `until`. */
export function* calendarDates(rule: CalendarRule, { firstDate, from, until }: RuleSpan): Generator<string> {
  const first = Temporal.PlainDate.from(firstDate);
  const start = rule.every === 'week' ? first.subtract({ days: first.dayOfWeek - 1 }) : first.with({ day: 1 });
  const unit = rule.every === 'week' ? 'weeks' : 'months';
  const passed = start.until(Temporal.PlainDate.from(from), { largestUnit: unit })[unit];
  const skipped = Math.max(0, Math.floor(passed / rule.step) - 1) * rule.step;
  for (let count = skipped; ; count += rule.step) {
    const period = start.add({ [unit]: count });
    // Dates are YYYY-MM-DD, so they compare as text.
    if (period.toString() > until) return;
    for (const date of daysOf(rule, period)) if (date >= firstDate && date >= from && date <= until) yield date;
  }
}

/** @param period the Monday of a week, or the first of a month */
function daysOf(rule: CalendarRule, period: Temporal.PlainDate): string[] {
  if (rule.every === 'week')
    return [...new Set(rule.weekdays)].sort().map((weekday) => period.add({ days: weekday - 1 }).toString());
  const days = [...rule.dates, ...rule.weekdays.map((weekday) => dayOfMonth(weekday, period))];
  return [...new Set(days)]
    .filter((day) => day <= period.daysInMonth)
    .sort((a, b) => a - b)
    .map((day) => period.with({ day }).toString());
}

function dayOfMonth({ week, weekday }: MonthWeekday, first: Temporal.PlainDate): number {
  const earliest = 1 + ((weekday - first.dayOfWeek + 7) % 7);
  if (week !== 'last') return earliest + (week - 1) * 7;
  return earliest + Math.floor((first.daysInMonth - earliest) / 7) * 7;
}

export const calendarViews = ['month', 'week'] as const;
export type CalendarView = (typeof calendarViews)[number];

/** Days of a calendar in whole weeks, beginning on a Monday, and the requested day; dates are YYYY-MM-DD. */
export type CalendarSpan = { date: string; from: string; days: number };

/** Returns the week of a day, or all weeks that contain a day of its month. 30 February counts as the last day of the month. */
export function calendarSpan({ view, date }: { view: CalendarView; date: string }): CalendarSpan {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const asked = Temporal.PlainDate.from({ year, month, day });
  const [first, last] =
    view === 'week' ? [asked, asked] : [asked.with({ day: 1 }), asked.with({ day: asked.daysInMonth })];
  const from = first.subtract({ days: first.dayOfWeek - 1 });
  const { days } = from.until(last, { largestUnit: 'day' });
  return { date: asked.toString(), from: from.toString(), days: (Math.floor(days / 7) + 1) * 7 };
}
