import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followStart } from './follow-start.ts';
import type { FollowedStart } from './follow-start.ts';
import { project } from './place-bundle.ts';

export type NpmProject = {
  path: string;
  /** Runs `npm start -- <parameters>` in it. */
  start(parameters: string[]): FollowedStart;
  remove(): Promise<void>;
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

function startNpm(path: string, parameters: string[]): FollowedStart {
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
  return followStart(child);
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
