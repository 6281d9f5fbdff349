import { members } from './sent-messages.ts';

type Members = Record<string, unknown>;

const ownTimes: Record<string, string> = {
  SEND_IN_USER_TIMEZONE: ', at that time in everyone’s own zone',
  SEND_IN_BTS: ', then at the hour at which each person opens messages',
};

/** Describes the schedule of a V5 body: "Every 2 days at 10:00 (Asia/Kolkata), until 31 Dec 2026". */
export function describeSchedule(body: Members): string {
  const details = members(body.scheduling_details);
  switch (body.campaign_delivery_type) {
    case 'PERIODIC':
      return `${describePeriod(details)}${own(details)}`;
    case 'BUSINESS_EVENT_TRIGGERED':
      return `Whenever “${textOf(members(body.basic_details).business_event) || 'a business event'}” happens`;
    case 'EVENT_TRIGGERED':
      return 'When a user’s events trigger it';
    default: {
      const start = textOf(details.start_time);
      return start === ''
        ? 'At once, when it is published'
        : `Once, on ${dateAndTime(start)}${zone(details)}${own(details)}`;
    }
  }
}

const units: Record<string, [string, string]> = {
  DAILY: ['day', 'days'],
  WEEKLY: ['week', 'weeks'],
  MONTHLY: ['month', 'months'],
};

function describePeriod(details: Members): string {
  const period = members(details.periodic_details);
  const step = Number(period.repeat_frequency ?? 1);
  const [one, many] = units[textOf(period.sending_frequency).toUpperCase()] ?? ['day', 'days'];
  const start = textOf(details.start_time);
  const end = textOf(details.expiry_time);
  const count = Number(period.no_of_occurences ?? 0);
  return [
    step === 1 ? `Every ${one}` : `Every ${step} ${many}`,
    describeDays(period),
    start === '' ? '' : ` at ${timeOf(start)}${zone(details)}, from ${dateOf(start)}`,
    end === '' ? '' : ` until ${dateOf(end)}`,
    count > 0 ? `, ${count} times` : '',
  ].join('');
}

function describeDays(period: Members): string {
  const days = listOf(period.repeat_on_days_of_week).map(nameOf);
  const dates = listOf(period.repeat_on_date_of_month);
  const weekdays = (
    Array.isArray(period.repeat_on_days_of_week_for_month) ? period.repeat_on_days_of_week_for_month : []
  )
    .map(members)
    .flatMap((each) =>
      listOf(each.repeat_on_days_of_week).map(
        (day) => `the ${textOf(each.week_granularity).toLowerCase()} ${nameOf(day)}`,
      ),
    );
  const all = [...days, ...dates.map((date) => `day ${date}`), ...weekdays];
  return all.length === 0 ? '' : ` on ${all.join(', ')}`;
}

function own({ delivery_type: type }: Members): string {
  return ownTimes[textOf(type).toUpperCase()] ?? '';
}

function zone({ timezone }: Members): string {
  return textOf(timezone) === '' ? '' : ` (${textOf(timezone)})`;
}

function dateAndTime(local: string): string {
  return `${dateOf(local)} at ${timeOf(local)}`;
}

/** Local times are shown as they were entered, with their zone. */
function dateOf(local: string): string {
  const day = local.slice(0, 10);
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return day;
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' }).format(
    at,
  );
}

function timeOf(local: string): string {
  return local.slice(11, 16);
}

function nameOf(day: string): string {
  return `${day.charAt(0)}${day.slice(1).toLowerCase()}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
