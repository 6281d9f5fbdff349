import type { MonthWeekday, Weekday } from '../timing/calendar-rule.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { maxOccurrences } from '../campaigns/limits.ts';
import { unknownCase } from '../unknown-case.ts';

/** `periodic_details` (fact 6.2). Empty lists mean: as the day of the start. */
export type Period = { step: number; occurrences: number | undefined } & (
  | { every: 'day' }
  | { every: 'week'; weekdays: Weekday[] }
  | { every: 'month'; dates: number[]; weekdays: MonthWeekday[] }
);

const maxSteps = { DAILY: 365, WEEKLY: 52, MONTHLY: 12 } as const;

const ownLists = {
  DAILY: [],
  WEEKLY: ['repeat_on_days_of_week'],
  MONTHLY: ['repeat_on_date_of_month', 'repeat_on_days_of_week_for_month'],
} as const;

export function readPeriod(details: RequestReader): Period | undefined {
  details.requires('sending_frequency');
  const frequency = details.choice('sending_frequency', ['DAILY', 'WEEKLY', 'MONTHLY']);
  if (frequency === undefined) return undefined;
  const lists: readonly string[] = ownLists[frequency];
  for (const name of [...ownLists.WEEKLY, ...ownLists.MONTHLY])
    if (!lists.includes(name) && details.get(name) !== undefined)
      details.invalid(name, `is not for ${frequency.toLowerCase()} campaigns`);
  const step = details.integer('repeat_frequency', { minimum: 1, maximum: maxSteps[frequency] }) ?? 1;
  // The name is spelt like this in the interface.
  const occurrences = details.integer('no_of_occurences', { minimum: 1, maximum: maxOccurrences });
  switch (frequency) {
    case 'DAILY':
      return { every: 'day', step, occurrences };
    case 'WEEKLY':
      return { every: 'week', step, occurrences, weekdays: readWeekdays(details, 'repeat_on_days_of_week') };
    case 'MONTHLY':
      return { every: 'month', step, occurrences, dates: readDates(details), weekdays: readMonthWeekdays(details) };
    default:
      return unknownCase(frequency);
  }
}

const weekdayNames = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

function readWeekdays(details: RequestReader, name: string): Weekday[] {
  const found = details.list(name, 7).map((word) => {
    const upper = typeof word === 'string' ? word.toUpperCase() : '';
    return (
      1 + weekdayNames.findIndex((weekday) => weekday === upper || (upper.length === 3 && weekday.startsWith(upper)))
    );
  });
  if (found.includes(0)) details.invalid(name, `must hold only ${weekdayNames.join(', ')}`);
  return [...new Set(found.filter((number) => number > 0) as Weekday[])].sort();
}

function readDates(details: RequestReader): number[] {
  const name = 'repeat_on_date_of_month';
  const found = details.list(name, 31).map(Number);
  if (found.some((date) => !Number.isInteger(date) || date < 1 || date > 31))
    details.invalid(name, 'must hold whole numbers from 1 to 31');
  return [...new Set(found)].sort((a, b) => a - b);
}

const weeks = { FIRST: 1, SECOND: 2, THIRD: 3, FOURTH: 4, FIFTH: 5, LAST: 'last' } as const;

function readMonthWeekdays(details: RequestReader): MonthWeekday[] {
  return details.parts('repeat_on_days_of_week_for_month', 6).flatMap((item) => {
    item.requires('week_granularity');
    item.requires('repeat_on_days_of_week');
    const week = item.choice('week_granularity', Object.keys(weeks) as (keyof typeof weeks)[]);
    const weekdays = readWeekdays(item, 'repeat_on_days_of_week');
    return week === undefined ? [] : weekdays.map((weekday) => ({ week: weeks[week], weekday }));
  });
}
