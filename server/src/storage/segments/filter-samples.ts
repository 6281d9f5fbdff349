import type { ValueMeaning } from '../../domain/segments/file-operations.ts';
import { bucketOf } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/buckets.ts';
import { isInAudience } from './segment-filters.ts';
import type { FilterAudience } from './segment-filters.ts';

type InBuckets = { workspaceId: string; buckets: readonly number[] };

/** Counts the users of these buckets that match a filter. Reads each of them once: users primary key. */
export async function countFilterUsersIn(
  tx: Queryable,
  { buckets, ...audience }: FilterAudience & { buckets: readonly number[] },
): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select count(*) as users from users
    where ${isInBuckets(tx, { column: tx`users.bucket`, buckets })} and ${isInAudience(tx, audience)}`;
  return row!.users;
}

/** Counts the users of these buckets. Index: users primary key, alone. */
export async function countUsersIn(tx: Queryable, { workspaceId, buckets }: InBuckets): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select count(*) as users from users
    where users.workspace_id = ${workspaceId} and ${isInBuckets(tx, { column: tx`users.bucket`, buckets })}`;
  return row!.users;
}

/**
 * Returns the first users that match a filter, at most `limit`, in no order. If no user matches, it reads every user of
 * the workspace once. Index: users primary key.
 */
export async function listSomeFilterUsers(
  tx: Queryable,
  { limit, ...audience }: FilterAudience & { limit: number },
): Promise<{ id: string; customerId: string }[]> {
  return tx<{ id: string; customerId: string }[]>`
    select users.id, users.customer_id as "customerId" from users where ${isInAudience(tx, audience)} limit ${limit}`;
}

/** An attribute value, and how many of the sampled users have it. */
export type SampledValue = { name: string; type: string; value: string; users: number };

const maxShownCharacters = 100;

/**
 * Samples attribute values from the newest users of each bucket. Per attribute and type it returns the most frequent
 * ones, at most `perAttribute`. The items of a list are counted as values. Index: users primary key, one look-up per
 * bucket.
 */
export async function sampleAttributeValues(
  tx: Queryable,
  { workspaceId, perBucket, perAttribute }: { workspaceId: string; perBucket: number; perAttribute: number },
): Promise<SampledValue[]> {
  return tx<SampledValue[]>`
    with seen as materialized (
      select attribute.name collate "C" as name, jsonb_typeof(attribute.value) as type, attribute.value
      from sample_user_attributes(${workspaceId}, ${perBucket}) as sampled (attributes)
      cross join lateral jsonb_each(sampled.attributes) as attribute (name, value)
    ), single as materialized (
      select name, type, value #>> '{}' as value from seen where type in ('string', 'number', 'boolean')
      union all
      select seen.name, 'array_' || jsonb_typeof(item.value), item.value #>> '{}'
      from seen
      cross join lateral jsonb_array_elements(case when seen.type = 'array' then seen.value else '[]' end) as item (value)
      where jsonb_typeof(item.value) in ('string', 'number')
    ), counted as (
      select name, type, left(value, ${maxShownCharacters}) as value, count(*) as users
      from single group by 1, 2, 3
    ), ranked as (
      select name, type, value, users,
        row_number() over (partition by name, type order by users desc, value collate "C") as place
      from counted
    )
    select name, type, value, users from ranked where place <= ${perAttribute} order by name, type, place`;
}

/**
 * Lists the texts of an attribute that begin with a prefix, distinct and in order, at most `limit`. Reads only the
 * first thousand entries of the index, however many users have the same text. Index: identifiers primary key.
 */
export async function listTextsBeginning(
  tx: Queryable,
  wanted: { workspaceId: string; attribute: string; prefix: string; limit: number },
): Promise<string[]> {
  const rows = await tx<{ value: string }[]>`
    select distinct first.value collate "C" as value
    from (
      select identifiers.value from identifiers
      where identifiers.workspace_id = ${wanted.workspaceId} and identifiers.attribute = ${wanted.attribute}
        and identifiers.value >= ${wanted.prefix} and identifiers.value < ${`${wanted.prefix}\u{10FFFF}`}
        and identifiers.type = 'string'
      order by identifiers.value limit 1000
    ) as first
    order by value limit ${wanted.limit}`;
  return rows.map(({ value }) => value);
}

/**
 * Lists the names of a workspace's newest events, the most frequent first, at most `limit`. Reads at most `maxEvents` of
 * the newest days. Index: events primary key of each day.
 */
export async function listEventNames(
  tx: Queryable,
  {
    workspaceId,
    sinceDay,
    maxEvents,
    limit,
  }: { workspaceId: string; sinceDay: string; maxEvents: number; limit: number },
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select name from (
      select name from events where workspace_id = ${workspaceId} and day >= ${sinceDay}::date
      order by day desc limit ${maxEvents}
    ) as newest
    group by name order by count(*) desc, name limit ${limit}`;
  return rows.map(({ name }) => name);
}

/**
 * Returns the given values that identify a user, as the lines of a file do: a value of two or more users
 * identifies none. Indexes: users (workspace_id, bucket, customer_id), merged_users primary key; or identifiers primary
 * key, one look-up per value.
 */
export async function findNamingValues(
  tx: Queryable,
  { workspaceId, meaning, values }: { workspaceId: string; meaning: ValueMeaning; values: readonly string[] },
): Promise<string[]> {
  const rows =
    meaning.kind === 'customer-id'
      ? await tx<{ value: string }[]>`
          with asked as materialized (
            select bucket, value collate "C" as value
            from unnest(${values.map(bucketOf)}::smallint[], ${[...values]}::text[]) as given (bucket, value)
          )
          select asked.value from asked
          join users on users.workspace_id = ${workspaceId} and users.bucket = asked.bucket
            and users.customer_id = asked.value
          union
          select asked.value from asked
          join merged_users on merged_users.workspace_id = ${workspaceId} and merged_users.bucket = asked.bucket
            and merged_users.customer_id = asked.value`
      : await tx<{ value: string }[]>`
          select identifiers.value from identifiers
          where identifiers.workspace_id = ${workspaceId} and identifiers.attribute = ${meaning.attribute}
            and identifiers.type = ${meaning.type} and identifiers.value = any(${[...values]})
          group by identifiers.value
          having min(identifiers.user_id) = max(identifiers.user_id)`;
  return rows.map(({ value }) => value);
}
