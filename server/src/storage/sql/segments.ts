import type { Queryable } from '../pool.ts';

export type Segment = { id: string; name: string; state: 'FILLING' | 'READY' | 'FAILED' | 'ARCHIVED' };

/** A segment by its exact name. Index: segments (workspace_id, name). */
export async function findSegmentByName(
  tx: Queryable,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<Segment | undefined> {
  const [segment] = await tx<Segment[]>`
    select id, name, state from segments where workspace_id = ${workspaceId} and name = ${name}`;
  return segment;
}
