import type { Queryable } from '../pool.ts';

export type Reject = { line: number; reason: string };

/** Keeps the first `most` refused lines of an operation's file. */
export async function insertRejects(
  tx: Queryable,
  { operationId, rejects, most }: { operationId: string; rejects: readonly Reject[]; most: number },
): Promise<void> {
  if (rejects.length === 0) return;
  await tx`
    insert into segment_rejects (operation_id, line, reason)
    select ${operationId}, reject.line, reject.reason
    from unnest(${rejects.map(({ line }) => line)}::int[], ${rejects.map(({ reason }) => reason)}::text[])
      as reject (line, reason)
    order by reject.line limit ${most}
    on conflict (operation_id, line) do nothing`;
}

/** In the order of the file. Index: primary key. */
export async function listRejects(
  tx: Queryable,
  { workspaceId, operationId, limit }: { workspaceId: string; operationId: string; limit: number },
): Promise<Reject[]> {
  return tx<Reject[]>`
    select segment_rejects.line, segment_rejects.reason
    from segment_rejects
    join segment_operations on segment_operations.id = segment_rejects.operation_id
    where segment_rejects.operation_id = ${operationId} and segment_operations.workspace_id = ${workspaceId}
    order by segment_rejects.line limit ${limit}`;
}
