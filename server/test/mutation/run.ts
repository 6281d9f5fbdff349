/**
 * Mutation testing: Stryker changes the code in thousands of small ways, and for each the tests should fail. Prints the share that
 * they found ("score") per folder and file, and every change that none found.
 *
 * Usage: npm run test:mutation -- [server/src/domain/timing …] [--processes 2] [--sample 1] [--loading] [--record]
 *
 * Without a path all of `server/src/domain`; one folder after the other, each with the tests that reach it. `--loading` also tries changes of what runs while a file is loaded (tables, constants),
 * each in a process of its own, seconds each. `--sample 4` tries one change of four. `--record` writes docs/reports/mutation.txt, or
 * the file of that name that `--as engine` gives (mutation-engine.txt).
 */
import { existsSync, globSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { installTools } from '../../../client/test/install-tools.ts';
import { startTestServer } from '../global-setup.ts';
import { startReport } from '../rig/report.ts';
import { isInSample } from './assignment.ts';
import { findTests } from './find-tests.ts';
import type { MutationPlan } from './in-place-runner.ts';
import { sayMutants } from './say-mutants.ts';
import type { MutantResult } from './stryker-shapes.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    processes: { type: 'string', default: '2' },
    sample: { type: 'string', default: '1' },
    as: { type: 'string' },
    loading: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const sample = Number(values.sample);
if (!Number.isSafeInteger(sample) || sample < 1 || (values.as !== undefined && !values.record)) {
  process.stderr.write('test:mutation: --sample takes a whole number from 1, and --as names what --record writes\n');
  process.exit(2);
}
const paths = positionals.length > 0 ? positionals : ['server/src/domain'];
const groups = paths.flatMap(splitFolder).map((group) => {
  const sources = group.flatMap((path) => (statSync(path).isFile() ? [path] : globSync(join(path, '**', '*.ts'))));
  return { sources, ...findTests(sources) };
});
const server = groups.some(({ needsDatabase }) => needsDatabase) ? await startTestServer() : undefined;
const root = join(import.meta.dirname, '..', '..', '..');
const remarks = join(root, 'node_modules', '.cache', 'mutation-remarks.txt');
const report = startReport('test:mutation');
try {
  const tools = await installTools(join(import.meta.dirname, 'tools'));
  const { Stryker } = (await import(
    pathToFileURL(join(tools, '@stryker-mutator', 'core', 'dist', 'src', 'index.js')).href
  )) as {
    Stryker: new (options: Record<string, unknown>) => { runMutationTest(): Promise<MutantResult[]> };
  };
  const results: MutantResult[] = [];
  const said: string[] = [];
  for (const { sources, tests } of groups) {
    const plan: MutationPlan = {
      tests,
      database: server?.url ?? '',
      processes: Number(values.processes),
      sample,
      remarks,
    };
    process.env.MUTATION_PLAN = JSON.stringify(plan);
    const found = await new Stryker({
      mutate: sources,
      testRunner: 'in-place',
      plugins: [join(import.meta.dirname, 'in-place-runner.ts')],
      coverageAnalysis: 'perTest',
      ignoreStatic: !values.loading,
      concurrency: plan.processes,
      reporters: ['progress-append-only'],
      tempDirName: '.stryker-tmp',
      ignorePatterns: ['/console/dist', '/bench', '/client-python', '/data', '/.git', '/.ci', '/docs/dist', 'dist'],
      // The runner has limits of its own.
      timeoutMS: 600_000,
      dryRunTimeoutMinutes: 240,
    }).runMutationTest();
    results.push(...found.filter(({ id }) => isInSample(id, sample)));
    if (existsSync(remarks)) said.push(readFileSync(remarks, 'utf8').trim());
  }
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(results));
  if (sample > 1) report.say(`One of ${sample} changes was tried, those whose number ${sample} divides`);
  sayMutants(results, { say: report.say, testFiles: new Set(groups.flatMap(({ tests }) => Object.keys(tests))).size });
  const remarked = said.filter((text) => text !== '');
  if (remarked.length > 0) report.say(`\nRemarks of the runner\n${remarked.join('\n')}`);
} finally {
  await server?.stop();
}
if (values.record)
  process.stdout.write(
    `\nwritten to ${await report.write(`mutation${values.as === undefined ? '' : `-${values.as}`}.txt`)}\n`,
  );

/** A layer is more than one run of all its tests bears: its folders one by one, and all that is small in it together. */
function splitFolder(path: string): string[][] {
  if (statSync(path).isFile()) return [[path]];
  const all = readdirSync(path).map((name) => join(path, name));
  const isLarge = (entry: string): boolean => globSync(join(entry, '**', '*.ts')).length > 2;
  const small = all.filter((entry) => !isLarge(entry));
  const groups = all.filter(isLarge).flatMap(splitFolder);
  return small.length > 0 ? [small, ...groups] : groups;
}
