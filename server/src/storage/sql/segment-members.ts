import { bucketCount } from '../../domain/audience/bucket.ts';
import type { Queryable } from '../pool.ts';

/** Named one by one, so that each bucket is a range of its own in the primary key, not a filter over all of them. */
export const allBuckets = Array.from({ length: bucketCount }, (_, bucket) => bucket);

type MembersOf = { workspaceId: string; segmentId: string };

/**
 * Adds or removes named users, at once: a partner's cohort. Users that do not exist are not made. One statement each;
 * the caller holds the segment's lock.
 */
export async function addMembersByCustomerId(
  tx: Queryable,
  change: MembersOf & { version: number; users: { bucket: number; userId: string }[] },
): Promise<number> {
  const rows = await tx`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select ${change.workspaceId}, wanted.bucket, ${change.segmentId}, wanted.user_id, ${change.version}::int
    from unnest(${change.users.map(({ bucket }) => bucket)}::smallint[], ${change.users.map(({ userId }) => userId)}::text[])
      as wanted (bucket, user_id)
    where not exists (
      select 1 from segment_members as member
      where member.workspace_id = ${change.workspaceId} and member.segment_id = ${change.segmentId}
        and member.bucket = wanted.bucket and member.user_id = wanted.user_id collate "C" and member.removed_in is null
    )`;
  return rows.count;
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
 * Deletes members no reader can see any more: removed at or before the oldest version that a run still reads, or the
 * present one. At most `limit` a call. Index: segment_members primary key.
 */
export async function deleteRemovedMembers(tx: Queryable, { limit }: { limit: number }): Promise<number> {
  const rows = await tx`
    delete from segment_members
    where (workspace_id, bucket, segment_id, user_id, added_in) in (
      select member.workspace_id, member.bucket, member.segment_id, member.user_id, member.added_in
      from segments
      join segment_members as member on member.workspace_id = segments.workspace_id
        and member.segment_id = segments.id and member.removed_in <= segments.version
      where not exists (
        select 1 from runs
        where runs.audience_segment_id = segments.id and runs.audience_version < member.removed_in
          and runs.status in ('QUEUED', 'SENDING', 'PAUSED')
      )
      limit ${limit}
    )`;
  return rows.count;
}

/**
 * Deletes for good the members of segments archived before `archivedBefore` (facts 2.2: 30 days), at most `limit` rows a
 * call. Index: segments_archived, segment_members primary key.
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
 * Deletes the frozen audience of a run to a filter segment after the run has ended, at most `limit` rows a call. Index:
 * runs_frozen_audience, segment_members primary key.
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

/** After many were added: without it paging over the members was 25 to 40 times slower (architecture 5). */
export async function analyzeSegmentMembers(tx: Queryable): Promise<void> {
  await tx`analyze segment_members`;
}
