import type { CampaignBody } from '@carillon/client';
import { textAt } from '../campaign-body.ts';

export type TimingKind = 'now' | 'once' | 'periodic' | 'event';

export const scheduling = 'scheduling_details';

export const timingNames: Record<TimingKind, string> = {
  now: 'Now',
  once: 'Once, at a set time',
  periodic: 'Recurring',
  event: 'On a business event',
};

export function timingKind(body: CampaignBody): TimingKind {
  switch (body.campaign_delivery_type) {
    case 'PERIODIC':
      return 'periodic';
    case 'BUSINESS_EVENT_TRIGGERED':
      return 'event';
    default:
      return ['AT_FIXED_TIME', 'SEND_IN_USER_TIMEZONE', 'SEND_IN_BTS'].includes(
        textAt(body, `${scheduling}.delivery_type`).toUpperCase(),
      )
        ? 'once'
        : 'now';
  }
}

type TimingStart = { kind: TimingKind; timeZone: string; start: string };

/** Returns the changes that switch a campaign to another kind of schedule. */
export function ofTiming({ kind, timeZone, start }: TimingStart): Record<string, unknown> {
  const fixed = { delivery_type: 'AT_FIXED_TIME', start_time: start, timezone: timeZone };
  const noEvent = { 'basic_details.business_event': undefined };
  switch (kind) {
    case 'now':
      return { campaign_delivery_type: 'ONE_TIME', [scheduling]: { delivery_type: 'ASAP' }, ...noEvent };
    case 'once':
      return { campaign_delivery_type: 'ONE_TIME', [scheduling]: fixed, ...noEvent };
    case 'periodic': {
      const period = { sending_frequency: 'DAILY', repeat_frequency: 1, no_of_occurences: 5 };
      return { campaign_delivery_type: 'PERIODIC', [scheduling]: { ...fixed, periodic_details: period }, ...noEvent };
    }
    case 'event':
      return {
        campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
        [scheduling]: { delivery_type: 'ASAP', timezone: timeZone },
      };
  }
}

/** Returns the full hour after the next one, as a local time: `2026-11-21T17:00`. */
export function soonIn(timeZone: string, now: number): string {
  const hour = 3_600_000;
  const at = new Date((Math.floor(now / hour) + 2) * hour);
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at);
  const of = (type: string) => parts.find((part) => part.type === type)!.value;
  return `${of('year')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}`;
}
