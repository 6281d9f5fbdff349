import { deliverySettings, iosProvisional, pushedPlatforms } from '../../domain/campaigns/delivery-settings.ts';
import { makeControlGroupOf } from '../../domain/experiments/control-groups.ts';
import type { ControlShares } from '../../domain/experiments/control-groups.ts';
import { sharesOfWinner } from '../../domain/experiments/learning.ts';
import { lastIdAt } from '../../domain/ids.ts';
import { expandStoredFilters } from '../../domain/segments/filter-reader.ts';
import { SegmentExpansionError } from '../../domain/segments/filter.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { GroupUsers } from '../../domain/experiments/group-users.ts';
import { countAudiencePlatforms, countGroupUsers } from '../../storage/campaigns/audience-groups.ts';
import type { AudiencePlatform } from '../../storage/campaigns/audience-groups.ts';
import { countTriggeredUsers } from '../../storage/campaigns/audience.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import { countUsers } from '../../storage/installation/overview.ts';
import type { PassFilters } from '../../storage/runs/audience-passes.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { freezeFilterAudience } from '../../storage/segments/segment-filters.ts';
import type { FilterAudience } from '../../storage/segments/segment-filters.ts';
import { analyzeSegmentMembers, findReferencedSegments } from '../../storage/segments/segment-members.ts';
import { findAudienceSegment } from '../../storage/segments/segments.ts';
import type { Segment } from '../../storage/segments/segments.ts';
import { keepAudienceUsers } from '../../storage/triggers.ts';
import type { TriggeredCampaign } from '../../storage/triggers.ts';
import { controlSharesOf, globalControlPercentNow } from './experiments.ts';

/** The audience of a run, fixed for the whole run. */
export type FrozenAudience = {
  /** The highest device id in the audience. Devices that register later are excluded. */
  bound: string;
  /** Only platforms that have at least one device. */
  platforms: AudiencePlatform[];
  /** All users, with or without a device. */
  users: number;
  segment: { id: string; version: number } | undefined;
  /** The percentage of the workspace's users that the run leaves out. */
  globalControlPercent: number | null;
  /** Null for a run without control groups and variations. */
  groupUsers: GroupUsers[] | null;
};

// For smaller audiences the planner's default estimate is good enough.
export const analyzeFromUsers = 10_000;

/**
 * Freezes the audience of a run at its start, in the caller's transaction. The audience is all devices registered so far, the
 * devices of a segment's members, or the devices of the users whose triggers started the run. A file segment is frozen by its
 * version. A filter segment is resolved now and stored under the run's id.
 *
 * @returns the audience, or the reason why there is none
 */
export async function freezeAudience(
  tx: Queryable,
  { run, now }: { run: RunToSend; now: Date },
): Promise<{ audience: FrozenAudience } | { reason: string }> {
  const { workspaceId } = run;
  const platforms = pushedPlatforms(run);
  const bound = lastIdAt(now);
  const settings = deliverySettings(run.settings);
  const { appIds } = settings;
  const reached = { workspaceId, platforms, iosProvisional: iosProvisional(settings), appIds, bound };
  const countGroups = async (segment: FrozenAudience['segment'] | { runId: string }) => {
    const globalControlPercent = globalControlPercentNow(run);
    const groups = groupsOf(run, globalControlPercent);
    const percents = groups?.percents && sharesOfWinner(groups.percents, run.winner);
    const groupUsers = groups && (await countGroupUsers(tx, { ...reached, segment, shares: groups.shares, percents }));
    return { globalControlPercent, groupUsers: groupUsers ?? null };
  };
  if (run.deliveryType === 'EVENT_TRIGGERED') {
    const of = { runId: run.id };
    const counted = await countAudiencePlatforms(tx, { ...reached, segment: of });
    const users = await countTriggeredUsers(tx, { workspaceId, ...of });
    return { audience: { bound, platforms: counted, users, segment: undefined, ...(await countGroups(of)) } };
  }
  if (run.segmentId === null) {
    const counted = await countAudiencePlatforms(tx, { ...reached, segment: undefined });
    const users = await countUsers(tx, workspaceId);
    return { audience: { bound, platforms: counted, users, segment: undefined, ...(await countGroups(undefined)) } };
  }
  const found = await findAudienceSegment(tx, { workspaceId, id: run.segmentId });
  if (!found) return { reason: 'the segment no longer exists' };
  const reason = whyUnusable(found);
  if (reason !== undefined) return { reason };
  const frozen =
    found.kind === 'FILTER'
      ? await freezeFilter(tx, { run, segment: found, now })
      : { segment: { id: found.id, version: found.version }, users: found.userCount ?? 0 };
  if ('reason' in frozen) return frozen;
  const { users, segment } = frozen;
  const counted = await countAudiencePlatforms(tx, { ...reached, segment });
  return { audience: { bound, platforms: counted, users, segment, ...(await countGroups(segment)) } };
}

/** What the users of a run are counted by. Undefined for a run without control groups and variations. */
export function groupsOf(
  run: RunToSend,
  globalControlPercent: number | null,
): { shares: ControlShares; percents: readonly number[] | undefined } | undefined {
  const shares = controlSharesOf(run, globalControlPercent);
  // For a campaign that learns, the variation of each user is not known yet.
  const { percents } = run.variants && !run.variants.learning ? run.variants : {};
  const isVaried = percents !== undefined && percents.length > 1;
  if (!isVaried && makeControlGroupOf(shares) === undefined) return undefined;
  return { shares, percents: isVaried ? percents : undefined };
}

type FilterRun = { run: RunToSend; segment: Segment; now: Date };

async function freezeFilter(
  tx: Queryable,
  { run, segment, now }: FilterRun,
): Promise<{ segment: { id: string; version: number }; users: number } | { reason: string }> {
  const { workspaceId } = run;
  const filters = await findUsableFilters(tx, { workspaceId, segment });
  if ('reason' in filters) return filters;
  const users = await freezeFilterAudience(tx, { workspaceId, ...filters, at: now, segmentId: run.id });
  if (users >= analyzeFromUsers) await analyzeSegmentMembers(tx);
  return { segment: { id: run.id, version: 0 }, users };
}

type ExpandedFilters = ReturnType<typeof expandStoredFilters>;

type OfWorkspace = { workspaceId: string; segment: Segment };

/**
 * Returns a filter segment's trees with references expanded, or the reason why it cannot be sent to. Referenced segments may
 * have grown since it was created.
 */
async function findUsableFilters(tx: Queryable, of: OfWorkspace): Promise<ExpandedFilters | { reason: string }> {
  const found = await findStoredFilters(tx, of);
  return 'reason' in found ? found : found.expanded;
}

/** Returns the same, and the stored trees of the segment and of those it refers to. */
export async function findStoredFilters(
  tx: Queryable,
  { workspaceId, segment }: OfWorkspace,
): Promise<{ stored: PassFilters; expanded: ExpandedFilters } | { reason: string }> {
  const referenced = await findReferencedSegments(tx, { workspaceId, ids: segment.usesSegments });
  for (const other of referenced) {
    const reason = whyUnusable(other);
    if (reason !== undefined) return { reason: `${reason} (segment ${other.name}, which this one refers to)` };
  }
  try {
    const { includedFilters, excludedFilters } = segment;
    const stored = { segment: { includedFilters, excludedFilters }, referenced };
    return { stored, expanded: expandStoredFilters(segment, referenced) };
  } catch (error) {
    if (error instanceof SegmentExpansionError) return { reason: error.message };
    throw error;
  }
}

export function whyUnusable(segment: Pick<Segment, 'state'> & { stateReason?: string | null }): string | undefined {
  if (segment.state === 'ARCHIVED') return 'the segment is archived';
  if (segment.state === 'FAILED') return `the segment could not be filled: ${segment.stateReason ?? 'see the segment'}`;
  return undefined;
}

type Asked = { campaign: TriggeredCampaign; users: readonly UserKey[]; at: Date };

/**
 * Returns the ids of the given users that are in the campaign's audience now. Returns none if its segment cannot be sent to.
 */
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
