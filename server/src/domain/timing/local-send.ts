import { localDate, localTime, toInstant } from './local-time.ts';
import type { LocalTime } from './local-time.ts';
import type { PassedPolicy, Timing } from './timing.ts';
import { lateSendMinutes } from '../limits/timing.ts';

/**
 * A send at one local time everywhere. Users whose local time had passed when the run began are left out, or sent to at
 * the time of the campaign's zone.
 */
export type LocalSend = LocalTime & { ifPassed: PassedPolicy };

/** The first zone to reach a local time, and how long the last one takes after it: UTC+14 to UTC-12. */
export const firstZone = 'Etc/GMT-14';
export const zoneSpanHours = 26;

type Question = { timeZone: string; startedAt: Date; now: Date };

/**
 * When to send to a user: a future instant, `passed` if there is none, undefined for now. Zone arithmetic is cheap but
 * not free, so callers with whole windows ask once per zone.
 */
export function decideLocalSend(send: LocalSend, { timeZone, startedAt, now }: Question): Date | 'passed' | undefined {
  const own = toInstant({ ...send, timeZone });
  if (own > now) return own;
  // As late as a scheduled send may be: a run never begins at the very instant.
  if (own.getTime() >= startedAt.getTime() - lateSendMinutes * 60_000) return undefined;
  if (send.ifPassed === 'SKIP') return 'passed';
  const usual = toInstant(send);
  return usual > now ? usual : undefined;
}

/** Whether a campaign is sent at a local time of each user: its runs live longer, by what lies between the zones. */
export function isInUserZone(timing: Timing): boolean {
  return 'inUserZone' in timing && timing.inUserZone !== undefined;
}

/** The timing of the zone that comes first; a timing at a single instant is unchanged. */
export function inFirstZone(timing: Timing): Timing {
  if (!isInUserZone(timing)) return timing;
  if (timing.kind === 'later') return { ...timing, at: toInstant({ ...timing, timeZone: firstZone }) };
  return { ...timing, timeZone: firstZone } as Timing;
}

/** The local time that a run of such a campaign is for; null when its campaign is sent at one instant. */
export function localSendOf(timing: Timing, occurrence: Date | null): LocalSend | null {
  if (timing.kind !== 'later' && timing.kind !== 'periodic' && timing.kind !== 'calendar') return null;
  if (timing.inUserZone === undefined) return null;
  const { timeZone, time, inUserZone: ifPassed } = timing;
  if (timing.kind === 'later') return { date: timing.date, time, timeZone, ifPassed };
  if (occurrence === null) return null;
  // Its occurrences are those of the first zone (nextMoments).
  return { date: localDate(occurrence, firstZone), time: localTime(occurrence, firstZone), timeZone, ifPassed };
}
