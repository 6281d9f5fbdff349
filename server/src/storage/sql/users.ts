import { bucketOf } from '../../domain/audience/bucket.ts';
import type { Attributes } from '../../domain/audience/user-attributes.ts';
import type { Queryable } from '../pool.ts';

export type UserKey = { bucket: number; userId: string };
export type LockedUser = UserKey & { attributes: Attributes; isNew: boolean };

/**
 * Makes the user when missing and locks the row until the transaction ends, so that attributes and identifiers change
 * together. Index: users (workspace_id, bucket, customer_id), one shard.
 */
export async function lockOrInsertUser(
  tx: Queryable,
  user: { workspaceId: string; customerId: string; id: string; at: Date },
): Promise<LockedUser> {
  const bucket = bucketOf(user.customerId);
  const [row] = await tx<LockedUser[]>`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    values (${user.workspaceId}, ${bucket}, ${user.id}, ${user.customerId}, ${user.at}, ${user.at})
    on conflict (workspace_id, bucket, customer_id) do update set updated_at = excluded.updated_at
    returning bucket, id as "userId", attributes, id = ${user.id} as "isNew"`;
  return row!;
}

/** Locks an existing user. Index as above. */
export async function lockUser(
  tx: Queryable,
  { workspaceId, customerId }: { workspaceId: string; customerId: string },
): Promise<LockedUser | undefined> {
  const [row] = await tx<LockedUser[]>`
    select bucket, id as "userId", attributes, false as "isNew"
    from users
    where workspace_id = ${workspaceId} and bucket = ${bucketOf(customerId)} and customer_id = ${customerId}
    for update`;
  return row;
}

/** Stores a user's attributes; the caller holds the row's lock. Index: primary key. */
export async function setUserAttributes(
  tx: Queryable,
  user: UserKey & { workspaceId: string; attributes: Attributes; at: Date },
): Promise<void> {
  await tx`
    update users set attributes = ${JSON.stringify(user.attributes)}::text::jsonb, updated_at = ${user.at}
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and id = ${user.userId}`;
}

/** Users by customer id, in order, at most `limit`. Index: users (workspace_id, bucket, customer_id). */
export async function findUsersByCustomerIds(
  tx: Queryable,
  { workspaceId, customerIds, limit }: { workspaceId: string; customerIds: readonly string[]; limit: number },
): Promise<UserKey[]> {
  const unique = [...new Set(customerIds)];
  return tx<UserKey[]>`
    select users.bucket, users.id as "userId"
    from unnest(${unique.map(bucketOf)}::smallint[], ${unique}::text[]) as wanted (bucket, customer_id)
    join users on users.workspace_id = ${workspaceId} and users.bucket = wanted.bucket
      and users.customer_id = wanted.customer_id collate "C"
    order by users.bucket, users.id
    limit ${limit}`;
}
