import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

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

function open(environment: Record<string, string>) {
  const config = readConfig({ environment: { CARILLON_MASTER_KEY: masterKey, ...environment }, arguments: [] });
  return openInstallation(config, { clock: makeClock(), log: makeLog({ level: 'silent', pretty: false }) });
}

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

// In this order: each finds the database as the one before left it.
describe('a database of one’s own, and two roles', () => {
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
    expect(done.stdout).toContain(`${roles.application} has its rights`);
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
});
