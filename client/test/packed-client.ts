import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const client = join(import.meta.dirname, '..');
/** Nothing of it needs a network; npm would ask for news of itself. */
const quiet = ['--offline', '--no-update-notifier', '--loglevel=error'];

/** The client as npm packs it, installed in an empty folder that knows nothing of this repository. */
export async function installPackedClient(): Promise<{
  folder: string;
  /** Paths in the tarball. */
  packed: string[];
  /** Writes a file and runs it with a Node. @returns what it printed */
  runFile(node: string, file: { name: string; text: string }): Promise<string>;
  remove(): Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-packed-'));
  const { stdout } = await run('npm', ['pack', '--json', ...quiet, '--pack-destination', folder], {
    cwd: client,
  });
  // What the build says comes before it.
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[] },
  ];
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--no-audit', '--no-fund', ...quiet, join(folder, filename)], {
    cwd: folder,
  });
  return {
    folder,
    packed: files.map(({ path }) => path),
    async runFile(node, { name, text }) {
      await writeFile(join(folder, name), text);
      // Nothing of the runner's own settings: a condition would lead to sources that are not there.
      const ran = await run(node, [join(folder, name)], { cwd: folder, env: { PATH: process.env.PATH } });
      return ran.stdout.trim();
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
