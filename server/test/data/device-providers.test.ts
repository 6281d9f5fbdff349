import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importFile } from '../../src/app/import/import-file.ts';
import { makeLog } from '../../src/log.ts';
import { makeDataBundle } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

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

const subscription = {
  endpoint: 'https://push.example/a',
  keys: { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: Buffer.alloc(16).toString('base64url') },
};

test('a device is reached by the provider it names; the usual one of its platform is not written down', async () => {
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

test('a provider that does not serve the platform, and an address that is not one of the provider, are refused', async () => {
  const refusalOf = async (attributes: Record<string, unknown>) => {
    const answer = await bundle.addDevice('ada', 'refused', attributes);
    return [answer.statusCode, answer.json().error?.message];
  };
  const names = (text: string) => [400, `'push_provider' must be ${text}`];
  expect(await refusalOf({ push_provider: 'apns' })).toEqual(names('fcm or hms on ANDROID'));
  expect(await refusalOf({ platform: 'iOS', push_provider: 'hms' })).toEqual(names('apns or fcm on iOS'));
  expect(await refusalOf({ platform: 'web', push_provider: 7 })).toEqual(names('webpush or fcm on web'));
  expect((await refusalOf({ platform: 'iOS', push_id: 'not-hexadecimal' }))[1]).toContain('APNs device token');
  expect((await refusalOf({ platform: 'web', push_id: 'token-e' }))[1]).toContain('PushSubscription');
  expect(await providersOf('ada')).not.toHaveProperty('refused');
});

test('the table holds no provider that does not serve the platform', async () => {
  for (const [platform, provider] of [
    ['ANDROID', 'fcm'],
    ['ANDROID', 'apns'],
    ['IOS', 'hms'],
    ['WEB', 'webpush'],
  ])
    await expect(
      bundle.database`update devices set platform = ${platform!}, push_provider = ${provider!} where device_id = 'a'`,
    ).rejects.toMatchObject({ constraint: 'devices_push_provider_check' });
});

test('a bulk request and a merge keep the provider', async () => {
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

test('an import takes the provider of a line and refuses lines of others', async () => {
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
    line('wrong', { push_provider: 'apns' }),
  ];
  await writeFile(path, lines.join('\n'));
  const { database, clock, workspaceId } = bundle;
  const log = makeLog({ level: 'silent', pretty: false });
  await importFile(
    { database, clock, log, prefixes: ['svc'] },
    { workspaceId, kind: 'devices', path, onProgress() {} },
  );
  expect(await providersOf('dora')).toEqual({ back: null, huawei: 'hms', iphone: 'fcm' });
  expect(JSON.parse(await readFile(`${path}.rejects.ndjson`, 'utf8'))).toMatchObject({
    line: 4,
    reason: `'push_provider' must be fcm or hms on ANDROID`,
  });
  await rm(folder, { recursive: true });
});
