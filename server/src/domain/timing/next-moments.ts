import { Temporal } from 'temporal-polyfill';
import { addDays, localDate, toInstant } from './local-time.ts';
import type { Timing } from './timing.ts';

/**
 * The next instants at which a campaign is due, strictly after `after`, at most `count`. Preview and firing both ask
 * here, so that they agree.
 */
export function nextMoments(timing: Timing, { after, count }: { after: Date; count: number }): Date[] {
  switch (timing.kind) {
    case 'soon':
      return [];
    case 'later':
      return timing.at > after ? [timing.at] : [];
    case 'periodic':
      return nextPeriodic(timing, { after, count });
    default: {
      const never: never = timing;
      throw new Error(`unknown timing ${String(never)}`);
    }
  }
}

type Periodic = Extract<Timing, { kind: 'periodic' }>;

function nextPeriodic(timing: Periodic, { after, count }: { after: Date; count: number }): Date[] {
  const moments: Date[] = [];
  let date = firstDateNear(timing, after);
  // Dates are YYYY-MM-DD, so they compare as text; the step is at least a day, so this ends at `endDate`.
  for (; date <= timing.endDate && moments.length < count; date = addDays(date, timing.repeatAfterDays)) {
    const moment = toInstant({ ...timing, date });
    // A day that a zone leaves out (Apia, 2011-12-30) moves onto the next, which has its own send: one of the two.
    if (moment > (moments.at(-1) ?? after)) moments.push(moment);
  }
  return moments;
}

/**
 * A date of the series shortly before `after`, so that years of past sends are not walked through. One step earlier than
 * its day: a clock change may move a send over midnight (Scoresbysund skips 23:30 once a year).
 */
function firstDateNear(timing: Periodic, after: Date): string {
  const today = localDate(after, timing.timeZone);
  if (today <= timing.firstDate) return timing.firstDate;
  const days = Temporal.PlainDate.from(timing.firstDate).until(Temporal.PlainDate.from(today), {
    largestUnit: 'day',
  }).days;
  const steps = Math.max(0, Math.floor(days / timing.repeatAfterDays) - 1);
  return addDays(timing.firstDate, steps * timing.repeatAfterDays);
}
