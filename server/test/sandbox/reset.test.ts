import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptiedTables } from '../../src/storage/installation/sandbox.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

let bundle: CarillonBundle;
let other: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  other = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
});
afterAll(() => bundle.stop());

// Kept: the log of what people did, credentials, and the row that names the demo.
const kept = ['apps', 'audit_log', 'provider_credentials', 'installation'];
// When a row was made is when the reset was; a push key is sealed anew, with another nonce.
const times = ['created_at', 'updated_at', 'registered_at', 'secret_sealed', 'last_used_at'];

async function tablesOf(column: string): Promise<string[]> {
  const rows = await bundle.database`
    select relname as name from pg_attribute join pg_class on pg_class.oid = attrelid
    join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'public' and relkind in ('r', 'p') and not relispartition and attname ~ ${column} and not attisdropped
    order by 1`;
  return rows.map(({ name }) => String(name));
}

/** Every row of a workspace, in the order of its ids. */
async function readWorkspace(workspaceId: string): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const table of await tablesOf('^workspace_(id|number)$')) {
    if (kept.includes(table)) continue;
    const { database } = bundle;
    const ofWorkspace =
      table === 'deliveries'
        ? database`workspace_number = (select number from workspaces where id = ${workspaceId})`
        : database`workspace_id = ${workspaceId}`;
    const rows = await bundle.database`
      select to_jsonb(given) - ${times}::text[] as row from ${bundle.database(table)} as given
      where ${ofWorkspace} order by 1`;
    if (rows.length > 0) found[table] = rows.map(({ row }) => row as unknown);
  }
  const [workspace] = await bundle.database`
    select to_jsonb(workspaces) - 'created_at' as row from workspaces where id = ${workspaceId}`;
  return { ...found, workspaces: [workspace!.row] };
}

const push = (name: string, more: Record<string, unknown> = {}) =>
  bundle.push({
    campaignName: name,
    targetPlatform: ['ANDROID'],
    targetAudience: 'All Users',
    payload: { ANDROID: { title: 'Hello', message: 'There' } },
    campaignDelivery: { type: 'soon' },
    ...more,
  });

async function changeEverything(): Promise<void> {
  const { database, workspaceId } = bundle;
  const customer = (customerId: string) =>
    bundle.call('POST', `/v1/customer/${workspaceId}`, {
      headers: bundle.basic(),
      body: { type: 'customer', customer_id: customerId, attributes: { city: 'Lisbon' } },
    });
  await customer('ada');
  await customer('somebody new');
  const { accessToken } = await bundle.token();
  await bundle.call('POST', `/v1/event/${workspaceId}`, {
    headers: { authorization: `Bearer ${accessToken}` },
    body: { type: 'event', customer_id: 'ada', actions: [{ action: 'bought', attributes: {} }] },
  });
  await push('Sent before');
  await until(async () => (await bundle.inbox()).length > 0);
  await database`update api_keys set archived_at = now() where workspace_id = ${workspaceId} and kind = 'data'`;
  await database`update workspaces set name = 'Renamed', time_zone = 'Asia/Calcutta' where id = ${workspaceId}`;
  await database`delete from devices where workspace_id = ${workspaceId} and platform = 'IOS'`;
  await push('Later', {
    campaignDelivery: {
      type: 'periodic',
      time: '10:00 AM',
      startDate: '01/01/2030',
      endDate: '02/01/2030',
      repeatAfter: '1',
    },
  });
}

test('the demo is what its first start made it, in one call, and other workspaces are as they were', async () => {
  const { database, workspaceId } = bundle;
  await database`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    values (${other}, 1, ${'1'.repeat(24)}, 'neighbour', '2026-01-01', '2026-01-01')`;
  const [first, neighbour] = [await readWorkspace(workspaceId), await readWorkspace(other)];
  expect(Object.keys(first).toSorted()).toEqual([
    'api_keys',
    'devices',
    'identifiers',
    'push_addresses',
    'users',
    'workspaces',
  ]);
  await changeEverything();
  expect(await readWorkspace(workspaceId)).not.toEqual(first);

  const answer = await bundle.call('POST', '/sandbox/reset');
  expect([answer.status, answer.json()]).toEqual([200, { workspaceId }]);
  expect(await bundle.inbox()).toEqual([]);
  expect(await readWorkspace(workspaceId)).toEqual(first);
  expect(await readWorkspace(other)).toEqual(neighbour);
  expect((await bundle.call('GET', '/sandbox/counters')).text).not.toMatch(/:[1-9]/);

  // The keys of before go on.
  expect((await push('After the reset')).json()).toMatchObject({ status: 'Success' });
  await until(async () => (await bundle.inbox()).length > 0);
});

test('what is being sent is stopped first, also by a provider that keeps its answers back', async () => {
  const { database, workspaceId } = bundle;
  await bundle.call('POST', '/sandbox/faults', { body: { fcm: { delayMilliseconds: 2000 } } });
  await push('Under way');
  await until(async () => (await database`select 1 from chunks where state = 'CLAIMED'`).length > 0);
  expect((await bundle.call('POST', '/sandbox/reset')).status).toBe(200);
  for (const table of ['campaigns', 'runs', 'chunks', 'sandbox_messages'])
    expect(await database`select 1 from ${database(table)} where workspace_id = ${workspaceId}`, table).toHaveLength(0);
  expect(await database`select 1 from deliveries`).toHaveLength(0);
  expect((await push('At once again')).json()).toMatchObject({ status: 'Success' });
  await until(async () => (await bundle.inbox()).length > 0);
});

test('no table of a workspace is new and left out of the reset', async () => {
  const tables = (await tablesOf('^workspace_(id|number)$')).filter((table) => !kept.includes(table));
  expect(emptiedTables.toSorted()).toEqual(tables);
});
