import type { Fragment, Queryable } from '../database.ts';

/**
 * The condition to join given rows with a table by bucket. If all rows are of one bucket, which is nearly always so, it
 * compares with that bucket directly, and a cluster queries only that bucket's shard.
 */
export function isGivenBucket(
  tx: Queryable,
  { column, given, rows }: { column: Fragment; given: Fragment; rows: readonly { bucket: number }[] },
): Fragment {
  const [first] = rows;
  const isOne = first !== undefined && rows.every(({ bucket }) => bucket === first.bucket);
  return isOne ? tx`${column} = ${first.bucket}` : tx`${column} = ${given}`;
}

/**
 * The condition that a column is one of the buckets. A single bucket is compared directly, so that a cluster queries
 * only its shard.
 */
export function isInBuckets(
  tx: Queryable,
  { column, buckets }: { column: Fragment; buckets: readonly number[] },
): Fragment {
  const different = [...new Set(buckets)];
  return different.length === 1
    ? tx`${column} = ${different[0]!}::smallint`
    : tx`${column} = any(${different}::smallint[])`;
}
