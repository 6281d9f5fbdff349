import { spawn } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import { findNamedAccount } from '../../src/start/embedded-postgres/server-account.ts';
import { makeServerLog } from '../../src/start/embedded-postgres/cluster.ts';
import { exitCodes, toStartError } from '../../src/start/start-errors.ts';
import { makeFolder } from './start-bundle.ts';

type Folder = Awaited<ReturnType<typeof makeFolder>>;
let folder: Folder;
let cluster: string;
beforeAll(async () => {
  folder = await makeFolder();
  cluster = join(folder.path, 'cluster');
  const server = await startEmbeddedPostgres({ folder: folder.path, settings: { fsync: 'off' } });
  await server.stop();
});
afterAll(() => folder?.remove());

/** As PostgreSQL writes it; nobody listens at port 1. */
const writeLockFile = (pid: number): Promise<void> =>
  writeFile(
    join(cluster, 'postmaster.pid'),
    `${[pid, cluster, Math.floor(Date.now() / 1000), 1, '', '127.0.0.1', '  123  456', 'ready'].join('\n')}\n`,
  );

async function refuse(): Promise<string> {
  const refusal = await startEmbeddedPostgres({ folder: folder.path }).catch((error: unknown) => error);
  const { code, message } = toStartError(refusal);
  expect(exitCodes[code].code).toBe(12);
  return message;
}

describe('a start whose database does not start', () => {
  test('advises to remove the lock file where PostgreSQL refuses it: its number belongs to another program', async () => {
    const account = process.getuid?.() === 0 ? (await findNamedAccount())! : undefined;
    // Of the account of the server, which would take the file of another account's process for a leftover.
    const stranger = spawn('sleep', ['600'], {
      stdio: 'ignore',
      ...(account && { uid: account.uid, gid: account.gid }),
    });
    await writeLockFile(stranger.pid!);
    const message = await refuse();
    stranger.kill('SIGKILL');
    expect(message).toMatch(/^PostgreSQL ended with 1: FATAL: {2}lock file "postmaster.pid" already exists/);
    expect(message).toContain(
      '(its program: sleep); when no other machine or container uses this folder, remove that file',
    );
  });

  test('says PostgreSQL’s own reason first, and advises nothing about a lock file that PostgreSQL took over', async () => {
    // PostgreSQL takes its parent's number for a leftover, as it does that of a process it may not signal.
    await writeLockFile(process.pid);
    const log = join(cluster, 'pg_wal');
    for (const name of await readdir(log)) if (/^[0-9A-F]{24}$/.test(name)) await rm(join(log, name));
    const message = await refuse();
    expect(message).toMatch(/^PostgreSQL ended with 1: PANIC: {2}could not locate a valid checkpoint record/);
    expect(message).not.toContain('postmaster.pid');
  });
});

describe('the log of a database server that ended', () => {
  const fullDisk = `
    2026-11-26 14:16:22.703 UTC [1] LOG:  starting PostgreSQL 18.4 on x86_64-pc-linux-gnu
    2026-11-26 14:16:22.741 UTC [2] LOG:  database system was interrupted; last known up at 2026-11-26 14:16:20 UTC
    2026-11-26 14:16:22.799 UTC [3] FATAL:  the database system is starting up
    2026-11-26 14:16:22.812 UTC [2] FATAL:  could not write to file "pg_wal/xlogtemp.2": No space left on device
    2026-11-26 14:16:22.812 UTC [2] HINT:  Free some.
    2026-11-26 14:16:22.820 UTC [4] LOG:  another line
    2026-11-26 14:16:22.835 UTC [1] LOG:  startup process (PID 2) exited with exit code 1
    2026-11-26 14:16:22.835 UTC [1] LOG:  terminating any other active server processes
    2026-11-26 14:16:22.843 UTC [1] LOG:  shutting down due to startup process failure
    2026-11-26 14:16:22.893 UTC [1] LOG:  database system is shut down`;
  const explain = (text: string): string => {
    const log = makeServerLog();
    for (const line of text.trim().split('\n')) log.add(line.trim());
    return log.explain();
  };

  test('begins with the fatal line and its hint, however many lines follow; a refused client is no reason', () => {
    const many = '\n2026-11-26 14:16:22.9 UTC [1] LOG:  one more line'.repeat(50);
    for (const text of [fullDisk, `${fullDisk}${many}`])
      expect(explain(text)).toBe(
        'FATAL:  could not write to file "pg_wal/xlogtemp.2": No space left on device / HINT:  Free some.',
      );
  });

  test('begins with a panic, also after a fatal line of another process', () => {
    expect(explain(`${fullDisk}\n2026-11-26 14:16:23 UTC [2] PANIC:  could not locate a valid checkpoint record`)).toBe(
      'PANIC:  could not locate a valid checkpoint record',
    );
  });

  test('has the error of initdb before what it does after it', () => {
    const text = `
      initdb: error: could not create directory "a": No space left on device
      initdb: removing contents of data directory "a"`;
    expect(explain(text)).toBe('initdb: error: could not create directory "a": No space left on device');
  });

  test('gives its last lines where no line says that it is fatal', () => {
    expect(explain('one\ntwo\nthree\nfour')).toBe('two / three / four');
    expect(explain('')).toBe('');
  });
});
