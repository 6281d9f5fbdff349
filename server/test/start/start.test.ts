import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { toStartError } from '../../src/start/start-errors.ts';
import { inTransaction, openDatabase } from '../../src/storage/database.ts';
import { readLoginRights } from '../../src/storage/installation/database-roles.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { makeFolder, startNode } from './start-bundle.ts';
import type { Node, StartLine } from './start-bundle.ts';

type Folder = Awaited<ReturnType<typeof makeFolder>>;

describe('start', () => {
  let folder: Folder;
  let test1: TestDatabase;
  /** Started with the seed 5 and a key of its own to encrypt with; later starts bring another key, or want production. */
  let demo: TestDatabase;
  const masterKey = Buffer.alloc(32, 1).toString('base64');
  beforeAll(async () => {
    folder = await makeFolder();
    test1 = await createTestDatabase();
    demo = await createTestDatabase();
  });
  afterAll(async () => {
    await test1.drop();
    await demo.drop();
    await folder.remove();
  });

  /** Of the start on the embedded database, with the seed 5. */
  let line: StartLine;

  describe('a start on the embedded database', () => {
    // One cluster for all of them: each finds the folder, and the node if there is one, as the test before left it.
    let own: Folder;
    let parameters: string[];
    let node: Node | undefined;
    /** Of the second start. */
    let again: StartLine;
    beforeAll(async () => {
      own = await makeFolder();
      parameters = ['--data-dir', own.path, '--port', '0', '--json', '--seed', '5'];
    });
    afterAll(async () => {
      node?.process.kill('SIGKILL');
      await own.remove();
    });

    const readDatabasePid = async (): Promise<number> =>
      Number((await readFile(join(own.path, 'postgres', 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);

    test('prints one JSON line when it answers, and SIGTERM ends all of it', async () => {
      const first = startNode(parameters);
      line = JSON.parse((await first.firstLine)!) as StartLine;
      expect(Object.keys(line)).toEqual(['url', 'console', 'workspaceId', 'dbName', 'keys', 'inbox', 'databaseUrl']);
      expect((await fetch(`${line.url}/readyz`)).status).toBe(200);
      expect(Object.keys(line.keys!)).toEqual(['oauth', 'data', 'push', 'campaigns']);
      const databasePid = await readDatabasePid();
      expect(isAlive(databasePid)).toBe(true);
      first.process.kill('SIGTERM');
      const ended = await first.exited;
      expect([ended.code, ended.stderr]).toEqual([0, '']);
      expect(isAlive(databasePid)).toBe(false);
    });

    test('signs the application in as a role that owns nothing, which reaches no row by itself', async () => {
      node = startNode(parameters);
      again = JSON.parse((await node.firstLine)!) as StartLine;
      const application = openDatabase({ url: again.databaseUrl, connections: 1, name: 'application' });
      expect(await readLoginRights(application)).toEqual({
        ...{ role: 'carillon_app', acrossRole: 'carillon_app_across', fault: undefined, mayMigrate: false },
      });
      expect((await application`select 1 from api_keys`).length).toBe(0);
      await application.end();
    });

    test('a second start has the keys of the first, and a third beside it is refused: 14', async () => {
      expect([again.workspaceId, again.keys]).toEqual([line.workspaceId, line.keys]);
      // A key of the first start still works.
      const form = { grant_type: 'client_credentials', client_id: line.workspaceId, client_secret: line.keys!.oauth };
      const token = await fetch(`${again.url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
      expect(token.status).toBe(200);
      const third = await startNode(parameters).exited;
      expect([third.code, third.stderr.split('\n').length]).toEqual([14, 2]);
    });

    test('after kill -9 the next start takes the folder over', async () => {
      node!.process.kill('SIGKILL');
      await node!.exited;
      node = startNode(parameters);
      const after = JSON.parse((await node.firstLine)!) as StartLine;
      // This time nothing of the folder was missing.
      expect([after.workspaceId, after.keys]).toEqual([line.workspaceId, line.keys]);
    });

    test('a database that dies ends the process with a sentence and its exit code', async () => {
      process.kill(await readDatabasePid(), 'SIGKILL');
      const { code, stderr } = await node!.exited;
      expect(code).toBe(12);
      expect(stderr).toContain('the embedded database ended unexpectedly');
    });
  });

  describe('a start on a database of your own', () => {
    /** Starts with the words, reads what is printed up to `end`, and stops it. */
    const readStart = async (words: string[], { environment, end }: { environment: object; end: string }) => {
      const node = startNode(['--port', '0', ...words], { ...environment });
      let text = '';
      for await (const piece of node.process.stdout!) {
        text += piece;
        if (text.includes(end)) break;
      }
      node.process.kill('SIGTERM');
      expect((await node.exited).code).toBe(0);
      return text;
    };

    test('--seed makes ids and keys repeatable; the block for people holds a link, a workspace, keys, a curl and where the push shows', async () => {
      const [printed, block] = await Promise.all([
        readStart(['--json', '--seed', '5'], {
          environment: { DATABASE_URL: demo.url, CARILLON_MASTER_KEY: masterKey },
          end: '\n',
        }),
        readStart(['--seed', '11'], {
          environment: { DATABASE_URL: test1.url, CARILLON_DATA_DIR: folder.path },
          end: "-d '",
        }),
      ]);
      const same = JSON.parse(printed) as StartLine;
      expect([same.workspaceId, same.keys]).toEqual([line.workspaceId, line.keys]);
      for (const word of [
        'Console',
        '#sign-in=',
        'Workspace',
        'Key: push',
        'simulators',
        '/sandbox/inbox',
        'curl http',
      ])
        expect(block).toContain(word);
      const other = /^ *Workspace +(\S+)/m.exec(block)![1];
      const otherKey = /^ *Key: push +(\S+)/m.exec(block)![1];
      expect(other).toMatch(/^\w{5,}$/);
      expect(otherKey).toMatch(/^\w{5,}$/);
      expect([other === line.workspaceId, otherKey === line.keys!.push]).toEqual([false, false]);
    });
  });

  test('the line of a start in production holds neither the password of the database nor the link of the first owner', async () => {
    const production = await createTestDatabase();
    const url = new URL(production.url);
    // Servers that trust who signs in, as those of the test's cluster do, take any.
    url.password ||= 'CANARY';
    const environment = { DATABASE_URL: url.href, CARILLON_MASTER_KEY: Buffer.alloc(32, 3).toString('base64') };
    const node = startNode(['--production', '--port', '0', '--json'], environment);
    await node.firstLine;
    node.process.kill('SIGTERM');
    const { code, stdout } = await node.exited;
    const { username, password } = url;
    expect([code, stdout]).toEqual([0, expect.stringContaining(`"databaseUrl":"postgres://${username}:***@`)]);
    for (const secret of [`:${password}@`, '#first-owner']) expect(stdout).not.toContain(secret);
    const links = await production.database`select 1 from account_links`;
    await production.drop();
    expect(links).toHaveLength(0);
  });

  describe.concurrent('a start that cannot be says one sentence and ends with its own code', () => {
    const refuse = async (parameters: string[], environment: Record<string, string>) => {
      const { code, stderr, stdout } = await startNode(parameters, environment).exited;
      expect(stdout).toBe('');
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stderr).toMatch(/^carillon: .+\n$/);
      return { code, stderr };
    };
    const base = () => ({ DATABASE_URL: test1.url, CARILLON_DATA_DIR: folder.path });

    test('a port that is taken: 10, and the demo is not made, so that its keys are for the start that prints them', async () => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const fresh = await createTestDatabase();
      const refused = await refuse(['--port', String(port)], { ...base(), DATABASE_URL: fresh.url });
      taken.close();
      expect(refused).toEqual({ code: 10, stderr: expect.stringContaining(`Port ${port}`) });
      expect(refused.stderr).toMatch(/such as --port \d+, which is free/);
      expect(await fresh.database`select 1 from workspaces`).toHaveLength(0);
      await fresh.drop();
    });

    test('a folder that cannot be made: 11', async () => {
      await writeFile(join(folder.path, 'file'), '');
      expect((await refuse(['--data-dir', join(folder.path, 'file', 'data')], {})).code).toBe(11);
    });

    test('a database that does not answer: 12', async () => {
      expect((await refuse([], { ...base(), DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x' })).code).toBe(12);
    });

    test('a wrong password: 12, and the password is not shown', async ({ skip }) => {
      skip(inject('workerUrls') !== null, 'the servers of the cluster trust who signs in');
      const url = new URL(test1.url);
      url.password = 'CANARY';
      const refused = await refuse([], { ...base(), DATABASE_URL: url.href });
      expect(refused.code).toBe(12);
      expect(refused.stderr).not.toContain('CANARY');
    });

    test('migrations newer than the code: 13', async () => {
      const newer = await createTestDatabase();
      await newer.database`insert into schema_migrations select (jsonb_populate_record(m, '{"version": 999999, "name": "999999_future"}')).* from schema_migrations m limit 1`;
      const refused = await refuse([], { ...base(), DATABASE_URL: newer.url });
      await newer.drop();
      expect(refused.code).toBe(13);
    });

    // What else is refused, and in which words, is the configuration's own test.
    test.each([
      [['--prot', '1'], {}],
      [[], { CARILLON_MASTER_KEY: 'short' }],
    ] as [string[], Record<string, string>][])('a setting that is none (%j %j): 2', async (parameters, environment) => {
      const refused = await refuse(parameters, { ...base(), ...environment });
      expect(refused.code).toBe(2);
      expect(refused.stderr).not.toContain('short');
    });

    test('another master key than the one used for encryption: 16; production on demo data: 17', async () => {
      const environment = { DATABASE_URL: demo.url, CARILLON_MASTER_KEY: masterKey };
      const otherKey = { ...environment, CARILLON_MASTER_KEY: Buffer.alloc(32, 2).toString('base64') };
      const refused = await Promise.all([refuse([], otherKey), refuse(['--production', '--port', '0'], environment)]);
      expect(refused.map(({ code }) => code)).toEqual([16, 17]);
    });

    test('production without a master key: 16', async () => {
      expect((await refuse(['--production', '--port', '0'], { DATABASE_URL: test1.url })).code).toBe(16);
    });

    test('a folder that may not be written: 11', async (context) => {
      if (process.getuid?.() === 0) return context.skip('root may write everywhere');
      const closed = join(folder.path, 'closed');
      await mkdir(closed, { mode: 0o500 });
      expect((await refuse(['--data-dir', join(closed, 'data')], {})).code).toBe(11);
    });
  });
});

describe('the report of a start', () => {
  test('a node has reported itself before it looks for faults: its own start opens no alert that no node sends', async () => {
    let looked: Promise<Date | null> | undefined;
    const bundle = await startCarillonBundle(
      {},
      {
        async startFront(databaseUrl) {
          const database = openDatabase({ url: databaseUrl, connections: 2, name: 'test' });
          const held = Promise.withResolvers<void>();
          looked = inTransaction(database, async (tx) => {
            await tx`lock table nodes in share mode`;
            held.resolve();
            await until(() => isAnybodyWaiting(database));
            const [row] = await database<{ at: Date | null }[]>`select alerts_checked_at as at from installation`;
            return row!.at;
          });
          await held.promise;
          return { environment: {}, close: () => database.end() };
        },
      },
    );
    try {
      expect(await looked).toBeNull();
      await until(async () => {
        const [row] = await bundle.database<{ at: Date | null }[]>`select alerts_checked_at as at from installation`;
        return row!.at !== null;
      });
      expect(await bundle.database`select what from alerts`).toEqual([]);
    } finally {
      await bundle.stop();
    }
  });
});

describe('errors of a start', () => {
  test.each([
    ['a pooler that cannot sign in at the database', '08P01'],
    ['a database that begins', '57P03'],
    ['a database of another name', '3D000'],
  ])('%s is one that cannot be reached, which a service manager tries again', (_what, code) => {
    const error = Object.assign(new Error('server login has been failing, try again later'), { code });
    const { code: name, message } = toStartError(error);
    expect(name).toBe('DATABASE_UNREACHABLE');
    expect(message).toBe('The database cannot be reached: server login has been failing, try again later.');
  });
});

/** Whether a process id is alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
