import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { citusVersion } from './build-citus.ts';

/** Files that were run together. */
export type Batch = {
  onCluster: readonly TestedFile[];
  /** The same files on one PostgreSQL, if that was asked for. */
  onPlain?: readonly TestedFile[];
};

type SuiteRun = {
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
 * what was skipped. `parseReport` reads the first lines.
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

/** What became of a file of tests. */
export type TestedFile = {
  file: string;
  /** What failed before its tests were known, or beside them. */
  fault?: string;
  tests: { name: string; state: 'passed' | 'failed' | 'skipped'; fault?: string; note?: string }[];
};

type Totals = Record<'files' | 'failedFiles' | 'passed' | 'failed' | 'skipped', number>;

export function addUp(files: readonly TestedFile[]): Totals {
  const tests = files.flatMap((file) => file.tests);
  const count = (wanted: string): number => tests.filter(({ state }) => state === wanted).length;
  return {
    files: files.length,
    failedFiles: files.filter(isFailed).length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
}

export function totalsLine({ files, failedFiles, passed, failed, skipped }: Totals): string {
  return `${files - failedFiles} files passed, ${failedFiles} failed; ${passed} tests passed, ${failed} failed, ${skipped} skipped`;
}

/** What failed, most frequent cause first: one change often mends many tests. */
export function listFailures(files: readonly TestedFile[]): string[] {
  const failed = files.flatMap(({ file, fault, tests }) => [
    ...(fault === undefined ? [] : [{ name: file, cause: causeOf(fault) }]),
    ...tests
      .filter(({ state }) => state === 'failed')
      .map((test) => ({ name: `${file} > ${test.name}`, cause: causeOf(test.fault ?? '') })),
  ]);
  const causes = [...Map.groupBy(failed, ({ cause }) => cause)].sort(
    ([, left], [, right]) => right.length - left.length,
  );
  return causes.flatMap(([cause, names]) => [
    '',
    `${names.length} × ${cause}`,
    ...names.map(({ name }) => `  ${name}`),
  ]);
}

/** One line each, with its reason: the note of the test, or what its name says. */
export function listSkips(files: readonly TestedFile[]): string[] {
  return files.flatMap(({ file, tests }) =>
    tests
      .filter(({ state }) => state === 'skipped')
      .map(({ name, note }) => `  ${file} > ${name}${note === undefined ? '' : `: ${note}`}`),
  );
}

function isFailed({ fault, tests }: TestedFile): boolean {
  return fault !== undefined || tests.some(({ state }) => state === 'failed');
}

/** Without what is different in each test. */
function causeOf(message: string): string {
  return (
    message
      .replaceAll(/\b[0-9a-f]{24}\b/g, '…')
      .replaceAll(/\d+/g, '#')
      .slice(0, 200) || '(no message)'
  );
}

/** What the cluster refused to plan or to carry out: each message with how often, and the beginning of one statement. */
export type Refusals = Map<string, { count: number; statement: string }>;

/**
 * Citus refuses what it has no plan for as a feature that is not supported (0A000). The words are those of refusals under
 * other codes.
 */
const refusing =
  /not supported|only supported|complex join|cannot push down|could not (?:run|create|plan|execute)|FOR UPDATE\/SHARE|repartition|STABLE functions|is not distributed|placements|colocated|partition column/;

/** PostgreSQL's own, which tests provoke: a prepared statement whose table was changed is parsed again by the pool. */
const expected = /^cached plan must not change result type/;

/** Each line of a server's log begins with its time, process and SQLSTATE. */
export const logLinePrefix = '%m [%p] %e ';

/**
 * Reads the log of one server: a test that calls a route sees no more of a refusal than a 500, and work that is tried
 * again, or left out, shows none. Other errors are what tests provoke.
 */
export function makeRefusalCounter(refusals: Refusals): (line: string) => void {
  let last: string | undefined;
  let isInStatement = false;
  return (line) => {
    const [, code, text] = /\] (\w{5}) ERROR:\s+(.*)/.exec(line) ?? [];
    if (text !== undefined) {
      isInStatement = false;
      const isRefused = (code === '0A000' || refusing.test(text)) && !expected.test(text);
      last = isRefused ? text.replaceAll(/\d+/g, '#') : undefined;
      if (last !== undefined)
        refusals.set(last, { statement: '', ...refusals.get(last), count: (refusals.get(last)?.count ?? 0) + 1 });
      return;
    }
    isInStatement ||= line.includes('STATEMENT:');
    const known = last === undefined ? undefined : refusals.get(last);
    const words = line.replace(/^.*STATEMENT:/, '').trim();
    if (isInStatement && known?.statement === '') known.statement = words.slice(0, 160);
  };
}

/** How many statements were refused, then each message, the most frequent first. */
export function listRefusals(refusals: Refusals): string[] {
  const counted = [...refusals].sort(([, left], [, right]) => right.count - left.count);
  const all = counted.reduce((sum, [, { count }]) => sum + count, 0);
  return [
    `Statements refused: ${all}`,
    ...counted.flatMap(([message, { count, statement }]) => [`  ${count} × ${message}`, `      ${statement}`]),
  ];
}

/** The report of the last recorded run of the suite on a cluster. */
export const clusterReport = join(import.meta.dirname, '..', '..', '..', 'docs', 'reports', 'cluster-suite.txt');

/** The first lines of a report, as `describeRun` writes them. */
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
