import type { Fragment, Queryable } from '../database.ts';

/** That a column is one of the buckets. Of one it is written out, so that a cluster asks that bucket's shard alone. */
export function isInBuckets(
  tx: Queryable,
  { column, buckets }: { column: Fragment; buckets: readonly number[] },
): Fragment {
  const different = [...new Set(buckets)];
  return different.length === 1
    ? tx`${column} = ${different[0]!}::smallint`
    : tx`${column} = any(${different}::smallint[])`;
}
