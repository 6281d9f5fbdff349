import type { CampaignDeliveryType } from '../campaigns/campaign.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { maxOccurrences, maxBestTimeHours } from '../limits/campaigns.ts';
import {
  alwaysRead,
  flag,
  list,
  optional,
  part,
  partOrEmpty,
  parts,
  readWith,
  required,
  text,
  texts,
  whole,
  word,
} from '../../fields/combinators.ts';
import { reading } from '../../fields/field.ts';
import type { ReadMember } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { calendarDates } from '../timing/calendar.ts';
import type { MonthWeekday, Weekday, CalendarRule } from '../timing/calendar.ts';
import { firstZone } from '../timing/local-send.ts';
import {
  findTimeZone,
  noTimeZone,
  addDays,
  localDate,
  localTime,
  toInstant,
  resolveTimeZoneAlias,
} from '../timing/local-time.ts';
import { nextOccurrences } from '../timing/occurrences.ts';
import { bestTimePolicies } from '../timing/timing.ts';
import type { BestTime, PassedPolicy, Timing } from '../timing/timing.ts';
import { unknownCase } from '../unknown-case.ts';

/** A time as it was sent: local to the campaign's zone, or an instant if it has an offset. */
type SentTime = { date: string; time: string } | { at: Date };

/** `scheduling_details` before a check against the clock. `timeZone` undefined: the workspace's zone. */
export type Schedule = { timeZone: string | undefined; inUserZone?: PassedPolicy; bestTime?: BestTime } & (
  | { kind: 'asap' }
  | { kind: 'once'; start: SentTime }
  | { kind: 'repeated'; start: SentTime; expiry: SentTime | undefined; period: Period }
  | { kind: 'triggered'; start: SentTime | undefined; expiry: SentTime | undefined }
);

/** An empty list means the day of the start. */
type Period = { step: number; occurrences: number | undefined } & (
  | { every: 'day' }
  | { every: 'week'; weekdays: Weekday[] }
  | { every: 'month'; dates: number[]; weekdays: MonthWeekday[] }
);

const maxSteps = { DAILY: 365, WEEKLY: 52, MONTHLY: 12 } as const;

const ownLists = {
  DAILY: [],
  WEEKLY: ['repeat_on_days_of_week'],
  MONTHLY: ['repeat_on_date_of_month', 'repeat_on_days_of_week_for_month'],
} as const;

const weekdayNames = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];
const weeks = { FIRST: 1, SECOND: 2, THIRD: 3, FOURTH: 4, FIFTH: 5, LAST: 'last' } as const;

const weekdaysOfMonth = partOrEmpty(
  {
    week_granularity: word(Object.keys(weeks) as (keyof typeof weeks)[], 'FIRST to FIFTH, or LAST'),
    repeat_on_days_of_week: alwaysRead(texts(), readWeekdays),
  },
  {
    read(item, read): MonthWeekday[] {
      item.requires('week_granularity');
      item.requires('repeat_on_days_of_week');
      const week = read('week_granularity');
      const weekdays = read('repeat_on_days_of_week');
      return week === undefined ? [] : weekdays.map((weekday) => ({ week: weeks[week], weekday }));
    },
  },
);

const periodMembers = {
  sending_frequency: optional(
    required(word(Object.keys(maxSteps) as (keyof typeof maxSteps)[], 'DAILY, WEEKLY or MONTHLY')),
  ),
  repeat_frequency: whole(1, maxSteps.DAILY, 'Days; weeks up to 52, months up to 12'),
  // The interface spells the name like this.
  no_of_occurences: whole(1, maxOccurrences),
  repeat_on_date_of_month: alwaysRead(list(whole(1, 31), { max: 31 }), readDates),
  repeat_on_days_of_week: alwaysRead(texts({ description: 'MONDAY to SUNDAY' }), readWeekdays),
  repeat_on_days_of_week_for_month: parts(weekdaysOfMonth, { max: 6 }),
};

/** `periodic_details` (fact 6.2). */
const period = partOrEmpty(periodMembers, { title: 'CampaignPeriod', read: readPeriod });

const sendTypes = ['ASAP', 'AT_FIXED_TIME', 'SEND_IN_USER_TIMEZONE', 'SEND_IN_BTS'] as const;
type SendType = (typeof sendTypes)[number];

/** Fact 6.2 names the object but not its members: the only flag decides about zones where the time has passed. */
const userZone = part({ send_if_user_timezone_has_passed: flag('Default false: these devices are excluded') });

/** Fact 6.2 names the object but not its members (docs/decisions/0049). */
const bestTimeMembers = {
  window_in_hours: whole(1, maxBestTimeHours, 'From the start; default 24'),
  if_best_time_is_unknown: word(bestTimePolicies, 'SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND'),
  if_best_time_is_outside: word(bestTimePolicies, 'SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND'),
};

const members = {
  delivery_type: optional(
    required(
      word(sendTypes, 'ASAP, AT_FIXED_TIME, SEND_IN_USER_TIMEZONE or SEND_IN_BTS: at the best time of each user'),
    ),
  ),
  start_time: readWith(text({ description: 'YYYY-MM-DDThh:mm:ss' }), readTime),
  expiry_time: readWith(text({ description: 'YYYY-MM-DDThh:mm:ss' }), readTime),
  timezone: text({ max: 100, description: 'V5; default: the zone of the workspace. V1 is in UTC' }),
  periodic_details: period,
  bts_details: part(bestTimeMembers),
  user_timezone_details: userZone,
};

/** `scheduling_details` (fact 6.2). */
export const scheduling = part(members, { title: 'CampaignSchedule' });

/** Reads the schedule of a campaign of this type. Undefined if anything is wrong; the faults of the part say what. */
export function readSchedule(
  details: RequestReader,
  deliveryType: CampaignDeliveryType | undefined,
): Schedule | undefined {
  const read = reading(details, members);
  const type = read('delivery_type');
  const own = { ...readUserZone(details, type), ...readBestTime(details, type) };
  const named = read('timezone');
  const timeZone = named === undefined ? undefined : findTimeZone(named);
  if (named !== undefined && timeZone === undefined) details.invalid('timezone', noTimeZone);
  const start = read('start_time');
  const expiry = read('expiry_time');
  if (deliveryType !== 'PERIODIC' && details.get('periodic_details') !== undefined)
    details.invalid('periodic_details', 'is for campaigns of type PERIODIC');
  if (type !== undefined && type !== 'ASAP' && start === undefined) details.requires('start_time');
  if (type === 'ASAP' && details.get('start_time') !== undefined) details.invalid('start_time', 'needs AT_FIXED_TIME');
  switch (deliveryType) {
    case 'ONE_TIME':
      if (expiry) details.invalid('expiry_time', 'is for campaigns that are sent more than once');
      if (type === 'ASAP') return { kind: 'asap', timeZone };
      return start && { kind: 'once', start, timeZone, ...own };
    case 'PERIODIC': {
      if (type === 'ASAP') details.invalid('delivery_type', 'must name a time for a campaign of type PERIODIC');
      if (details.requires('periodic_details') && !expiry && !hasCount(details)) details.missing('expiry_time');
      const found = read('periodic_details');
      return start && found && { kind: 'repeated', start, expiry, period: found, timeZone, ...own };
    }
    case 'EVENT_TRIGGERED':
    case 'BUSINESS_EVENT_TRIGGERED':
      if (own.inUserZone || own.bestTime)
        details.invalid('delivery_type', 'must be ASAP or AT_FIXED_TIME for a campaign of an event');
      return { kind: 'triggered', start, expiry, timeZone };
    default:
      return undefined;
  }
}

/** Reads a send at one local time in every user's zone (decision 0018). */
function readUserZone(details: RequestReader, type: SendType | undefined): { inUserZone: PassedPolicy } | undefined {
  const isSent = reading(details.part('user_timezone_details'), userZone.members)('send_if_user_timezone_has_passed');
  if (type === 'SEND_IN_USER_TIMEZONE') return { inUserZone: isSent === true ? 'SEND' : 'SKIP' };
  if (details.get('user_timezone_details') !== undefined)
    details.invalid('user_timezone_details', 'needs SEND_IN_USER_TIMEZONE');
  return undefined;
}

function hasCount(details: RequestReader): boolean {
  return details.part('periodic_details').get('no_of_occurences') !== undefined;
}

const timePattern =
  /^(\d{4}-\d{2}-\d{2})[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/;

/** Keeps seconds and drops fractions, because sends are not precise to the millisecond. */
function readTime(details: RequestReader, name: string): SentTime | undefined {
  const sent = details.text(name, 40);
  if (sent === undefined) return undefined;
  const parts = timePattern.exec(sent);
  const isDay = parts && !Number.isNaN(Date.parse(`${parts[1]!}T00:00:00Z`)) && isOfCalendar(parts[1]!);
  if (!isDay) {
    details.invalid(name, 'must be a date and time as YYYY-MM-DDThh:mm:ss');
    return undefined;
  }
  const [, date, hour, minute, second = '00', offset] = parts;
  if (offset !== undefined) return { at: new Date(`${date}T${hour}:${minute}:${second}${withColon(offset)}`) };
  return { date: date!, time: second === '00' ? `${hour}:${minute}` : `${hour}:${minute}:${second}` };
}

/** True if a date exists. JavaScript parses February 30 as March 2. */
function isOfCalendar(date: string): boolean {
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

function withColon(offset: string): string {
  return offset === 'Z' || offset.includes(':') ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`;
}

type PeriodReader = ReadMember<typeof periodMembers>;

function readPeriod(details: RequestReader, read: PeriodReader): Period | undefined {
  const frequency = read('sending_frequency');
  if (frequency === undefined) return undefined;
  const lists: readonly string[] = ownLists[frequency];
  for (const name of [...ownLists.WEEKLY, ...ownLists.MONTHLY])
    if (!lists.includes(name) && details.get(name) !== undefined)
      details.invalid(name, `is not for ${frequency.toLowerCase()} campaigns`);
  const step = details.integer('repeat_frequency', { minimum: 1, maximum: maxSteps[frequency] }) ?? 1;
  const occurrences = read('no_of_occurences');
  switch (frequency) {
    case 'DAILY':
      return { every: 'day', step, occurrences };
    case 'WEEKLY':
      return { every: 'week', step, occurrences, weekdays: read('repeat_on_days_of_week') };
    case 'MONTHLY': {
      const dates = read('repeat_on_date_of_month');
      const weekdays = (read('repeat_on_days_of_week_for_month') ?? []).flat();
      return { every: 'month', step, occurrences, dates, weekdays };
    }
    default:
      return unknownCase(frequency);
  }
}

function readWeekdays(details: RequestReader, name: string): Weekday[] {
  const found = details.list(name, 7).map((sent) => {
    const upper = typeof sent === 'string' ? sent.toUpperCase() : '';
    return (
      1 + weekdayNames.findIndex((weekday) => weekday === upper || (upper.length === 3 && weekday.startsWith(upper)))
    );
  });
  if (found.includes(0)) details.invalid(name, `must hold only ${weekdayNames.join(', ')}`);
  return [...new Set(found.filter((number) => number > 0) as Weekday[])].sort();
}

function readDates(details: RequestReader, name: string): number[] {
  const found = details.list(name, 31).map(Number);
  if (found.some((date) => !Number.isInteger(date) || date < 1 || date > 31))
    details.invalid(name, 'must hold whole numbers from 1 to 31');
  return [...new Set(found)].sort((a, b) => a - b);
}

/**
 * Reads `bts_details` of SEND_IN_BTS: the hours within which each user's best time may lie, and what happens to the other
 * users.
 */
function readBestTime(schedule: RequestReader, type: SendType | undefined): { bestTime: BestTime } | undefined {
  if (type !== 'SEND_IN_BTS') {
    if (schedule.get('bts_details') !== undefined) schedule.invalid('bts_details', 'needs SEND_IN_BTS');
    return undefined;
  }
  const details = schedule.part('bts_details');
  const read = reading(details, bestTimeMembers);
  const windowHours = read('window_in_hours');
  const ifUnknown = read('if_best_time_is_unknown');
  const ifOutside = read('if_best_time_is_outside');
  for (const name of details.names()) if (!Object.hasOwn(bestTimeMembers, name)) details.refuse(name);
  return {
    bestTime: {
      windowHours: windowHours ?? maxBestTimeHours,
      ifUnknown: ifUnknown ?? 'SEND_AT_START',
      ifOutside: ifOutside ?? 'SEND_AT_START',
    },
  };
}

export type ScheduleContext = {
  now: Date;
  workspaceTimeZone: string;
  /** `as it was`: the start of a live campaign may lie in the past. */
  start: 'to come' | 'as it was';
};

type Local = { date: string; time: string };

/** Returns the timing of a schedule, as of now (decision D36), or a fault if nothing would ever be sent. */
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
  // The first send would leave out whole zones without a visible reason.
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

/** Stored only if requested, so that timings at a single instant do not change. */
function ofEachUser({ inUserZone, bestTime }: Schedule): { inUserZone?: PassedPolicy; bestTime?: BestTime } {
  return { ...(inUserZone && { inUserZone }), ...(bestTime && { bestTime }) };
}

const lastYear = '9999-12-31';
// A rule with days that never occur (the 31st of every twelfth month from February) must not be searched to the year 9999.
const searchedYears = 100;

/** Returns the day of the last counted occurrence, at most a hundred years ahead; before `firstDate` if there is none. */
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

/** Returns the last day on which the send is not after the expiry. */
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
