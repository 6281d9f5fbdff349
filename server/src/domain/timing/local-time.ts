import { Temporal } from 'temporal-polyfill';
import { resolveTimeZoneAlias } from './time-zone.ts';

/** Reads `MM/DD/YYYY`; undefined when it is no day of the calendar (02/30/2026). @returns YYYY-MM-DD */
export function parseDate(text: string): string | undefined {
  const parts = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text);
  if (!parts) return undefined;
  const [, month, day, year] = parts.map(Number) as [number, number, number, number];
  try {
    return Temporal.PlainDate.from({ year, month, day }, { overflow: 'reject' }).toString();
  } catch {
    return undefined;
  }
}

/** Reads `hh:mm AM` or `hh:mm PM`, twelve-hour; undefined otherwise. @returns hh:mm, twenty-four-hour */
export function parseTime(text: string): string | undefined {
  const parts = /^(\d{1,2}):(\d{2}) ?(AM|PM)$/i.exec(text);
  if (!parts) return undefined;
  const hour = Number(parts[1]);
  const minute = Number(parts[2]);
  if (hour < 1 || hour > 12 || minute > 59) return undefined;
  const isAfternoon = parts[3]!.toUpperCase() === 'PM';
  return `${String((hour % 12) + (isAfternoon ? 12 : 0)).padStart(2, '0')}:${parts[2]}`;
}

/** `timeZone` may be an alias: what was stored before names were checked is reckoned with as well. */
export type LocalTime = { date: string; time: string; timeZone: string };

/**
 * The instant of a local time. A time skipped by a clock change moves forward by the gap; of a repeated time the first
 * counts (decision D36; Temporal's `compatible`).
 */
export function toInstant({ date, time, timeZone }: LocalTime): Date {
  const local = Temporal.PlainDateTime.from(`${date}T${time}`);
  return new Date(
    local.toZonedDateTime(resolveTimeZoneAlias(timeZone), { disambiguation: 'compatible' }).epochMilliseconds,
  );
}

/** The local calendar day of an instant. @returns YYYY-MM-DD */
export function localDate(instant: Date, timeZone: string): string {
  return inZone(instant, timeZone).toPlainDate().toString();
}

export function addDays(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/** The local time of day of an instant. @returns hh:mm, or hh:mm:ss when there are seconds */
export function localTime(instant: Date, timeZone: string): string {
  const time = inZone(instant, timeZone).toPlainTime();
  return time.toString({ smallestUnit: time.second === 0 ? 'minute' : 'second' });
}

/** The offset of a zone from UTC at an instant, as in `+05:30`. */
export function offsetAt(instant: Date, timeZone: string): string {
  return inZone(instant, timeZone).offset;
}

/** Whether a clock that is set back makes a local time come twice. */
export function comesTwice({ date, time, timeZone }: LocalTime): boolean {
  const local = Temporal.PlainDateTime.from(`${date}T${time}`);
  const zone = resolveTimeZoneAlias(timeZone);
  const instantOf = (disambiguation: 'earlier' | 'later'): number =>
    local.toZonedDateTime(zone, { disambiguation }).epochMilliseconds;
  return instantOf('earlier') !== instantOf('later');
}

function inZone(instant: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(resolveTimeZoneAlias(timeZone));
}
