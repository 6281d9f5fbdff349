import { readClusterValues } from './cluster-values.ts';
import type { ValuesFile } from './cluster-values.ts';
import { compareRuns } from './compare-runs.ts';
import { presentComparisons } from './present-comparisons.ts';
import { recordRuns, validationRuns } from './record-runs.ts';
import { openSmallRuns } from './small-runs.ts';

/**
 * Sends small campaigns here and compares each with its simulation from the recorded values, which must be from this machine.
 *
 * @returns true if every figure is close
 */
export async function validateCluster(file: ValuesFile, say: (line: string) => void): Promise<boolean> {
  const values = readClusterValues(file.values, new Map());
  say(`values of ${file.measuredAt}, ${file.machine}`);
  const runs = await openSmallRuns();
  try {
    const comparisons = compareRuns(await recordRuns(runs, validationRuns()), values);
    for (const line of presentComparisons(comparisons)) say(line);
    return comparisons.every(({ isClose }) => isClose);
  } finally {
    await runs.stop();
  }
}
