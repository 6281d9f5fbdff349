import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addApp, removeApp } from '../../src/app/apps.ts';
import { importFile } from '../../src/app/import/import-file.ts';
import type { App } from '../../src/domain/apps.ts';
import { makeLog } from '../../src/log.ts';
import { makeDataBundle } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

const courier: App = {
  ...{ platform: 'ANDROID', appId: 'courier', name: 'Courier', identifier: 'com.example.courier' },
  ...{ environment: null, restrictsPackage: false },
};
const actor = { kind: 'account', id: null, name: 'Olga' } as const;
let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
  await addApp(bundle, { actor, workspaceId: bundle.workspaceId, ...courier });
  await bundle.addUser('ada');
});
afterAll(() => bundle.end());

const appsOf = async (customerId: string) => {
  const rows = await bundle.database<{ device: string; app: string | null }[]>`
    select devices.device_id as device, devices.app_id as app
    from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
      and users.id = devices.user_id
    where users.customer_id = ${customerId} order by 1`;
  return Object.fromEntries(rows.map(({ device, app }) => [device, app]));
};

test('a device is of the app it names, keeps it when it names none, and goes back to the default app by name', async () => {
  expect((await bundle.addDevice('ada', 'a')).statusCode).toBe(200);
  expect(await appsOf('ada')).toEqual({ a: null });
  expect((await bundle.addDevice('ada', 'a', { app_id: 'courier' })).statusCode).toBe(200);
  expect(await appsOf('ada')).toEqual({ a: 'courier' });
  await bundle.addDevice('ada', 'a', { push_id: 'refreshed' });
  expect(await appsOf('ada')).toEqual({ a: 'courier' });
  await bundle.addDevice('ada', 'a', { app_id: 'default' });
  expect(await appsOf('ada')).toEqual({ a: null });
});

test('an app that is not there on the platform is refused, and the device stays as it was', async () => {
  await bundle.addDevice('ada', 'b', { app_id: 'courier' });
  const before = await bundle.devices();
  const refused = await bundle.addDevice('ada', 'b', { push_id: 'other', app_id: 'shop' });
  expect([refused.statusCode, refused.json().error.message]).toEqual([
    400,
    `'attributes.app_id' "shop" is no app of this workspace`,
  ]);
  const ios = { platform: 'iOS', push_id: 'ab'.repeat(32), app_id: 'courier' };
  expect((await bundle.addDevice('ada', 'b', ios)).statusCode).toBe(400);
  expect((await bundle.addDevice('ada', 'b', { app_id: 'a b' })).json().error.message).toContain('the id of an app');
  expect(await bundle.devices()).toEqual(before);
  // Of another platform it cannot be the same app.
  expect((await bundle.addDevice('ada', 'b', { ...ios, app_id: undefined })).statusCode).toBe(200);
  expect((await appsOf('ada')).b).toBeNull();
});

test('an address that is registered under another app moves there: it is one device', async () => {
  await bundle.addUser('bob');
  await bundle.addDevice('bob', 'old', { push_id: 'shared', app_id: 'courier' });
  await bundle.addDevice('bob', 'new', { push_id: 'shared', app_id: 'default' });
  expect(await appsOf('bob')).toEqual({ new: null });
});

test('a bulk request refuses the device alone that names no app there is', async () => {
  const device = (deviceId: string, appId: string) => ({
    ...{ type: 'device', customer_id: 'cleo', device_id: deviceId },
    attributes: { platform: 'ANDROID', push_id: `bulk-${deviceId}`, app_id: appId },
  });
  const elements = [{ type: 'customer', customer_id: 'cleo' }, device('one', 'courier'), device('two', 'shop')];
  await bundle.call('/v1/transition/', { type: 'transition', elements });
  expect(await appsOf('cleo')).toEqual({ one: 'courier' });
});

test('devices that a merge moves stay of their app', async () => {
  await bundle.addUser('merged');
  await bundle.addDevice('merged', 'm', { app_id: 'courier' });
  await bundle.addUser('kept');
  const merge_data = [{ merged_user: 'merged', retained_user: 'kept' }];
  expect((await bundle.call('/v1/customer/merge', { merge_data })).status).toBe(200);
  expect(await appsOf('kept')).toEqual({ m: 'courier' });
});

test('an import takes the app of a device, keeps what a line leaves out, and refuses lines of others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-import-'));
  const path = join(folder, 'devices.ndjson');
  const line = (device_id: string, more: object) =>
    JSON.stringify({ customer_id: 'dora', device_id, platform: 'ANDROID', push_id: `dora-${device_id}`, ...more });
  await bundle.addUser('dora');
  await bundle.addDevice('dora', 'kept', { push_id: 'dora-kept', app_id: 'courier' });
  await bundle.addDevice('dora', 'back', { push_id: 'dora-back', app_id: 'courier' });
  await writeFile(
    path,
    [
      line('kept', {}),
      line('back', { app_id: 'default' }),
      line('fresh', { app_id: 'courier' }),
      line('plain', {}),
      line('shop', { app_id: 'shop' }),
    ].join('\n'),
  );
  const { database, clock, workspaceId } = bundle;
  const log = makeLog({ level: 'silent', pretty: false });
  await importFile(
    { database, clock, log, prefixes: ['svc'] },
    { workspaceId, kind: 'devices', path, onProgress() {} },
  );
  expect(await appsOf('dora')).toEqual({ back: null, fresh: 'courier', kept: 'courier', plain: null });
  expect(JSON.parse(await readFile(`${path}.rejects.ndjson`, 'utf8'))).toMatchObject({
    line: 5,
    reason: `'app_id' "shop" is no app of this workspace`,
  });
  await rm(folder, { recursive: true });
});

test('an app that devices are of is not removed', async () => {
  const named = { actor, workspaceId: bundle.workspaceId, platform: 'ANDROID', appId: 'courier' } as const;
  await expect(removeApp(bundle, named)).rejects.toMatchObject({
    context: { field: 'app', reason: expect.stringMatching(/^has devices: [1-9]/) },
  });
});
