import type { UserSelector } from '../../domain/push.ts';
import type { User } from '../../domain/template/personalise.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { bucketOf, identifierOf, groupByBucket } from '../../domain/users/users.ts';
import type { UserKey } from '../../domain/users/users.ts';
import { isDistributed } from '../cluster.ts';
import type { Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { isGivenBucket } from './buckets.ts';
import { findUsersByIdentifier } from './identifiers.ts';

export type LockedUser = UserKey & { customerId: string; attributes: Attributes; isNew: boolean };

/**
 * Inserts the user if it is missing and locks the row until the transaction ends, so that attributes and identifiers
 * change together. Index: users (workspace_id, bucket, customer_id), one shard.
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

/** Locks an existing user. Index: as above. */
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
 * Keeps an existing user from being merged or erased until the transaction ends, and blocks nothing else: callers do
 * not wait for each other, nor for changes of attributes. Index: users (workspace_id, bucket, customer_id).
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

/** Locks a user by its key. Index: primary key. */
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

/** Finds a user by id alone. An id does not contain the bucket, so every bucket is searched. Index: primary key. */
export async function findUserById(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<UserKey | undefined> {
  const [row] = await tx<UserKey[]>`
    select bucket, id as "userId" from users
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and id = ${id}`;
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

/** Marks a user as a recipient of campaign tests; the caller holds the row's lock. Index: primary key. */
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

type NamedUser = { bucket: number; customerId: string };
export type NamedUserKey = UserKey & { customerId: string };
export type AskedCustomerIds = { workspaceId: string; customerIds: readonly string[] };

const locate = (customerIds: Iterable<string>): NamedUser[] =>
  [...new Set(customerIds)].map((customerId) => ({ bucket: bucketOf(customerId), customerId }));

/** Looks up users by customer id, in no order. */
export type FindNamedUsers = (asked: AskedCustomerIds) => Promise<NamedUserKey[]>;

type Asked = { limit: number; findNamed?: FindNamedUsers };

/**
 * Finds users by customer id, in order, at most `limit`; the id of a merged user finds the user it was merged into.
 *
 * @param asked `findNamed`: looks up for several callers at once; by default the users are looked up here
 */
export async function findUsersByCustomerIds(
  tx: Queryable,
  { workspaceId, customerIds, limit, findNamed = (named) => findNamedUsers(tx, named) }: AskedCustomerIds & Asked,
): Promise<UserKey[]> {
  const named = await findNamed({ workspaceId, customerIds });
  // After the look-up of users: a user that is merged between the two is found by the second.
  const known = new Set(named.map(({ customerId }) => customerId));
  const retained = await findRetainedUsers(tx, {
    workspaceId,
    customerIds: customerIds.filter((customerId) => !known.has(customerId)),
  });
  const keys = [...named, ...retained].map(({ bucket, userId }) => ({ bucket, userId }));
  return [...new Map(keys.map((key) => [key.userId, key])).values()]
    .toSorted((one, other) => one.bucket - other.bucket || (one.userId < other.userId ? -1 : 1))
    .slice(0, limit);
}

/** Finds users by customer id, in no order. */
export async function findNamedUsers(tx: Queryable, asked: AskedCustomerIds): Promise<NamedUserKey[]> {
  const [found] = await findNamedUsersTogether(tx, [asked]);
  return found!;
}

/**
 * Finds users by customer id for several workspaces: for each ask the users that it named, in no order. Index: users
 * (workspace_id, bucket, customer_id), one look-up per customer id.
 */
export async function findNamedUsersTogether(
  tx: Queryable,
  asks: readonly AskedCustomerIds[],
): Promise<NamedUserKey[][]> {
  const wanted = asks.flatMap(({ workspaceId, customerIds }, ask) =>
    locate(customerIds).map((named) => ({ ...named, workspaceId, ask })),
  );
  const found = asks.map((): NamedUserKey[] => []);
  if (wanted.length === 0) return found;
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`named.bucket`, rows: wanted });
  const rows = await tx<(NamedUserKey & { ask: number })[]>`
    select named.ask, users.bucket, users.id as "userId", users.customer_id as "customerId"
    from unnest(
      ${wanted.map(({ ask }) => ask)}::int[], ${wanted.map(({ workspaceId }) => workspaceId)}::text[],
      ${wanted.map(({ bucket }) => bucket)}::smallint[], ${wanted.map(({ customerId }) => customerId)}::text[]
    ) as named (ask, workspace_id, bucket, customer_id)
    join users on users.workspace_id = named.workspace_id collate "C" and ${inBucket}
      and users.customer_id = named.customer_id collate "C"`;
  for (const { ask, ...user } of rows) found[ask]!.push(user);
  return found;
}

/**
 * Finds the users that customer ids were merged into, in no order. Index: merged_users primary key, one look-up per
 * customer id.
 */
async function findRetainedUsers(
  tx: Queryable,
  { workspaceId, customerIds }: { workspaceId: string; customerIds: readonly string[] },
): Promise<UserKey[]> {
  const wanted = locate(customerIds);
  if (wanted.length === 0) return [];
  const inBucket = isGivenBucket(tx, { column: tx`merged_users.bucket`, given: tx`named.bucket`, rows: wanted });
  return tx<UserKey[]>`
    select merged_users.retained_bucket as bucket, merged_users.retained_user_id as "userId"
    from ${namesOf(tx, wanted)}
    join merged_users on merged_users.workspace_id = ${workspaceId} and ${inBucket}
      and merged_users.customer_id = named.customer_id collate "C"`;
}

/** Returns customer ids as a set to join with. */
function namesOf(tx: Queryable, users: readonly NamedUser[]) {
  return tx`
    unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ customerId }) => customerId)}::text[])
      as named (bucket, customer_id)`;
}

/**
 * Finds the users of a selector, in order, at most `limit`; undefined when its attribute is unknown. Indexes: see the
 * two statements.
 */
export async function findSelectedUsers(
  tx: Queryable,
  { workspaceId, selector, ...asked }: { workspaceId: string; selector: UserSelector } & Asked,
): Promise<UserKey[] | undefined> {
  const { values } = selector;
  const identifier = identifierOf(selector.attribute, selector);
  if (!identifier) return undefined;
  return identifier.kind === 'customer-id'
    ? findUsersByCustomerIds(tx, { workspaceId, customerIds: values, ...asked })
    : findUsersByIdentifier(tx, { workspaceId, attribute: identifier.attribute, values, limit: asked.limit });
}

export type ExportedUser = {
  id: string;
  customerId: string;
  /** The requested customer id; null when the request named the id. */
  namedBy: string | null;
  attributes: Attributes;
};

/**
 * Finds a few users at a time: by customer id, by a customer id that was merged into theirs, or by id. An id does not
 * contain the bucket, so every bucket is searched. Indexes: users (workspace_id, bucket, customer_id), primary keys of
 * users and merged_users.
 */
export async function findUsersToExport(
  tx: Queryable,
  wanted: { workspaceId: string; customerIds: string[]; ids: string[] },
): Promise<ExportedUser[]> {
  const names = locate(wanted.customerIds);
  return tx<ExportedUser[]>`
    with retained as materialized (
      select named.customer_id, merged_users.retained_bucket, merged_users.retained_user_id
      from ${namesOf(tx, names)}
      join merged_users on merged_users.workspace_id = ${wanted.workspaceId} and merged_users.bucket = named.bucket
        and merged_users.customer_id = named.customer_id collate "C"
    )
    select users.id, users.customer_id as "customerId", users.customer_id as "namedBy", users.attributes
    from ${namesOf(tx, names)}
    join users on users.workspace_id = ${wanted.workspaceId} and users.bucket = named.bucket
      and users.customer_id = named.customer_id collate "C"
    union all
    select users.id, users.customer_id, retained.customer_id, users.attributes
    from retained
    join users on users.workspace_id = ${wanted.workspaceId} and users.bucket = retained.retained_bucket
      and users.id = retained.retained_user_id
    union all
    select id, customer_id, null, attributes
    from users
    where workspace_id = ${wanted.workspaceId} and bucket = any(${allBuckets}) and id = any(${wanted.ids})`;
}

/** Returns users by id, with the attributes of the given names or with all. Index: primary key, one look-up per user. */
export async function findUsers(
  tx: Queryable,
  { workspaceId, users, names }: { workspaceId: string; users: UserKey[]; names: readonly string[] | 'all' },
): Promise<Map<string, User>> {
  const wanted = [...new Map(users.map((user) => [user.userId, user])).values()];
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`wanted.bucket`, rows: wanted });
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
    join users on users.workspace_id = ${workspaceId} and ${inBucket}
      and users.id = wanted.user_id collate "C"`;
  return new Map(rows.map(({ userId, ...user }) => [userId, user]));
}

/**
 * Locks the given users that exist, in the order of their keys, however they are ordered in the call: two
 * transactions that do so first never deadlock. Locks one bucket after the other, because a cluster locks rows in one
 * shard per statement.
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
 * Holds the given users that exist, as holdUser does, in the order of their keys. This is one statement; on a
 * cluster, which locks rows in one shard per statement, it is one per bucket. Index: users (workspace_id, bucket,
 * customer_id).
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
 * Inserts the given users that are missing, in the order of their keys, like lockUsersInOrder. A customer id that
 * was merged into another user creates no user. This is checked after the insert, which waited for a merge under way.
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

/** Inserts in the order of the key. Index: users (workspace_id, bucket, customer_id). @returns the ids of new users */
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

/** Deletes the given users just inserted whose customer id was merged. Indexes: users and merged_users primary keys. */
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
