/**
 * The tests on a cluster: PostgreSQL with Citus, one coordinator and two workers, started for the run. The extension is
 * built from its source where it is missing (Debian, root, about ten minutes). Prints how many files and tests passed and
 * failed, the failed ones by their cause, and ends with 1 if there are any.
 *
 * Usage: npm run test:citus -- server/test/push; without files all of them. `--source /path/to/citus` is a git directory to
 * build from; `--workers 0` puts everything on one node; `--serve` only starts the cluster, and prints how to use it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeRefusalCounter } from './count-refusals.ts';
import { buildCitus } from './build-citus.ts';
import { findCitus } from './find-citus.ts';
import { reportTests } from './report-tests.ts';
import type { TestResults } from './report-tests.ts';
import { startCitusCluster } from './start-citus-cluster.ts';
import type { CitusCluster } from './start-citus-cluster.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    source: { type: 'string' },
    workers: { type: 'string', default: '2' },
    serve: { type: 'boolean', default: false },
  },
});
const workers = Number(values.workers);
if (!/^\d$/.test(values.workers)) {
  process.stderr.write('test:citus: --workers takes a number from 0 to 9\n');
  process.exit(2);
}
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const refusal = findCitus() === undefined ? await buildCitus(values.source, say) : undefined;
const programs = findCitus();
if (programs === undefined) {
  say(
    `Skipped: there is no Citus on this machine, and it could not be built: ${refusal ?? 'no files of it were found'}.`,
  );
  process.exit(0);
}
const refusals = new Map<string, { count: number; statement: string }>();
const cluster = await startCitusCluster(programs, { workers, onLine: makeRefusalCounter(refusals) });
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
  const folder = await mkdtemp(join(tmpdir(), 'carillon-citus-results-'));
  const results = join(folder, 'results.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
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
        ...positionals,
      ],
      { cwd: root, env: { ...process.env, ...environmentOf(tested) }, stdio: 'inherit' },
    );
    const [code] = (await once(runner, 'close')) as [number | null];
    const text = await readFile(results, 'utf8').catch(() => undefined);
    if (text === undefined) say('The run ended without results.');
    else for (const line of reportTests(JSON.parse(text) as TestResults, root)) say(line);
    say('\nStatements that the cluster refused, in whatever test:');
    const counted = [...refusals].sort(([, left], [, right]) => right.count - left.count);
    for (const [message, { count, statement }] of counted) say(`  ${count} × ${message}\n      ${statement}`);
    return code === 0 && text !== undefined ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
