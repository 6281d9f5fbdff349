import { bucketCount } from '../../../server/src/domain/users/users.ts';

/**
 * Returns the shard (0 … `shards` - 1) of a bucket. `database distribute` gives each shard equally many buckets, in the order
 * of PostgreSQL's hash of the number (`hashint2`).
 */
export function shardOfBucket(bucket: number, shards: number): number {
  return Math.floor((placeOfBucket.get(bucket)! * shards) / bucketCount);
}

/** PostgreSQL's `hashint2`: Bob Jenkins's final mix of a single word, as a signed number. */
export function hashOfSmallint(value: number): number {
  const start = (0x9e3779b9 + 4 + 3923095) | 0;
  let [a, b, c] = [(start + value) | 0, start, start];
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  c = ((c ^ b) - rotate(b, 24)) | 0;
  return c;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

const bucketsByHash = Array.from({ length: bucketCount }, (_, bucket) => bucket).sort(
  (one, other) => hashOfSmallint(one) - hashOfSmallint(other),
);
const placeOfBucket = new Map(bucketsByHash.map((bucket, place) => [bucket, place]));
