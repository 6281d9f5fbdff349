/** The middle of what was measured; of an even number the higher of both. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** What `share` of the numbers are below of. */
export function quantile(numbers: readonly number[], share: number): number {
  if (numbers.length === 0) throw new RangeError('nothing was measured');
  return [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))]!;
}
