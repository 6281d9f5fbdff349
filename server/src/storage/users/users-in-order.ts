import { bucketOf, groupByBucket } from '../../domain/users/bucket.ts';
import type { Queryable } from '../database.ts';
import { isDistributed } from '../cluster/is-distributed.ts';
import { isGivenBucket } from './given-bucket.ts';
import { findNamedUsers } from './users.ts';
import type { AskedCustomerIds, NamedUserKey } from './users.ts';

/**
 * Locks those of the users that exist, in the order of their keys, whatever order they are given in: two transactions
 * that do so first never wait for each other in a circle. One bucket after the other, because a cluster locks rows in
 * one shard a statement.
 */
export async function lockUsersInOrder(
  tx: Queryable,
  { workspaceId, customerIds }: { workspaceId: string; customerIds: readonly string[] },
): Promise<void> {
  const located = [...new Set(customerIds)].map((customerId) => ({ bucket: bucketOf(customerId), customerId }));
  for (const [bucket, users] of groupByBucket(located))
    await lockUsersOfBucket(tx, { workspaceId, bucket, customerIds: users.map(({ customerId }) => customerId) });
}

/** In the order of the key. Index: users (workspace_id, bucket, customer_id). */
async function lockUsersOfBucket(
  tx: Queryable,
  { workspaceId, bucket, customerIds }: { workspaceId: string; bucket: number; customerIds: string[] },
): Promise<void> {
  await tx`
    select 1
    from users
    where workspace_id = ${workspaceId} and bucket = ${bucket} and customer_id = any(${customerIds})
    order by customer_id
    for update`;
}

/**
 * Holds those of the users that exist, as holdUser does one, in the order of their keys: all at once, but on a cluster, which
 * locks rows in one shard a statement, one bucket after the other. Index: users (workspace_id, bucket, customer_id).
 */
export async function holdUsersInOrder(tx: Queryable, asked: AskedCustomerIds): Promise<NamedUserKey[]> {
  const located = [...new Set(asked.customerIds)].map((customerId) => ({ bucket: bucketOf(customerId), customerId }));
  if (!(await isDistributed(tx, 'users'))) return holdUsersOf(tx, { ...asked, located });
  const held: NamedUserKey[] = [];
  for (const [, users] of groupByBucket(located)) held.push(...(await holdUsersOf(tx, { ...asked, located: users })));
  return held;
}

type Located = { workspaceId: string; located: { bucket: number; customerId: string }[] };

async function holdUsersOf(tx: Queryable, { workspaceId, located }: Located): Promise<NamedUserKey[]> {
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`named.bucket`, rows: located });
  return tx<NamedUserKey[]>`
    select users.bucket, users.id as "userId", users.customer_id as "customerId"
    from unnest(
      ${located.map(({ bucket }) => bucket)}::smallint[], ${located.map(({ customerId }) => customerId)}::text[]
    ) as named (bucket, customer_id)
    join users on users.workspace_id = ${workspaceId} and ${inBucket}
      and users.customer_id = named.customer_id collate "C"
    order by users.bucket, users.customer_id
    for key share of users`;
}

/**
 * Makes those of the users that are missing, in the order of their keys, as lockUsersInOrder locks them; a customer id
 * that was merged into another user's makes none. What sees whether it was comes after the insert, which waited for a
 * merge under way.
 */
export async function insertMissingUsers(
  tx: Queryable,
  { workspaceId, users, at }: { workspaceId: string; users: { customerId: string; id: string }[]; at: Date },
): Promise<void> {
  const customerIds = users.map(({ customerId }) => customerId);
  const known = new Set((await findNamedUsers(tx, { workspaceId, customerIds })).map(({ customerId }) => customerId));
  const missing = users.filter(({ customerId }) => !known.has(customerId));
  const located = missing.map((user) => ({ ...user, bucket: bucketOf(user.customerId) }));
  for (const [bucket, ofBucket] of groupByBucket(located)) {
    const ids = await insertUsersOfBucket(tx, { workspaceId, bucket, users: ofBucket, at });
    if (ids.length > 0) await deleteMergedUsers(tx, { workspaceId, bucket, ids });
  }
}

/** In the order of the key. Index: users (workspace_id, bucket, customer_id). @returns the ids of those that are new */
async function insertUsersOfBucket(
  tx: Queryable,
  given: { workspaceId: string; bucket: number; users: { customerId: string; id: string }[]; at: Date },
): Promise<string[]> {
  const { users, at } = given;
  const rows = await tx<{ id: string }[]>`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${given.workspaceId}, ${given.bucket}::smallint, id, customer_id, ${at}, ${at}
    from unnest(${users.map(({ id }) => id)}::text[], ${users.map(({ customerId }) => customerId)}::text[])
      as given (id, customer_id)
    order by customer_id collate "C"
    on conflict (workspace_id, bucket, customer_id) do nothing
    returning id`;
  return rows.map(({ id }) => id);
}

/** Of users just made those whose customer id was merged away. Indexes: users and merged_users primary keys. */
async function deleteMergedUsers(
  tx: Queryable,
  { workspaceId, bucket, ids }: { workspaceId: string; bucket: number; ids: string[] },
): Promise<void> {
  await tx`
    delete from users using merged_users
    where users.workspace_id = ${workspaceId} and users.bucket = ${bucket} and users.id = any(${ids})
      and merged_users.workspace_id = ${workspaceId} and merged_users.bucket = ${bucket}
      and merged_users.customer_id = users.customer_id`;
}
