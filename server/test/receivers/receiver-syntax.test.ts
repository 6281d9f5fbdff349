import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';
import { readRepositoryFiles } from '../repository-files.ts';
import type { FoundFaults } from './find-syntax-faults.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');
const languages = { '.kt': 'kotlin', '.swift': 'swift' } as const;

async function parse(modules: string, extension: keyof typeof languages): Promise<FoundFaults['files']> {
  const files = readRepositoryFiles([extension]).filter(({ path }) => path.startsWith('receivers/'));
  const script = join(import.meta.dirname, 'find-syntax-faults.ts');
  const { stdout } = await run(
    process.execPath,
    [
      ...['--liftoff-only', '--disable-warning=ExperimentalWarning', script],
      ...[modules, languages[extension], ...files.map(({ path }) => path)],
    ],
    { cwd: root, timeout: 120_000 },
  );
  const found = JSON.parse(stdout) as FoundFaults;
  expect(found.ofNonsense).not.toEqual([]);
  return found.files;
}

test.skipIf(process.env.FULL !== '1')(
  'the receivers of Android and iOS are Kotlin and Swift without a fault of syntax (FULL=1)',
  async () => {
    const modules = await installTools(join(import.meta.dirname, 'tools'));
    const read = [...(await parse(modules, '.kt')), ...(await parse(modules, '.swift'))];
    expect(read.length).toBeGreaterThan(15);
    expect(read.filter(({ faults }) => faults.length > 0)).toEqual([]);
  },
  600_000,
);
