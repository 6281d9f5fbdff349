import type { Fragment, Queryable } from '../database.ts';

/**
 * For a join of given rows with a table by bucket: where the rows are of one bucket, which is nearly always, it is written
 * out, and a cluster asks that bucket's shard alone.
 */
export function isGivenBucket(
  tx: Queryable,
  { column, given, rows }: { column: Fragment; given: Fragment; rows: readonly { bucket: number }[] },
): Fragment {
  const [first] = rows;
  const isOne = first !== undefined && rows.every(({ bucket }) => bucket === first.bucket);
  return isOne ? tx`${column} = ${first.bucket}` : tx`${column} = ${given}`;
}

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
