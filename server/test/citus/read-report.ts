import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The report of the last recorded run of the suite on a cluster. */
export const clusterReport = join(import.meta.dirname, '..', '..', '..', 'docs', 'reports', 'cluster-suite.txt');

/** What a report says first, as `describe-run.ts` writes it. */
export type ClusterRun = { date: string; commit: string; command: string; totals: string; refused: number };

/** @throws Error when it is not the report of a run */
export async function readReport(path = clusterReport): Promise<ClusterRun> {
  return parseReport(await readFile(path, 'utf8'));
}

export function parseReport(text: string): ClusterRun {
  const found =
    /^(?<date>\d{4}-\d\d-\d\d), commit (?<commit>[^\n]+)\n(?<command>[^\n]+)\n[^]*?^On the cluster: +(?<totals>[^\n]+)\n[^]*?^Statements refused: (?<refused>\d+)$/m.exec(
      text,
    );
  if (!found?.groups) throw new Error('no report of a run of the suite on a cluster (npm run test:citus -- --record)');
  const { date, commit, command, totals, refused } = found.groups as Record<keyof ClusterRun, string>;
  return { date, commit, command, totals, refused: Number(refused) };
}
