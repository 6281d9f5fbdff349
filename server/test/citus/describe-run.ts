import { readCommit } from '../read-commit.ts';
import { addUp, listFailures, listSkips, totalsLine } from './report-tests.ts';
import type { TestedFile } from './report-tests.ts';

/** Files that were run together. */
export type Batch = {
  onCluster: readonly TestedFile[];
  /** The same files on one PostgreSQL, if that was asked for. */
  onPlain?: readonly TestedFile[];
};

export type SuiteRun = { batches: readonly Batch[]; workers: number; arguments: readonly string[] };

/** What was run and where, each batch and all of them in numbers, what failed by its cause, and what was skipped. */
export function describeRun({ batches, workers, arguments: words }: SuiteRun): string[] {
  const onCluster = batches.flatMap((batch) => batch.onCluster);
  const onPlain = batches.flatMap((batch) => batch.onPlain ?? []);
  const isCompared = batches.some((batch) => batch.onPlain !== undefined);
  const command = `${process.env.FULL ? 'FULL=1 ' : ''}npm run test:citus -- ${words.join(' ')}`.trim();
  return [
    command,
    `commit ${readCommit()}, PostgreSQL with Citus: one coordinator, ${workers} workers`,
    '',
    ...batches.flatMap((batch, place) => describeBatch(batch, `batch ${place + 1}`)),
    '',
    `On the cluster:     ${totalsLine(addUp(onCluster))}`,
    ...(isCompared ? [`On one PostgreSQL:  ${totalsLine(addUp(onPlain))}`] : []),
    ...listFailures(onCluster),
    ...titled('Failed on one PostgreSQL', listFailures(onPlain)),
    ...titled('Skipped on the cluster', listSkips(onCluster)),
    ...titled('Skipped on one PostgreSQL', listSkips(onPlain)),
  ];
}

function describeBatch({ onCluster, onPlain }: Batch, name: string): string[] {
  const line = ({ passed, failed, skipped }: ReturnType<typeof addUp>): string =>
    `${passed} passed, ${failed} failed, ${skipped} skipped`;
  const plain = onPlain === undefined ? '' : `; on one PostgreSQL ${line(addUp(onPlain))}`;
  const files = onCluster.map(({ file }) => file);
  return [`${name}: ${files.length} files, ${files[0]} to ${files.at(-1)}`, `  ${line(addUp(onCluster))}${plain}`];
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}
