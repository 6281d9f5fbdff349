import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { OtherMajorVersionError, makeServerLog } from '../../src/start/embedded-postgres/cluster.ts';
import { startEmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import {
  DataFolderInUseError,
  endLeftBehindServer,
  isAlive,
  isStartOf,
} from '../../src/start/embedded-postgres/left-behind-server.ts';
import { findNamedAccount } from '../../src/start/embedded-postgres/server-account.ts';
import { exitCodes, toStartError } from '../../src/start/start-errors.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeFolder } from './start-bundle.ts';

type Folder = Awaited<ReturnType<typeof makeFolder>>;

describe('the reason of a database', () => {
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
        '(its program: sleep); if no other machine or container uses this folder, remove that file',
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
      expect(
        explain(`${fullDisk}\n2026-11-26 14:16:23 UTC [2] PANIC:  could not locate a valid checkpoint record`),
      ).toBe('PANIC:  could not locate a valid checkpoint record');
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

  async function refuse(): Promise<string> {
    const refusal = await startEmbeddedPostgres({ folder: folder.path }).catch((error: unknown) => error);
    const { code, message } = toStartError(refusal);
    expect(exitCodes[code].code).toBe(12);
    return message;
  }
});

describe('a server that was left behind', () => {
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
});

// In this order: each finds the database as the one before left it.
describe('a database of one’s own, and two roles', () => {
  const name = `prepare_${randomBytes(6).toString('hex')}`;
  const roles = { owner: `${name}_owner`, application: `${name}_app` };
  const masterKey = Buffer.alloc(32, 1).toString('base64');
  let superuser: Database;
  let ownerUrl: string;
  let applicationUrl: string;
  let superuserUrl: string;

  beforeAll(async () => {
    superuser = openDatabase({ url: inject('postgresUrl'), connections: 1, name: 'test databases' });
    await superuser.unsafe(`create role ${roles.owner} login password 'x'`);
    await superuser.unsafe(`create role ${roles.application} login noinherit password 'x'`);
    await superuser.unsafe(`create database ${name} owner ${roles.owner}`);
    const urlOf = (role: string): string => {
      const url = new URL(inject('postgresUrl'));
      url.pathname = `/${name}`;
      if (role !== 'superuser') Object.assign(url, { username: role, password: 'x' });
      return url.href;
    };
    [ownerUrl, applicationUrl, superuserUrl] = [urlOf(roles.owner), urlOf(roles.application), urlOf('superuser')];
  });
  afterAll(async () => {
    await superuser.unsafe(`drop database ${name} with (force)`);
    for (const role of [roles.application, `${roles.application}_across`, roles.owner])
      await superuser.unsafe(`drop role if exists ${role}`);
    await superuser.end();
  });

  test('a node whose role owns nothing refuses one that is not migrated, and says what to do', async () => {
    await expect(open({ DATABASE_URL: applicationUrl })).rejects.toMatchObject({
      code: 'DATABASE_NOT_PREPARED',
      message: expect.stringMatching(
        /^The database lacks \d+ migrations, .* run `carillon migrate` with CARILLON_DATABASE_OWNER_URL/,
      ),
    });
  });

  test('`migrate` without the role that works across says with which statements it is made: 19', async () => {
    const both = { DATABASE_URL: applicationUrl, CARILLON_DATABASE_OWNER_URL: ownerUrl };
    const refused = await runMigrate(both);
    expect(refused.code).toBe(19);
    expect(refused.stderr).toContain(`create role "${roles.application}_across" nologin bypassrls;`);
    const statements = /as an administrator: (.*;)/.exec(refused.stderr)![1]!;
    await superuser.unsafe(statements);

    const done = await runMigrate(both);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toContain(`${roles.application} has the rights it needs`);
    expect((await runMigrate(both)).stdout).not.toContain('applied');
  });

  test('the node then starts without the owner, behind the wall', async () => {
    const installation = await open({ DATABASE_URL: applicationUrl });
    expect(installation.wallFault).toBeUndefined();
    const workspaceId = await insertTestWorkspace(installation.acrossWorkspaces, new Date('2026-03-01T09:00:00Z'));
    await installation.acrossWorkspaces`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      values (${workspaceId}, 1, 'u1', 'c1', '{}', now(), now())`;
    const count = async () => (await installation.callDatabase`select 1 from users`).length;
    expect(await count()).toBe(0);
    expect(await installation.inWorkspace(workspaceId, count)).toBe(1);
    expect(await installation.inWorkspace('another', count)).toBe(0);
    await installation.close();
  });

  test('it refuses a database that an older version migrated, and migrates it when it is given the owner', async () => {
    const database = openDatabase({ url: superuserUrl, connections: 1, name: 'older' });
    const [last] = await database`select * from schema_migrations order by name desc limit 1`;
    await database`delete from schema_migrations where name = ${last!.name as string}`;
    await expect(open({ DATABASE_URL: applicationUrl })).rejects.toMatchObject({ code: 'DATABASE_NOT_PREPARED' });
    await database`insert into schema_migrations ${database(last as { name: string })}`;
    await database.end();
    await (await open({ DATABASE_URL: applicationUrl, CARILLON_DATABASE_OWNER_URL: ownerUrl })).close();
  });

  test('refuses a database of a version before 0.1.0, and says what to do: 26', async () => {
    const database = openDatabase({ url: superuserUrl, connections: 1, name: 'before 0.1.0' });
    await database`insert into schema_migrations values ('000001_foundation.sql', 'x', now())`;
    const both = { DATABASE_URL: applicationUrl, CARILLON_DATABASE_OWNER_URL: ownerUrl };
    for (const environment of [{ DATABASE_URL: applicationUrl }, both])
      await expect(open(environment)).rejects.toMatchObject({ name: 'SchemaTooOldError' });
    const refused = await runMigrate(both);
    expect([refused.code, refused.stdout]).toEqual([26, '']);
    expect(refused.stderr).toContain(
      'A version of Carillon before 0.1.0 made this database, and this version cannot upgrade it. Start with an empty database',
    );
    await database`delete from schema_migrations where name = '000001_foundation.sql'`;
    await database.end();
  });

  test.each([
    ['the owner', () => ownerUrl, `${roles.owner} owns the tables`],
    ['a superuser', () => superuserUrl, 'postgres is a superuser'],
  ])('one URL for both, of %s: it starts, and says that there is no wall', async (_who, url, fault) => {
    const installation = await open({ DATABASE_URL: url() });
    expect(installation.wallFault).toBe(fault);
    expect((await installation.callDatabase`select 1 from users`).length).toBe(1);
    await installation.close();
    // The two roles go on as before.
    const two = await open({ DATABASE_URL: applicationUrl });
    expect((await two.callDatabase`select 1 from users`).length).toBe(0);
    expect((await two.acrossWorkspaces`select 1 from users`).length).toBe(1);
    await two.close();
  });

  test('a login that a policy lets pass is no wall, the start says so, and the next migration puts it right', async () => {
    const database = openDatabase({ url: superuserUrl, connections: 1, name: 'mistaken' });
    await database.unsafe(`alter policy across_workspaces on users to ${roles.application}`);
    await database.end();
    const installation = await open({ DATABASE_URL: applicationUrl });
    expect(installation.wallFault).toContain('has the rights of all workspaces');
    await installation.close();
    const mended = await open({ DATABASE_URL: applicationUrl, CARILLON_DATABASE_OWNER_URL: ownerUrl });
    expect(mended.wallFault).toBeUndefined();
    await mended.close();
  });

  test('the owner’s URL alone is refused', () => {
    expect(() => open({ CARILLON_DATABASE_OWNER_URL: ownerUrl })).toThrow('needs DATABASE_URL');
  });

  function open(environment: Record<string, string>) {
    const config = readConfig({ environment: { CARILLON_MASTER_KEY: masterKey, ...environment }, arguments: [] });
    return openInstallation(config, { clock: makeClock(), log: makeLog({ level: 'silent', pretty: false }) });
  }
});

describe('another major version of PostgreSQL', () => {
  test('files of another major version of PostgreSQL are refused before anything of them is touched', async () => {
    const folder = await makeFolder();
    try {
      const cluster = join(folder.path, 'cluster');
      await mkdir(cluster);
      await writeFile(join(cluster, 'PG_VERSION'), '17\n');
      // Of a server of the other version that may still run: it is not ended, and its lock stays.
      await writeFile(join(cluster, 'postmaster.pid'), `${process.pid}\n`);
      const refusal = await startEmbeddedPostgres({ folder: folder.path }).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(OtherMajorVersionError);
      const { code, message } = toStartError(refusal);
      expect(exitCodes[code].code).toBe(25);
      expect(message).toContain('was made by PostgreSQL 17, and this Carillon brings 18. Nothing was changed.');
      expect((await readdir(cluster)).toSorted()).toEqual(['PG_VERSION', 'postmaster.pid']);
    } finally {
      await folder.remove();
    }
  });
});

async function runMigrate(environment: Record<string, string>) {
  const command = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', command, 'migrate'], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece) => (stdout += piece));
  child.stderr.on('data', (piece) => (stderr += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
