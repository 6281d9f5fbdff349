/**
 * Mutation testing of the folders that a change touches: Stryker changes the code in small ways, and for each change a test
 * should fail. Lists the changes that no test found.
 *
 * Usage: npm run test:mutation -- server/src/fields [--tests server/test/push] [--error-paths]
 *
 * The tests are those that import from the folder of a mutated file; `--tests` adds those whose path contains a text, also several
 * times. A change
 * costs a second or more, with the tests of a database several, so give it one folder or file. `--error-paths` changes nothing
 * but the handling of errors instead (error-paths.ts), which Stryker does not. Ends with 1 if a changed error path was not found.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { installTools } from '../../../client/test/install-tools.ts';
import { refuse } from '../rig/report.ts';
import { tryErrorPaths } from './error-paths.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string', multiple: true, default: [] },
    'error-paths': { type: 'boolean', default: false },
  },
});
const sources = positionals.flatMap((path) =>
  statSync(join(root, path)).isFile() ? [path] : globSync(join(path, '**', '*.ts'), { cwd: root }),
);
if (sources.length === 0) refuse('test:mutation', 'takes folders or files of server/src');
const tests = findTests();
if (tests.length === 0) refuse('test:mutation', 'no test imports from these folders; name some with --tests');
process.stdout.write(`${sources.length} files, ${tests.length} test files\n`);
const config = 'server/test/mutation/vitest-mutation.ts';
process.env.MUTATION_TESTS = JSON.stringify(tests);
if (values['error-paths']) process.exit((await tryErrorPaths({ root, sources, config })) ? 0 : 1);
await runStryker();

function findTests(): string[] {
  const folders = new Set(sources.map((source) => dirname(resolve(root, source))));
  const importsOf = (file: string): string[] =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
      resolve(root, dirname(file), path!),
    );
  return globSync('server/test/**/*.test.ts', { cwd: root }).filter(
    (file) =>
      values.tests.some((part) => file.includes(part)) || importsOf(file).some((path) => folders.has(dirname(path))),
  );
}

async function runStryker(): Promise<void> {
  // The runner's peer is the vitest of this project.
  process.env.npm_config_legacy_peer_deps = 'true';
  const tools = await installTools(join(import.meta.dirname, 'tools'));
  const pathOf = (name: string): string => join(tools, '@stryker-mutator', name, 'dist', 'src', 'index.js');
  const { Stryker } = (await import(pathToFileURL(pathOf('core')).href)) as {
    Stryker: new (options: object) => { runMutationTest(): Promise<unknown> };
  };
  await new Stryker({
    mutate: sources,
    testRunner: 'vitest',
    plugins: [pathOf('vitest-runner')],
    // `related` reads the graph of Vite, which does not load these modules: Node does.
    vitest: { configFile: config, related: false },
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    concurrency: 2,
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    ignorePatterns: ['/.git', '/.ci', '/data', '/bench', '/client-python', 'dist'],
    // Node strips types and checks none.
    disableTypeChecks: false,
    timeoutMS: 30_000,
  }).runMutationTest();
  process.stdout.write(
    `Survived: no test found the change. ${relative(root, import.meta.dirname)}/tools has the versions.\n`,
  );
}
