import type { Queryable } from '../pool.ts';

/**
 * Names of the attributes that users of a workspace have: every one of texts and numbers, read name by name from the
 * index of identifiers, and those of other types as far as some users have them, the first of each bucket. In order of
 * the alphabet, at most `limit` of each kind. Indexes: identifiers_value, a look-up a name; users primary key.
 */
export async function listAttributeNames(
  tx: Queryable,
  { workspaceId, perBucket, limit }: { workspaceId: string; perBucket: number; limit: number },
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    with recursive names as (
      (select attribute, 1 as number from identifiers where workspace_id = ${workspaceId} order by attribute limit 1)
      union all
      select next.attribute, names.number + 1
      from names, lateral (
        select attribute from identifiers
        where workspace_id = ${workspaceId} and attribute > names.attribute order by attribute limit 1
      ) as next
      where names.number < ${limit}
    ),
    sampled as (
      select person.attributes
      from generate_series(0, 255) as part (bucket)
      cross join lateral (
        select attributes from users
        where workspace_id = ${workspaceId} and users.bucket = part.bucket::smallint
        order by users.id desc limit ${perBucket}
      ) as person
    )
    -- Identifiers of devices have a colon of our own.
    select attribute collate "C" as name from names where attribute not like 'device:%'
    union
    select attribute.name collate "C" from sampled cross join lateral jsonb_object_keys(sampled.attributes) as attribute (name)
    order by name
    limit ${limit}`;
  return rows.map(({ name }) => name);
}
