import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { inSnapshot, inTransaction, keepsSessions, openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database, Queryable, Session } from '../../src/storage/database.ts';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { acrossRoleOf } from '../../src/storage/installation/database-roles.ts';
import { applicationRole } from '../global-setup.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { isPoolerInstalled, startPooler } from '../start-pooler.ts';
import type { Pooler } from '../start-pooler.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

if (!isPoolerInstalled)
  process.stderr.write('pooler.test.ts skips: pgbouncer is missing (Debian: apt install pgbouncer)\n');

const isOnCluster = inject('workerUrls') !== null;
let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

describe.skipIf(!isPoolerInstalled)('the detection of sessions', () => {
  test.each([
    ['session', false, true],
    ['transaction', false, false],
    ['transaction', true, false],
    ['statement', false, false],
  ])('is correct behind a pooler in %s mode (sessions in turn: %s): %s', async (mode, roundRobin, expected) => {
    const pooler = await startPooler(bundle.url, { mode, roundRobin });
    try {
      for (let time = 0; time < 5; time += 1) expect(await keepsSessions(pooler.url)).toBe(expected);
    } finally {
      await pooler.stop();
    }
  });

  test('reports that the database itself keeps sessions', async () => {
    expect(await keepsSessions(bundle.url)).toBe(true);
  });
});

describe.skipIf(!isPoolerInstalled)('a database behind a pooler in transaction mode', () => {
  let pooler: Pooler;
  let database: Database;
  beforeAll(async () => {
    pooler = await startPooler(bundle.url, { mode: 'transaction', roundRobin: true });
    database = openDatabase({
      ...{ url: pooler.url, connections: 8, name: "pooled's" },
      ...{ pooler: 'transaction' as const, directUrl: bundle.url },
    });
    await bundle.database`create table notes (note text primary key)`;
  });
  afterAll(async () => {
    await database?.end();
    await pooler?.stop();
  });

  test('serves many callers with two sessions, and stores everything that it acknowledged', async () => {
    const insert = (tx: Queryable, note: string) => tx`insert into notes values (${note})`;
    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        n % 2 === 0
          ? insert(database, `alone ${n}`)
          : inTransaction(database, async (tx) => {
              await insert(tx, `first ${n}`);
              await insert(tx, `second ${n}`);
            }),
      ),
    );
    expect((await database`select note from notes`).length).toBe(150);
    expect((await database`select 1 from pg_prepared_statements`).length).toBe(0);
  });

  test('separates workspaces that share sessions, and returns no rows without a workspace', async () => {
    const at = new Date('2026-03-01T09:00:00Z');
    const ids = [await insertTestWorkspace(bundle.database, at), await insertTestWorkspace(bundle.database, at)];
    await bundle.database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      select id, 1, 'u1', 'c1', '{}', ${at}, ${at} from workspaces where id = any(${ids})`;
    const front = await startPooler(bundle.applicationUrl, { mode: 'transaction', roundRobin: true });
    const pooled = openDatabase({
      ...{ url: front.url, connections: 10, name: 'walled', pooler: 'transaction' as const },
      ...{ directUrl: bundle.applicationUrl, acrossRole: acrossRoleOf(applicationRole) },
    });
    const handles = ids.map((id) => pooled.forWorkspace(id));
    const find = async (on: Queryable) =>
      (await on<{ id: string }[]>`select workspace_id as id from users`).map(({ id }) => id);
    // The workers of a cluster know the workspace of a session in its transactions only.
    const findInSession = (session: Session) => (isOnCluster ? inTransaction(session, find) : find(session));
    await Promise.all(
      Array.from({ length: 400 }, async (_, number) => {
        const own = number % 2;
        if (number % 9 === 0) return expect(await find(pooled)).toEqual([]);
        if (number % 9 === 1) return expect((await find(pooled.acrossWorkspaces())).sort()).toEqual([...ids].sort());
        if (number % 9 === 2) return expect(await inTransaction(handles[own]!, find)).toEqual([ids[own]]);
        if (number % 9 === 3) return expect(await withSession(handles[own]!, findInSession)).toEqual([ids[own]]);
        return expect(await find(handles[own]!)).toEqual([ids[own]]);
      }),
    );
    await pooled.end();
    await front.stop();
  });

  test('applies settings within a transaction, and leaves none behind', async () => {
    await inTransaction(database, async (tx) => {
      const [row] = await tx`
        select current_setting('application_name') as name, current_setting('idle_in_transaction_session_timeout') as stuck`;
      expect(row).toEqual({ name: "pooled's", stuck: '1min' });
    });
    const [row] = await database`select current_setting('idle_in_transaction_session_timeout') as stuck`;
    expect(row!.stuck).not.toBe('1min');
  });

  test('reads pages in a snapshot, and opens sessions at the database itself', async () => {
    const rows = await inSnapshot(database, async (tx) => {
      let seen = 0;
      for await (const page of tx`select n from generate_series(1, 25) as n`.cursor(10)) seen += page.length;
      return seen;
    });
    expect(rows).toBe(25);
    await withSession(database, async (session) => {
      await session`create temporary table kept (a int)`;
      await Promise.all(Array.from({ length: 10 }, () => database`select 1`));
      expect(await session`copy kept from stdin`.copyFrom(['1\n2\n'])).toBe(2);
      expect((await session`select a from kept`).count).toBe(2);
    });
  });

  const settings = (more: Record<string, string>) =>
    readConfig({
      environment: { CARILLON_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'), ...more },
      arguments: [],
    });
  const open = (more: Record<string, string>) =>
    openInstallation(settings(more), { clock: makeClock(), log: makeLog({ level: 'silent', pretty: false }) });

  test('makes a node without the setting refuse to start, in one sentence', async () => {
    await expect(open({ DATABASE_URL: pooler.url })).rejects.toMatchObject({
      code: 'DATABASE_POOLED',
      message: expect.stringMatching(/^DATABASE_URL goes through a pooler .* CARILLON_DATABASE_DIRECT_URL\.$/),
    });
    const both = { CARILLON_DATABASE_POOLER: 'transaction', CARILLON_DATABASE_DIRECT_URL: pooler.url };
    await expect(open({ DATABASE_URL: pooler.url, ...both })).rejects.toMatchObject({ code: 'DATABASE_POOLED' });
  });

  test('starts and stops a node with the setting', async () => {
    const installation = await open({
      ...{ DATABASE_URL: pooler.url, CARILLON_DATABASE_POOLER: 'transaction' },
      CARILLON_DATABASE_DIRECT_URL: bundle.url,
    });
    expect(installation.sessionUrl).toBe(bundle.url);
    await installation.close();
  });

  test('requires both settings together', () => {
    expect(() => settings({ DATABASE_URL: pooler.url, CARILLON_DATABASE_POOLER: 'transaction' })).toThrow(
      'CARILLON_DATABASE_DIRECT_URL',
    );
    expect(() => settings({ DATABASE_URL: pooler.url, CARILLON_DATABASE_DIRECT_URL: bundle.url })).toThrow(
      'CARILLON_DATABASE_POOLER',
    );
  });
});
