import type { Identifier, UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';

export type UserIdentifiers = UserKey & { workspaceId: string; identifiers: Identifier[] };

/** Adds identifiers of one user; existing ones stay. Index: primary key. */
export async function insertIdentifiers(
  tx: Queryable,
  { workspaceId, bucket, userId, identifiers }: UserIdentifiers,
): Promise<void> {
  if (identifiers.length === 0) return;
  await tx`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select ${workspaceId}, ${bucket}::smallint, ${userId}, identifier.attribute, identifier.type, identifier.value
    from unnest(
      ${identifiers.map((row) => row.attribute)}::text[], ${identifiers.map((row) => row.type)}::text[],
      ${identifiers.map((row) => row.value)}::text[]
    ) as identifier (attribute, type, value)
    on conflict (workspace_id, bucket, user_id, attribute, type, value) do nothing`;
}

/** Removes identifiers of one user. Index: identifiers_user. */
export async function deleteIdentifiers(
  tx: Queryable,
  { workspaceId, bucket, userId, identifiers }: UserIdentifiers,
): Promise<void> {
  if (identifiers.length === 0) return;
  await tx`
    delete from identifiers
    using unnest(
      ${identifiers.map((row) => row.attribute)}::text[], ${identifiers.map((row) => row.type)}::text[],
      ${identifiers.map((row) => row.value)}::text[]
    ) as gone (attribute, type, value)
    where identifiers.workspace_id = ${workspaceId} and identifiers.bucket = ${bucket} and identifiers.user_id = ${userId}
      and identifiers.attribute = gone.attribute collate "C" and identifiers.type = gone.type
      and identifiers.value = gone.value collate "C"`;
}

/**
 * The attributes that a device adds to its user. Constants that are not derived from the device: a shard accepts no
 * others next to its rows.
 */
export const deviceAttributes = (tx: Queryable): Fragment => tx`(
      values ('device:gaid'), ('device:idfv'), ('device:push_id')
    )`;

/** The value of `identifier.attribute` of a device; an address too long for a look-up is stored as its SHA-256. */
export const deviceIdentifier = (tx: Queryable): Fragment => tx`(
      case when identifier.attribute = 'device:gaid' then devices.gaid
        when identifier.attribute = 'device:idfv' then devices.idfv
        else case when octet_length(devices.push_id) <= 512 then devices.push_id
          else encode(sha256(convert_to(devices.push_id, 'UTF8')), 'hex') end
      end
    )`;

/**
 * Adds the missing identifiers of a user's devices: after those of one device were removed, another may have the same
 * advertising id. Index: devices (workspace_id, bucket, user_id, device_id), identifiers primary key.
 */
export async function insertIdentifiersOfDevices(
  tx: Queryable,
  user: UserKey & { workspaceId: string },
): Promise<void> {
  await tx`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select devices.workspace_id, devices.bucket, devices.user_id, identifier.attribute, 'string', ${deviceIdentifier(tx)}
    from devices
    cross join ${deviceAttributes(tx)} as identifier (attribute)
    where devices.workspace_id = ${user.workspaceId} and devices.bucket = ${user.bucket}
      and devices.user_id = ${user.userId} and ${deviceIdentifier(tx)} is not null
    on conflict (workspace_id, bucket, user_id, attribute, type, value) do nothing`;
}

/** Removes all identifiers of one user. Index: identifiers_user. */
export async function deleteIdentifiersOfUser(tx: Queryable, user: UserKey & { workspaceId: string }): Promise<void> {
  await tx`
    delete from identifiers
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and user_id = ${user.userId}`;
}

/**
 * Finds users with one of the values, distinct and in order, at most `limit`. Both types are looked up, because a push
 * request contains strings only. Index: primary key.
 */
export async function findUsersByIdentifier(
  tx: Queryable,
  wanted: { workspaceId: string; attribute: string; values: readonly string[]; limit: number },
): Promise<UserKey[]> {
  return tx<UserKey[]>`
    select distinct bucket, user_id as "userId"
    from identifiers
    where workspace_id = ${wanted.workspaceId} and attribute = ${wanted.attribute}
      and value = any(${[...wanted.values]})
    order by bucket, "userId"
    limit ${wanted.limit}`;
}

/**
 * Lists the names of the attributes that users of a workspace have. Text and number attributes are complete, read name
 * by name from the index of identifiers. Those of other types come from some users only, the first of each bucket. In
 * alphabetical order, at most `limit` of each kind. Indexes: primary keys of identifiers and users.
 */
export async function listAttributeNames(
  tx: Queryable,
  { workspaceId, perBucket, limit }: { workspaceId: string; perBucket: number; limit: number },
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    -- Device identifiers contain a colon that Carillon adds.
    select attribute collate "C" as name
    from list_identifier_attributes(${workspaceId}, ${limit}) as listed (attribute)
    where attribute not like 'device:%'
    union
    select attribute.name collate "C"
    from sample_user_attributes(${workspaceId}, ${perBucket}) as sampled (attributes)
    cross join lateral jsonb_object_keys(sampled.attributes) as attribute (name)
    order by name
    limit ${limit}`;
  return rows.map(({ name }) => name);
}

type OfAttribute = { workspaceId: string; attribute: string };

/** Returns the type of one user's text or number of an attribute; undefined if no user has one. Index: identifiers primary key. */
export async function findIdentifierType(
  tx: Queryable,
  { workspaceId, attribute }: OfAttribute,
): Promise<'string' | 'double' | undefined> {
  const [row] = await tx<{ type: 'string' | 'double' }[]>`
    select type from identifiers where workspace_id = ${workspaceId} and attribute = ${attribute} limit 1`;
  return row?.type;
}

/** Counts the users who have an attribute as a text, and as a number. Index: identifiers primary key, the attribute's part. */
export async function countIdentifierTypes(
  tx: Queryable,
  { workspaceId, attribute }: OfAttribute,
): Promise<{ type: 'string' | 'double'; users: number }[]> {
  return tx<{ type: 'string' | 'double'; users: number }[]>`
    select type, count(*) as users from identifiers
    where workspace_id = ${workspaceId} and attribute = ${attribute} group by type`;
}
