import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeStandbyHealth, maxLagSeconds } from '../../src/app/system/standby.ts';
import { readConfig } from '../../src/start/config.ts';
import { startEmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import type { EmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import { startCarillon } from '../../src/start/node/start-carillon.ts';
import type { Carillon } from '../../src/start/node/start-carillon.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { until } from '../carillon-bundle.ts';
import { startStandby } from './start-standby.ts';
import type { StandbyServer } from './start-standby.ts';

let folder: string;
let primary: EmbeddedPostgres;
let database: Database;
let standby: StandbyServer;
let carillon: Carillon;
let headers: { cookie: string };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-standby-'));
  const folders = { folder: join(folder, 'primary'), standbyFolder: join(folder, 'standby') };
  await mkdir(folders.standbyFolder, { mode: 0o711 });
  primary = await startEmbeddedPostgres({ folder: folders.folder, settings: { fsync: 'off', shared_buffers: '16MB' } });
  const superuserUrl = Object.assign(new URL(primary.superuserUrl), { pathname: new URL(primary.url).pathname }).href;
  database = openDatabase({ url: superuserUrl, connections: 1, name: 'test' });
  standby = await startStandby(primary.superuserUrl, folders);
  const environment = {
    ...{ DATABASE_URL: primary.url, CARILLON_DATABASE_OWNER_URL: primary.ownerUrl },
    ...{ CARILLON_DATABASE_STANDBY_URL: standby.urlOf(primary.url), CARILLON_DATA_DIR: join(folder, 'node') },
    ...{ CARILLON_DATABASE_CONNECTIONS: '6', CARILLON_LOG_LEVEL: 'silent' },
  };
  carillon = await startCarillon(readConfig({ environment, arguments: ['--port', '0'] }));
  const code = carillon.block.console.split('#sign-in=')[1];
  const session = await fetch(`${carillon.block.url}/console/api/session`, {
    ...{ method: 'POST', body: JSON.stringify({ code }), headers: { 'content-type': 'application/json' } },
  });
  headers = { cookie: session.headers.get('set-cookie')!.split(';')[0]! };
}, 120_000);
afterAll(async () => {
  await carillon?.stop();
  await standby?.stop();
  await database?.end();
  await primary?.stop();
  await rm(folder, { recursive: true });
});

const calls = () => `${carillon.block.url}/console/api/calls`;
const path = '/v1/customers/export';

/** Ids of the calls of `path` that the log shows. */
async function listCalls(): Promise<string[]> {
  const answer = await fetch(`${calls()}?workspaceId=${carillon.block.workspaceId}&path=${path}`, { headers });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { calls: { id: string }[] }).calls.map(({ id }) => id);
}

/** Makes one, which is in the log of the primary when this resolves; its id there. */
async function call(): Promise<string> {
  const read = async () =>
    (await database<{ id: string }[]>`select id from api_log where path = ${path}`).map(({ id }) => id);
  const before = new Set(await read());
  const { workspaceId, keys } = carillon.block;
  const authorization = `Basic ${Buffer.from(`${workspaceId}:${keys!.data}`).toString('base64')}`;
  const posted = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' };
  await fetch(`${carillon.block.url}${path}`, posted);
  let made: string | undefined;
  await until(async () => (made = (await read()).find((id) => !before.has(id))) !== undefined);
  return made!;
}

/** What is read for a workspace is read in a transaction; a look at the standby is not. */
const isReadThere = async (): Promise<boolean> =>
  (
    await standby.superuser<{ count: number }[]>`
    select count(*)::int from pg_stat_activity where application_name = 'carillon' and query = 'commit'`
  )[0]!.count > 0;

test('lists are read from a standby that keeps up; what it does not have yet is found on the primary by its id', async () => {
  const first = await call();
  await until(async () => (await listCalls()).includes(first) && (await isReadThere()));
  await standby.superuser`select pg_wal_replay_pause()`;
  const second = await call();
  expect(await listCalls()).not.toContain(second);
  const read = await fetch(`${calls()}/${second}?workspaceId=${carillon.block.workspaceId}`, { headers });
  expect([read.status, await read.json()]).toMatchObject([200, { call: { id: second, path } }]);
  await standby.superuser`select pg_wal_replay_resume()`;
  await until(async () => (await listCalls()).includes(second));
});

test('no list fails when the standby ends: the primary answers', async () => {
  const third = await call();
  await standby.stop();
  expect(await listCalls()).toContain(third);
});

test('a standby is asked when it was looked at and is not far behind, and after a fault not before the next look', () => {
  const health = makeStandbyHealth();
  expect(health.isUsable()).toBe(false);
  const well = { isStandby: true, lagSeconds: maxLagSeconds };
  expect([health.note(well), health.isUsable()]).toEqual([undefined, true]);
  health.noteFault();
  expect(health.isUsable()).toBe(false);
  health.note(well);
  for (const [state, fault] of [
    [undefined, 'it does not answer'],
    [{ isStandby: false, lagSeconds: undefined }, 'it is not a standby'],
    [{ isStandby: true, lagSeconds: undefined }, 'it has replayed nothing yet'],
    [{ isStandby: true, lagSeconds: maxLagSeconds + 0.5 }, 'it is 16 s behind'],
  ] as const) {
    health.note(well);
    expect([health.note(state), health.isUsable()]).toEqual([fault, false]);
  }
});
