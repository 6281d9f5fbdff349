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
