import type { CalendarView } from '../api/generated/campaigns.ts';
import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The calendar's search parameters. Without a date, the calendar shows the current month or week. */
export type CalendarSearch = { view?: 'week'; date?: string };

export function readCalendarSearch(search: AddressSearch): CalendarSearch {
  const date = textOf(search.date);
  return {
    ...(textOf(search.view) === 'week' ? { view: 'week' as const } : {}),
    ...(date !== undefined && /^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(date) ? { date } : {}),
  };
}

/** Returns the same weekday of the previous or next week, or the first day of the previous or next month. */
export function turnCalendar(date: string, { view, by }: { view: CalendarView; by: 1 | -1 }): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const at = view === 'week' ? Date.UTC(year, month - 1, day + 7 * by) : Date.UTC(year, month - 1 + by, 1);
  return new Date(at).toISOString().slice(0, 10);
}

/** Returns consecutive days, starting with `from`. */
export function daysFrom(from: string, days: number): string[] {
  const first = Date.parse(`${from}T00:00:00Z`);
  return Array.from({ length: days }, (_, day) => new Date(first + day * 86_400_000).toISOString().slice(0, 10));
}

/** Formats a day without a time. Dates of a response are already in its zone. */
export function dayText(date: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }).format(new Date(`${date}T00:00:00Z`));
}
