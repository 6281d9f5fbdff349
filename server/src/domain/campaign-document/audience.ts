import type { CampaignDeliveryType } from '../campaigns/campaign.ts';
import type { AudienceLimit } from '../campaigns/delivery-settings.ts';
import { maxLimitedUsers } from '../limits/campaigns.ts';
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

/** A filter that all users match, because every user has a customer id. "All users but these" begins with it. */
const everybody = {
  filter_operator: 'and',
  filters: [{ filter_type: 'user_attributes', name: 'uid', data_type: 'string', operator: 'exists' }],
};

/** Reads `segmentation_details` (fact 6.2): all users, one segment, or trees as in filter segments (fact 2.3). */
export function readSegmentation(details: RequestReader): ReadSegmentation {
  details.only(false, 'send_campaign_to_opt_out_users');
  const isAll = details.flag('is_all_user_campaign') ?? false;
  const unknownFields: string[] = [];
  const included = readFilter(details, { name: 'included_filters', unknownFields });
  const excluded = readFilter(details, { name: 'excluded_filters', unknownFields });
  if (isAll && details.get('included_filters') !== undefined)
    details.invalid('included_filters', 'must be absent when is_all_user_campaign is true');
  if (!isAll) details.requires('included_filters');
  if (included && !excluded) {
    const only =
      included.filter.filters.length === 1 && !included.filter.negate ? included.filter.filters[0] : undefined;
    if (only?.kind === 'segment' && !only.negate) return { audience: { kind: 'segment', id: only.id }, unknownFields };
  }
  if (!included && !excluded) return { audience: { kind: 'all-users' }, unknownFields };
  return { audience: { kind: 'filter', included: included ?? readEverybody(), excluded }, unknownFields };
}

type Reading = { name: 'included_filters' | 'excluded_filters'; unknownFields: string[] };

function readFilter(details: RequestReader, { name, unknownFields }: Reading): SentFilter | undefined {
  const sent = details.get(name);
  if (sent === undefined) return undefined;
  const parsed = parseSegmentFilter(sent);
  if ('fault' in parsed) {
    details.invalid(name, `is no usable filter: ${parsed.fault.reason}`);
    return undefined;
  }
  unknownFields.push(...parsed.unknownFields.map((path) => `${details.pathOf(name)}.${path}`));
  return { sent, filter: parsed.filter };
}

function readEverybody(): SentFilter {
  const parsed = parseSegmentFilter(everybody);
  if ('fault' in parsed) throw new Error(parsed.fault.reason);
  return { sent: everybody, filter: parsed.filter };
}

/**
 * Reads `campaign_audience_limit` (fact 6.2): the maximum number of users the campaign is sent to. V5 has a switch and
 * `metric`. V1 has neither a switch nor that spelling, so a limit without a switch counts as enabled.
 */
export function readAudienceLimit(
  limit: RequestReader,
  deliveryType: CampaignDeliveryType | undefined,
): { audienceLimit?: AudienceLimit } {
  const members = ['limit', 'frequency', 'metric', 'metrics'];
  const isSent = members.some((name) => !limit.isAbsent(name));
  const isEnabled = limit.flag('is_campaign_audience_limit_enabled') ?? isSent;
  const users = limit.integer('limit', { minimum: 1, maximum: maxLimitedUsers });
  const frequency = limit.choice('frequency', ['TOTAL', 'INSTANCE']);
  limit.choice('metric', ['SENT']);
  limit.choice('metrics', ['SENT']);
  if (!isEnabled) {
    for (const name of members)
      if (!limit.isAbsent(name)) limit.invalid(name, 'needs is_campaign_audience_limit_enabled');
    return {};
  }
  limit.requires('limit');
  limit.requires('frequency');
  // Each of its runs holds only the messages that were due within two seconds.
  if (deliveryType === 'EVENT_TRIGGERED' && frequency === 'INSTANCE')
    limit.invalid('frequency', 'must be TOTAL for a campaign of type EVENT_TRIGGERED');
  if (users === undefined || frequency === undefined) return {};
  return { audienceLimit: { users, of: frequency === 'TOTAL' ? 'CAMPAIGN' : 'RUN' } };
}
