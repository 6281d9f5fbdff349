import type { Queryable } from '../database.ts';

/** Whether the rows of a table lie in the shards of a cluster. Reads the catalogue only. */
export async function isDistributed(
  tx: Queryable,
  table: 'deliveries' | 'segment_members' | 'users',
): Promise<boolean> {
  const [row] = await tx<{ isDistributed: boolean }[]>`select is_distributed(${table}) as "isDistributed"`;
  return row!.isDistributed;
}
