import { partNames } from '../../domain/campaign-document/read-campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';
import type { ConsoleCampaigns } from '../../app/console/console-campaigns.ts';
import type { SearchSettings } from '../../app/campaigns/search-campaigns.ts';
import { isEditable } from '../../domain/campaigns/allowed-actions.ts';
import { rateFigures } from '../../domain/campaigns/campaign-figures.ts';
import { presentStatus } from '../campaigns/present-campaign.ts';
import { presentV5Schedule } from '../campaigns/present-schedule.ts';
import { presentV5Campaign } from '../campaigns/present-v5.ts';

type Listed = Awaited<ReturnType<ConsoleCampaigns['search']>>[number];
type Report = Awaited<ReturnType<ConsoleCampaigns['report']['read']>>;

export function presentListedCampaign({ campaign, figures }: Listed) {
  const { reachableDevices = null, runs = 0, ...counted } = figures ?? {};
  return {
    ...presentHead(campaign),
    reachableDevices,
    runs,
    figures: presentFigures(counted),
  };
}

/** Null: nothing was tried yet. */
function presentFigures({ attempted, accepted, shown, clicked, hasMoreRuns }: Partial<NonNullable<Listed['figures']>>) {
  if (attempted === undefined || attempted === 0) return null;
  return {
    attempted,
    accepted: accepted!,
    shown: shown!,
    clicked: clicked!,
    acceptedPercent: percentOf(accepted!, attempted),
    shownPercent: percentOf(shown!, accepted!),
    clickedPercent: percentOf(clicked!, accepted!),
    hasMoreRuns: hasMoreRuns!,
  };
}

/** Reports may come of messages whose acceptance was never heard of. */
function percentOf(part: number, whole: number): number | null {
  return whole === 0 ? null : (rateFigures(part, whole).rate ?? null);
}

function presentHead(campaign: Listed['campaign']) {
  return {
    id: campaign.id,
    campaignId: campaign.campaignId,
    isExecution: campaign.kind === 'EXECUTION',
    name: campaign.name,
    status: presentStatus(campaign.status),
    channel: campaign.channel,
    deliveryType: campaign.deliveryType,
    platforms: campaign.platforms,
    tags: campaign.tags,
    versionNumber: campaign.versionNumber,
    createdBy: campaign.createdBy,
    createdAt: campaign.createdAt,
    sentAt: campaign.sentAt,
  };
}

/** What does not move, the record as V5 answers it, and the versions. */
export function presentReport({ campaign, versions }: Report, versioning: SearchSettings['versioning']) {
  return {
    campaign: {
      ...presentHead(campaign),
      audience: campaign.audience,
      segmentId: campaign.segmentId,
      segmentName: campaign.segmentName,
      updatedAt: campaign.updatedAt,
      mayEdit: campaign.channel === 'PUSH' && isEditable(campaign),
    },
    record: presentV5Campaign(campaign, versioning),
    request: presentRequest(campaign),
    versions: versions.length > 1 ? versions : [],
  };
}

/**
 * What a caller sends to make the same campaign: as it was sent, or, of a push, its record in the words of a request
 * (a record says its schedule in others).
 */
export function presentRequest(campaign: Report['campaign']): CampaignParts {
  if (campaign.parts !== null) return campaign.parts;
  const record: CampaignParts = { ...presentV5Campaign(campaign, 'off'), ...presentSchedule(campaign.timing) };
  const sent = ['channel', 'campaign_delivery_type', 'created_by', ...partNames];
  return Object.fromEntries(sent.flatMap((name) => (record[name] === undefined ? [] : [[name, record[name]]])));
}

/** Local times with their zone: the zone of the workspace may be another. */
function presentSchedule(timing: Record<string, unknown>) {
  const { scheduling_details: shown } = presentV5Schedule(timing) as { scheduling_details?: Record<string, unknown> };
  if (shown?.schedule_time === undefined) return {};
  const { schedule_time, expiry_time, time_zone, frequency } = shown;
  return {
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME',
      start_time: schedule_time,
      timezone: time_zone,
      ...(expiry_time === undefined ? {} : { expiry_time }),
      ...(frequency === undefined ? {} : { periodic_details: frequency }),
    },
  };
}
