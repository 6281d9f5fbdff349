import type { CampaignDeliveryType } from '../campaigns/campaign-search.ts';
import type { AudienceLimit } from '../eligibility/audience-limit.ts';
import { maxLimitedUsers } from '../eligibility/limits.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';

/**
 * `campaign_audience_limit` (fact 6.2): to how many users the campaign is sent. V5 has a switch and `metric`; V1 has
 * neither a switch nor that spelling, so a limit without a switch is one.
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
  // Its runs are what was due in two seconds.
  if (deliveryType === 'EVENT_TRIGGERED' && frequency === 'INSTANCE')
    limit.invalid('frequency', 'must be TOTAL for a campaign of type EVENT_TRIGGERED');
  if (users === undefined || frequency === undefined) return {};
  return { audienceLimit: { users, of: frequency === 'TOTAL' ? 'CAMPAIGN' : 'RUN' } };
}
