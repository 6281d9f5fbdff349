import type { Platform } from '../../domain/campaigns/content.ts';
import { SegmentExpansionError } from '../../domain/segments/expand-segment-filter.ts';
import { expandStoredFilters } from '../../domain/segments/parse-stored-filters.ts';
import type { StoredFilters } from '../../domain/segments/parse-stored-filters.ts';
import type { Queryable } from '../../storage/database.ts';
import { countAudienceDevices, countAudienceUsers } from '../../storage/campaigns/audience.ts';
import type { CountedAudience, Reach } from '../../storage/campaigns/audience.ts';
import type { DeviceCount } from '../../storage/installation/overview.ts';
import { findReferencedSegments } from '../../storage/segments/segment-members.ts';
import { findSegmentById } from '../../storage/segments/segments.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

export type AudienceCount = {
  users: { reach: Reach; users: number }[];
  /** Of these people; those of other platforms and other states too. */
  devices: DeviceCount[];
  /** A segment that is still filled, or cannot be used: the count is of what is in it now. */
  pending: string[];
};

export type AudienceQuestion = {
  workspaceId: string;
  segment: PreparedCampaign['segment'];
  platforms: readonly Platform[];
  at: Date;
};

/**
 * The audience of a campaign if it began now, counted as when a run's audience is frozen, with reasons for exclusions.
 */
export async function countAudience(
  tx: Queryable,
  { workspaceId, segment, platforms, at }: AudienceQuestion,
): Promise<AudienceCount> {
  const found = await resolveAudience(tx, { workspaceId, segment, at });
  if ('reason' in found) return { users: [], devices: [], pending: [found.reason] };
  const { audience, pending } = found;
  const users = await countAudienceUsers(tx, { workspaceId, audience, platforms });
  const devices = await countAudienceDevices(tx, { workspaceId, audience });
  return { users: users, devices, pending };
}

type Resolved = { audience: CountedAudience; pending: string[] } | { reason: string };
type Asked = Omit<AudienceQuestion, 'platforms'>;

async function resolveAudience(tx: Queryable, { workspaceId, segment, at }: Asked): Promise<Resolved> {
  if (!segment) return { audience: { kind: 'all' }, pending: [] };
  if ('filters' in segment) {
    const { includedFilters, excludedFilters, usesSegments } = segment.filters;
    return resolveFilters(tx, { workspaceId, filters: { includedFilters, excludedFilters }, usesSegments, at });
  }
  const found = await findSegmentById(tx, { workspaceId, id: segment.id });
  if (!found) return { reason: 'the segment no longer exists' };
  if (found.kind === 'FILTER')
    return resolveFilters(tx, { workspaceId, filters: found, usesSegments: found.usesSegments, at });
  const { id, version } = found;
  return { audience: { kind: 'segment', id, version }, pending: whatIsPending([found]) };
}

type Filters = { workspaceId: string; filters: StoredFilters; usesSegments: string[]; at: Date };

async function resolveFilters(tx: Queryable, { workspaceId, filters, usesSegments, at }: Filters): Promise<Resolved> {
  const referenced = await findReferencedSegments(tx, { workspaceId, ids: usesSegments });
  try {
    const { included, excluded } = expandStoredFilters(filters, referenced);
    return { audience: { kind: 'filter', included, excluded, at }, pending: whatIsPending(referenced) };
  } catch (error) {
    if (error instanceof SegmentExpansionError) return { reason: error.message };
    throw error;
  }
}

/** Decision D26: a send waits for what is filling; one to what failed or is archived ends without reaching anybody. */
function whatIsPending(segments: { name: string; state: string }[]): string[] {
  return segments.flatMap(({ name, state }) => {
    if (state === 'FILLING') return [`${name} is still being filled; a send waits for it`];
    if (state === 'READY') return [];
    return [`${name} is ${state.toLowerCase()}: a send to it ends as FAILED`];
  });
}
