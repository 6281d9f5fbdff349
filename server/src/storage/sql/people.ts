import type { Person } from '../../domain/audience/user-source.ts';
import type { Queryable } from '../pool.ts';
import type { UserKey } from './users.ts';

/**
 * Users with those of their attributes that have one of the names, or with all, by id. Index: primary key, one look a
 * user.
 */
export async function findPeople(
  tx: Queryable,
  { workspaceId, users, names }: { workspaceId: string; users: UserKey[]; names: readonly string[] | 'all' },
): Promise<Map<string, Person>> {
  const wanted = [...new Map(users.map((user) => [user.userId, user])).values()];
  const rows = await tx<(Person & { userId: string })[]>`
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
  return new Map(rows.map(({ userId, ...person }) => [userId, person]));
}
