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
    if (moment > after) moments.push(moment);
  }
  return moments;
}

/** The last date of the series on or before the day of `after`, so that years of past sends are not walked through. */
function firstDateNear(timing: Periodic, after: Date): string {
  const today = localDate(after, timing.timeZone);
  if (today <= timing.firstDate) return timing.firstDate;
  const days = Temporal.PlainDate.from(timing.firstDate).until(Temporal.PlainDate.from(today), {
    largestUnit: 'day',
  }).days;
  return addDays(timing.firstDate, Math.floor(days / timing.repeatAfterDays) * timing.repeatAfterDays);
}
