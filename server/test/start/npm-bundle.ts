import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { project } from './place-bundle.ts';

export type NpmProject = {
  path: string;
  /** Runs `npm start -- <parameters>` in it. */
  start(parameters: string[]): NpmProcess;
  remove(): Promise<void>;
};

export type NpmProcess = {
  process: ChildProcess;
  /** The first line that is JSON; undefined when it ended without one. */
  line: Promise<string | undefined>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; text: string }>;
};

/** The project with our package.json, bootstrap.js and server, installed and built as far as bootstrap.js looks. */
export async function makeNpmProject(): Promise<NpmProject> {
  const path = await mkdtemp(join(tmpdir(), 'carillon-npm-'));
  for (const folder of ['node_modules/.bin', 'console/src', 'console/dist', 'client/src'])
    await mkdir(join(path, folder), { recursive: true });
  for (const name of ['package.json', 'bootstrap.js']) await copyFile(join(project, name), join(path, name));
  await writeFile(join(path, 'package-lock.json'), JSON.stringify({ packages: {} }));
  await writeFile(join(path, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: {} }));
  await writeFile(join(path, 'console', 'dist', 'index.html'), '');
  await symlink(join(project, 'server'), join(path, 'server'));
  await symlink(process.execPath, join(path, 'node_modules', '.bin', 'node'));
  return {
    path,
    start: (parameters) => startNpm(path, parameters),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

function startNpm(path: string, parameters: string[]): NpmProcess {
  const child = spawn('npm', ['start', '--', ...parameters], {
    cwd: path,
    env: {
      PATH: process.env.PATH,
      HOME: path,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      npm_config_update_notifier: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let found: ((line: string | undefined) => void) | undefined;
  const line = new Promise<string | undefined>((resolve) => (found = resolve));
  const take = (piece: Buffer): void => {
    text += piece.toString();
    const json = /^\{.*\}$/m.exec(text)?.[0];
    if (json !== undefined) found!(json);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  // `close`: everything that holds its output has ended as well.
  const ended = once(child, 'close').then(([code, signal]) => {
    found!(undefined);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, text };
  });
  return { process: child, line, ended };
}

/** Command lines of living processes that name the folder. */
export async function findProcessesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (words.includes(folder)) found.push(words.replaceAll('\0', ' '));
  }
  return found;
}
