import type { CampaignExecution, CampaignRecord } from '../../app/campaigns/search-campaigns.ts';
import { partNames } from '../../domain/campaign-document/campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversions.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { CalendarRule } from '../../domain/timing/calendar.ts';
import { toInstant } from '../../domain/timing/local-time.ts';
import { fromStoredTiming } from '../../domain/timing/timing.ts';
import type { StoredTiming, BestTime, PassedPolicy, Timing } from '../../domain/timing/timing.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { presentPushContent } from './push-content.ts';

/** Presents the part of a campaign record that both versions share (fact 4.3); each version has its own ids and schedule. */
export function presentCampaign(campaign: CampaignRecord) {
  const { sentAt, kind, campaignId, statusReason, plannedAt } = campaign;
  return {
    status: presentStatus(campaign.status),
    ...(statusReason === null ? {} : { status_reason: statusReason }),
    channel: campaign.channel,
    campaign_delivery_type: campaign.deliveryType,
    created_by: campaign.createdBy,
    ...(campaign.updatedBy === null ? {} : { updated_by: campaign.updatedBy }),
    created_at: spacedTime(campaign.createdAt),
    updated_at: spacedTime(campaign.updatedAt),
    ...(sentAt ? { sent_time: spacedTime(sentAt) } : {}),
    ...(plannedAt ? { planned_time: spacedTime(plannedAt) } : {}),
    ...(kind === 'EXECUTION' ? { parent_id: campaignId } : {}),
    ...(campaign.parts === null ? presentParts(campaign) : presentSentParts(campaign.parts)),
  };
}

/** Presents the parts of a campaign of the push API, which uses other names than the record (fact 6.2). */
function presentParts(campaign: CampaignRecord) {
  const isPush = campaign.channel === 'PUSH';
  return {
    basic_details: {
      name: campaign.name,
      ...(isPush ? { platforms: campaign.platforms } : {}),
      tags: campaign.tags,
    },
    campaign_content: { content: isPush ? presentPushContent(campaign.content) : campaign.content },
    segmentation_details: presentAudience(campaign),
    ...(isPush ? { ...presentControls(campaign), advanced: presentAdvanced(campaign) } : {}),
    conversion_goal_details: presentGoals(campaign.conversionGoals),
  };
}

/** The parts of a campaign, and the members that email and SMS campaigns have in addition (fact 4.3). */
const shownParts = [...partNames, 'connector', 'sender_name'];

/** Returns the parts as created. Once the campaign is no longer a draft, each version presents `scheduling_details` itself. */
function presentSentParts(parts: CampaignParts): Record<string, unknown> {
  return Object.fromEntries(shownParts.flatMap((name) => (parts[name] === undefined ? [] : [[name, parts[name]]])));
}

/** Presents an execution without its ids, which differ between the versions (fact 4.4, decision D43). */
export function presentExecution({ sentAt, status, statusReason, plannedAt }: CampaignExecution) {
  return {
    sent_time: sentAt && joinedTime(sentAt),
    status: presentStatus(status),
    ...(statusReason === null ? {} : { status_reason: statusReason }),
    ...(plannedAt ? { planned_time: joinedTime(plannedAt) } : {}),
  };
}

/** Returns the status in upper case, as in both versions (decision D44). A queued run is a child that waits, so it is SCHEDULED. */
export function presentStatus(status: string): string {
  return status === 'QUEUED' ? 'SCHEDULED' : status;
}

/** Formats a time as `2024-07-04 08:00:54.847000`: UTC, microseconds (fact 4.3). */
export function spacedTime(at: Date): string {
  return joinedTime(at).replace('T', ' ');
}

/** Formats a time as `2024-06-24T14:30:18.908000` (fact 4.4). */
export function joinedTime(at: Date): string {
  return at.toISOString().replace('Z', '000');
}

function presentAudience({ audience, segmentId, segmentName }: CampaignRecord) {
  if (audience !== 'SEGMENT') return { is_all_user_campaign: audience === 'ALL_USERS' };
  const segment = { filter_type: 'custom_segments', id: segmentId, name: segmentName };
  return { is_all_user_campaign: false, included_filters: { filter_operator: 'and', filters: [segment] } };
}

function presentControls({ settings: stored }: CampaignRecord) {
  const settings = deliverySettings(stored);
  const { devicesPerMinute, ignoresCap, countsForCap, bypassesQuietHours } = settings;
  const controls = {
    ...(devicesPerMinute === null ? {} : { campaign_throttle_rpm: devicesPerMinute }),
    ...(bypassesQuietHours ? { bypass_dnd: true } : {}),
    ...(ignoresCap ? { ignore_frequency_capping: true, count_for_frequency_capping: countsForCap } : {}),
    ...(settings.ignoresMinimumDelay ? {} : { ignore_global_minimum_delay: false }),
  };
  return Object.keys(controls).length === 0 ? {} : { delivery_controls: controls };
}

function presentAdvanced({ settings: stored }: CampaignRecord) {
  const { androidPriority, iosPriority, ttlMinutes, appIds, topic, inbox } = deliverySettings(stored);
  // A record has one time to live, in whole hours; any other time to live is omitted.
  const minutes = ttlMinutes.ANDROID;
  const hasWholeHours = minutes % 60 === 0 && ttlMinutes.IOS === minutes && ttlMinutes.WEB === minutes;
  return {
    ...(hasWholeHours
      ? {
          expiration_settings: {
            expire_notification_after_value: minutes / 60,
            expire_notification_after_type: 'HOUR',
          },
        }
      : {}),
    platform_level_priority: {
      android_specific_priority: { send_with_priority: androidPriority },
      ios_specific_priority: { apns_priority: String(iosPriority) },
    },
    ...(appIds ? { app_ids: appIds } : {}),
    ...(topic ? { topic: topic.key } : {}),
    ...(inbox ? { inbox: { send_to: inbox.sendTo, inbox_expiry: inbox.expiryHours, tags: inbox.tags ?? [] } } : {}),
  };
}

/** Presents `conversion_goal_details` (fact 6.2). */
function presentGoals(stored: unknown) {
  const goals = Array.isArray(stored) ? (stored as Partial<ConversionGoal>[]) : [];
  const [first] = goals;
  return {
    ...(first?.windowHours === undefined ? {} : { attribution_window_in_hours: first.windowHours }),
    goals: goals.map(({ name, eventName, attribute, revenue }) => ({
      goal_name: name,
      goal_event_name: eventName,
      ...(attribute ? { goal_event_attribute: attribute } : {}),
      ...(revenue ? { revenue_attribute: revenue.attribute, revenue_currency: revenue.currency } : {}),
    })),
  };
}

type Presented = { scheduling_details?: object };

/** Presents `scheduling_details` of V1: the names of the request (fact 6.2), times in UTC. */
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

/** Presents `scheduling_details` of V5: normalised, times in their own zone (fact 4.3). */
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
      // The start and the end are instants, so they are presented in UTC.
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

/** Presents when users get the campaign: at one instant, at one local time, or at each user's best time (fact 6.2). */
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

/** Returns undefined for a draft without timing. */
function readTiming(stored: Record<string, unknown>): Timing | undefined {
  return stored.kind === undefined ? undefined : fromStoredTiming(stored as StoredTiming);
}

function withSeconds(time: string): string {
  return time.length === 5 ? `${time}:00` : time;
}

function utc(at: Date): string {
  return at.toISOString().slice(0, 19);
}
