import type { Queryable } from '../database.ts';
import { bucketOf } from '../../domain/users/bucket.ts';
import type { ValueMeaning } from '../../domain/segments/value-meaning.ts';

/**
 * Which of these values name a user, as a file's lines do: one that names two of them or more names nobody. Indexes: users
 * (workspace_id, bucket, customer_id), merged_users primary key; or identifiers primary key, a look-up a value.
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
