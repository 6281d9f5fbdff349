import { userZone, localDate, localTime, toInstant } from './local-time.ts';
import type { LocalTime } from './local-time.ts';
import type { PassedPolicy, Timing } from './timing.ts';
import { lateSendMinutes } from '../limits/campaigns.ts';

/**
 * A send at the same local time in every zone. A user whose local time had passed when the run began is skipped, or
 * gets the message at the time of the campaign's zone.
 */
export type LocalSend = LocalTime & { ifPassed: PassedPolicy };

/** The first zone to reach a local time, and how many hours later the last one does: UTC+14 to UTC-12. */
export const firstZone = 'Etc/GMT-14';
export const zoneSpanHours = 26;

/** The first and the last inhabited zone to reach a local time: UTC+14 and UTC-11. Nobody lives at UTC-12. */
export const inhabitedZones = {
  first: { timeZone: 'Pacific/Kiritimati', place: 'Kiribati' },
  last: { timeZone: 'Pacific/Pago_Pago', place: 'American Samoa' },
} as const;

type Question = { timeZone: string; startedAt: Date; now: Date };

/**
 * Decides when to send to a user. Returns a future instant, `passed` if there is none, or undefined for now. Zone
 * arithmetic is cheap but not free, so callers with whole windows call this once per zone.
 */
export function decideLocalSend(send: LocalSend, { timeZone, startedAt, now }: Question): Date | 'passed' | undefined {
  const own = toInstant({ ...send, timeZone });
  if (own > now) return own;
  // The same lateness as for a scheduled send is allowed: a run never begins at the exact instant.
  if (own.getTime() >= startedAt.getTime() - lateSendMinutes * 60_000) return undefined;
  if (send.ifPassed === 'SKIP') return 'passed';
  const usual = toInstant(send);
  return usual > now ? usual : undefined;
}

/** What a send at a local time does for the users of one zone, if its run begins now. */
export type LocalSendShare =
  /** Their local time is still to come. */
  | 'waiting'
  /** It passed within the allowed lateness, so they get it when the run begins. */
  | 'at once'
  /** It has passed: they get nothing, or get it at the time of the campaign's zone. */
  | 'passed'
  /** The stored name is not a time zone: their messages fail (TIME_ZONE_UNKNOWN). */
  | 'unknown zone';

/**
 * Returns what a run that begins now does for the users whose zone is stored as `named`. Uses the rule that the engine
 * applies to each user (`decideLocalSend`), so that the composer and the engine cannot differ.
 */
export function shareOfZone(send: LocalSend, { named, now }: { named: string | null; now: Date }): LocalSendShare {
  const known = userZone(named);
  if (known === 'unknown') return 'unknown zone';
  const timeZone = known ?? send.timeZone;
  const decided = decideLocalSend({ ...send, ifPassed: 'SKIP' }, { timeZone, startedAt: now, now });
  if (decided === undefined) return 'at once';
  return decided === 'passed' ? 'passed' : 'waiting';
}

/** True if a campaign is sent at a local time of each user. Its runs then last longer, by the span between the zones. */
export function isInUserZone(timing: Timing): boolean {
  return 'inUserZone' in timing && timing.inUserZone !== undefined;
}

/** Returns the timing for the first zone; a timing at a single instant is unchanged. */
export function inFirstZone(timing: Timing): Timing {
  if (!isInUserZone(timing)) return timing;
  if (timing.kind === 'later') return { ...timing, at: toInstant({ ...timing, timeZone: firstZone }) };
  return { ...timing, timeZone: firstZone } as Timing;
}

/** Returns the local time for which a run is sent; null if its campaign is sent at one instant. */
export function localSendOf(timing: Timing, occurrence: Date | null): LocalSend | null {
  if (timing.kind !== 'later' && timing.kind !== 'periodic' && timing.kind !== 'calendar') return null;
  if (timing.inUserZone === undefined) return null;
  const { timeZone, time, inUserZone: ifPassed } = timing;
  if (timing.kind === 'later') return { date: timing.date, time, timeZone, ifPassed };
  if (occurrence === null) return null;
  // Its occurrences are those of the first zone (nextOccurrences).
  return { date: localDate(occurrence, firstZone), time: localTime(occurrence, firstZone), timeZone, ifPassed };
}
