import type { Queryable } from '../database.ts';

export type SegmentState = 'FILLING' | 'READY' | 'FAILED' | 'ARCHIVED';
export type SegmentKind = 'FILE' | 'FILTER' | 'COHORT';

export type Segment = {
  id: string;
  workspaceId: string;
  name: string;
  kind: SegmentKind;
  state: SegmentState;
  stateReason: string | null;
  source: 'API' | 'CONSOLE' | 'PARTNER';
  attributeName: string | null;
  attributeType: 'string' | 'double' | null;
  includedFilters: unknown;
  excludedFilters: unknown;
  description: string | null;
  usesSegments: string[];
  version: number;
  userCount: number | null;
  expiryDays: number | null;
  expiresAt: Date | null;
  archivedAt: Date | null;
  membersDeletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
};

const columns = (tx: Queryable) => tx`
  id, workspace_id as "workspaceId", name, kind, state, state_reason as "stateReason", source,
  attribute_name as "attributeName", attribute_type as "attributeType", included_filters as "includedFilters",
  excluded_filters as "excludedFilters", description, uses_segments as "usesSegments", version,
  user_count as "userCount", expiry_days as "expiryDays", expires_at as "expiresAt", archived_at as "archivedAt",
  members_deleted_at as "membersDeletedAt", created_at as "createdAt", updated_at as "updatedAt"`;

type Named = { workspaceId: string; name: string };
type Identified = { workspaceId: string; id: string };

/** Finds a segment by its exact name. Index: segments (workspace_id, name). */
export async function findSegmentByName(tx: Queryable, { workspaceId, name }: Named): Promise<Segment | undefined> {
  const [segment] = await tx<Segment[]>`
    select ${columns(tx)} from segments
    where workspace_id = ${workspaceId} and name = ${name} and campaign_id is null`;
  return segment;
}

/** Index: primary key. */
export async function findSegmentById(tx: Queryable, { workspaceId, id }: Identified): Promise<Segment | undefined> {
  const [segment] = await tx<Segment[]>`
    select ${columns(tx)} from segments
    where workspace_id = ${workspaceId} and id = ${id} and campaign_id is null`;
  return segment;
}

/** Finds the segment that a campaign is sent to, also if it is the campaign's own filters. Index: primary key. */
export async function findAudienceSegment(
  tx: Queryable,
  { workspaceId, id }: Identified,
): Promise<Segment | undefined> {
  const [segment] = await tx<Segment[]>`
    select ${columns(tx)} from segments where workspace_id = ${workspaceId} and id = ${id}`;
  return segment;
}

/** Finds a partner's segment. Index: segments_cohort. */
export async function findCohort(
  tx: Queryable,
  { workspaceId, partner, cohortId }: { workspaceId: string; partner: string; cohortId: string },
): Promise<Segment | undefined> {
  const [segment] = await tx<Segment[]>`
    select ${columns(tx)} from segments
    where workspace_id = ${workspaceId} and partner = ${partner} and cohort_id = ${cohortId} and kind = 'COHORT'`;
  return segment;
}

/** Locks a segment until the transaction ends: operations on it follow each other. Index: primary key. */
export async function lockSegment(tx: Queryable, { workspaceId, id }: Identified): Promise<Segment | undefined> {
  const [segment] = await tx<Segment[]>`
    select ${columns(tx)} from segments
    where workspace_id = ${workspaceId} and id = ${id} and campaign_id is null for update`;
  return segment;
}

/**
 * Lists segments, newest first. Archived ones disappear from view after 180 days (fact 2.2). Index: segments_newest.
 *
 * @param list.archivedSince only segments archived after this time are listed
 */
export async function listSegments(
  tx: Queryable,
  list: { workspaceId: string; name: string | undefined; archivedSince: Date; limit: number },
): Promise<Segment[]> {
  return tx<Segment[]>`
    select ${columns(tx)} from segments
    where workspace_id = ${list.workspaceId} and campaign_id is null and (archived_at is null or archived_at > ${list.archivedSince})
      ${list.name === undefined ? tx`` : tx`and name = ${list.name}`}
    order by created_at desc, id desc
    limit ${list.limit}`;
}

/**
 * Serialises transactions that create, revive or count the segments of a workspace, so that the limit of active ones
 * holds for simultaneous requests. Held until the transaction ends.
 */
export async function lockSegmentsOfWorkspace(tx: Queryable, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`segments:${workspaceId}`}, 0))`;
}

/** Counts active segments of every kind (interface 8). Index: segments (workspace_id, …). */
export async function countActiveSegments(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx<{ active: number }[]>`
    select count(*) as active from segments 
    where workspace_id = ${workspaceId} and state in ('FILLING', 'READY') and campaign_id is null`;
  return row!.active;
}

export type NewSegment = Pick<
  Segment,
  'id' | 'workspaceId' | 'name' | 'kind' | 'source' | 'attributeName' | 'attributeType' | 'expiryDays' | 'expiresAt'
> & {
  state: 'FILLING' | 'READY';
  includedFilters: unknown;
  excludedFilters: unknown;
  description: string | null;
  filtersDigest: Buffer | null;
  usesSegments: string[];
  partner: string | null;
  cohortId: string | null;
  userCount: number | null;
  createdBy: string;
  at: Date;
  /** The campaign whose filters these are; absent for an independent segment. */
  campaignId?: string;
};

/** @returns false when the name is in use; nothing was stored then */
export async function insertSegment(tx: Queryable, segment: NewSegment): Promise<boolean> {
  const json = (value: unknown) => (value === undefined || value === null ? null : tx.json(value));
  const rows = await tx`
    insert into segments (
      id, workspace_id, name, kind, state, source, attribute_name, attribute_type, included_filters, excluded_filters,
      description, filters_digest, uses_segments, partner, cohort_id, user_count, expiry_days, expires_at, created_by,
      created_at, updated_at, campaign_id
    )
    values (
      ${segment.id}, ${segment.workspaceId}, ${segment.name}, ${segment.kind}, ${segment.state}, ${segment.source},
      ${segment.attributeName}, ${segment.attributeType}, ${json(segment.includedFilters)},
      ${json(segment.excludedFilters)}, ${segment.description}, ${segment.filtersDigest}, ${segment.usesSegments},
      ${segment.partner}, ${segment.cohortId}, ${segment.userCount}, ${segment.expiryDays}, ${segment.expiresAt},
      ${segment.createdBy}, ${segment.at}, ${segment.at}, ${segment.campaignId ?? null}
    )
    on conflict (workspace_id, name) do nothing
    returning 1`;
  return rows.length === 1;
}

/** Finds another filter segment with the same filters. Reads the workspace's segments, at most a few thousand. */
export async function findSegmentByFilters(
  tx: Queryable,
  { workspaceId, filtersDigest }: { workspaceId: string; filtersDigest: Buffer },
): Promise<Pick<Segment, 'id' | 'name'> | undefined> {
  const [segment] = await tx<Pick<Segment, 'id' | 'name'>[]>`
    select id, name from segments
    where workspace_id = ${workspaceId} and filters_digest = ${filtersDigest} and state <> 'ARCHIVED'
      and campaign_id is null
    order by created_at limit 1`;
  return segment;
}

/** Changes a filter segment; the caller holds its lock. @returns false when the new name is in use */
export async function updateFilterSegment(
  tx: Queryable,
  change: Identified & {
    name: string;
    includedFilters: unknown;
    excludedFilters: unknown;
    description: string;
    filtersDigest: Buffer;
    usesSegments: string[];
    updatedBy: string;
    at: Date;
  },
): Promise<boolean> {
  const rows = await tx`
    update segments
    set name = ${change.name}, included_filters = ${tx.json(change.includedFilters)},
      excluded_filters = ${change.excludedFilters === null ? null : tx.json(change.excludedFilters)},
      description = ${change.description}, filters_digest = ${change.filtersDigest},
      uses_segments = ${change.usesSegments}, updated_by = ${change.updatedBy}, updated_at = ${change.at}
    where workspace_id = ${change.workspaceId} and id = ${change.id}
      and not exists (
        select 1 from segments as other
        where other.workspace_id = ${change.workspaceId} and other.name = ${change.name} and other.id <> ${change.id}
      )
    returning 1`;
  return rows.length === 1;
}

/** Any active state → ARCHIVED; an archived one stays as it is. The caller holds its lock. */
export async function archiveSegment(tx: Queryable, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`
    update segments set state = 'ARCHIVED', archived_at = ${at}, updated_at = ${at}
    where id = ${id} and state <> 'ARCHIVED'`;
}

/**
 * ARCHIVED → its earlier state: filling when an operation is open, failed when none ever succeeded, else ready. Its
 * expiry starts again. The caller holds its lock.
 */
export async function unarchiveSegment(tx: Queryable, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`
    update segments
    set state = case
        when exists (
          select 1 from segment_operations as operation where operation.segment_id = segments.id and operation.ended_at is null
        ) then 'FILLING'
        when kind = 'FILE' and version = 0 then 'FAILED'
        else 'READY'
      end,
      archived_at = null, members_deleted_at = null,
      expires_at = ${at}::timestamptz + make_interval(days => expiry_days), updated_at = ${at}
    where id = ${id} and state = 'ARCHIVED'`;
}

/**
 * Marks a segment as filling after a further operation was accepted: readers of the result wait for it (decision D26).
 * The caller holds the lock.
 */
export async function markSegmentFilling(tx: Queryable, { id, at }: { id: string; at: Date }): Promise<void> {
  await tx`
    update segments set state = 'FILLING', state_reason = null, updated_at = ${at}
    where id = ${id} and state <> 'ARCHIVED'`;
}

/**
 * Archives expired segments, oldest first, at most `limit`. Rows that another node is archiving are skipped. Index:
 * segments_expiry.
 *
 * @returns the number of archived segments
 */
export async function archiveExpiredSegments(
  tx: Queryable,
  { at, limit }: { at: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    update segments set state = 'ARCHIVED', archived_at = ${at}, updated_at = ${at}
    where id in (
      select id from segments
      where state <> 'ARCHIVED' and expires_at <= ${at}
      order by expires_at limit ${limit} for update skip locked
    )`;
  return rows.count;
}

/** Deletes the filters of a campaign, before new ones are stored or when it needs none. Index: segments_campaign. */
export async function deleteCampaignSegments(tx: Queryable, campaignId: string): Promise<void> {
  await tx`delete from segments where campaign_id = ${campaignId}`;
}
