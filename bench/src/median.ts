/** Returns the median; for an even count the higher of the two middle values. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** Returns the value that `share` of the numbers are below. */
export function quantile(numbers: readonly number[], share: number): number {
  if (numbers.length === 0) throw new RangeError('nothing was measured');
  return [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))]!;
}
