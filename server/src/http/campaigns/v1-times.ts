import { isObject } from '../../domain/request-reader/request-reader.ts';
import type { CampaignParts } from '../../domain/campaign-document/read-campaign.ts';

const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/;

/**
 * The times of V1 are in UTC (fact 6.2), those of a stored campaign in its zone: V1's get their offset. A campaign
 * created through V1 has the zone UTC; one changed through V1 keeps its own.
 */
export function withUtcTimes(parts: CampaignParts, zone: 'UTC' | 'its own'): CampaignParts {
  const details = parts.scheduling_details;
  if (!isObject(details)) return parts;
  const { timezone: _unknown, ...rest } = details;
  const times = ['start_time', 'expiry_time'].flatMap((name) => {
    const sent = rest[name];
    return typeof sent === 'string' && sent !== '' && !hasOffset.test(sent) ? [[name, `${sent}Z`]] : [];
  });
  const zoned = zone === 'UTC' ? { timezone: 'UTC' } : {};
  return { ...parts, scheduling_details: { ...rest, ...Object.fromEntries(times), ...zoned } };
}
