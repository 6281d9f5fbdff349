/** How much larger than the average the largest is: 1 is even, 2 twice as large. Nothing stored counts as even. */
export function measureImbalance(sizesBytes: readonly number[]): number {
  const total = sizesBytes.reduce((sum, size) => sum + size, 0);
  return total === 0 ? 1 : (Math.max(...sizesBytes) * sizesBytes.length) / total;
}
