import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestedFile } from './report-tests.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** Three servers and the tests share the cores of one machine, perhaps with others: a test is ended when it hangs, not when it is slow. */
const maxMilliseconds = 600_000;

/** Runs files of tests, whose output is shown as it comes, with these variables besides those of this process. */
export async function runFiles(files: readonly string[], environment: Record<string, string>): Promise<TestedFile[]> {
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
