import { campaignStatuses } from './campaign-states.ts';
import type { CampaignStatus } from './campaign-states.ts';

export const campaignChannels = ['PUSH', 'EMAIL', 'SMS'] as const;
export type CampaignChannel = (typeof campaignChannels)[number];

export const campaignDeliveryTypes = ['ONE_TIME', 'PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED'] as const;
export type CampaignDeliveryType = (typeof campaignDeliveryTypes)[number];

/** Documented delivery types of which this service has no campaigns: asking for them finds nothing (fact 4.2). */
export const otherDeliveryTypes = [
  'DEVICE_TRIGGERED',
  'LOCATION_TRIGGERED',
  'BROADCAST_LIVE_ACTIVITY',
  'API_TRIGGERED',
] as const;

/** The two versions of the search interface. */
export type SearchVersion = 'V1' | 'V5';

/** What a search asks for, in the words of neither version. Undefined: not asked. */
export type CampaignSearch = {
  ids: string[] | undefined;
  channels: CampaignChannel[] | undefined;
  createdBy: string[] | undefined;
  createdFrom: Date | undefined;
  /** Exclusive. */
  createdBefore: Date | undefined;
  deliveryTypes: string[] | undefined;
  /** Any part of the name, ignoring case. */
  name: string | undefined;
  statuses: CampaignStatus[] | undefined;
  /** Any of them. */
  tags: string[] | undefined;
  versionNumber: number | undefined;
  children: 'with' | 'without';
  archived: 'with' | 'without';
};

/** The campaigns that a search sees, after the rules of its version. */
export type CampaignSelection = Omit<CampaignSearch, 'channels' | 'statuses' | 'archived'> & {
  channels: CampaignChannel[];
  statuses: CampaignStatus[];
  /** Of a campaign that was revised: each version as a document of its own, or the newest one for all. */
  versions: 'every' | 'newest';
};

/**
 * The differences between the versions that decide what is found (interface 9): V1 never finds SMS campaigns, V5 does
 * when it is asked for them (interface 4.6, decision D41); V1 finds drafts, V5 when it is asked for them; V5 finds each
 * version of a campaign when the workspace has versioning enabled, otherwise only the newest. Archived campaigns are
 * left out unless included, even when their status is asked for (fact 4.2).
 */
export function selectCampaigns(
  search: CampaignSearch,
  { version, versioning }: { version: SearchVersion; versioning: 'on' | 'off' },
): CampaignSelection {
  const { channels, statuses, archived, ...rest } = search;
  const hidesDrafts = version === 'V5' && statuses === undefined;
  return {
    ...rest,
    channels: (channels ?? ['PUSH', 'EMAIL']).filter((channel) => version === 'V5' || channel !== 'SMS'),
    statuses: (statuses ?? campaignStatuses).filter(
      (status) => !(status === 'ARCHIVED' && archived === 'without') && !(status === 'DRAFT' && hidesDrafts),
    ),
    versions: version === 'V5' && versioning === 'on' ? 'every' : 'newest',
  };
}
