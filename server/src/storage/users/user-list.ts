import type { Platform } from '../../domain/content/content.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';
import { isGivenBucket } from './buckets.ts';

type Page = {
  workspaceId: string;
  /** The id of the last user of the page before; undefined for the newest users. */
  after: string | undefined;
  limit: number;
};
export type Search = Page & {
  /** Part of a customer id, a name or an email address. */
  word: string;
};

/** Lists users, newest first. Index: users_newest. */
export async function listNewestUsers(tx: Queryable, { workspaceId, after, limit }: Page): Promise<UserKey[]> {
  return tx<UserKey[]>`
    select bucket, id as "userId" from users
    where workspace_id = ${workspaceId} ${isAfter(tx, { column: inOrder(tx), after })}
    order by ${inOrder(tx)} desc limit ${limit}`;
}

/** Users that are searched one by one before the trigram indexes are asked. */
const walkedUsers = 2_000;

/**
 * Finds users among the next 2,000 by a part of their customer id, name or email address, newest first. A word that many users have
 * fills a page here, and would cost a trigram index a million rows. Index: users_newest.
 */
export async function findNearUsers(tx: Queryable, { workspaceId, after, word, limit }: Search): Promise<UserKey[]> {
  return tx<UserKey[]>`
    with near as materialized (
      select bucket, id, customer_id, attributes from users
      where workspace_id = ${workspaceId} ${isAfter(tx, { column: inOrder(tx), after })}
      order by ${inOrder(tx)} desc limit ${walkedUsers}
    )
    select bucket, id as "userId" from near
    where ${mentions(tx, word)}
    order by id desc limit ${limit}`;
}

/** True for a user whose customer id, email address, or name as it is listed, contains the word. */
const mentions = (tx: Queryable, word: string): Fragment => tx`(
  ${contains(tx, { column: tx`customer_id`, word })}
    or ${contains(tx, { column: tx`(attributes ->> 'u_em')`, word })}
    or ${contains(tx, { column: tx`(attributes ->> 'u_n')`, word })}
    or ${contains(tx, { column: tx`concat_ws(' ', attributes ->> 'u_fn', attributes ->> 'u_ln')`, word })}
)`;

/** Finds users by a part of their customer id, newest first. Index: users_search. */
export async function findUsersByPartOfId(
  tx: Queryable,
  { workspaceId, after, word, limit }: Search,
): Promise<UserKey[]> {
  return tx<UserKey[]>`
    with found as materialized (
      select bucket, id from users
      where workspace_id = ${workspaceId} and ${contains(tx, { column: tx`customer_id`, word })}
        ${isAfter(tx, { column: tx`id`, after })}
    )
    select bucket, id as "userId" from found order by id desc limit ${limit}`;
}

/**
 * Finds users by a part of their name or email address, newest first. First and last name are separate in the index: with spaces,
 * the longest part of the word is looked up, and the users are checked for all of it. Indexes: identifiers_search, users primary key.
 */
export async function findUsersByPartOfName(
  tx: Queryable,
  { workspaceId, after, word, limit }: Search,
): Promise<UserKey[]> {
  const [longest = word] = word.split(/\s+/).toSorted((one, other) => other.length - one.length);
  const isWhole = longest === word;
  const checked = tx`
    join users on users.workspace_id = ${workspaceId} and users.bucket = found.bucket and users.id = found.user_id
    where ${mentions(tx, word)}`;
  return tx<UserKey[]>`
    with found as materialized (
      select distinct bucket, user_id from identifiers
      where workspace_id = ${workspaceId} and attribute in ('u_n', 'u_fn', 'u_ln', 'u_em')
        and ${contains(tx, { column: tx`value`, word: longest })} ${isAfter(tx, { column: tx`user_id`, after })}
    )
    select found.bucket, found.user_id as "userId" from found ${isWhole ? tx`` : checked}
    order by "userId" desc limit ${limit}`;
}

/** The id as users_newest orders it. */
const inOrder = (tx: Queryable): Fragment => tx`id collate "POSIX"`;

function isAfter(tx: Queryable, { column, after }: { column: Fragment; after: string | undefined }): Fragment {
  return after === undefined ? tx`` : tx`and ${column} < ${after}`;
}

/** The expression of the trigram indexes. Ignores case in every script. */
function contains(tx: Queryable, { column, word }: { column: Fragment; word: string }): Fragment {
  const pattern = `%${word.replace(/[\\%_]/g, (one) => `\\${one}`)}%`;
  return tx`(lower(${column} collate "und-x-icu") collate "C") like (lower(${pattern}::text collate "und-x-icu") collate "C")`;
}

export type ListedUser = UserKey & {
  customerId: string;
  name: string | null;
  email: string | null;
  createdAt: Date;
  /** Devices that messages can be sent to. */
  devices: number;
  platforms: Platform[];
  /** The newest registration of a device or an app, or event of the last 30 days. */
  lastSeenAt: Date | null;
};

type Users = { workspaceId: string; users: readonly UserKey[] };
type Row = Omit<ListedUser, 'devices' | 'platforms' | 'lastSeenAt'>;

/**
 * Returns the columns of the list for a page of users, newest first. A statement per table, because behind policies a cluster cannot
 * outer-join them. `sinceDay`: the first day whose events are read. Indexes: primary key of users, devices (workspace_id, bucket,
 * user_id, device_id), installations_user, events_user of each day.
 */
export async function readListedUsers(
  tx: Queryable,
  { workspaceId, users, sinceDay }: Users & { sinceDay: string },
): Promise<ListedUser[]> {
  if (users.length === 0) return [];
  const given = tx`unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
    as given (bucket, id)`;
  const inBucket = (column: Fragment) => isGivenBucket(tx, { column, given: tx`given.bucket`, rows: users });
  const rows = await tx<Row[]>`
    select users.bucket, users.id as "userId", users.customer_id as "customerId", users.created_at as "createdAt",
      nullif(coalesce(users.attributes ->> 'u_n', concat_ws(' ', users.attributes ->> 'u_fn', users.attributes ->> 'u_ln')), '') as name,
      users.attributes ->> 'u_em' as email
    from ${given}
    join users on users.workspace_id = ${workspaceId} and ${inBucket(tx`users.bucket`)} and users.id = given.id collate "C"
    order by users.id desc`;
  const devices = await tx<{ userId: string; devices: number; platforms: Platform[]; at: Date }[]>`
    select devices.user_id as "userId", (count(*) filter (where devices.state = 'ACTIVE'))::integer as devices,
      array_agg(distinct devices.platform order by devices.platform) as platforms, max(devices.registered_at) as at
    from ${given}
    join devices on devices.workspace_id = ${workspaceId} and ${inBucket(tx`devices.bucket`)}
      and devices.user_id = given.id collate "C"
    group by devices.user_id`;
  const installations = await tx<{ userId: string; at: Date }[]>`
    select installations.user_id as "userId", max(installations.refreshed_at) as at
    from installations
    where installations.workspace_id = ${workspaceId}
      and installations.user_bucket = any(${users.map(({ bucket }) => bucket)}::smallint[])
      and installations.user_id = any(${users.map(({ userId }) => userId)}::text[])
    group by installations.user_id`;
  const events = await tx<{ userId: string; at: Date }[]>`
    select events.user_id as "userId", max(events.occurred_at) as at
    from ${given}
    join events on events.workspace_id = ${workspaceId} and ${inBucket(tx`events.bucket`)}
      and events.user_id = given.id collate "C" and events.day >= ${sinceDay}::date
    group by events.user_id`;
  const deviceOf = new Map(devices.map((row) => [row.userId, row]));
  const seen = Map.groupBy([...devices, ...installations, ...events], ({ userId }) => userId);
  return rows.map((row) => {
    const { devices: count = 0, platforms = [] } = deviceOf.get(row.userId) ?? {};
    const times = (seen.get(row.userId) ?? []).map(({ at }) => at.getTime());
    return { ...row, devices: count, platforms, lastSeenAt: times.length === 0 ? null : new Date(Math.max(...times)) };
  });
}
