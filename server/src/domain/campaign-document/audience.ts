import type { CampaignDeliveryType } from '../campaigns/campaign.ts';
import type { AudienceLimit } from '../campaigns/delivery-settings.ts';
import { maxLimitedUsers } from '../limits/campaigns.ts';
import { anyObject, flag, only, part, partOrEmpty, whole, withDescription, word } from '../../fields/combinators.ts';
import { reading } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { parseSegmentFilter } from '../segments/filter-reader.ts';
import type { GroupFilter } from '../segments/filter.ts';

/** A filter tree as it was sent and as it was parsed. */
export type SentFilter = { sent: unknown; filter: GroupFilter };

/** The audience of a campaign. A single segment corresponds to `customSegmentName` of the push API. */
export type CampaignAudience =
  | { kind: 'all-users' }
  | { kind: 'segment'; id: string }
  | { kind: 'filter'; included: SentFilter; excluded: SentFilter | undefined };

export type ReadSegmentation = { audience: CampaignAudience; unknownFields: string[] };

/** A filter that all users match, because every user has a customer id. "All users but these" starts from this filter. */
const allUsers = {
  filter_operator: 'and',
  filters: [{ filter_type: 'user_attributes', name: 'uid', data_type: 'string', operator: 'exists' }],
};

const segmentationMembers = {
  is_all_user_campaign: flag(),
  included_filters: withDescription(anyObject, 'As in filter segments'),
  excluded_filters: withDescription(anyObject, 'As in filter segments'),
  send_campaign_to_opt_out_users: only(false),
};

/** `segmentation_details` (fact 6.2): all users, one segment, or trees as in filter segments (fact 2.3). */
export const segmentation = partOrEmpty(segmentationMembers, { title: 'CampaignAudience', read: readSegmentation });

export function readSegmentation(details: RequestReader): ReadSegmentation {
  const read = reading(details, segmentationMembers);
  read('send_campaign_to_opt_out_users');
  const isAll = read('is_all_user_campaign') ?? false;
  const unknownFields: string[] = [];
  const included = readFilter(details, { name: 'included_filters', unknownFields });
  const excluded = readFilter(details, { name: 'excluded_filters', unknownFields });
  if (isAll && details.get('included_filters') !== undefined)
    details.invalid('included_filters', 'must be absent when is_all_user_campaign is true');
  if (!isAll) details.requires('included_filters');
  if (included && !excluded) {
    const { filters, negate } = included.filter;
    const single = filters.length === 1 && !negate ? filters[0] : undefined;
    if (single?.kind === 'segment' && !single.negate)
      return { audience: { kind: 'segment', id: single.id }, unknownFields };
  }
  if (!included && !excluded) return { audience: { kind: 'all-users' }, unknownFields };
  return { audience: { kind: 'filter', included: included ?? readAllUsers(), excluded }, unknownFields };
}

type Reading = { name: 'included_filters' | 'excluded_filters'; unknownFields: string[] };

function readFilter(details: RequestReader, { name, unknownFields }: Reading): SentFilter | undefined {
  const sent = details.get(name);
  if (sent === undefined) return undefined;
  const parsed = parseSegmentFilter(sent);
  if ('fault' in parsed) {
    details.invalid(name, `is not a usable filter: ${parsed.fault.reason}`);
    return undefined;
  }
  unknownFields.push(...parsed.unknownFields.map((path) => `${details.pathOf(name)}.${path}`));
  return { sent, filter: parsed.filter };
}

function readAllUsers(): SentFilter {
  const parsed = parseSegmentFilter(allUsers);
  if ('fault' in parsed) throw new Error(parsed.fault.reason);
  return { sent: allUsers, filter: parsed.filter };
}

const limitMembers = {
  is_campaign_audience_limit_enabled: flag('Default: true where there is a limit'),
  limit: whole(1, maxLimitedUsers, 'Maximum users, each counted once per run; further users are excluded'),
  frequency: word(['TOTAL', 'INSTANCE'], 'TOTAL: in all runs together; INSTANCE: in each'),
  metric: word(['SENT'], 'SENT'),
  metrics: word(['SENT'], 'V1: SENT'),
};

/**
 * `campaign_audience_limit` (fact 6.2): the maximum number of users the campaign is sent to. V5 has a switch, and spells the
 * metric `metric`. V1 has no switch and spells it `metrics`, so a limit without a switch counts as enabled.
 */
export const audienceLimit = part(limitMembers, { title: 'CampaignAudienceLimit' });

/** Reads the limit. For triggered campaigns it cannot apply to a single run. */
export function readAudienceLimit(
  limit: RequestReader,
  deliveryType: CampaignDeliveryType | undefined,
): { audienceLimit?: AudienceLimit } {
  const read = reading(limit, limitMembers);
  const { is_campaign_audience_limit_enabled: _switch, ...limited } = limitMembers;
  const members = Object.keys(limited);
  const isSent = members.some((name) => !limit.isAbsent(name));
  const isEnabled = read('is_campaign_audience_limit_enabled') ?? isSent;
  const users = read('limit');
  const frequency = read('frequency');
  read('metric');
  read('metrics');
  if (!isEnabled) {
    for (const name of members)
      if (!limit.isAbsent(name)) limit.invalid(name, 'needs is_campaign_audience_limit_enabled');
    return {};
  }
  limit.requires('limit');
  limit.requires('frequency');
  // A run of a triggered campaign holds only the messages that were due within two seconds.
  if (deliveryType === 'EVENT_TRIGGERED' && frequency === 'INSTANCE')
    limit.invalid('frequency', 'must be TOTAL for a campaign of type EVENT_TRIGGERED');
  if (users === undefined || frequency === undefined) return {};
  return { audienceLimit: { users, of: frequency === 'TOTAL' ? 'CAMPAIGN' : 'RUN' } };
}
