/** Buckets that an estimate looks at, of 256. Users are spread over all of them by a hash of their ids. */
export const sampledBuckets: readonly number[] = Array.from({ length: 16 }, (_, bucket) => bucket);

/** 400 found users mean an error of 5 % in two of three estimates (the root of what was found). */
const minFound = 400;

/**
 * How many users there are in all buckets when so many were found in some, to two digits; undefined when those are too few to
 * say.
 */
export function estimateUsers(found: number, { share }: { share: number }): number | undefined {
  if (found < minFound) return undefined;
  return roundToTwoDigits(found / share);
}

/** 415,712 → 420,000. */
export function roundToTwoDigits(count: number): number {
  if (count < 100) return Math.round(count);
  const unit = 10 ** (Math.floor(Math.log10(count)) - 1);
  return Math.round(count / unit) * unit;
}
