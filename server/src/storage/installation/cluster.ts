import type { Queryable } from '../database.ts';

/** Whether tables may lie on several machines: the extension that distributes them is there. Reads the catalog. */
export async function isCluster(tx: Queryable): Promise<boolean> {
  const [row] = await tx<{ is: boolean }[]>`select to_regclass('pg_catalog.pg_dist_partition') is not null as is`;
  return row!.is;
}
