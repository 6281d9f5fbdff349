import { availableParallelism } from 'node:os';
import { citusVersion } from './build-citus.ts';
import { listRefusals } from './count-refusals.ts';
import type { Refusals } from './count-refusals.ts';
import { addUp, listFailures, listSkips, totalsLine } from './report-tests.ts';
import type { TestedFile } from './report-tests.ts';

/** Files that were run together. */
export type Batch = {
  onCluster: readonly TestedFile[];
  /** The same files on one PostgreSQL, if that was asked for. */
  onPlain?: readonly TestedFile[];
};

export type SuiteRun = {
  batches: readonly Batch[];
  workers: number;
  arguments: readonly string[];
  refusals: Refusals;
  /** What was checked out when it began: the report itself changes the folder. */
  commit: string;
  /** When it ended. */
  at: Date;
};

/**
 * What was run, when and where, all batches in numbers, what the cluster refused, each batch, what failed by its cause, and
 * what was skipped. `read-report.ts` reads the first lines.
 */
export function describeRun({ batches, workers, arguments: words, refusals, commit, at }: SuiteRun): string[] {
  const onCluster = batches.flatMap((batch) => batch.onCluster);
  const onPlain = batches.flatMap((batch) => batch.onPlain ?? []);
  const isCompared = batches.some((batch) => batch.onPlain !== undefined);
  return [
    `${at.toISOString().slice(0, 10)}, commit ${commit}`,
    describeCommand(words),
    `PostgreSQL with Citus ${citusVersion}: one coordinator, ${workers} workers, ${availableParallelism()} cores`,
    '',
    `On the cluster:     ${totalsLine(addUp(onCluster))}`,
    ...(isCompared ? [`On one PostgreSQL:  ${totalsLine(addUp(onPlain))}`] : []),
    ...listRefusals(refusals),
    '',
    ...batches.flatMap((batch, place) => describeBatch(batch, `batch ${place + 1}`)),
    ...listFailures(onCluster),
    ...titled('Failed on one PostgreSQL', listFailures(onPlain)),
    ...titled('Skipped on the cluster', listSkips(onCluster)),
    ...titled('Skipped on one PostgreSQL', listSkips(onPlain)),
  ];
}

/** Without the folders of this machine. */
function describeCommand(words: readonly string[]): string {
  const isLeftOut = (word: string, place: number): boolean =>
    ['--source', '--log'].some((name) => word === name || word.startsWith(`${name}=`) || words[place - 1] === name);
  const told = words.filter((word, place) => !isLeftOut(word, place));
  return `${process.env.FULL ? 'FULL=1 ' : ''}npm run test:citus -- ${told.join(' ')}`.trim();
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
