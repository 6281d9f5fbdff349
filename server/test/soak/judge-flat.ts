/** What a series of samples did between the first and the last quarter of the time in which it was taken. */
export type Trend = { first: number; last: number; change: number; isFlat: boolean };

/** The part by which the means of the two quarters may differ. */
const maxChange = 0.05;

/**
 * Compares the mean of the first quarter of the samples with the mean of the last. Flat is what differs by at most 5 %,
 * up or down; a count of few things (connections, threads) also when the means differ by less than one whole thing.
 */
export function judgeFlat(samples: readonly number[], { smallest }: { smallest: number }): Trend {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) throw new Error('fewer than four samples cannot be judged');
  const first = mean(samples.slice(0, quarter));
  const last = mean(samples.slice(-quarter));
  const difference = Math.abs(last - first);
  const change = first === 0 ? (last === 0 ? 0 : Number.POSITIVE_INFINITY) : (last - first) / first;
  return { first, last, change, isFlat: difference < smallest || Math.abs(change) <= maxChange };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
