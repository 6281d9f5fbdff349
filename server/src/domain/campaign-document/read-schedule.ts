import type { CampaignDeliveryType } from '../campaigns/campaign-search.ts';
import { findTimeZone, noTimeZone } from '../timing/time-zone.ts';
import type { BestTime } from '../timing/best-time.ts';
import type { PassedPolicy } from '../timing/timing.ts';
import { readBestTime } from './read-best-time.ts';
import { readPeriod } from './read-period.ts';
import type { Period } from './read-period.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';

/** A time as it was sent: of the campaign's zone, or an instant when it named its offset. */
export type SentTime = { date: string; time: string } | { at: Date };

/** `scheduling_details` before anybody looked at the clock. `timeZone` undefined: the workspace's. */
export type Schedule = { timeZone: string | undefined; inUserZone?: PassedPolicy; bestTime?: BestTime } & (
  | { kind: 'asap' }
  | { kind: 'once'; start: SentTime }
  | { kind: 'repeated'; start: SentTime; expiry: SentTime | undefined; period: Period }
  | { kind: 'triggered'; start: SentTime | undefined; expiry: SentTime | undefined }
);

/** Reads `scheduling_details` (fact 6.2). Undefined if anything is wrong; the faults of the part say what. */
export function readSchedule(
  details: RequestReader,
  deliveryType: CampaignDeliveryType | undefined,
): Schedule | undefined {
  details.requires('delivery_type');
  const type = details.choice('delivery_type', ['ASAP', 'AT_FIXED_TIME', 'SEND_IN_USER_TIMEZONE', 'SEND_IN_BTS']);
  const own = { ...readUserZone(details, type), ...readBestTime(details, type) };
  const named = details.text('timezone', 100);
  const timeZone = named === undefined ? undefined : findTimeZone(named);
  if (named !== undefined && timeZone === undefined) details.invalid('timezone', noTimeZone);
  const start = readTime(details, 'start_time');
  const expiry = readTime(details, 'expiry_time');
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
      const period = readPeriod(details.part('periodic_details'));
      return start && period && { kind: 'repeated', start, expiry, period, timeZone, ...own };
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

/**
 * A send at one local time in every user's zone. Fact 6.2 names the object but not its members; the one flag decides
 * about users in whose zone the time has passed (decision 0018).
 */
function readUserZone(details: RequestReader, type: string | undefined): { inUserZone: PassedPolicy } | undefined {
  const isSent = details.part('user_timezone_details').flag('send_if_user_timezone_has_passed');
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

/** Seconds are kept, fractions are not: nothing is sent to the millisecond. */
function readTime(details: RequestReader, name: 'start_time' | 'expiry_time'): SentTime | undefined {
  const text = details.text(name, 40);
  if (text === undefined) return undefined;
  const parts = timePattern.exec(text);
  const isDay = parts && !Number.isNaN(Date.parse(`${parts[1]!}T00:00:00Z`)) && isOfCalendar(parts[1]!);
  if (!isDay) {
    details.invalid(name, 'must be a date and time as YYYY-MM-DDThh:mm:ss');
    return undefined;
  }
  const [, date, hour, minute, second = '00', offset] = parts;
  if (offset !== undefined) return { at: new Date(`${date}T${hour}:${minute}:${second}${withColon(offset)}`) };
  return { date: date!, time: second === '00' ? `${hour}:${minute}` : `${hour}:${minute}:${second}` };
}

/** JavaScript reads February 30 as March 2. */
function isOfCalendar(date: string): boolean {
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

function withColon(offset: string): string {
  return offset === 'Z' || offset.includes(':') ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`;
}
