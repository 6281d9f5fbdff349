/**
 * The tests on a cluster: PostgreSQL with Citus, one coordinator and two workers, started for the run. The extension is
 * built from its source where it is missing (Debian, root, about ten minutes). Prints how many files and tests passed and
 * failed of each batch and of all, the failed ones by their cause, what was skipped and why, and ends with 1 if any failed.
 *
 * Usage: npm run test:citus -- server/test/push; without files all of them. `--batch 16` is how many files are run at once
 * on one template. `--plain` runs each batch on one PostgreSQL as well, and shows both; `--record` writes all that to
 * docs/reports/cluster-suite.txt, from which `npm run docs:generate` writes the line of docs/cluster.md. `--source
 * /path/to/citus` is a git directory to build from; `--workers 0` puts everything on one node; `--log FILE` writes the logs
 * of all servers; `--serve` only starts the cluster, and prints how to use it. Ends with 1, too, if a statement was refused.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readCommit } from '../read-commit.ts';
import { findCitus, startCitusCluster } from '../rig/citus-cluster.ts';
import type { CitusCluster } from '../rig/citus-cluster.ts';
import { buildCitus } from './build-citus.ts';
import { addUp, clusterReport, describeRun, makeRefusalCounter, totalsLine } from './report.ts';
import type { Batch, Refusals, TestedFile } from './report.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** Three servers and the tests share the cores of one machine, perhaps with others: a test is ended when it hangs, not when it is slow. */
const maxMilliseconds = 600_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    source: { type: 'string' },
    workers: { type: 'string', default: '2' },
    batch: { type: 'string', default: '16' },
    plain: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
    log: { type: 'string' },
  },
});
const workers = Number(values.workers);
const batchFiles = Number(values.batch);
const refuse = (sentence: string): never => {
  process.stderr.write(`test:citus: ${sentence}\n`);
  process.exit(2);
};
if (!/^\d$/.test(values.workers)) refuse('--workers takes a number from 0 to 9');
if (!/^[1-9]\d{0,3}$/.test(values.batch)) refuse('--batch takes a number from 1 to 9999');
// As vitest.config.ts has them; each argument is a part of a path, as for the runner.
const files = globSync('{server,client,console,bench}/test/**/*.test.ts', { cwd: root })
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) refuse(`there are no tests whose path contains ${positionals.join(' or ')}`);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const refusal = findCitus() === undefined ? await buildCitus(values.source, say) : undefined;
const programs = findCitus();
if (programs === undefined) {
  say(
    `Skipped: there is no Citus on this machine, and it could not be built: ${refusal ?? 'no files of it were found'}.`,
  );
  process.exit(0);
}
const commit = readCommit();
const refusals: Refusals = new Map();
const logFile = values.log === undefined ? undefined : createWriteStream(values.log);
const cluster = await startCitusCluster(programs, {
  workers,
  makeReader() {
    const count = makeRefusalCounter(refusals);
    return (line) => {
      count(line);
      logFile?.write(`${line}\n`);
    };
  },
});
try {
  if (values.serve) await serve(cluster);
  else process.exitCode = await runTests(cluster);
} finally {
  await cluster.stop();
}

function environmentOf({ url, workerUrls }: CitusCluster): Record<string, string> {
  return { TEST_DATABASE_URL: url, TEST_CITUS_WORKERS: workerUrls.join(',') };
}

async function serve(served: CitusCluster): Promise<void> {
  for (const [name, value] of Object.entries(environmentOf(served))) say(`export ${name}='${value}'`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}

async function runTests(tested: CitusCluster): Promise<number> {
  const batches: Batch[] = [];
  for (let from = 0; from < files.length; from += batchFiles) {
    const names = files.slice(from, from + batchFiles);
    const onCluster = await runFiles(names, environmentOf(tested));
    batches.push({ onCluster, ...(values.plain && { onPlain: await runFiles(names, {}) }) });
    say(`\nBatch ${batches.length} of ${Math.ceil(files.length / batchFiles)}: ${totalsLine(addUp(onCluster))}`);
  }
  const lines = describe(batches);
  for (const line of lines) say(line);
  // At the end: a test compares docs/cluster.md with the report that is there.
  if (values.record) await writeFile(clusterReport, `${lines.join('\n').trim()}\n`);
  const isGreen = addUp(batches.flatMap(({ onCluster }) => onCluster)).failedFiles === 0 && refusals.size === 0;
  return isGreen ? 0 : 1;
}

function describe(batches: readonly Batch[]): string[] {
  const run = { batches, workers, arguments: process.argv.slice(2), refusals, commit, at: new Date() };
  return ['', ...describeRun(run)];
}

/** Runs files of tests, whose output is shown as it comes, with these variables besides those of this process. */
async function runFiles(files: readonly string[], environment: Record<string, string>): Promise<TestedFile[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-citus-results-'));
  const results = join(folder, 'results.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', `--reporter=${join(import.meta.dirname, 'keep-results.ts')}`];
  const limits = [`--testTimeout=${maxMilliseconds}`, `--hookTimeout=${maxMilliseconds}`];
  try {
    const runner = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        vitest,
        'run',
        '--configLoader',
        'native',
        ...reporters,
        ...limits,
        ...files,
      ],
      { cwd: root, env: { ...process.env, ...environment, TEST_RESULTS: results }, stdio: 'inherit' },
    );
    await once(runner, 'close');
    const text = await readFile(results, 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text) as TestedFile[];
    return files.map((file) => ({ file, fault: 'Error: the run ended without results', tests: [] }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
