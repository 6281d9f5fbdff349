/**
 * Follows docs/quick-start.md as somebody does who has a machine with Node, npm, git and curl, and nothing else: clones the last
 * commit into an empty folder, runs the blocks of the page in their order, and compares what they print with what the page
 * shows. Usage: npm run test:newcomer [-- --keep]; with --keep the folder stays. Ends with 1 at the first difference.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findFreePort } from '../../src/start/start-errors.ts';
import { matchOutput } from '../recipes/match-output.ts';
import { openShell } from '../recipes/open-shell.ts';
import { readRecipe } from '../recipes/read-recipe.ts';
import type { RecipeStep } from '../recipes/read-recipe.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
/** With packages from the registry, on a slow machine. */
const maxStartMs = 900_000;
const maxBlockMs = 120_000;

const folder = await mkdtemp(join(tmpdir(), 'carillon-newcomer-'));
const clone = join(folder, 'carillon');
const port = String(await findFreePort({ host: '127.0.0.1', above: 20_000 }));
const environment = {
  PATH: process.env.PATH!,
  HOME: join(folder, 'home'),
  CARILLON_PORT: port,
  // Where packages come from is the machine's own affair.
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(npm_config_registry|https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name),
    ),
  ),
} as Record<string, string>;
await mkdir(environment.HOME!);
const npmSettings = join(process.env.HOME ?? '', '.npmrc');
if (existsSync(npmSettings)) environment.NPM_CONFIG_USERCONFIG = npmSettings;
// Packages that were downloaded once are held to the same digests.
environment.npm_config_cache = process.env.npm_config_cache ?? join(process.env.HOME ?? folder, '.npm');
execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, clone], { stdio: 'inherit' });

const shell = openShell({ folder: clone, environment, maxMs: maxBlockMs });
let endService: () => Promise<void> = async () => undefined;
try {
  const page = await readFile(join(clone, 'docs', 'quick-start.md'), 'utf8');
  for (const step of readRecipe(page)) await follow(step);
  process.stdout.write('newcomer: all blocks did what the page shows\n');
} catch (error) {
  process.stderr.write(`newcomer: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await shell.close();
  await endService();
  if (values.keep) process.stdout.write(`${folder}\n`);
  else await rm(folder, { recursive: true, force: true });
}

async function follow(step: RecipeStep): Promise<void> {
  if (step.kind === 'by hand') throw new Error(`line ${step.line}: nobody is here`);
  if (step.kind === 'file') return writeFile(join(clone, step.name), step.text);
  const startedAt = performance.now();
  const isStart = step.text === 'npm start\n';
  const printed = isStart ? await startService(step.output!) : await runBlock(step);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(
    `line ${String(step.line).padStart(3)}  ${seconds.padStart(6)} s  ${printed.trim().split('\n').at(-1)}\n`,
  );
}

async function runBlock({ text, line, output = '' }: Extract<RecipeStep, { kind: 'command' }>): Promise<string> {
  const { printed, status } = await shell.run(text);
  if (status !== 0) throw new Error(`line ${line} ended with ${status}:\n${printed}`);
  if (!matchOutput(output, printed)) throw new Error(`line ${line} printed\n${printed}\nand the page shows\n${output}`);
  return printed;
}

/** Runs in a terminal of its own until the end; what the page shows is the beginning of what it prints. */
async function startService(shown: string): Promise<string> {
  const service = spawn('npm', ['start'], { cwd: clone, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => service.once('close', () => resolve()));
  endService = async () => {
    service.kill('SIGTERM');
    await ended;
  };
  const lines = shown
    .replaceAll('8080', port)
    .trim()
    .split('\n')
    .map((line) => line.trim());
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    setTimeout(() => reject(new Error(`not ready after ${maxStartMs} ms:\n${printed}`)), maxStartMs).unref();
    void ended.then(() => reject(new Error(`npm start ended:\n${printed}`)));
    service.stdout.on('data', (piece) => {
      printed += piece;
      if (printed.includes('Send a push')) resolve();
    });
  });
  const printedLines = printed.split('\n').map((line) => line.trim());
  const missing = lines.filter((line) => line !== '' && !printedLines.some((one) => matchOutput(line, one)));
  if (missing.length > 0) throw new Error(`npm start did not print\n${missing.join('\n')}\nbut\n${printed}`);
  return 'ready';
}
