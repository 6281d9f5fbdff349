/**
 * The whole check of this repository, in the order that fails fastest: types, format, lint and unused code in parallel, then
 * every test (layers, units, HTTP, database, browser). One command, on a clone with nothing but Node: `npm test`. `npm run
 * test:all` runs each test once, with what takes longer: properties with all their cases, the environments where people clone,
 * simulations and torture.
 *
 * Options: `--only <step>`, `--write` (format), `--all` (with what takes longer), `--full` (after `npm test`: what takes longer, and
 * nothing else), and after `--` the arguments of the test runner (`npm test -- --only test -- server/test/push`).
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findSystemPackages } from './system-packages.ts';

const root = join(import.meta.dirname, '..');
const keptCache = join(root, 'node_modules', '.cache');
const cache = findCache();
const bin = (name: string, file: string): string => join(root, 'node_modules', name, file);
/** More than the slowest known machine needs; ends a step that hangs. */
const maxStepMinutes = 60;

type Step = { name: string; command: string[]; environment?: Record<string, string> };

const [parameters, testParameters] = splitAtDashes(process.argv.slice(2));
const onlyIndex = parameters.indexOf('--only');
const only = onlyIndex === -1 ? undefined : parameters[onlyIndex + 1];
const isFull = parameters.includes('--full');
const isAll = parameters.includes('--all');
const formatMode = parameters.includes('--write') ? '--write' : '--check';

const cached = (name: string): string => join(cache, name);
/**
 * The native compiler finds the same errors in a quarter of the CPU time. The linter needs the JavaScript compiler. The native
 * compiler is limited to one core, because another step uses the next one. Both fast tools are optional packages: if there is
 * no build for the machine, or npm left it out, the standard tools check the same.
 */
const nativeCompiler = [
  bin('typescript-native', 'bin/tsc'),
  bin('@typescript', `typescript-${process.platform}-${process.arch}`),
];
const compiler = nativeCompiler.every((part) => existsSync(part))
  ? [nativeCompiler[0]!, '--singleThreaded']
  : [bin('typescript', 'bin/tsc')];
/** The format is always Prettier's; with this parser, reading the sources takes half the time. */
const parser = (await isLoadable('@prettier/plugin-oxc')) ? ['--plugin', '@prettier/plugin-oxc'] : [];
const typesOf = (project: string, name: string): string[] => [
  ...[...compiler, '-p', project],
  ...['--incremental', '--tsBuildInfoFile', cached(`${name}.tsbuildinfo`)],
];
/** Steps that only read the sources, the longest first. Each caches its results for files that have not changed. */
const staticSteps: Step[] = [
  {
    name: 'lint',
    command: [
      ...[bin('eslint', 'bin/eslint.js'), '--max-warnings', '0'],
      ...['--cache', '--cache-strategy', 'content', '--cache-location', cached('eslint'), '.'],
    ],
  },
  {
    name: 'format',
    command: [
      ...[bin('prettier', 'bin/prettier.cjs'), formatMode, ...parser, '--log-level', 'warn'],
      ...['--cache', '--cache-strategy', 'content', '--cache-location', cached('prettier/.prettier-cache'), '.'],
    ],
  },
  { name: 'types', command: typesOf('tsconfig.json', 'types') },
  { name: 'unused', command: [bin('knip', 'bin/knip.js'), '--no-progress', '--treat-config-hints-as-errors'] },
  { name: 'console types', command: typesOf('console/tsconfig.json', 'console-types') },
  { name: 'docs types', command: typesOf('scripts/site/browser/tsconfig.json', 'docs-types') },
  { name: 'web types', command: typesOf('sdk/web/tsconfig.json', 'web-types') },
  { name: 'capacitor types', command: typesOf('sdk/capacitor/tsconfig.json', 'capacitor-types') },
  { name: 'react native types', command: typesOf('sdk/react-native/tsconfig.json', 'react-native-types') },
];
// Node loads the configuration itself: by default, Vitest bundles it into a file in node_modules, which may be read-only.
const vitest = [bin('vitest', 'vitest.mjs'), 'run', '--configLoader', 'native', ...testParameters];
/** The workers of the runner and the processes that tests start share the compile cache. */
const compileCache = { NODE_COMPILE_CACHE: cached('node') };
/** They run side by side, the longest first: torture mostly waits for leases and restarts, and the others compute. */
const longSteps: Step[] = [
  {
    name: 'torture',
    command: [
      ...[join(root, 'server/test/torture/run.ts'), '--random-rounds', '30'],
      ...['--devices', '5000', '--rounds', '2'],
    ],
  },
  {
    name: 'simulation',
    command: [join(root, 'server/test/simulation/run.ts'), '--world', 'faults', '--seeds', '200'],
  },
  {
    name: 'simulated calls',
    command: [join(root, 'server/test/simulation/run.ts'), '--world', 'calls', '--seeds', '40'],
  },
  { name: 'places', command: [join(root, 'server/test/start/walk-places.ts')] },
  { name: 'fuzz', command: [join(root, 'server/test/fuzz/run.ts'), '--requests', '5000'] },
];
const full = { ...compileCache, FULL: '1' };
const testSteps: Step[] = isFull
  ? [{ name: 'full properties', command: [...vitest, ...filesThatTryMore()], environment: full }, ...longSteps]
  : isAll
    ? [{ name: 'every test', command: vitest, environment: full }, ...longSteps]
    : [{ name: 'test', command: vitest, environment: compileCache }];

const names = [...staticSteps, ...testSteps].map(({ name }) => name);
if (only !== undefined && !names.includes(only)) {
  process.stderr.write(`check: --only takes one of ${names.join(', ')}\n`);
  process.exit(2);
}
const chosen = (steps: Step[]): Step[] => steps.filter(({ name }) => only === undefined || only === name);

/**
 * In CI, files that failed are run once more, alone, if they are this few. A test that waits for a browser or a process may fail
 * because the machine was busy. What failed only once is named in the last lines: it is a defect of the test or of the product.
 */
const maxFilesAgain = 3;

const startedAt = performance.now();
const times: string[] = [];
const failedOnce: string[] = [];
if (!isFull && !(await runSideBySide(chosen(staticSteps)))) end(1);
const tests = chosen(testSteps);
const wanted = { isFull: isFull || isAll || process.env.FULL === '1' };
const packages = tests.length > 0 ? findSystemPackages(cached('debian'), wanted) : undefined;
for (const step of tests.filter(({ command }) => command[0] === vitest[0])) {
  process.stdout.write(`\n== ${step.name}\n`);
  if (!(await runTests(step, packages))) end(1);
}
const long = tests.filter(({ command }) => command[0] !== vitest[0]);
// One step alone shows its progress.
if (long.length > 1) end((await runSideBySide(long, packages)) ? 0 : 1);
for (const step of long) {
  process.stdout.write(`\n== ${step.name}\n`);
  if (!(await run(step, { isKept: false, packages })).isPassed) end(1);
}
end(0);

async function runTests(step: Step, packages: { PATH: string } | undefined): Promise<boolean> {
  const isRepeatable = process.env.CI !== undefined && step.command[0] === vitest[0];
  const list = cached('failed-tests.json');
  rmSync(list, { force: true });
  const environment = { ...step.environment, ...(isRepeatable && { FAILED_TESTS_FILE: list }) };
  const { isPassed } = await run({ ...step, environment }, { isKept: false, packages });
  if (isPassed || !existsSync(list)) return isPassed;
  const failed = JSON.parse(readFileSync(list, 'utf8')) as string[];
  if (failed.length === 0 || failed.length > maxFilesAgain) return false;
  const again = { ...step, name: `${step.name}, again: ${failed.join(', ')}`, command: [...vitest, ...failed] };
  process.stdout.write(`\n== ${again.name}\n`);
  if (!(await run(again, { isKept: false, packages })).isPassed) return false;
  failedOnce.push(...failed);
  return true;
}

/** Runs steps on all cores, prints each when it has ended, and returns true if all passed. */
async function runSideBySide(steps: Step[], packages?: { PATH: string }): Promise<boolean> {
  const waiting = [...steps];
  let isPassed = true;
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const result = await run(step, { isKept: true, packages });
      process.stdout.write(`\n== ${step.name}\n${result.output}`);
      isPassed &&= result.isPassed;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, availableParallelism()) }, work));
  return isPassed;
}

/** Runs one step; its output is printed immediately, or collected. */
async function run(
  { name, command, environment }: Step,
  { isKept, packages }: { isKept: boolean; packages?: { PATH: string } | undefined },
): Promise<{ isPassed: boolean; output: string }> {
  const begunAt = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...command], {
    cwd: root,
    env: { ...process.env, ...packages, ...environment },
    stdio: isKept ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    timeout: maxStepMinutes * 60_000,
  });
  let output = '';
  child.stdout?.on('data', (piece) => (output += piece));
  child.stderr?.on('data', (piece) => (output += piece));
  const [status, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (code, by) => resolve([code, by]));
  });
  times.push(`${((performance.now() - begunAt) / 1_000).toFixed(1).padStart(7)} s  ${name}`);
  const isPassed = status === 0;
  if (!isPassed) output += `check: ${name} failed${signal === null ? '' : ` (${signal})`}\n`;
  if (!isPassed && !isKept) process.stderr.write(output);
  return { isPassed, output };
}

function end(code: number): never {
  const total = `${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  in all`;
  process.stdout.write(
    `\n${[...times, total, ...failedOnce.map((file) => `failed once, passed alone: ${file}`)].join('\n')}\n`,
  );
  if (cache !== keptCache) rmSync(cache, { recursive: true, force: true });
  process.exit(code);
}

async function isLoadable(packageName: string): Promise<boolean> {
  return import(packageName).then(
    () => true,
    () => false,
  );
}

/** The cache of the project; a temporary one if the project is read-only. */
function findCache(): string {
  try {
    mkdirSync(keptCache, { recursive: true });
    accessSync(keptCache, constants.W_OK);
    return keptCache;
  } catch {
    return mkdtempSync(join(tmpdir(), 'carillon-check-'));
  }
}

/** The test files that run more cases under FULL=1: properties and colours. The others would only repeat `npm test`. */
function filesThatTryMore(): string[] {
  return [join('server', 'test'), join('client', 'test')].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name))
      .filter((path) =>
        /\bpropertyRuns\(|\bexpectAccessible\(|\bdescribeScreen\(|full-test\.ts|process\.env\.FULL/.test(
          readFileSync(join(root, path), 'utf8'),
        ),
      ),
  );
}

function splitAtDashes(words: string[]): [string[], string[]] {
  const at = words.indexOf('--');
  return at === -1 ? [words, []] : [words.slice(0, at), words.slice(at + 1)];
}
