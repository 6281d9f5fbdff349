import { bucketCount } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/buckets.ts';
import type { OperationKind, OperationState } from './segment-operations.ts';

/** Listed one by one, so that each bucket is its own range in the primary key, not a filter over all of them. */
export const allBuckets = Array.from({ length: bucketCount }, (_, bucket) => bucket);

type MembersOf = { workspaceId: string; segmentId: string };

/**
 * Adds or removes named users at once: a partner's cohort. Unknown users are not created. One statement each; the
 * caller holds the segment's lock. Existing members are looked up first, separately: on a cluster the rows to insert
 * are in no shard, and cannot be compared with one. Index: segment_members primary key.
 */
export async function addMembersByCustomerId(
  tx: Queryable,
  change: MembersOf & { version: number; users: { bucket: number; userId: string }[] },
): Promise<number> {
  const rows = await tx`
    with wanted as materialized (
      select bucket, user_id collate "C" as user_id
      from unnest(${change.users.map(({ bucket }) => bucket)}::smallint[], ${change.users.map(({ userId }) => userId)}::text[])
        as given (bucket, user_id)
    ), present as materialized (
      select member.user_id
      from wanted
      join segment_members as member on member.workspace_id = ${change.workspaceId}
        and member.segment_id = ${change.segmentId} and member.bucket = wanted.bucket
        and member.user_id = wanted.user_id and member.removed_in is null
    )
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select ${change.workspaceId}, wanted.bucket, ${change.segmentId}, wanted.user_id, ${change.version}::int
    from wanted
    where not exists (select 1 from present where present.user_id = wanted.user_id)
    returning 1`;
  return rows.length;
}

export async function removeMembersByCustomerId(
  tx: Queryable,
  change: MembersOf & { version: number; users: { bucket: number; userId: string }[] },
): Promise<number> {
  const rows = await tx`
    update segment_members as member set removed_in = ${change.version}
    from unnest(${change.users.map(({ bucket }) => bucket)}::smallint[], ${change.users.map(({ userId }) => userId)}::text[])
      as wanted (bucket, user_id)
    where member.workspace_id = ${change.workspaceId} and member.segment_id = ${change.segmentId}
      and member.bucket = wanted.bucket and member.user_id = wanted.user_id collate "C" and member.removed_in is null`;
  return rows.count;
}

/**
 * Deletes members that no reader can see any more: removed at or before the oldest version that a run still reads, or
 * the current one. At most `limit` per call. Indexes: segment_members_removed, one look-up per segment, and the primary
 * key.
 */
export async function deleteRemovedMembers(tx: Queryable, { limit }: { limit: number }): Promise<number> {
  const rows = await tx`
    with oldest_read as materialized (
      select audience_segment_id as segment_id, min(audience_version) as version from runs
      where status in ('QUEUED', 'SENDING', 'PAUSED') and audience_segment_id is not null
      group by audience_segment_id
    ), visible as materialized (
      select segments.workspace_id, segments.id, least(segments.version, oldest_read.version) as version
      from segments left join oldest_read on oldest_read.segment_id = segments.id
    )
    delete from segment_members
    where (workspace_id, bucket, segment_id, user_id, added_in) in (
      select member.workspace_id, member.bucket, member.segment_id, member.user_id, member.added_in
      from visible
      join segment_members as member on member.workspace_id = visible.workspace_id
        and member.segment_id = visible.id and member.removed_in is not null and member.removed_in <= visible.version
      limit ${limit}
    )`;
  return rows.count;
}

/**
 * Permanently deletes the members of segments archived before `archivedBefore` (fact 2.2: 30 days), at most `limit`
 * rows per call. Index: segments_archived, segment_members primary key.
 */
export async function deleteMembersOfArchived(
  tx: Queryable,
  { archivedBefore, at, limit }: { archivedBefore: Date; at: Date; limit: number },
): Promise<number> {
  const [segment] = await tx<{ id: string; workspaceId: string }[]>`
    select id, workspace_id as "workspaceId" from segments
    where archived_at <= ${archivedBefore} and members_deleted_at is null
    order by archived_at limit 1 for update skip locked`;
  if (!segment) return 0;
  const deleted = await deleteMembersOf(tx, { workspaceId: segment.workspaceId, segmentId: segment.id, limit });
  if (deleted < limit) {
    await tx`
      update segments set members_deleted_at = ${at}, user_count = case when kind = 'FILTER' then null else 0 end
      where id = ${segment.id}`;
  }
  return deleted + 1;
}

/**
 * Deletes the frozen audience of a run to a filter segment after the run has ended, at most `limit` rows per call.
 * Index: runs_frozen_audience, segment_members primary key.
 */
export async function deleteFrozenAudiences(
  tx: Queryable,
  { at, limit }: { at: Date; limit: number },
): Promise<number> {
  const [run] = await tx<{ id: string; workspaceId: string }[]>`
    select id, workspace_id as "workspaceId" from runs
    where audience_segment_id = id and ended_at is not null and audience_dropped_at is null
    order by ended_at limit 1 for update skip locked`;
  if (!run) return 0;
  const deleted = await deleteMembersOf(tx, { workspaceId: run.workspaceId, segmentId: run.id, limit });
  if (deleted < limit) await tx`update runs set audience_dropped_at = ${at} where id = ${run.id}`;
  return deleted + 1;
}

async function deleteMembersOf(
  tx: Queryable,
  { workspaceId, segmentId, limit }: MembersOf & { limit: number },
): Promise<number> {
  const rows = await tx`
    delete from segment_members
    where (workspace_id, bucket, segment_id, user_id, added_in) in (
      select workspace_id, bucket, segment_id, user_id, added_in from segment_members
      where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and segment_id = ${segmentId}
      limit ${limit}
    )`;
  return rows.count;
}

/**
 * Updates the statistics after many members were added: without them paging over the members was 25 to 40 times slower
 * (finding 9).
 */
export async function analyzeSegmentMembers(tx: Queryable): Promise<void> {
  await tx`select analyze_table('segment_members')`;
}

type FrozenBuckets = MembersOf & { buckets: readonly number[] };

/** Counts the members of a filter, resolved for a run, in some buckets. Index: primary key. */
export async function countFrozenMembers(
  tx: Queryable,
  { workspaceId, segmentId, buckets }: FrozenBuckets,
): Promise<number> {
  const [row] = await tx<{ members: number }[]>`
    select count(*)::int as members from segment_members
    where workspace_id = ${workspaceId} and segment_id = ${segmentId}
      and ${isInBuckets(tx, { column: tx`bucket`, buckets })}`;
  return row!.members;
}

/** Deletes them. Index: primary key. */
export async function deleteFrozenMembers(
  tx: Queryable,
  { workspaceId, segmentId, buckets }: FrozenBuckets,
): Promise<void> {
  await tx`
    delete from segment_members
    where workspace_id = ${workspaceId} and segment_id = ${segmentId}
      and ${isInBuckets(tx, { column: tx`bucket`, buckets })}`;
}

export type OpenOperation = {
  id: string;
  segmentId: string;
  kind: OperationKind;
  state: OperationState;
  attempts: number;
  bytesRead: number;
  valuesFound: number;
  createdAt: Date;
};

/**
 * Lists the operations of a workspace that have not ended, in order within each segment: the first is processed, the
 * others wait for it. Index: segment_operations_open, which contains only the open ones of the installation.
 */
export async function listOpenOperations(tx: Queryable, workspaceId: string): Promise<OpenOperation[]> {
  return tx<OpenOperation[]>`
    select id, segment_id as "segmentId", kind, state, attempts, bytes_read as "bytesRead",
      values_found as "valuesFound", created_at as "createdAt"
    from segment_operations
    where workspace_id = ${workspaceId} and state in ('QUEUED', 'FILLING', 'WAITING')
    order by segment_id, number`;
}

/** True if the operation belongs to this segment of this workspace. Index: segment_operations primary key. */
export async function isOperationOf(
  tx: Queryable,
  operation: { workspaceId: string; segmentId: string; id: string },
): Promise<boolean> {
  const rows = await tx`
    select 1 from segment_operations
    where id = ${operation.id} and segment_id = ${operation.segmentId} and workspace_id = ${operation.workspaceId}`;
  return rows.length === 1;
}

export type CampaignOfSegment = { id: string; name: string; status: string; createdAt: Date };

/** Lists campaigns newest first, at most 50. Reads the workspace's campaigns from the newest on. Index: campaigns_newest. */
export async function listCampaignsOfSegment(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<CampaignOfSegment[]> {
  return tx<CampaignOfSegment[]>`
    select id, name, status, created_at as "createdAt" from campaigns
    where workspace_id = ${workspaceId} and segment_id = ${id} and not is_test
    order by created_at desc, id desc limit 50`;
}

/** Returns the customer ids of any ten members. Index: segment_members and users primary keys, bucket by bucket. */
export async function listSampleMembers(
  tx: Queryable,
  { workspaceId, id, version }: { workspaceId: string; id: string; version: number },
): Promise<string[]> {
  const rows = await tx<{ customerId: string }[]>`
    select users.customer_id as "customerId"
    from segment_members
    join users on users.workspace_id = segment_members.workspace_id and users.bucket = segment_members.bucket
      and users.id = segment_members.user_id
    where segment_members.workspace_id = ${workspaceId} and segment_members.segment_id = ${id}
      and segment_members.added_in <= ${version}
      and (segment_members.removed_in is null or segment_members.removed_in > ${version})
    limit 10`;
  return rows.map(({ customerId }) => customerId);
}

/** A segment that a filter refers to, directly or through others. */
export type ReferencedSegment = {
  id: string;
  name: string;
  kind: 'FILE' | 'FILTER' | 'COHORT';
  state: 'FILLING' | 'READY' | 'FAILED' | 'ARCHIVED';
  includedFilters: unknown;
  excludedFilters: unknown;
};

/**
 * Finds every segment reachable from these ids over filter segments' references; a cycle is followed once. Index:
 * segments primary key, one look-up per segment.
 */
export async function findReferencedSegments(
  tx: Queryable,
  { workspaceId, ids }: { workspaceId: string; ids: readonly string[] },
): Promise<ReferencedSegment[]> {
  if (ids.length === 0) return [];
  return tx<ReferencedSegment[]>`
    with recursive reached (id) as (
      select segments.id from segments where workspace_id = ${workspaceId} and id = any(${[...ids]})
        and segments.campaign_id is null
      union
      select used.id
      from reached
      join segments on segments.id = reached.id
      cross join lateral unnest(segments.uses_segments) as used (id)
    )
    select segments.id, segments.name, segments.kind, segments.state, segments.included_filters as "includedFilters",
      segments.excluded_filters as "excludedFilters"
    from segments where workspace_id = ${workspaceId} and id in (select id from reached)`;
}
