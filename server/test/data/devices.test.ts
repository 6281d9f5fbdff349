import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addApp, removeApp } from '../../src/app/apps.ts';
import { importFile } from '../../src/app/import/import-file.ts';
import type { App } from '../../src/domain/apps.ts';
import { providersOf as providersOfPlatform } from '../../src/domain/delivery/providers.ts';
import { makeLog } from '../../src/log.ts';
import { makeDataBundle } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

describe('the app of a device', () => {
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

  test('is the one it names, is kept without a name, and returns to the default app by name', async () => {
    expect((await bundle.addDevice('ada', 'a')).statusCode).toBe(200);
    expect(await appsOf('ada')).toEqual({ a: null });
    expect((await bundle.addDevice('ada', 'a', { app_id: 'courier' })).statusCode).toBe(200);
    expect(await appsOf('ada')).toEqual({ a: 'courier' });
    await bundle.addDevice('ada', 'a', { push_id: 'refreshed' });
    expect(await appsOf('ada')).toEqual({ a: 'courier' });
    await bundle.addDevice('ada', 'a', { app_id: 'default' });
    expect(await appsOf('ada')).toEqual({ a: null });
  });

  test('must exist on the platform; otherwise the device is unchanged', async () => {
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

  test('changes when its address is registered under another app, and it stays one device', async () => {
    await bundle.addUser('bob');
    await bundle.addDevice('bob', 'old', { push_id: 'shared', app_id: 'courier' });
    await bundle.addDevice('bob', 'new', { push_id: 'shared', app_id: 'default' });
    expect(await appsOf('bob')).toEqual({ new: null });
  });

  test('is checked in a bulk request, which rejects only the device with an unknown app', async () => {
    const device = (deviceId: string, appId: string) => ({
      ...{ type: 'device', customer_id: 'cleo', device_id: deviceId },
      attributes: { platform: 'ANDROID', push_id: `bulk-${deviceId}`, app_id: appId },
    });
    const elements = [{ type: 'customer', customer_id: 'cleo' }, device('one', 'courier'), device('two', 'shop')];
    await bundle.call('/v1/transition/', { type: 'transition', elements });
    expect(await appsOf('cleo')).toEqual({ one: 'courier' });
  });

  test('is kept when a merge moves the device', async () => {
    await bundle.addUser('merged');
    await bundle.addDevice('merged', 'm', { app_id: 'courier' });
    await bundle.addUser('kept');
    const merge_data = [{ merged_user: 'merged', retained_user: 'kept' }];
    expect((await bundle.call('/v1/customer/merge', { merge_data })).status).toBe(200);
    expect(await appsOf('kept')).toEqual({ m: 'courier' });
  });

  test('is imported, kept if a line omits it, and rejected if it is unknown', async () => {
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

  test('cannot be removed while it has devices', async () => {
    const named = { actor, workspaceId: bundle.workspaceId, platform: 'ANDROID', appId: 'courier' } as const;
    await expect(removeApp(bundle, named)).rejects.toMatchObject({
      context: { field: 'app', reason: expect.stringMatching(/^has devices: [1-9]/) },
    });
  });
});

describe('the language of a device', () => {
  let bundle: DataBundle;
  beforeAll(async () => {
    bundle = await makeDataBundle();
    await bundle.addUser('ada');
  });
  afterAll(() => bundle.end());

  const said = async (deviceId: string) => {
    const [row] = await bundle.database`
      select locale, badge_count as "badgeCount" from devices where device_id = ${deviceId}`;
    return row;
  };

  test('is stored together with its badge count, and kept if it is omitted', async () => {
    expect((await bundle.addDevice('ada', 'a', { locale: 'pt-br', badge_count: 3 })).statusCode).toBe(200);
    expect(await said('a')).toEqual({ locale: 'pt-BR', badgeCount: 3 });
    await bundle.addDevice('ada', 'a', { push_id: 'refreshed' });
    expect(await said('a')).toEqual({ locale: 'pt-BR', badgeCount: 3 });
    await bundle.addDevice('ada', 'a', { locale: 'de', badge_count: 0 });
    expect(await said('a')).toEqual({ locale: 'de', badgeCount: 0 });
    await bundle.addDevice('ada', 'b');
    expect(await said('b')).toEqual({ locale: null, badgeCount: null });
  });

  test.each([
    [{ locale: 'not a tag' }, `'attributes.locale' is no language tag`],
    [{ badge_count: -1 }, `'attributes.badge_count' must be a whole number from 0 to 99999`],
    [{ badge_count: 100_000 }, `'attributes.badge_count' must be a whole number from 0 to 99999`],
    [{ badge_count: 1.5 }, `'attributes.badge_count' must be a whole number from 0 to 99999`],
  ])('is rejected with %j', async (attributes, message) => {
    const refused = await bundle.addDevice('ada', 'c', attributes);
    expect([refused.statusCode, refused.json().error.message]).toEqual([400, message]);
  });

  test('is kept together with the badge count when a merge moves the device', async () => {
    await bundle.addUser('merged');
    await bundle.addDevice('merged', 'm', { locale: 'de', badge_count: 7 });
    await bundle.addUser('kept');
    const merge_data = [{ merged_user: 'merged', retained_user: 'kept' }];
    expect((await bundle.call('/v1/customer/merge', { merge_data })).status).toBe(200);
    expect(await said('m')).toEqual({ locale: 'de', badgeCount: 7 });
  });
});

describe('the provider of a device', () => {
  let bundle: DataBundle;
  beforeAll(async () => {
    bundle = await makeDataBundle();
    await bundle.addUser('ada');
  });
  afterAll(() => bundle.end());

  const providersOf = async (customerId: string) => {
    const rows = await bundle.database<{ device: string; provider: string | null }[]>`
      select devices.device_id as device, devices.push_provider as provider
      from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
        and users.id = devices.user_id
      where users.customer_id = ${customerId} order by 1`;
    return Object.fromEntries(rows.map(({ device, provider }) => [device, provider]));
  };

  const ofAndroid = `${providersOfPlatform.ANDROID.join(' or ')} on ANDROID`;

  const subscription = {
    endpoint: 'https://push.example.net/a',
    keys: { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: Buffer.alloc(16).toString('base64url') },
  };

  test('is the one that it names; the default one of its platform is not stored', async () => {
    const add = async (device: string, attributes: Record<string, unknown>) =>
      (await bundle.addDevice('ada', device, attributes)).statusCode;
    expect(await add('a', { push_provider: 'hms', push_id: 'token-of-huawei' })).toBe(200);
    expect(await add('b', { push_provider: 'fcm', push_id: 'token-b' })).toBe(200);
    expect(await add('c', { platform: 'iOS', push_provider: 'fcm', push_id: 'not-hexadecimal:C' })).toBe(200);
    expect(await add('d', { platform: 'iOS', push_provider: 'apns', push_id: 'AB'.repeat(32) })).toBe(200);
    expect(await add('e', { platform: 'web', push_provider: 'fcm', push_id: 'token-e' })).toBe(200);
    expect(await add('f', { platform: 'web', push_provider: 'webpush', push_id: subscription })).toBe(200);
    expect(await providersOf('ada')).toEqual({ a: 'hms', b: null, c: 'fcm', d: null, e: 'fcm', f: null });
    // A token that comes without the name of a provider is one of the usual one.
    expect(await add('a', { push_id: 'token-of-firebase' })).toBe(200);
    expect(await providersOf('ada')).toMatchObject({ a: null });
  });

  test('is rejected if it does not serve the platform, or if the address is not one of the provider', async () => {
    const refusalOf = async (attributes: Record<string, unknown>) => {
      const answer = await bundle.addDevice('ada', 'refused', attributes);
      return [answer.statusCode, answer.json().error?.message];
    };
    const names = (text: string) => [400, `'push_provider' must be ${text}`];
    expect(await refusalOf({ push_provider: 'apns' })).toEqual(names(ofAndroid));
    expect(await refusalOf({ platform: 'iOS', push_provider: 'hms' })).toEqual(names('apns or fcm on iOS'));
    expect(await refusalOf({ platform: 'web', push_provider: 7 })).toEqual(names('webpush or fcm on web'));
    expect((await refusalOf({ platform: 'iOS', push_id: 'not-hexadecimal' }))[1]).toContain('APNs device token');
    expect((await refusalOf({ platform: 'web', push_id: 'token-e' }))[1]).toContain('PushSubscription');
    expect(await providersOf('ada')).not.toHaveProperty('refused');
  });

  const fid = 'cIm9Vn2T5kq_rXW8-Zb1aQ';

  const idTypesOf = async (customerId: string) => {
    const rows = await bundle.database<{ device: string; type: string | null }[]>`
      select devices.device_id as device, devices.push_id_type as type
      from devices join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
        and users.id = devices.user_id
      where users.customer_id = ${customerId} order by 1`;
    return Object.fromEntries(rows.map(({ device, type }) => [device, type]));
  };

  test('may identify a Firebase device by its installation id, or otherwise by a token', async () => {
    await bundle.addUser('ida');
    const add = async (device: string, attributes: Record<string, unknown>) =>
      (await bundle.addDevice('ida', device, attributes)).statusCode;
    expect(await add('a', { push_id: fid, push_id_type: 'fid' })).toBe(200);
    expect(
      await add('b', { platform: 'iOS', push_provider: 'fcm', push_id: `d${fid.slice(1)}`, push_id_type: 'fid' }),
    ).toBe(200);
    expect(await add('c', { push_id: 'token-c', push_id_type: 'token' })).toBe(200);
    expect(await idTypesOf('ida')).toEqual({ a: 'fid', b: 'fid', c: null });
    // The kind belongs to the address.
    expect(await add('a', { push_id: `${fid}:APA91b` })).toBe(200);
    expect(await idTypesOf('ida')).toMatchObject({ a: null });
    expect(await add('a', { push_id: fid, push_id_type: 'fid' })).toBe(200);
    await bundle.addUser('idas');
    await bundle.call('/v1/customer/merge', { merge_data: [{ merged_user: 'ida', retained_user: 'idas' }] });
    expect(await idTypesOf('idas')).toEqual({ a: 'fid', b: 'fid', c: null });
  });

  test('accepts an installation id only for Firebase, in its form and under its name', async () => {
    const refusalOf = async (attributes: Record<string, unknown>) => {
      const answer = await bundle.addDevice('ada', 'refused', attributes);
      return [answer.statusCode, answer.json().error?.message];
    };
    const only = [400, `'push_id_type' can be fid only with push_provider fcm`];
    expect(await refusalOf({ push_provider: 'hms', push_id: fid, push_id_type: 'fid' })).toEqual(only);
    expect(await refusalOf({ platform: 'iOS', push_id: 'ab'.repeat(32), push_id_type: 'fid' })).toEqual(only);
    expect(await refusalOf({ push_id: `${fid}:APA91b`, push_id_type: 'fid' })).toEqual([
      400,
      `'push_id' is not a Firebase installation id`,
    ]);
    expect(await refusalOf({ push_id: fid, push_id_type: 'installation' })).toEqual([
      400,
      `'push_id_type' must be token or fid`,
    ]);
    await expect(
      bundle.database`update devices set push_provider = 'hms', push_id_type = 'fid' where device_id = 'a'`,
    ).rejects.toThrow(/violates check constraint "devices_push_id_type_check"/);
  });

  test('cannot be stored in the table if it does not serve the platform', async () => {
    for (const [platform, provider] of [
      ['ANDROID', 'fcm'],
      ['ANDROID', 'apns'],
      ['IOS', 'hms'],
      ['WEB', 'webpush'],
    ])
      await expect(
        bundle.database`update devices set platform = ${platform!}, push_provider = ${provider!} where device_id = 'a'`,
      ).rejects.toThrow(/violates check constraint "devices_push_provider_check"/);
  });

  test('is kept by a bulk request and a merge', async () => {
    const attributes = { platform: 'ANDROID', push_id: 'bulk-token', push_provider: 'hms' };
    const elements = [
      { type: 'customer', customer_id: 'cleo' },
      { type: 'device', customer_id: 'cleo', device_id: 'one', attributes },
    ];
    await bundle.call('/v1/transition/', { type: 'transition', elements });
    expect(await providersOf('cleo')).toEqual({ one: 'hms' });
    await bundle.addUser('kept');
    await bundle.call('/v1/customer/merge', { merge_data: [{ merged_user: 'cleo', retained_user: 'kept' }] });
    expect(await providersOf('kept')).toEqual({ one: 'hms' });
  });

  test('is imported from a line, and rejected if it is unknown', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-import-'));
    const path = join(folder, 'devices.ndjson');
    const line = (device_id: string, more: object) =>
      JSON.stringify({ customer_id: 'dora', device_id, platform: 'ANDROID', push_id: `dora-${device_id}`, ...more });
    await bundle.addUser('dora');
    await bundle.addDevice('dora', 'back', { push_id: 'dora-back', push_provider: 'hms' });
    const lines = [
      line('back', {}),
      line('huawei', { push_provider: 'hms' }),
      line('iphone', { platform: 'iOS', push_provider: 'fcm' }),
      line('installation', { push_id: `e${fid.slice(1)}`, push_id_type: 'fid' }),
      line('wrong', { push_provider: 'apns' }),
      line('removed', {
        platform: 'web',
        push_id: { ...subscription, endpoint: 'https://permanently-removed.invalid/x' },
      }),
    ];
    await writeFile(path, lines.join('\n'));
    const { database, clock, workspaceId } = bundle;
    const log = makeLog({ level: 'silent', pretty: false });
    await importFile(
      { database, clock, log, prefixes: ['svc'] },
      { workspaceId, kind: 'devices', path, onProgress() {} },
    );
    expect(await providersOf('dora')).toEqual({
      ...{ back: null, huawei: 'hms', iphone: 'fcm', installation: null },
    });
    expect(await idTypesOf('dora')).toMatchObject({ huawei: null, installation: 'fid' });
    const rejects = (await readFile(`${path}.rejects.ndjson`, 'utf8')).trim().split('\n');
    expect(rejects.map((reject) => JSON.parse(reject) as object)).toMatchObject([
      { line: 5, reason: `'push_provider' must be ${ofAndroid}` },
      { line: 6, reason: expect.stringMatching(/^'push_id' is a subscription that cannot be reached: .* \.invalid/) },
    ]);
    await rm(folder, { recursive: true });
  });
});
