import type { CalendarView } from '../api/generated/campaigns.ts';
import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** What the address of the calendar says; without a date it is the present month or week. */
export type CalendarSearch = { view?: 'week'; date?: string };

export function readCalendarSearch(search: AddressSearch): CalendarSearch {
  const date = textOf(search.date);
  return {
    ...(textOf(search.view) === 'week' ? { view: 'week' as const } : {}),
    ...(date !== undefined && /^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(date) ? { date } : {}),
  };
}

/** The same day of the weeks around, or the first of the months around. */
export function turnCalendar(date: string, { view, by }: { view: CalendarView; by: 1 | -1 }): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const at = view === 'week' ? Date.UTC(year, month - 1, day + 7 * by) : Date.UTC(year, month - 1 + by, 1);
  return new Date(at).toISOString().slice(0, 10);
}

/** The days of a calendar, in order. */
export function daysFrom(from: string, days: number): string[] {
  const first = Date.parse(`${from}T00:00:00Z`);
  return Array.from({ length: days }, (_, day) => new Date(first + day * 86_400_000).toISOString().slice(0, 10));
}

/** A day without a time, as one says it: dates of an answer are in its zone already. */
export function dayText(date: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(new Date(`${date}T00:00:00Z`));
}
