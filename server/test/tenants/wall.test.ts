import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { getCampaign } from '../../src/app/campaigns/search-campaigns.ts';
import { makeId } from '../../src/domain/ids.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { beyondPolicies, inSnapshot, inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database, Queryable } from '../../src/storage/database.ts';
import { ensureDeliveriesPartition } from '../../src/storage/ledger/deliveries.ts';
import { acrossRoleOf, grantRights, readLoginRights } from '../../src/storage/installation/database-roles.ts';
import { proofSize } from '../full-test.ts';
import { applicationRole } from '../global-setup.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { idBytes } from '../../src/storage/ledger/ledger-encoding.ts';

const at = new Date('2026-03-01T09:00:00Z');
const isCluster = inject('workerUrls') !== null;
let bundle: TestDatabase;
let application: Database;
/** Two workspaces with the same rows. */
let own: string;
let other: string;
const campaignOf = new Map<string, string>();

beforeAll(async () => {
  bundle = await createTestDatabase();
  ({ application } = bundle);
  const { database } = bundle;
  own = await insertTestWorkspace(database, at);
  other = await insertTestWorkspace(database, at);
  await database`select make_day_partition('deliveries', '2026-03-01'), make_day_partition('events', '2026-03-01')`;
  for (const workspaceId of [own, other]) {
    const id = makeId(at);
    campaignOf.set(workspaceId, id);
    await database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      select ${workspaceId}, number, 'u' || number, 'c' || number, '{}', ${at}, ${at} from generate_series(0, 4) as number`;
    await database`
      insert into campaigns (id, workspace_id, name, channel, source, delivery_type, audience, platforms, content, timing,
        status, created_by, created_at, updated_at)
      values (${id}, ${workspaceId}, 'Spring', 'PUSH', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}',
        'SENT', 'API', ${at}, ${at})`;
    await insertSentRun(database, { workspaceId, id: makeId(at), at });
    await database`
      insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
        attempts, sent_at)
      select '2026-03-01', workspaces.number, 0, runs.number, ${idBytes(id)}, ${idBytes(id)}, 'A', 'A', 1, ${at}
      from workspaces join runs on runs.workspace_id = workspaces.id where workspaces.id = ${workspaceId}`;
  }
});
afterAll(() => bundle.drop());

/** Tables and partitions that hold rows of workspaces. */
function listWorkspaceTables(): Promise<readonly { name: string; isGuarded: boolean }[]> {
  return bundle.database`
    select pg_class.oid::regclass::text as name, relrowsecurity and relforcerowsecurity
      and exists (select 1 from pg_policy where polrelid = pg_class.oid and polname = 'own_workspace'
        and pg_get_expr(polqual, polrelid)
          ~ ('^\\(workspace_id = (\\( SELECT )?current_setting\\(''carillon.workspace_id''::text, true\\)'
            || '|^\\(workspace_number = \\(NULLIF\\(current_setting\\(''carillon.workspace_number''::text, true\\)')
        and polcmd = '*' and polpermissive and polroles = '{0}')
      and (select count(*) = 2 from pg_policy where polrelid = pg_class.oid) as "isGuarded"
    from pg_class join pg_attribute on attrelid = pg_class.oid and attname in ('workspace_id', 'workspace_number')
      and not attisdropped
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
    order by name`;
}

describe('the catalogue', () => {
  test('row-level security is enabled and forced on every table that has a workspace_id, and on its partitions', async () => {
    const tables = await listWorkspaceTables();
    expect(tables.filter(({ isGuarded }) => !isGuarded)).toEqual([]);
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['users', 'deliveries', 'deliveries_20260301', 'events_20260301', 'api_keys']),
    );
  });

  test('a new table is missed until it is guarded', async () => {
    await bundle.database`create table new_things (workspace_id text not null)`;
    expect((await listWorkspaceTables()).find(({ name }) => name === 'new_things')!.isGuarded).toBe(false);
    await bundle.database`drop table new_things`;
  });

  test('the application and its role across are no superusers and own nothing, and its login bypasses nothing', async () => {
    const roles = [applicationRole, acrossRoleOf(applicationRole)];
    const rows = await bundle.database`
      select rolsuper as super, rolbypassrls as bypasses, rolcreaterole as "makesRoles", rolcreatedb as "makesDatabases",
        rolreplication as replicates, rolinherit as inherits, rolcanlogin as "signsIn",
        (
          -- Of this database and of what all share: beside it other tests make temporary tables in theirs.
          select count(*) from pg_shdepend where refobjid = pg_roles.oid and deptype = 'o'
            and dbid in (0, (select oid from pg_database where datname = current_database()))
        ) as owned
      from pg_roles where rolname = any(${roles}) order by rolname`;
    const nothing = { super: false, makesRoles: false, makesDatabases: false, replicates: false };
    expect([...rows]).toEqual([
      { ...nothing, bypasses: false, inherits: false, signsIn: true, owned: 0 },
      // It is taken on, never signed in with; by policies alone it would do the same, without what the planner knows.
      { ...nothing, bypasses: true, inherits: true, signsIn: isCluster, owned: 0 },
    ]);
    expect(await readLoginRights(application)).toEqual({
      ...{ role: applicationRole, acrossRole: acrossRoleOf(applicationRole) },
      ...{ fault: undefined, mayMigrate: false },
    });
    expect(await readLoginRights(bundle.database)).toMatchObject({ fault: 'superuser' });
  });
});

describe('a handle of the application', () => {
  test('that is bound to nothing reads no row of any table, and writes none', async () => {
    for (const { name } of await listWorkspaceTables()) {
      const [row] = await application<{ rows: number }[]>`select count(*) as rows from ${application(name)}`;
      expect([name, row!.rows]).toEqual([name, 0]);
    }
    expect((await application`update users set attributes = '{"taken": true}'`).count).toBe(0);
    expect((await application`delete from campaigns`).count).toBe(0);
    await expect(insertUser(application, own)).rejects.toThrow('row-level security');
    await expect(inTransaction(application, (tx) => insertUser(tx, own))).rejects.toThrow('row-level security');
  });

  test('that is bound to one workspace reads and writes that one only, whatever its statements ask for', async () => {
    const bound = application.forWorkspace(own);
    const read = async (on: Queryable) =>
      (await on<{ id: string }[]>`select distinct workspace_id as id from users`).map(({ id }) => id);
    expect(await read(bound)).toEqual([own]);
    expect(await inTransaction(bound, read)).toEqual([own]);
    expect(await inSnapshot(bound, read)).toEqual([own]);
    // The workers of a cluster know the workspace in transactions alone.
    expect(await withSession(bound, read)).toEqual(isCluster ? [] : [own]);
    expect(await withSession(bound, (session) => inTransaction(session, read))).toEqual([own]);
    expect([...(await bound`select 1 from users where workspace_id = ${other}`)]).toEqual([]);
    expect([
      ...(await bound`select 1 from deliveries_20260301
      where workspace_number = (select number from workspaces where id = ${other})`),
    ]).toEqual([]);
    await expect(insertUser(bound, other)).rejects.toThrow('row-level security');
    expect((await bound`update users set workspace_id = ${own} where workspace_id = ${other}`).count).toBe(0);
    await expect(bound`update users set workspace_id = ${other} where id = 'u1'`).rejects.toThrow('row-level security');
  });

  test.each(['', "' or true", 'nobody', '\u0000', '*'])(
    'that is bound to what is no workspace of ours reads nothing: %j',
    async (workspaceId) => {
      expect([...(await application.forWorkspace(workspaceId)`select 1 from users`)]).toEqual([]);
    },
  );

  test('reads the ledger in words, its own rows only and changes none', async () => {
    const read = async (on: Queryable) =>
      (await on`select workspace_id, platform, outcome from readable_deliveries order by 1`).map((row) => ({ ...row }));
    const rowOf = (workspaceId: string) => ({ workspace_id: workspaceId, platform: 'ANDROID', outcome: 'ACCEPTED' });
    expect(await read(application)).toEqual([]);
    expect(await inTransaction(application.forWorkspace(own), read)).toEqual([rowOf(own)]);
    expect(await read(application.acrossWorkspaces())).toEqual([own, other].sort().map(rowOf));
    await expect(application.forWorkspace(own)`delete from readable_deliveries`).rejects.toThrow(
      'cannot delete from view',
    );
  });

  test('that works across workspaces says so, and reads both', async () => {
    const [row] = await application.acrossWorkspaces()<{ workspaces: number }[]>`
      select count(distinct workspace_id) as workspaces from users`;
    expect(row!.workspaces).toBe(2);
  });

  test('finds beyond the policies only in that one piece of a transaction', async () => {
    const count = (on: Queryable) => on`select distinct workspace_id from users`;
    await inTransaction(application.forWorkspace(own), async (tx) => {
      expect((await beyondPolicies(tx, () => count(tx))).length).toBe(2);
      expect((await count(tx)).length).toBe(1);
      const fault = beyondPolicies(tx, () => Promise.reject(new Error('a fault of ours')));
      await expect(fault).rejects.toThrow('a fault of ours');
      expect((await count(tx)).length).toBe(1);
    });
  });

  test('may be dumped in the role across, and in no other', async () => {
    // What pg_dump sets: an error instead of fewer rows.
    const dump = (handle: Database) =>
      inTransaction(handle, async (tx) => {
        await tx`set local row_security = off`;
        const tables = await tx<{ name: string }[]>`
          select pg_class.oid::regclass::text as name from pg_class
          where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S')`;
        for (const { name } of tables) await tx.unsafe(`select * from ${name} limit 0`);
        return tables.length;
      });
    expect(await dump(application.acrossWorkspaces())).toBeGreaterThan(60);
    await expect(dump(application.forWorkspace(own))).rejects.toThrow('would be affected by row-level security');
  });

  test('a use case that is given another workspace’s ids finds nothing', async () => {
    const key = { workspaceId: other, id: campaignOf.get(other)! };
    expect(await getCampaign({ database: application.forWorkspace(other) }, key)).toMatchObject({ name: 'Spring' });
    await expect(getCampaign({ database: application.forWorkspace(own) }, key)).rejects.toThrow();
  });

  test('makes partitions and staging tables by what the owner left it, and nothing else', async () => {
    const across = application.acrossWorkspaces();
    await across`select make_day_partition('deliveries', '2026-03-02')`;
    expect((await listWorkspaceTables()).find(({ name }) => name === 'deliveries_20260302')!.isGuarded).toBe(true);
    expect([...(await across`select 1 from deliveries_20260302`)]).toEqual([]);
    // As a node of an older version makes it.
    await bundle.database`
      create table deliveries_20260303 partition of deliveries for values from ('2026-03-03') to ('2026-03-04')`;
    await expect(across`select 1 from deliveries_20260303`).rejects.toThrow('permission denied');
    await ensureDeliveriesPartition(across, '2026-03-03');
    expect((await listWorkspaceTables()).find(({ name }) => name === 'deliveries_20260303')!.isGuarded).toBe(true);
    expect([...(await across`select 1 from deliveries_20260303`)]).toEqual([]);
    const staging = `segment_lines_${'a'.repeat(24)}_1`;
    await across`select make_segment_staging(${staging})`;
    await across`insert into ${across(staging)} (line, value) values (1, 'c1')`;
    await expect(application.forWorkspace(own)`select 1 from ${application(staging)}`).rejects.toThrow(
      'permission denied',
    );
    await across`select analyze_table(${staging}), drop_segment_staging(${staging})`;
    await expect(across`select make_day_partition('users', '2026-03-02')`).rejects.toThrow('no table of days');
    await expect(across`select make_segment_staging('users')`).rejects.toThrow('no name of a staging table');
    await expect(across`select drop_segment_staging('users')`).rejects.toThrow('no name of a staging table');
    await expect(across`create table mine (a text)`).rejects.toThrow('permission denied');
    await expect(across`alter table users no force row level security`).rejects.toThrow('must be owner');
    await expect(across`drop policy own_workspace on users`).rejects.toThrow('must be owner');
  });
});

test('a role across that may not bypass the policies has one of its own, and an owner that became the application loses his', async () => {
  const { database } = bundle;
  const plain = `plain_${makeId(at)}`;
  const across = acrossRoleOf(plain);
  const url = new URL(bundle.applicationUrl);
  url.username = plain;
  await database.unsafe(`create role ${plain} login password '${applicationRole}'`);
  try {
    await expect(grantRights(database, plain)).rejects.toThrow(`create role "${across}" nologin bypassrls`);
    await database.unsafe(`create role ${across} ${isCluster ? 'login' : 'nologin'}; grant ${across} to ${plain}`);
    // It inherits what it should take on.
    await expect(grantRights(database, plain)).rejects.toThrow(`alter role "${plain}" noinherit; revoke`);
    await database.unsafe(`alter role ${plain} noinherit; revoke ${across} from ${plain}; grant ${across} to ${plain};
      alter policy across_workspaces on users to ${plain}`);
    await grantRights(database, plain);
    // Again it changes nothing.
    await grantRights(database, plain);
    const handle = openDatabase({ url: url.href, connections: 3, name: 'plain', acrossRole: across });
    expect(await readLoginRights(handle)).toMatchObject({ fault: undefined, acrossRole: across });
    const count = async (on: Queryable) => (await on`select distinct workspace_id from users`).length;
    expect([
      await count(handle),
      await count(handle.forWorkspace(own)),
      await count(handle.acrossWorkspaces()),
    ]).toEqual([0, 1, 2]);
    await handle.end();
  } finally {
    await database.unsafe(`drop owned by ${plain}`);
    await database.unsafe(`drop role ${plain}`);
    await database.unsafe(`do $$ begin if exists (select 1 from pg_roles where rolname = '${across}') then
      execute 'drop owned by ${across}'; execute 'drop role ${across}'; end if; end $$`);
  }
});

const statements = proofSize({ short: 400, full: 10_000, large: 100_000 });

test('two workspaces, interleaved on one connection, never meet', { timeout: 600_000 }, async () => {
  const acrossRole = acrossRoleOf(applicationRole);
  // Four tenths of three are one.
  const pool = openDatabase({ url: bundle.applicationUrl, connections: 3, name: 'one connection', acrossRole });
  const handles = [own, other].map((workspaceId) => ({ workspaceId, handle: pool.forWorkspace(workspaceId) }));
  const seen = new Map<string, number>();
  let next = 0;
  async function ask(number: number): Promise<void> {
    const { workspaceId, handle } = handles[number % 2]!;
    const kind = number % 7;
    const read = (on: Queryable) =>
      on<{ id: string; pid: number }[]>`select workspace_id as id, pg_backend_pid() as pid from users`;
    if (kind === 3) return expect((await pool`select 1 from users`).length).toBe(0);
    if (kind === 5) {
      const undone = inTransaction(handle, async (tx) => {
        await read(tx);
        throw new Error('undone');
      });
      return expect(undone).rejects.toThrow('undone');
    }
    if (kind === 6) return expect(handle`select 1 / 0 from users`).rejects.toThrow('division by zero');
    const rows = kind === 1 ? await inTransaction(handle, read) : await read(handle);
    for (const { id, pid } of rows) {
      if (id !== workspaceId) throw new Error(`a row of ${id} for ${workspaceId}`);
      seen.set(`${id} ${pid}`, (seen.get(`${id} ${pid}`) ?? 0) + 1);
    }
  }
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (next < statements) await ask((next += 1));
    }),
  );
  await pool.end();
  // Both on the same one session. A cluster's coordinator opens sessions on its workers as it likes.
  if (isCluster) return;
  expect(seen.size).toBe(2);
  expect(new Set([...seen.keys()].map((key) => key.split(' ')[1])).size).toBe(1);
});

test('a handler reaches its caller’s workspace, and one that forgot who calls reaches none', async () => {
  const callOf = new AsyncLocalStorage<string>();
  const database = application.forWorkspace(() => callOf.getStore());
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock: makeClock(), trustProxy: [] };
  const inWorkspace = <Result>(id: string, work: () => Result): Result => callOf.run(id, work);
  const server = await buildServer({ ...options, inWorkspace } as never, [
    async (scope) => {
      const handler = async () => (await database`select distinct workspace_id as id from users`).map(({ id }) => id);
      const bind = async (request: { boundWorkspaceId: string | undefined; headers: object }) => {
        request.boundWorkspaceId = (request.headers as { caller: string }).caller;
      };
      scope.get('/bound', { onRequest: bind }, handler);
      scope.get('/forgotten', handler);
    },
  ]);
  const answers = await Promise.all(
    Array.from({ length: 40 }, async (_, number) => {
      const caller = number % 2 === 0 ? own : other;
      const { payload } = await server.inject({ url: '/bound', headers: { caller } });
      return [caller, payload];
    }),
  );
  for (const [caller, payload] of answers) expect(JSON.parse(payload!)).toEqual([caller]);
  expect((await server.inject({ url: '/forgotten', headers: { caller: own } })).json()).toEqual([]);
  await server.close();
});

function insertUser(on: Queryable, workspaceId: string) {
  return on`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    values (${workspaceId}, 9, 'intruder', 'intruder', '{}', ${at}, ${at})`;
}
