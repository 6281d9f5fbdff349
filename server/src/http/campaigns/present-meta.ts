import type { CampaignMeta, CampaignRecord } from '../../app/campaigns/search-campaigns.ts';
import { spacedTime, presentStatus } from './present-campaign.ts';
import { presentV1Schedule } from './present-schedule.ts';

export type ListedCampaign = { campaign: CampaignRecord; meta: CampaignMeta | undefined };

/** A row of the light list (fact 4.7). There is one team, the default one. */
export function presentMeta({ campaign, meta }: ListedCampaign) {
  const { campaignId, kind, id } = campaign;
  const isChild = kind === 'EXECUTION';
  const start = (presentV1Schedule(campaign.timing).scheduling_details as { start_time?: string } | undefined)
    ?.start_time;
  return {
    campaign_id: isChild ? id : campaignId,
    channel: campaign.channel,
    platform: campaign.platforms,
    created_by: campaign.createdBy,
    campaign_delivery_type: campaign.deliveryType,
    campaign_name: campaign.name,
    campaign_team: 'Default Team',
    campaign_tags: campaign.tags,
    campaign_status: presentStatus(campaign.status),
    // An immediate campaign starts when it is created.
    campaign_start_time:
      start ??
      spacedTime(campaign.sentAt ?? campaign.createdAt)
        .replace(' ', 'T')
        .slice(0, 19),
    ...(isChild ? { parent_campaign_id: campaignId } : {}),
    total_child_campaigns: isChild || campaign.deliveryType === 'ONE_TIME' ? 0 : (meta?.children ?? 0),
    ...(meta?.countedAt
      ? { reachability_details: { count: meta.reachableDevices, last_updated_time: spacedTime(meta.countedAt) } }
      : {}),
  };
}
