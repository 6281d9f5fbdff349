import { Temporal } from 'temporal-polyfill';

/** Parses `MM/DD/YYYY`; undefined if it is not a day of the calendar (02/30/2026). @returns YYYY-MM-DD */
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

/** Parses `hh:mm AM` or `hh:mm PM`, twelve-hour; undefined otherwise. @returns hh:mm, twenty-four-hour */
export function parseTime(text: string): string | undefined {
  const parts = /^(\d{1,2}):(\d{2}) ?(AM|PM)$/i.exec(text);
  if (!parts) return undefined;
  const hour = Number(parts[1]);
  const minute = Number(parts[2]);
  if (hour < 1 || hour > 12 || minute > 59) return undefined;
  const isAfternoon = parts[3]!.toUpperCase() === 'PM';
  return `${String((hour % 12) + (isAfternoon ? 12 : 0)).padStart(2, '0')}:${parts[2]}`;
}

/** `timeZone` may be an alias: values that were stored before names were checked also work. */
export type LocalTime = { date: string; time: string; timeZone: string };

/**
 * Returns the instant of a local time. A time skipped by a clock change moves forward by the gap; a repeated time means
 * the first occurrence (decision D36; Temporal's `compatible`).
 */
export function toInstant({ date, time, timeZone }: LocalTime): Date {
  const local = Temporal.PlainDateTime.from(`${date}T${time}`);
  return new Date(
    local.toZonedDateTime(resolveTimeZoneAlias(timeZone), { disambiguation: 'compatible' }).epochMilliseconds,
  );
}

/** Returns the local calendar day of an instant. @returns YYYY-MM-DD */
export function localDate(instant: Date, timeZone: string): string {
  return inZone(instant, timeZone).toPlainDate().toString();
}

export function addDays(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/** Returns the local time of day of an instant. @returns hh:mm, or hh:mm:ss if there are seconds */
export function localTime(instant: Date, timeZone: string): string {
  const time = inZone(instant, timeZone).toPlainTime();
  return time.toString({ smallestUnit: time.second === 0 ? 'minute' : 'second' });
}

/** Returns the offset of a zone from UTC at an instant, such as `+05:30`. */
export function offsetAt(instant: Date, timeZone: string): string {
  return inZone(instant, timeZone).offset;
}

/** True if a local time occurs twice because the clock is set back. */
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

/**
 * Returns the zone for a name, by the name that Temporal uses; undefined if there is no such zone (decision D36). Only
 * this function determines which names are valid. Intl is not used: it accepts names for which Temporal throws.
 */
export function findTimeZone(name: string): string | undefined {
  // Offsets such as +05:30 are not zone names, although Temporal accepts them.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return undefined;
  const zone = resolveTimeZoneAlias(name);
  try {
    epoch.toZonedDateTimeISO(zone);
    return zone;
  } catch {
    return undefined;
  }
}

/**
 * Returns the zone that is stored for a user; undefined if none is stored, `unknown` if the stored name is not a zone. Names
 * are validated on arrival, but the attribute may have been selected later, after its values were stored.
 */
export function userZone(named: string | null): string | 'unknown' | undefined {
  // Some clients send a blank text if they do not know the zone.
  if (named === null || named.trim() === '') return undefined;
  return findTimeZone(named) ?? 'unknown';
}

const epoch = Temporal.Instant.fromEpochMilliseconds(0);

/** Resolves an alias of a zone to its IANA name; every other text is returned unchanged. */
export function resolveTimeZoneAlias(name: string): string {
  if (name.length !== 3) return name;
  const alias = name.toUpperCase();
  return Object.hasOwn(timeZoneAliases, alias) ? timeZoneAliases[alias]!.zone : name;
}

/** The error text for a name that is not a time zone. */
export const noTimeZone = 'is not a time-zone name';

/**
 * Abbreviations that clients send as the name of a zone, and the IANA zone that each means. They are those of Java's
 * `ZoneId.SHORT_IDS` and of ICU, which every Android phone, browser and Node interprets in this way; Temporal rejects
 * them. One source applies to all: a client that gets `BST` from such a library means Dhaka, even if a reader in London
 * expects otherwise. Other meanings of a name are documented, not guessed.
 */
export const timeZoneAliases: Readonly<Record<string, { zone: string; means: string; elsewhere?: string }>> = {
  ACT: { zone: 'Australia/Darwin', means: 'Australian Central Time', elsewhere: 'Acre Time' },
  AET: { zone: 'Australia/Sydney', means: 'Australian Eastern Time' },
  AGT: { zone: 'America/Argentina/Buenos_Aires', means: 'Argentine Time' },
  ART: { zone: 'Africa/Cairo', means: 'Arabic (Egypt) Time', elsewhere: 'Argentina Time' },
  AST: { zone: 'America/Anchorage', means: 'Alaska Time', elsewhere: 'Atlantic and Arabia Standard Time' },
  BET: { zone: 'America/Sao_Paulo', means: 'Brazil Eastern Time' },
  BST: { zone: 'Asia/Dhaka', means: 'Bangladesh Standard Time', elsewhere: 'British Summer Time' },
  CAT: { zone: 'Africa/Harare', means: 'Central Africa Time' },
  CNT: { zone: 'America/St_Johns', means: 'Canada Newfoundland Time' },
  CST: { zone: 'America/Chicago', means: 'Central Time of the USA', elsewhere: 'China and Cuba Standard Time' },
  CTT: { zone: 'Asia/Shanghai', means: 'China Taiwan Time' },
  EAT: { zone: 'Africa/Addis_Ababa', means: 'Eastern Africa Time' },
  ECT: { zone: 'Europe/Paris', means: 'European Central Time', elsewhere: 'Ecuador Time' },
  IET: { zone: 'America/Indiana/Indianapolis', means: 'Indiana Eastern Time' },
  IST: { zone: 'Asia/Kolkata', means: 'India Standard Time', elsewhere: 'Irish and Israel Standard Time' },
  JST: { zone: 'Asia/Tokyo', means: 'Japan Standard Time' },
  MIT: { zone: 'Pacific/Apia', means: 'Midway Islands Time', elsewhere: 'Marquesas Time' },
  NET: { zone: 'Asia/Yerevan', means: 'Near East Time' },
  NST: { zone: 'Pacific/Auckland', means: 'New Zealand Standard Time', elsewhere: 'Newfoundland Standard Time' },
  PLT: { zone: 'Asia/Karachi', means: 'Pakistan Lahore Time' },
  PNT: { zone: 'America/Phoenix', means: 'Phoenix Native American Time' },
  PRT: { zone: 'America/Puerto_Rico', means: 'Puerto Rico Time' },
  PST: { zone: 'America/Los_Angeles', means: 'Pacific Time of the USA', elsewhere: 'Philippine Standard Time' },
  SST: { zone: 'Pacific/Guadalcanal', means: 'Solomon Standard Time', elsewhere: 'Samoa Standard Time' },
  VST: { zone: 'Asia/Ho_Chi_Minh', means: 'Vietnam Standard Time' },
};
