import type { Queryable } from '../pool.ts';
import { walkAttributeNames } from './identifiers.ts';

/**
 * Names of the attributes that users of a workspace have: every one of texts and numbers, read name by name from the
 * index of identifiers, and those of other types as far as some users have them, the first of each bucket. In order of
 * the alphabet, at most `limit` of each kind. Indexes: primary keys of identifiers and users.
 */
export async function listAttributeNames(
  tx: Queryable,
  { workspaceId, perBucket, limit }: { workspaceId: string; perBucket: number; limit: number },
): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    with recursive names as (${walkAttributeNames(tx, { workspaceId, limit })}),
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
