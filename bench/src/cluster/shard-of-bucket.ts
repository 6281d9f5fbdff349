/**
 * The shard (0 … `shards` - 1) in which Citus keeps a bucket: the hash of the number as PostgreSQL computes it
 * (`hashint2`), in equal ranges of its 2³² values. 256 buckets do not fill shards evenly, and this is how unevenly.
 */
export function shardOfBucket(bucket: number, shards: number): number {
  const hash = hashOfSmallint(bucket);
  const width = Math.floor(2 ** 32 / shards);
  return Math.min(shards - 1, Math.floor((hash + 2 ** 31) / width));
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
