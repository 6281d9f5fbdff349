import { spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullTest } from '../full-test.ts';
import { propertyRuns } from '../property-runs.ts';
import { findProcessesOf, makeNpmProject } from './npm-bundle.ts';
import { followStart } from './follow-start.ts';
import type { FollowedStart } from './follow-start.ts';
import type { NpmProject } from './npm-bundle.ts';

// One project and one data folder for all: each start finds it as the one before left it.
let npm: NpmProject;
let folder: string;
beforeAll(async () => {
  npm = await makeNpmProject();
  folder = join(npm.path, 'own data');
  await mkdir(join(folder, 'postgres'), { recursive: true });
});
afterAll(() => npm.remove());

const start = (): FollowedStart => npm.start(['--data-dir', folder, '--port', '0', '--json']);

/** Settles when something in the folder has such a name. */
async function untilThere(path: string, name: RegExp): Promise<void> {
  const watcher = watch(path);
  const changed = new Promise<void>((resolve) => {
    watcher.on('change', (_kind, file) => {
      if (name.test(String(file))) resolve();
    });
  });
  if (!(await readdir(path)).some((file) => name.test(file))) await changed;
  watcher.close();
}

/** npm ended with 0, or by the signal if it could not know of it; nothing that it started is left. */
async function expectOrderlyEnd(node: FollowedStart, uncaught?: NodeJS.Signals): Promise<void> {
  const { code, signal, text } = await node.ended;
  if (uncaught === undefined || signal !== uncaught) expect([code, signal], text).toEqual([0, null]);
  expect(await findProcessesOf(folder)).toEqual([]);
  expect(existsSync(join(folder, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
  expect((await readdir(join(folder, 'postgres'))).filter((name) => name.includes('new'))).toEqual([]);
}

describe.runIf(existsSync('/proc/self/stat'))('a signal to npm alone, as a process manager sends it', () => {
  test('while initdb makes the files of the database: everything ends, and the next start begins anew', async () => {
    const node = start();
    await untilThere(join(folder, 'postgres'), /^cluster\.\d+\.new$/);
    node.process.kill('SIGTERM');
    await expectOrderlyEnd(node);
    expect(existsSync(join(folder, 'postgres', 'cluster'))).toBe(false);
  });

  fullTest('while the database starts, and once it answers: everything ends (FULL=1)', async () => {
    const first = start();
    await untilThere(join(folder, 'postgres'), /^cluster$/);
    first.process.kill('SIGINT');
    await expectOrderlyEnd(first);

    const second = start();
    const { url } = JSON.parse((await second.line)!) as { url: string };
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    second.process.kill('SIGTERM');
    await expectOrderlyEnd(second);
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  // A start takes two seconds on a quiet machine; in full, the signals are spread over all of it. SIGKILL leaves npm no
  // time to pass anything on, as any signal does in the milliseconds before npm listens for it.
  const times = propertyRuns(40) === 40 ? Array.from({ length: 40 }, (_, index) => index * 75) : [750];
  const signals = ['SIGKILL', 'SIGTERM', 'SIGINT'] as const;
  test('at any time of the start: everything ends', { timeout: 300_000 }, async () => {
    for (const [index, milliseconds] of times.entries()) {
      const node = start();
      await Promise.race([node.line, new Promise((resolve) => setTimeout(resolve, milliseconds))]);
      const signal = signals[index % signals.length]!;
      node.process.kill(signal);
      await expectOrderlyEnd(node, signal);
    }
  });

  test('that has ended npm before the script began: nothing is started', async () => {
    const before = await readdir(npm.path);
    const script = 'exec node bootstrap.js server/src/main.ts --data-dir orphan';
    // The shell ends, as npm would; what it began stays behind, with the pipe, and begins the script then.
    const orphan = spawn('sh', ['-c', `(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; ${script}) & exit 3`], {
      cwd: npm.path,
      env: {
        PATH: process.env.PATH,
        HOME: npm.path,
        npm_lifecycle_script: script,
        npm_config_user_agent: 'npm/11.0.0 node/v24.0.0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(await followStart(orphan).ended).toEqual({ code: 3, signal: null, text: '' });
    expect(await readdir(npm.path)).toEqual(before);
  });
});
