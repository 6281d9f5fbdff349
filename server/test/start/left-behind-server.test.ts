import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  DataFolderInUseError,
  endLeftBehindServer,
  isAlive,
  isStartOf,
} from '../../src/start/embedded-postgres/left-behind-server.ts';
import { makeFolder } from './start-bundle.ts';

type Folder = Awaited<ReturnType<typeof makeFolder>>;
let folder: Folder;
let cluster: string;
let started: number[];
beforeEach(async () => {
  folder = await makeFolder();
  cluster = join(folder.path, 'cluster');
  started = [];
  await mkdir(cluster);
  // A shell by the name of the server: it takes `-D` as the server does, and waits.
  await copyFile('/bin/sh', join(folder.path, 'postgres'));
  execFileSync('mkfifo', [join(folder.path, 'fifo')]);
});
afterEach(async () => {
  for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await folder.remove();
});

const now = (): number => Math.floor(Date.now() / 1000);

/** As PostgreSQL writes it; nobody listens at port 1. */
async function writeLockFile(pid: number, startedAtSeconds: number): Promise<void> {
  const lines = [pid, cluster, startedAtSeconds, 1, '', '127.0.0.1', '  123  456', 'ready'];
  await writeFile(join(cluster, 'postmaster.pid'), `${lines.join('\n')}\n`);
}

/** A process that waits for ever, as a child of this process or of nobody. */
function startProcess({
  program,
  words,
  parent,
}: {
  program: string;
  words: string[];
  parent: 'us' | 'nobody';
}): number {
  const command = [program, '-c', `read line <> '${join(folder.path, 'fifo')}'`, ...words];
  if (parent === 'us') {
    const child = spawn(command[0]!, command.slice(1), { stdio: 'ignore' });
    started.push(child.pid!);
    return child.pid!;
  }
  const quiet = 'echo $$; exec "$@" >/dev/null 2>&1 </dev/null';
  const pid = Number(execFileSync('setsid', ['--fork', '/bin/sh', '-c', quiet, 'sh', ...command]).toString());
  started.push(pid);
  return pid;
}

const look = (): Promise<string | undefined> =>
  endLeftBehindServer({ cluster, password: 'none', stopRequested: new AbortController().signal });

describe.runIf(existsSync('/proc/self/stat'))('the number in a lock file that was left behind', () => {
  test('another program has it now: it gets no signal, and the advice names it and the file', async () => {
    const pid = startProcess({ program: '/bin/sh', words: ['-D', cluster], parent: 'nobody' });
    await writeLockFile(pid, now());
    const advice = await look();
    expect(advice).toContain(`${join(cluster, 'postmaster.pid')} names process ${pid}`);
    expect(isAlive(pid)).toBe(true);
  });

  test('the server of another folder has it now: it gets no signal', async () => {
    const other = join(folder.path, 'other');
    await mkdir(other);
    const pid = startProcess({ program: join(folder.path, 'postgres'), words: ['-D', other], parent: 'nobody' });
    await writeLockFile(pid, now());
    expect(await look()).toContain(`names process ${pid}`);
    expect(isAlive(pid)).toBe(true);
  });

  test('a process that began after the file was written has it now: it gets no signal', async () => {
    const pid = startProcess({ program: join(folder.path, 'postgres'), words: ['-D', cluster], parent: 'nobody' });
    await writeLockFile(pid, now() - 3_600);
    expect(await look()).toContain(`names process ${pid}`);
    expect(isAlive(pid)).toBe(true);
  });

  test('this process itself has it now: it gets no signal', async () => {
    await writeLockFile(process.pid, now());
    expect(await look()).toContain(`names process ${process.pid}`);
  });

  test.each(['0', '-1', '1', '', '12x'])('it is %j: nobody gets a signal', async (pid) => {
    await writeFile(join(cluster, 'postmaster.pid'), `${pid}\n${cluster}\n${now()}\n1\n`);
    expect(await look()).toBeUndefined();
  });

  test('the server that wrote the file has it and its Carillon lives, which may still be starting: the folder is in use', async () => {
    const pid = startProcess({ program: join(folder.path, 'postgres'), words: ['-D', cluster], parent: 'us' });
    await writeLockFile(pid, now());
    await expect(look()).rejects.toThrow(DataFolderInUseError);
    expect(isAlive(pid)).toBe(true);
  });

  test('the server that wrote the file has it and its Carillon is gone: it is ended', async () => {
    const pid = startProcess({ program: join(folder.path, 'postgres'), words: ['-D', cluster], parent: 'nobody' });
    await writeLockFile(pid, now());
    expect(await look()).toBeUndefined();
    expect(isAlive(pid)).toBe(false);
  });
});

test('the start of a server fits its file when it is a minute early at most and never later', () => {
  const file = { pid: 2, startedAtSeconds: 1_000_000, port: 1 };
  expect([-61, -60, 0, 2, 3].map((difference) => isStartOf(file, 1_000_000 + difference))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
});
