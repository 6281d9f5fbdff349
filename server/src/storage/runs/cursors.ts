import type { Database, Queryable } from '../database.ts';

/** How far a run has come: everybody up to a position in a bucket, and in the buckets of its chunk before that. */
export type Cursor = { bucket: number; position: string };

/**
 * Moves the cursor behind the window whose outcomes this transaction stores. It lies in the bucket in which the window
 * ends, beside the outcomes: on a cluster they are stored together or not at all. Index: primary key.
 */
export async function moveCursor(
  tx: Queryable,
  { runId, workspaceId, bucket, position }: Cursor & { runId: string; workspaceId: string },
): Promise<void> {
  await tx`
    insert into run_cursors (run_id, workspace_id, bucket, position)
    values (${runId}, ${workspaceId}, ${bucket}::smallint, ${position})
    on conflict (run_id, bucket) do update set position = excluded.position`;
}

/**
 * Where a chunk goes on: the cursor in the last of its buckets that has one. Read after the claim, which the worker before
 * cannot pass: what it stores is stored by then, or never. Index: primary key.
 */
export async function findCursor(
  database: Database,
  chunk: { runId: string; bucketFrom: number; bucketTo: number },
): Promise<Cursor | undefined> {
  const isOne = chunk.bucketFrom === chunk.bucketTo;
  const isInChunk = isOne
    ? database`bucket = ${chunk.bucketFrom}::smallint`
    : database`bucket between ${chunk.bucketFrom} and ${chunk.bucketTo}`;
  const [cursor] = await database<Cursor[]>`
    select bucket, position from run_cursors
    where run_id = ${chunk.runId} and ${isInChunk}
    order by bucket desc
    limit 1`;
  return cursor;
}
