import { calendarDates } from '../timing/calendar-rule.ts';
import type { CalendarRule, Weekday } from '../timing/calendar-rule.ts';
import { addDays, localDate, localTime, toInstant } from '../timing/local-time.ts';
import { firstZone } from '../timing/local-send.ts';
import { nextOccurrences } from '../timing/next-occurrences.ts';
import { resolveTimeZoneAlias } from '../timing/time-zone.ts';
import type { BestTime } from '../timing/best-time.ts';
import type { PassedPolicy, Timing } from '../timing/timing.ts';
import type { RequestFault } from '../errors.ts';
import type { Period } from './read-period.ts';
import type { Schedule, SentTime } from './read-schedule.ts';
import { unknownCase } from '../unknown-case.ts';

export type ScheduleContext = {
  now: Date;
  workspaceTimeZone: string;
  /** Of a campaign that is live the start may lie in the past. */
  start: 'to come' | 'as it was';
};

type Local = { date: string; time: string };

/** The timing a schedule describes, as of now (decision D36), or why it is refused: nothing would ever be sent. */
export function scheduleTiming(schedule: Schedule, context: ScheduleContext): Timing | { fault: RequestFault } {
  const timeZone = schedule.timeZone ?? resolveTimeZoneAlias(context.workspaceTimeZone);
  switch (schedule.kind) {
    case 'asap':
      return { kind: 'soon' };
    case 'once': {
      const local = toLocal(schedule.start, timeZone);
      const at = toInstant({ ...local, timeZone });
      if (at <= context.now) return fault('start_time', 'is in the past');
      return { kind: 'later', at, ...local, timeZone, ...ofEachUser(schedule) };
    }
    case 'repeated':
      return repeatedTiming(schedule, { ...context, timeZone });
    case 'triggered': {
      const [startsAt, endsAt] = [schedule.start, schedule.expiry].map((time) =>
        time === undefined ? null : toInstant({ ...toLocal(time, timeZone), timeZone }).toISOString(),
      ) as [string | null, string | null];
      if (endsAt !== null && endsAt <= (startsAt ?? '')) return fault('expiry_time', 'is before the start');
      if (endsAt !== null && new Date(endsAt) <= context.now) return fault('expiry_time', 'is in the past');
      return { kind: 'triggered', startsAt, endsAt, timeZone };
    }
    default:
      return unknownCase(schedule);
  }
}

type Repeated = Extract<Schedule, { kind: 'repeated' }>;

function repeatedTiming(
  schedule: Repeated,
  { now, timeZone, start: rule }: ScheduleContext & { timeZone: string },
): Timing | { fault: RequestFault } {
  const { start, expiry, period } = schedule;
  const { date: firstDate, time } = toLocal(start, timeZone);
  const zoned = schedule.inUserZone !== undefined;
  if (rule === 'to come' && toInstant({ date: firstDate, time, timeZone }) <= now)
    return fault('start_time', 'is in the past');
  // Its first send would leave out whole zones, and nobody would see why.
  if (rule === 'to come' && zoned && toInstant({ date: firstDate, time, timeZone: firstZone }) <= now)
    return fault('start_time', 'has passed in some time zones: begin a day later');
  const byCount = period.occurrences === undefined ? lastYear : lastByCount(period, firstDate);
  const byTime = expiry === undefined ? lastYear : lastByTime(expiry, { time, timeZone });
  const base = { firstDate, endDate: byCount < byTime ? byCount : byTime, time, timeZone, ...ofEachUser(schedule) };
  const calendar = calendarRuleOf(period, firstDate);
  const timing: Timing = calendar
    ? { kind: 'calendar', rule: calendar, ...base }
    : { kind: 'periodic', repeatAfterDays: period.step, ...base };
  return nextOccurrences(timing, { after: now, count: 1 }).length === 1
    ? timing
    : fault(expiry === undefined ? 'periodic_details' : 'expiry_time', 'leaves nothing to send');
}

/** Stored only where requested; timings at a single instant are unchanged. */
function ofEachUser({ inUserZone, bestTime }: Schedule): { inUserZone?: PassedPolicy; bestTime?: BestTime } {
  return { ...(inUserZone && { inUserZone }), ...(bestTime && { bestTime }) };
}

const lastYear = '9999-12-31';
// A rule whose days never come (the 31st of every twelfth month from February) must not be walked to the year 9999.
const searchedYears = 100;

/** The day of the last of `count` occurrences, at most a hundred years ahead; before the first if there is none. */
function lastByCount(period: Period, firstDate: string): string {
  const rule = calendarRuleOf(period, firstDate);
  if (!rule) return addDays(firstDate, (period.occurrences! - 1) * period.step);
  let left = period.occurrences!;
  let last = addDays(firstDate, -1);
  const until = `${String(Number(firstDate.slice(0, 4)) + searchedYears).padStart(4, '0')}-12-31`;
  for (const date of calendarDates(rule, { firstDate, from: firstDate, until })) {
    last = date;
    if ((left -= 1) === 0) return last;
  }
  return last;
}

/** The last day whose send is not after the expiry. */
function lastByTime(expiry: SentTime, { time, timeZone }: { time: string; timeZone: string }): string {
  const local = toLocal(expiry, timeZone);
  return local.time >= time ? local.date : addDays(local.date, -1);
}

function calendarRuleOf(period: Period, firstDate: string): CalendarRule | undefined {
  const { step } = period;
  switch (period.every) {
    case 'day':
      return undefined;
    case 'week': {
      const own = new Date(`${firstDate}T00:00:00Z`).getUTCDay() || 7;
      return { every: 'week', step, weekdays: period.weekdays.length > 0 ? period.weekdays : [own as Weekday] };
    }
    case 'month': {
      const isOpen = period.dates.length + period.weekdays.length === 0;
      const dates = isOpen ? [Number(firstDate.slice(8))] : period.dates;
      return { every: 'month', step, dates, weekdays: period.weekdays };
    }
    default:
      return unknownCase(period);
  }
}

function toLocal(time: SentTime, timeZone: string): Local {
  if (!('at' in time)) return time;
  return { date: localDate(time.at, timeZone), time: localTime(time.at, timeZone) };
}

function fault(field: string, reason: string): { fault: RequestFault } {
  return { fault: { field: `scheduling_details.${field}`, reason } };
}
