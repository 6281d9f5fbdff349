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
