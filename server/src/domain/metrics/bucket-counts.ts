/** How many values were seen, and how many of them are at most each bound. */
export type BucketCounts = {
  note(value: number): void;
  read(): { count: number; sum: number; buckets: { upTo: number; count: number }[] };
};

/** In seconds: from an answer within the same machine to a provider that hangs. */
export const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
/** Of a batch; the greatest is what one commit may hold. */
export const batchBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500] as const;

/** Counts of a histogram. A value costs a few comparisons and two additions; sums are made when somebody reads. */
export function makeBucketCounts(bounds: readonly number[]): BucketCounts {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    note(value) {
      let place = 0;
      while (place < bounds.length && value > bounds[place]!) place += 1;
      counts[place]! += 1;
      sum += value;
    },
    read() {
      let count = 0;
      const buckets = bounds.map((upTo, place) => ({ upTo, count: (count += counts[place]!) }));
      return { count: count + counts[bounds.length]!, sum, buckets };
    },
  };
}
