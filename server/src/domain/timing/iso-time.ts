/** A time in a filter: an instant, a UTC day, or a UTC day relative to today (negative: in the past). */
export type FilterTime =
  { kind: 'instant'; at: Date } | { kind: 'day'; startsAt: Date } | { kind: 'relative'; days: number };

/** Pattern fragment for a calendar day in the years 0001 to 9999, YYYY-MM-DD. */
export const calendarDayPattern = [
  '(?!0000)(?:',
  '[0-9]{4}-(?:',
  ['(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])', '(?:0[13-9]|1[0-2])-(?:29|30)', '(?:0[13578]|1[02])-31'].join('|'),
  ')|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29',
  ')',
].join('');

const timeOfDayPattern = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';

/**
 * Pattern for a time (ISO 8601, extended form): a calendar day alone (00:00 UTC) or with a time of day and an offset
 * (UTC without one). Groups: day, hh:mm, :ss, fraction to the millisecond, hours and minutes of the offset. JavaScript
 * and PostgreSQL parse it in the same way, and every match can be converted.
 */
export const isoTimePattern = [
  `^(${calendarDayPattern})`,
  `(?:[T ](${timeOfDayPattern})`,
  '(?:(:[0-5][0-9])(?:([.][0-9]{1,3})[0-9]{0,6})?)?',
  '(?:Z|([+-](?:0[0-9]|1[0-4])):?([0-5][0-9]))?)?$',
].join('');

/** Pattern fragment for an instant as this service writes it, in UTC. */
export const instantPattern = `${calendarDayPattern}T${timeOfDayPattern}:[0-5][0-9]\\.[0-9]{3}Z`;
/** The same to the microsecond, the resolution of the database. */
export const microsecondPattern = `${calendarDayPattern}T${timeOfDayPattern}:[0-5][0-9]\\.[0-9]{6}Z`;

const isoTime = new RegExp(isoTimePattern);

/** Parses an absolute time; undefined if the text is not one. */
export function parseIsoTime(text: string): Exclude<FilterTime, { kind: 'relative' }> | undefined {
  const parts = isoTime.exec(text);
  if (!parts) return undefined;
  const [, day, time, seconds = ':00', fraction = '.000', offsetHours, offsetMinutes] = parts;
  if (time === undefined) return { kind: 'day', startsAt: new Date(`${day}T00:00:00.000Z`) };
  const offset = offsetHours === undefined ? 'Z' : `${offsetHours}:${offsetMinutes}`;
  return { kind: 'instant', at: new Date(`${day}T${time}${seconds}${fraction.padEnd(4, '0')}${offset}`) };
}
