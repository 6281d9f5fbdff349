import { bucketOf } from '../../domain/users/bucket.ts';
import { identifierOf } from '../../domain/users/identifier.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import type { UserSelector } from '../../domain/users/user-selector.ts';
import type { User } from '../../domain/users/user-source.ts';
import type { Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { findUsersByIdentifier } from './identifiers.ts';
import type { UserKey } from '../../domain/users/bucket.ts';

export type LockedUser = UserKey & { customerId: string; attributes: Attributes; isNew: boolean };

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
    returning bucket, id as "userId", customer_id as "customerId", attributes, id = ${user.id} as "isNew"`;
  return row!;
}

/** Locks an existing user. Index as above. */
export async function lockUser(
  tx: Queryable,
  { workspaceId, customerId }: { workspaceId: string; customerId: string },
): Promise<LockedUser | undefined> {
  const [row] = await tx<LockedUser[]>`
    select bucket, id as "userId", customer_id as "customerId", attributes, false as "isNew"
    from users
    where workspace_id = ${workspaceId} and bucket = ${bucketOf(customerId)} and customer_id = ${customerId}
    for update`;
  return row;
}

/**
 * Holds an existing user against being merged away or erased, and against nothing else: holders do not wait for each
 * other nor for changes of attributes. Index: users (workspace_id, bucket, customer_id).
 */
export async function holdUser(
  tx: Queryable,
  { workspaceId, customerId }: { workspaceId: string; customerId: string },
): Promise<UserKey | undefined> {
  const [row] = await tx<UserKey[]>`
    select bucket, id as "userId"
    from users
    where workspace_id = ${workspaceId} and bucket = ${bucketOf(customerId)} and customer_id = ${customerId}
    for key share`;
  return row;
}

/** Locks the user of a key. Index: primary key. */
export async function lockUserByKey(
  tx: Queryable,
  user: UserKey & { workspaceId: string },
): Promise<LockedUser | undefined> {
  const [row] = await tx<LockedUser[]>`
    select bucket, id as "userId", customer_id as "customerId", attributes, false as "isNew"
    from users
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and id = ${user.userId}
    for update`;
  return row;
}

/** A user by id alone. The id does not tell its bucket, so each is looked into. Index: primary key. */
export async function findUserById(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<UserKey | undefined> {
  const [row] = await tx<UserKey[]>`
    select bucket, id as "userId" from users
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and id = ${id}`;
  return row;
}

/**
 * Makes those of the users that are missing, in the order of their keys, as lockUsersInOrder locks them; a customer id
 * that was merged into another user's makes none. The second statement sees a merge that the first one waited for.
 * Indexes: users (workspace_id, bucket, customer_id), merged_users primary key.
 */
export async function insertMissingUsers(
  tx: Queryable,
  { workspaceId, users, at }: { workspaceId: string; users: { customerId: string; id: string }[]; at: Date },
): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${workspaceId}, bucket, id, customer_id, ${at}, ${at}
    from unnest(
      ${users.map(({ customerId }) => bucketOf(customerId))}::smallint[], ${users.map(({ id }) => id)}::text[],
      ${users.map(({ customerId }) => customerId)}::text[]
    ) as given (bucket, id, customer_id)
    order by bucket, customer_id collate "C"
    on conflict (workspace_id, bucket, customer_id) do nothing
    returning id`;
  if (rows.length === 0) return;
  await tx`
    delete from users using merged_users
    where users.workspace_id = ${workspaceId} and users.id = any(${rows.map(({ id }) => id)})
      and merged_users.workspace_id = users.workspace_id and merged_users.bucket = users.bucket
      and merged_users.customer_id = users.customer_id`;
}

/**
 * Locks those of the users that exist, in the order of their keys, whatever order they are given in: two transactions
 * that do so first never wait for each other in a circle. Index: users (workspace_id, bucket, customer_id).
 */
export async function lockUsersInOrder(
  tx: Queryable,
  { workspaceId, customerIds }: { workspaceId: string; customerIds: readonly string[] },
): Promise<void> {
  const unique = [...new Set(customerIds)];
  await tx`
    select 1
    from users
    where workspace_id = ${workspaceId}
      and (bucket, customer_id) in (
        select wanted.bucket, wanted.customer_id collate "C"
        from unnest(${unique.map(bucketOf)}::smallint[], ${unique}::text[]) as wanted (bucket, customer_id)
      )
    order by bucket, customer_id
    for update`;
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

/** Marks whom tests of campaigns are sent to; the caller holds the row's lock. Index: primary key. */
export async function setUserIsTest(
  tx: Queryable,
  user: UserKey & { workspaceId: string; isTest: boolean; at: Date },
): Promise<void> {
  await tx`
    update users set is_test = ${user.isTest}, updated_at = ${user.at}
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and id = ${user.userId}`;
}

/** Removes a user's row; the caller holds its lock. Index: primary key. */
export async function deleteUser(tx: Queryable, user: UserKey & { workspaceId: string }): Promise<void> {
  await tx`
    delete from users where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and id = ${user.userId}`;
}

/**
 * Users that customer ids mean, in order, at most `limit`; a merged one means the user it was merged into. Indexes: users
 * (workspace_id, bucket, customer_id), merged_users primary key.
 */
export async function findUsersByCustomerIds(
  tx: Queryable,
  { workspaceId, customerIds, limit }: { workspaceId: string; customerIds: readonly string[]; limit: number },
): Promise<UserKey[]> {
  const unique = [...new Set(customerIds)];
  return tx<UserKey[]>`
    with wanted as (
      select bucket, customer_id
      from unnest(${unique.map(bucketOf)}::smallint[], ${unique}::text[]) as given (bucket, customer_id)
    )
    select users.bucket, users.id as "userId"
    from wanted
    join users on users.workspace_id = ${workspaceId} and users.bucket = wanted.bucket
      and users.customer_id = wanted.customer_id collate "C"
    union
    select merged_users.retained_bucket, merged_users.retained_user_id
    from wanted
    join merged_users on merged_users.workspace_id = ${workspaceId} and merged_users.bucket = wanted.bucket
      and merged_users.customer_id = wanted.customer_id collate "C"
    order by bucket, "userId"
    limit ${limit}`;
}

/**
 * The users a selector names, in order, at most `limit`; undefined when its attribute is unknown. Indexes: see the two
 * statements.
 */
export async function findSelectedUsers(
  tx: Queryable,
  { workspaceId, selector, limit }: { workspaceId: string; selector: UserSelector; limit: number },
): Promise<UserKey[] | undefined> {
  const { values } = selector;
  const identifier = identifierOf(selector.attribute, selector);
  if (!identifier) return undefined;
  return identifier.kind === 'customer-id'
    ? findUsersByCustomerIds(tx, { workspaceId, customerIds: values, limit })
    : findUsersByIdentifier(tx, { workspaceId, attribute: identifier.attribute, values, limit });
}

export type ExportedUser = {
  id: string;
  customerId: string;
  /** The customer id that was asked for, null when the id was. */
  namedBy: string | null;
  attributes: Attributes;
};

/**
 * Users by customer id, by one that was merged into theirs, or by id, a few at a time. An id does not tell its bucket, so
 * it is looked for in each. Indexes: users (workspace_id, bucket, customer_id), primary keys of users and merged_users.
 */
export async function findUsersToExport(
  tx: Queryable,
  wanted: { workspaceId: string; customerIds: string[]; ids: string[] },
): Promise<ExportedUser[]> {
  return tx<ExportedUser[]>`
    select users.id, users.customer_id as "customerId", named.customer_id as "namedBy", users.attributes
    from unnest(${wanted.customerIds.map(bucketOf)}::smallint[], ${wanted.customerIds}::text[])
      as named (bucket, customer_id)
    join users on users.workspace_id = ${wanted.workspaceId} and users.bucket = named.bucket
      and users.customer_id = named.customer_id collate "C"
    union all
    select users.id, users.customer_id, named.customer_id, users.attributes
    from unnest(${wanted.customerIds.map(bucketOf)}::smallint[], ${wanted.customerIds}::text[])
      as named (bucket, customer_id)
    join merged_users on merged_users.workspace_id = ${wanted.workspaceId} and merged_users.bucket = named.bucket
      and merged_users.customer_id = named.customer_id collate "C"
    join users on users.workspace_id = ${wanted.workspaceId} and users.bucket = merged_users.retained_bucket
      and users.id = merged_users.retained_user_id
    union all
    select id, customer_id, null, attributes
    from users
    where workspace_id = ${wanted.workspaceId} and bucket = any(${allBuckets}) and id = any(${wanted.ids})`;
}

/**
 * Users with those of their attributes that have one of the names, or with all, by id. Index: primary key, one look a
 * user.
 */
export async function findUsers(
  tx: Queryable,
  { workspaceId, users, names }: { workspaceId: string; users: UserKey[]; names: readonly string[] | 'all' },
): Promise<Map<string, User>> {
  const wanted = [...new Map(users.map((user) => [user.userId, user])).values()];
  const rows = await tx<(User & { userId: string })[]>`
    select users.id as "userId", users.customer_id as "customerId", ${
      names === 'all'
        ? tx`users.attributes`
        : tx`(
            select coalesce(jsonb_object_agg(name, users.attributes -> name), '{}')
            from unnest(${[...names]}::text[]) as name where users.attributes ? name
          )`
    } as attributes
    from unnest(
      ${wanted.map(({ bucket }) => bucket)}::smallint[], ${wanted.map(({ userId }) => userId)}::text[]
    ) as wanted (bucket, user_id)
    join users on users.workspace_id = ${workspaceId} and users.bucket = wanted.bucket
      and users.id = wanted.user_id collate "C"`;
  return new Map(rows.map(({ userId, ...user }) => [userId, user]));
}
