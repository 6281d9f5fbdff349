import { maxError } from './compare-runs.ts';
import type { Comparison } from './compare-runs.ts';

/** Returns a line per figure, and the number of figures that are too far off. */
export function presentComparisons(comparisons: readonly Comparison[]): string[] {
  const lines = comparisons.map(({ run, figure, measured, predicted, error, isClose }) => {
    const numbers = [measured, predicted].map((number) => number.toPrecision(4).padStart(10));
    return `${run}: ${figure.padEnd(18)} measured ${numbers[0]}  predicted ${numbers[1]}  ${signed(error).padStart(7)}${isClose ? '' : '  TOO FAR OFF'}`;
  });
  const far = comparisons.filter(({ isClose }) => !isClose).length;
  return [...lines, `${far} of ${comparisons.length} figures are more than ${maxError * 100} % off`];
}

function signed(error: number): string {
  return `${error >= 0 ? '+' : ''}${(error * 100).toFixed(1)} %`;
}
