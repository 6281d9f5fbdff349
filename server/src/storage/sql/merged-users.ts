import { bucketOf } from '../../domain/audience/bucket.ts';
import type { Queryable } from '../pool.ts';
import type { UserKey } from './users.ts';

type Named = { workspaceId: string; customerId: string };

/** Whom a customer id was merged into. Index: primary key, one shard. */
export async function findRetainedUser(
  tx: Queryable,
  { workspaceId, customerId }: Named,
): Promise<UserKey | undefined> {
  const [row] = await tx<UserKey[]>`
    select retained_bucket as bucket, retained_user_id as "userId"
    from merged_users
    where workspace_id = ${workspaceId} and bucket = ${bucketOf(customerId)} and customer_id = ${customerId}`;
  return row;
}

/** The merged ones among customer ids, with the customer ids that are meant now. Indexes: both primary keys. */
export async function findRetainedCustomerIds(
  tx: Queryable,
  { workspaceId, customerIds }: { workspaceId: string; customerIds: readonly string[] },
): Promise<{ customerId: string; retained: string }[]> {
  return tx<{ customerId: string; retained: string }[]>`
    select merged_users.customer_id as "customerId", users.customer_id as retained
    from unnest(${customerIds.map(bucketOf)}::smallint[], ${[...customerIds]}::text[]) as wanted (bucket, customer_id)
    join merged_users on merged_users.workspace_id = ${workspaceId} and merged_users.bucket = wanted.bucket
      and merged_users.customer_id = wanted.customer_id collate "C"
    join users on users.workspace_id = merged_users.workspace_id and users.bucket = merged_users.retained_bucket
      and users.id = merged_users.retained_user_id`;
}

/** Whether anything was ever merged in a workspace. Index: primary key. */
export async function hasMergedUsers(tx: Queryable, workspaceId: string): Promise<boolean> {
  const [row] = await tx`select 1 from merged_users where workspace_id = ${workspaceId} limit 1`;
  return row !== undefined;
}

export type Merge = { workspaceId: string; from: UserKey; to: UserKey };

/**
 * Lets a customer id, and all that were merged into its user before, mean the retained user. Index:
 * merged_users_retained.
 */
export async function insertMergedUser(tx: Queryable, merge: Merge & { customerId: string; at: Date }): Promise<void> {
  const { workspaceId, from, to, customerId, at } = merge;
  await tx`
    update merged_users set retained_bucket = ${to.bucket}, retained_user_id = ${to.userId}
    where workspace_id = ${workspaceId} and retained_bucket = ${from.bucket} and retained_user_id = ${from.userId}`;
  await tx`
    insert into merged_users (workspace_id, bucket, customer_id, user_id, retained_bucket, retained_user_id, merged_at)
    values (${workspaceId}, ${from.bucket}, ${customerId}, ${from.userId}, ${to.bucket}, ${to.userId}, ${at})`;
}

/** The rows that were merged into a user, with the buckets they were in. Index: merged_users_retained. */
export async function listMergedRows(tx: Queryable, user: UserKey & { workspaceId: string }): Promise<UserKey[]> {
  return tx<UserKey[]>`
    select bucket, user_id as "userId" from merged_users
    where workspace_id = ${user.workspaceId} and retained_bucket = ${user.bucket} and retained_user_id = ${user.userId}
    order by bucket, user_id`;
}
