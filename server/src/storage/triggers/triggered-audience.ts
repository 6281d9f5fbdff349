import { inBuckets, isAfter, isReached } from '../campaigns/audience.ts';
import type { AudiencePage, PagedDevice } from '../campaigns/audience.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { isGivenBucket } from '../users/given-bucket.ts';

/**
 * The next devices of the users whose triggers a run answers, user by user, each user once. A position is a user's id and a
 * device's id, 24 characters each. Indexes: triggers_run, devices (workspace_id, bucket, user_id, device_id).
 */
export async function findTriggeredPage(tx: Queryable, page: AudiencePage & { runId: string }): Promise<PagedDevice[]> {
  const order = {
    bucket: tx`triggers.bucket`,
    columns: tx`triggers.user_id, devices.id`,
    position: tx`${page.after.position.slice(0, 24)}, ${page.after.position.slice(24)}`,
  };
  return tx<PagedDevice[]>`
    select devices.bucket, devices.id, devices.user_id as "userId", devices.platform, devices.push_id as "pushId", devices.push_id_type as "pushIdType",
      devices.push_provider as provider, devices.app_id as "appId", devices.user_id || devices.id as position
    from triggers
    join devices on devices.workspace_id = triggers.workspace_id and devices.bucket = triggers.bucket
      and devices.user_id = triggers.user_id
    where triggers.workspace_id = ${page.workspaceId} and ${inBuckets(tx, order.bucket, page.buckets)}
      and triggers.run_id = ${page.runId}
      and ${isAfter(tx, page, order)}
      and ${isReached(tx, page)}
    order by triggers.bucket, triggers.user_id, devices.id
    limit ${page.limit}`;
}

/** How many users a run answers triggers of. Index: triggers_run. */
export async function countTriggeredUsers(
  tx: Queryable,
  { workspaceId, runId }: { workspaceId: string; runId: string },
): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select count(*) as users from triggers
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and run_id = ${runId}`;
  return row!.users;
}

type Asked = { workspaceId: string; runId: string; users: readonly UserKey[] };

/** Those of the users whose triggers a run answers, with what the events said. Index: triggers_run. */
export async function listTriggeredUsers(
  tx: Queryable,
  { workspaceId, runId, users }: Asked,
): Promise<(UserKey & { attributes: Record<string, unknown> })[]> {
  const inBucket = isGivenBucket(tx, { column: tx`triggers.bucket`, given: tx`given.bucket`, rows: users });
  return tx<(UserKey & { attributes: Record<string, unknown> })[]>`
    select triggers.bucket, triggers.user_id as "userId", triggers.attributes
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, user_id)
    join triggers on triggers.workspace_id = ${workspaceId} and ${inBucket}
      and triggers.user_id = given.user_id collate "C" and triggers.run_id = ${runId}`;
}
