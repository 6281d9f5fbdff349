import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignExecution } from '../../app/campaigns/list-executions.ts';
import type { CampaignRecord } from '../../app/campaigns/search-campaigns.ts';
import { partNames } from '../../domain/campaign-document/read-campaign.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { presentPushContent } from './present-push-content.ts';
import { presentGoals } from './present-goals.ts';

/** The part of a campaign record that both versions share (fact 4.3); ids and schedule are each version's own. */
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

/** The parts of a campaign that was made by other words than those of the record (fact 6.2). */
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

/** Email and SMS campaigns have these in addition to the parts (fact 4.3). */
const shownParts = [...partNames, 'connector', 'sender_name'];

/** As created; `scheduling_details` is each version's own once the campaign is no draft. */
function presentSentParts(parts: CampaignParts): Record<string, unknown> {
  return Object.fromEntries(shownParts.flatMap((name) => (parts[name] === undefined ? [] : [[name, parts[name]]])));
}

/** An execution as both versions show it; ids are each version's own (fact 4.4, decision D43). */
export function presentExecution({ sentAt, status, statusReason, plannedAt }: CampaignExecution) {
  return {
    sent_time: sentAt && joinedTime(sentAt),
    status: presentStatus(status),
    ...(statusReason === null ? {} : { status_reason: statusReason }),
    ...(plannedAt ? { planned_time: joinedTime(plannedAt) } : {}),
  };
}

/** Upper-case in both versions (decision D44); a queued run is a child that waits. */
export function presentStatus(status: string): string {
  return status === 'QUEUED' ? 'SCHEDULED' : status;
}

/** `2024-07-04 08:00:54.847000`: UTC, microseconds (fact 4.3). */
export function spacedTime(at: Date): string {
  return joinedTime(at).replace('T', ' ');
}

/** `2024-06-24T14:30:18.908000` (fact 4.4). */
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
  const { androidPriority, iosPriority, ttlMinutes, appIds } = deliverySettings(stored);
  // The record knows one time to live, in whole hours; what it cannot say it leaves out.
  const minutes = ttlMinutes.ANDROID;
  const isSayable = minutes % 60 === 0 && ttlMinutes.IOS === minutes && ttlMinutes.WEB === minutes;
  return {
    ...(isSayable
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
  };
}
