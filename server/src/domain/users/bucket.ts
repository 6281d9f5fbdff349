import { createHash } from 'node:crypto';

/** Number of buckets every workspace's users are spread over. Changing it means moving every row. */
export const bucketCount = 256;

/**
 * The bucket (0…255) of a user: the first byte of SHA-256 of the `customer_id`, which never changes, so a user never
 * moves and a look-up by `customer_id` touches one shard.
 */
export function bucketOf(customerId: string): number {
  return createHash('sha256').update(customerId, 'utf8').digest()[0]!;
}

/** Where a user is stored: the key of all that belongs to one. */
export type UserKey = { bucket: number; userId: string };

/** Rows by their bucket, the lowest first: the order in which rows of several are locked everywhere. */
export function groupByBucket<Row extends { bucket: number }>(rows: Iterable<Row>): [bucket: number, rows: Row[]][] {
  return [...Map.groupBy(rows, ({ bucket }) => bucket)].toSorted(([one], [other]) => one - other);
}
