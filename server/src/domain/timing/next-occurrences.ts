import { Temporal } from 'temporal-polyfill';
import { calendarDates } from './calendar-rule.ts';
import { inFirstZone } from './local-send.ts';
import { addDays, localDate, toInstant } from './local-time.ts';
import type { Timing } from './timing.ts';
import { unknownCase } from '../unknown-case.ts';

/**
 * The next instants at which a campaign is due, strictly after `after`, at most `count`. Preview and firing both use
 * this, so that they agree. A campaign in its users' zones is due when the first zone is.
 */
export function nextOccurrences(given: Timing, { after, count }: { after: Date; count: number }): Date[] {
  const timing = inFirstZone(given);
  switch (timing.kind) {
    case 'soon':
    case 'triggered':
      return [];
    case 'later':
      return timing.at > after ? [timing.at] : [];
    case 'periodic':
      return occurrencesOf(periodicDates(timing, after), { timing, after, count });
    case 'calendar': {
      // Earlier than its day: a clock change may move a send over midnight, as below.
      const span = { firstDate: timing.firstDate, from: addDays(localDate(after, timing.timeZone), -2) };
      return occurrencesOf(calendarDates(timing.rule, { ...span, until: timing.endDate }), { timing, after, count });
    }
    default:
      return unknownCase(timing);
  }
}

type Periodic = Extract<Timing, { kind: 'periodic' }>;

/** Dates are YYYY-MM-DD, so they compare as text; the step is at least a day, so this ends at `endDate`. */
function* periodicDates(timing: Periodic, after: Date): Generator<string> {
  let date = firstDateNear(timing, after);
  for (; date <= timing.endDate; date = addDays(date, timing.repeatAfterDays)) yield date;
}

type Asked = { timing: { time: string; timeZone: string }; after: Date; count: number };

function occurrencesOf(dates: Iterable<string>, { timing, after, count }: Asked): Date[] {
  const occurrences: Date[] = [];
  if (count < 1) return occurrences;
  const { time, timeZone } = timing;
  for (const date of dates) {
    const occurrence = toInstant({ date, time, timeZone });
    // A day that a zone leaves out (Apia, 2011-12-30) moves onto the next, which has its own send: one of the two.
    if (occurrence > (occurrences.at(-1) ?? after)) occurrences.push(occurrence);
    if (occurrences.length === count) return occurrences;
  }
  return occurrences;
}

/**
 * A date of the series shortly before `after`, so that years of past sends are not walked through. One step earlier than
 * its day: a clock change may move a send over midnight (Scoresbysund skips 23:30 once a year).
 */
function firstDateNear(timing: Periodic, after: Date): string {
  const today = localDate(after, timing.timeZone);
  const days = Temporal.PlainDate.from(timing.firstDate).until(Temporal.PlainDate.from(today), {
    largestUnit: 'day',
  }).days;
  const steps = Math.max(0, Math.floor(days / timing.repeatAfterDays) - 1);
  return addDays(timing.firstDate, steps * timing.repeatAfterDays);
}
