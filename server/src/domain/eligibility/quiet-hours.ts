import { addDays, localDate, localTime, toInstant } from '../timing/local-time.ts';
import type { QuietHours } from './workspace-controls.ts';

/**
 * When the quiet hours that contain an instant end in a zone; undefined outside quiet hours. The first minute is quiet,
 * the last is not: with 22:00-08:00, 08:00 is allowed.
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
  // A clock that is set back repeats an hour: the end then is the second of two equal times.
  return until > at ? until : new Date(until.getTime() + 3_600_000);
}
