import { maxCapHours, maxCapMessages, maxCaps } from './limits/campaigns.ts';
import { addDays, localDate, localTime, toInstant } from './timing/local-time.ts';

/** At most this many messages to a user in this many hours, counted back from each send. */
export type FrequencyCap = { messages: number; hours: number };

/** Local times of day, hh:mm. A span that ends before it starts spans midnight. */
export type QuietHours = { from: string; to: string; mode: QuietMode };

/** `HOLD`: messages within quiet hours are sent at their end. `DROP`: they are not sent. */
export const quietModes = ['HOLD', 'DROP'] as const;
export type QuietMode = (typeof quietModes)[number];

/** The limits of a workspace for all its campaigns. A campaign may override some of them. */
export type WorkspaceControls = {
  caps: FrequencyCap[];
  quietHours: QuietHours | null;
  /** Between messages of different campaigns to one user. */
  minimumDelayMinutes: number | null;
  /** The user attribute that names a user's time zone (IANA). */
  zoneAttribute: string;
  /** The zone of users without a zone in that attribute. */
  timeZone: string;
  /** Percent of the users that a campaign leaves out if it says so; null: none. */
  controlGroupPercent: number | null;
};

const unitHours = { h: 1, d: 24 } as const;

/** Parses `2/1d,5/7d`: two messages a day and five in seven days. Undefined if it is not such a list. */
export function parseFrequencyCaps(text: string): FrequencyCap[] | undefined {
  const caps = text.split(',').map((rule) => {
    const parts = /^\s*(\d{1,3})\/(\d{1,3})([hd])\s*$/.exec(rule);
    return parts && { messages: Number(parts[1]), hours: Number(parts[2]) * unitHours[parts[3] as 'h' | 'd'] };
  });
  const isUsable = (cap: FrequencyCap | null): cap is FrequencyCap =>
    cap !== null && cap.messages >= 1 && cap.messages <= maxCapMessages && cap.hours >= 1 && cap.hours <= maxCapHours;
  return caps.length <= maxCaps && caps.every(isUsable) && areDistinct(caps) ? caps : undefined;
}

/** Two rules for the same number of hours would contradict each other. */
function areDistinct(caps: FrequencyCap[]): boolean {
  return new Set(caps.map(({ hours }) => hours)).size === caps.length;
}

export function presentFrequencyCap({ messages, hours }: FrequencyCap): string {
  return hours % 24 === 0 ? `${messages}/${hours / 24}d` : `${messages}/${hours}h`;
}

/** Parses `22:00-08:00`, local 24-hour times. Undefined if it is not such a span or is empty. */
export function parseQuietSpan(text: string): { from: string; to: string } | undefined {
  const parts = /^\s*((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)\s*$/.exec(text);
  return parts && parts[1] !== parts[2] ? { from: parts[1]!, to: parts[2]! } : undefined;
}

/**
 * Returns when the quiet hours that contain an instant end in a zone; undefined outside quiet hours. The first minute is
 * quiet, the last is not: with 22:00-08:00, 08:00 is allowed.
 */
export function quietUntil(
  { from, to }: QuietHours,
  { at, timeZone }: { at: Date; timeZone: string },
): Date | undefined {
  const time = localTime(at, timeZone);
  const isOverMidnight = to < from;
  const isQuiet = isOverMidnight ? time >= from || time < to : time >= from && time < to;
  if (!isQuiet) return undefined;
  const today = localDate(at, timeZone);
  const until = toInstant({ date: isOverMidnight && time >= from ? addDays(today, 1) : today, time: to, timeZone });
  // When the clock is set back, an hour repeats: the end is then the second of two equal times.
  return until > at ? until : new Date(until.getTime() + 3_600_000);
}
