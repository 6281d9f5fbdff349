import type { CalendarRule } from '../../domain/timing/calendar-rule.ts';
import { toInstant } from '../../domain/timing/local-time.ts';
import { fromStoredTiming } from '../../domain/timing/stored-timing.ts';
import type { StoredTiming } from '../../domain/timing/stored-timing.ts';
import type { BestTime } from '../../domain/timing/best-time.ts';
import type { PassedPolicy, Timing } from '../../domain/timing/timing.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

type Presented = { scheduling_details?: object };

/** `scheduling_details` of V1: the words of the request (fact 6.2), times in UTC. */
export function presentV1Schedule(stored: Record<string, unknown>): Presented {
  const timing = readTiming(stored);
  if (timing === undefined) return {};
  switch (timing.kind) {
    case 'soon':
      return { scheduling_details: { delivery_type: 'ASAP' } };
    case 'later':
      return { scheduling_details: { ...presentType(timing), start_time: utc(timing.at) } };
    case 'periodic':
    case 'calendar':
      return {
        scheduling_details: {
          ...presentType(timing),
          start_time: utc(toInstant({ ...timing, date: timing.firstDate })),
          expiry_time: utc(toInstant({ ...timing, date: timing.endDate })),
          periodic_details: presentPeriod(timing),
        },
      };
    case 'triggered': {
      const { startsAt, endsAt } = timing;
      return {
        scheduling_details: {
          delivery_type: startsAt === null ? 'ASAP' : 'AT_FIXED_TIME',
          ...(startsAt === null ? {} : { start_time: utc(new Date(startsAt)) }),
          ...(endsAt === null ? {} : { expiry_time: utc(new Date(endsAt)) }),
        },
      };
    }
    default:
      return unknownCase(timing);
  }
}

/** `scheduling_details` of V5: normalised, times in their own zone (fact 4.3). */
export function presentV5Schedule(stored: Record<string, unknown>): Presented {
  const timing = readTiming(stored);
  if (timing === undefined) return {};
  switch (timing.kind) {
    case 'soon':
      return { scheduling_details: { delivery_type: 'ASAP' } };
    case 'later': {
      const schedule_time = `${timing.date}T${withSeconds(timing.time)}`;
      const { delivery_type, ...details } = presentType(timing);
      return {
        scheduling_details: {
          delivery_type: delivery_type === 'AT_FIXED_TIME' ? 'SCHEDULED' : delivery_type,
          ...details,
          schedule_time,
          time_zone: timing.timeZone,
        },
      };
    }
    case 'periodic':
    case 'calendar': {
      const { delivery_type: _type, ...details } = presentType(timing);
      return {
        scheduling_details: {
          delivery_type: 'PERIODIC',
          ...details,
          schedule_time: `${timing.firstDate}T${withSeconds(timing.time)}`,
          expiry_time: `${timing.endDate}T${withSeconds(timing.time)}`,
          time_zone: timing.timeZone,
          frequency: presentPeriod(timing),
        },
      };
    }
    case 'triggered': {
      // Bounds of when events count are instants; in UTC they need no zone's rules to be read.
      const bounds = presentV1Schedule(stored).scheduling_details;
      return { scheduling_details: { ...bounds, time_zone: 'UTC' } };
    }
    default:
      return unknownCase(timing);
  }
}

type PresentedType =
  | { delivery_type: 'AT_FIXED_TIME' }
  | { delivery_type: 'SEND_IN_USER_TIMEZONE'; user_timezone_details: object }
  | { delivery_type: 'SEND_IN_BTS'; bts_details: object };

/** At one instant, at one local time of each user, or at the best time of each (fact 6.2). */
function presentType({ inUserZone, bestTime }: { inUserZone?: PassedPolicy; bestTime?: BestTime }): PresentedType {
  if (inUserZone !== undefined)
    return {
      delivery_type: 'SEND_IN_USER_TIMEZONE',
      user_timezone_details: { send_if_user_timezone_has_passed: inUserZone === 'SEND' },
    };
  if (bestTime === undefined) return { delivery_type: 'AT_FIXED_TIME' };
  return {
    delivery_type: 'SEND_IN_BTS',
    bts_details: {
      window_in_hours: bestTime.windowHours,
      if_best_time_is_unknown: bestTime.ifUnknown,
      if_best_time_is_outside: bestTime.ifOutside,
    },
  };
}

type Repeated = Extract<Timing, { kind: 'periodic' | 'calendar' }>;

function presentPeriod(timing: Repeated) {
  return timing.kind === 'periodic'
    ? { sending_frequency: 'DAILY', repeat_frequency: timing.repeatAfterDays }
    : presentRule(timing.rule);
}

const weekdayNames = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];
const weekNames = { 1: 'FIRST', 2: 'SECOND', 3: 'THIRD', 4: 'FOURTH', 5: 'FIFTH', last: 'LAST' } as const;

function presentRule(rule: CalendarRule) {
  switch (rule.every) {
    case 'week':
      return {
        sending_frequency: 'WEEKLY',
        repeat_frequency: rule.step,
        repeat_on_days_of_week: rule.weekdays.map((weekday) => weekdayNames[weekday - 1]),
      };
    case 'month':
      return {
        sending_frequency: 'MONTHLY',
        repeat_frequency: rule.step,
        ...(rule.dates.length === 0 ? {} : { repeat_on_date_of_month: rule.dates }),
        ...(rule.weekdays.length === 0
          ? {}
          : {
              repeat_on_days_of_week_for_month: rule.weekdays.map(({ week, weekday }) => ({
                week_granularity: weekNames[week],
                repeat_on_days_of_week: [weekdayNames[weekday - 1]],
              })),
            }),
      };
    default:
      return unknownCase(rule);
  }
}

/** A draft may have none yet. */
function readTiming(stored: Record<string, unknown>): Timing | undefined {
  return stored.kind === undefined ? undefined : fromStoredTiming(stored as StoredTiming);
}

function withSeconds(time: string): string {
  return time.length === 5 ? `${time}:00` : time;
}

function utc(at: Date): string {
  return at.toISOString().slice(0, 19);
}
