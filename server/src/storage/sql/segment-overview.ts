import type { Database, Queryable, Transaction } from '../pool.ts';
import type { OperationKind, OperationState } from './segment-operations.ts';

/** Lets several statements see one moment, so that a segment and its operations do not contradict each other. */
export async function readOneMoment<Answer>(
  database: Database,
  read: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  return (await database.begin('isolation level repeatable read read only', read)) as Answer;
}

export type OpenOperation = {
  id: string;
  segmentId: string;
  kind: OperationKind;
  state: OperationState;
  attempts: number;
  bytesRead: number;
  valuesFound: number;
  createdAt: Date;
};

/**
 * The operations of a workspace that have not ended, those of a segment in their order: the first is worked, the others
 * wait for it. Index: segment_operations_open, which holds the open ones of the installation alone.
 */
export async function listOpenOperations(tx: Queryable, workspaceId: string): Promise<OpenOperation[]> {
  return tx<OpenOperation[]>`
    select id, segment_id as "segmentId", kind, state, attempts, bytes_read as "bytesRead",
      values_found as "valuesFound", created_at as "createdAt"
    from segment_operations
    where workspace_id = ${workspaceId} and state in ('QUEUED', 'FILLING', 'WAITING')
    order by segment_id, number`;
}

/** Whether a segment of this workspace has that operation. Index: segment_operations primary key. */
export async function isOperationOf(
  tx: Queryable,
  operation: { workspaceId: string; segmentId: string; id: string },
): Promise<boolean> {
  const rows = await tx`
    select 1 from segment_operations
    where id = ${operation.id} and segment_id = ${operation.segmentId} and workspace_id = ${operation.workspaceId}`;
  return rows.length === 1;
}

export type CampaignOfSegment = { id: string; name: string; status: string; createdAt: Date };

/** Newest first, at most 50. Reads the workspace's campaigns from the newest on. Index: campaigns_newest. */
export async function listCampaignsOfSegment(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<CampaignOfSegment[]> {
  return tx<CampaignOfSegment[]>`
    select id, name, status, created_at as "createdAt" from campaigns
    where workspace_id = ${workspaceId} and segment_id = ${id} and not is_test
    order by created_at desc, id desc limit 50`;
}

/** Customer ids of ten members, whichever come first. Index: segment_members and users primary keys, bucket by bucket. */
export async function listSampleMembers(
  tx: Queryable,
  { workspaceId, id, version }: { workspaceId: string; id: string; version: number },
): Promise<string[]> {
  const rows = await tx<{ customerId: string }[]>`
    select users.customer_id as "customerId"
    from segment_members
    join users on users.workspace_id = segment_members.workspace_id and users.bucket = segment_members.bucket
      and users.id = segment_members.user_id
    where segment_members.workspace_id = ${workspaceId} and segment_members.segment_id = ${id}
      and segment_members.added_in <= ${version}
      and (segment_members.removed_in is null or segment_members.removed_in > ${version})
    limit 10`;
  return rows.map(({ customerId }) => customerId);
}
