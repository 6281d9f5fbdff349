import type { UserKey } from '../../domain/users/bucket.ts';
import type { Transaction } from '../../storage/database.ts';
import type { FilterAudience } from '../../storage/segments/segment-filters.ts';
import { findAudienceSegment } from '../../storage/segments/segments.ts';
import type { TriggeredCampaign } from '../../storage/triggers/trigger-conditions.ts';
import { keepAudienceUsers } from '../../storage/triggers/triggers-of-users.ts';
import { findUsableFilters, whyUnusable } from '../fan-out/usable-segment.ts';

type Asked = { campaign: TriggeredCampaign; users: readonly UserKey[]; at: Date };

/** The ids of those of the users who are in the campaign's audience now; none of one whose segment cannot be sent to. */
export async function keepAudience(
  tx: Transaction,
  { campaign, users, at }: Asked,
): Promise<ReadonlySet<string> | 'all'> {
  if (campaign.segmentId === null || users.length === 0) return 'all';
  const filters = await findFilters(tx, campaign);
  if (!filters) return new Set();
  const kept = await keepAudienceUsers(tx, { users, audience: { workspaceId: campaign.workspaceId, ...filters, at } });
  return new Set(kept.map(({ userId }) => userId));
}

type Filters = Pick<FilterAudience, 'included' | 'excluded'>;

async function findFilters(
  tx: Transaction,
  { workspaceId, segmentId }: TriggeredCampaign,
): Promise<Filters | undefined> {
  const segment = await findAudienceSegment(tx, { workspaceId, id: segmentId! });
  if (!segment || whyUnusable(segment) !== undefined) return undefined;
  if (segment.kind !== 'FILTER') return { included: { kind: 'segment', id: segment.id, negate: false } };
  const filters = await findUsableFilters(tx, { workspaceId, segment });
  return 'reason' in filters ? undefined : filters;
}
