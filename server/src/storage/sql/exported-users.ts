import { bucketOf } from '../../domain/audience/bucket.ts';
import type { Attributes } from '../../domain/audience/user-attributes.ts';
import type { Queryable } from '../pool.ts';
import { allBuckets } from './segment-members.ts';

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
