import { execFile } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isRoot, project } from './place-bundle.ts';

const locked = {
  '': { name: 'clone' },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/other-platform': { version: '1.0.0', integrity: 'sha512-b', optional: true },
};
const installed = { 'node_modules/a': locked['node_modules/a'] };

let root: string | undefined;
afterEach(async () => {
  if (!root) return;
  await setMode(root, 0o755);
  await rm(root, { recursive: true, force: true });
});

// What a built console is made of.
const sources = ['console/src/page.ts', 'console/vite.config.ts', 'client/src/client.ts', 'package-lock.json'];

type Clone = { installed: object; built?: 'before the sources' | 'after the sources'; changed?: string };

/** A project of a few files with our bootstrap.js, whose lockfile is newer than what is installed. */
async function makeClone(clone: Clone): Promise<string> {
  root = await mkdtemp(join(tmpdir(), 'carillon-bootstrap-'));
  const files = {
    'script.mjs': 'console.log("the script ran")',
    'console/src/page.ts': '',
    'console/vite.config.ts': '',
    'client/src/client.ts': '',
    'package-lock.json': JSON.stringify({ packages: locked }),
    'node_modules/.package-lock.json': JSON.stringify({ packages: clone.installed }),
    'node_modules/vite/bin/vite.js': 'console.error(`the console was built for ${process.env.NODE_ENV}`)',
    // Found before the real one, so that nothing is installed.
    'bin/npm': '#!/bin/sh\necho npm was called "$@" >&2\nexit 3\n',
    ...(clone.built ? { 'console/dist/index.html': '' } : {}),
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  await chmod(join(root, 'bin', 'npm'), 0o755);
  await copyFile(join(project, 'bootstrap.js'), join(root, 'bootstrap.js'));
  const at = (minutes: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minutes));
  const set = (name: string, minutes: number): Promise<void> => utimes(join(root!, name), at(minutes), at(minutes));
  await set('node_modules/.package-lock.json', 1);
  for (const name of sources) await set(name, name === clone.changed ? 4 : 2);
  if (clone.built) await set('console/dist/index.html', clone.built === 'before the sources' ? 1 : 3);
  return root;
}

/** Of the folders that an installation or a build would write. */
async function setMode(folder: string, mode: number): Promise<void> {
  for (const name of ['', 'node_modules', 'console', 'console/dist'])
    await chmod(join(folder, name), mode).catch(() => {});
}

type Run = { script?: string; stop?: AbortSignal };

function runBootstrap(
  folder: string,
  { script = 'script.mjs', stop }: Run = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  // Root without its power over files is refused as its owner would be.
  const before = isRoot ? ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'] : [];
  const [file, ...words] = [...before, process.execPath, join(folder, 'bootstrap.js'), script];
  const environment = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, NODE_ENV: 'development' };
  return new Promise((resolve) => {
    const child = execFile(file!, words, { cwd: folder, env: environment, timeout: 20_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode!, stdout, stderr }),
    );
    stop?.addEventListener('abort', () => child.kill('SIGTERM'));
  });
}

test('a checkout whose packages are those of the lockfile is not installed again, whatever the times of its files', async () => {
  const ran = await runBootstrap(await makeClone({ installed, built: 'after the sources' }));
  expect(ran).toEqual({ code: 0, stdout: 'the script ran\n', stderr: '' });
});

test.each([
  ['another version', { 'node_modules/a': { version: '0.9.0', integrity: 'sha512-a' } }],
  ['other content', { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-x' } }],
  ['nothing', {}],
])('installed is %s of a package: npm ci is called', async (_name, other) => {
  const ran = await runBootstrap(await makeClone({ installed: other, built: 'after the sources' }));
  expect([ran.code, ran.stdout]).toEqual([3, '']);
  expect(ran.stderr).toContain('npm was called ci');
});

test('what must be installed and cannot be written is one sentence and exit code 11', async () => {
  const folder = await makeClone({ installed: {} });
  await setMode(folder, 0o555);
  const ran = await runBootstrap(folder);
  expect([ran.code, ran.stdout]).toEqual([11, '']);
  expect(ran.stderr).toMatch(/^carillon: the dependencies are missing .* cannot be written \(EACCES\); .*\n$/);
});

test.each([
  ['server/src/main.ts', 0],
  ['script.mjs', 143],
])('a signal while packages are installed for %s ends npm and what it started, with code %i', async (script, code) => {
  const folder = await makeClone({ installed: {} });
  const pids = join(folder, 'pids');
  await writeFile(
    join(folder, 'bin', 'npm'),
    `#!/bin/sh\nsleep 1000 &\necho $$ $! >${pids}.new\nmv ${pids}.new ${pids}\nwait\n`,
  );
  const signalled = new AbortController();
  const ended = runBootstrap(folder, { script, stop: signalled.signal });
  const watcher = watch(folder);
  await new Promise<void>((resolve) => watcher.on('change', () => existsSync(pids) && resolve()));
  watcher.close();
  signalled.abort();
  expect(await ended).toMatchObject({ code, stdout: '' });
  for (const pid of (await readFile(pids, 'utf8')).trim().split(' '))
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});

test.each(sources)('a console older than %s is built again, for production whatever the caller is', async (changed) => {
  const ran = await runBootstrap(await makeClone({ installed, built: 'after the sources', changed }));
  const stderr = 'carillon: building the console (once, about ten seconds) …\nthe console was built for production\n';
  expect(ran).toEqual({ code: 0, stdout: 'the script ran\n', stderr });
});

test.each([
  ['before the sources', 'the service runs with the one that is there'],
  [undefined, 'the service runs without it'],
] as const)('a console that was built %s and cannot be written is said, and the service runs', async (built, said) => {
  const folder = await makeClone({ installed, ...(built ? { built } : {}) });
  await setMode(folder, 0o555);
  const ran = await runBootstrap(folder);
  expect([ran.code, ran.stdout]).toEqual([0, 'the script ran\n']);
  expect(ran.stderr).toMatch(/^carillon: the console is .*\n$/);
  expect(ran.stderr).toContain(said);
});
