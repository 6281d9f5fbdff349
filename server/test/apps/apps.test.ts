import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addApp, changeApp, listWorkspaceApps, removeApp } from '../../src/app/apps.ts';
import { checkCredential, connectCredential, listCredentials, removeCredential } from '../../src/app/credentials.ts';
import type { CredentialDependencies } from '../../src/app/credentials.ts';
import { makeManualClock } from '../../src/clock.ts';
import type { App } from '../../src/domain/apps.ts';
import type { GivenKey, ProviderCredential } from '../../src/domain/delivery/providers.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeLoadCredentials } from '../../src/engine/credentials.ts';
import { listProviderCredentials } from '../../src/storage/keys/provider-credentials.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const start = new Date('2026-03-01T10:00:00Z');
const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const key = { provider: 'apns', privateKey: String(pem), teamId: 'TEAM123456', keyId: 'KEY1234567' } as const;
const ofDefault: GivenKey = { ...key, topic: 'com.example.app', environment: 'production' };
const courier: App = {
  platform: 'IOS',
  appId: 'courier',
  name: 'Courier',
  identifier: 'com.example.courier',
  environment: 'sandbox',
  restrictsPackage: false,
};
const ofCourier: GivenKey = { ...key, topic: courier.identifier, environment: 'sandbox' };
const actor = { kind: 'account', id: null, name: 'Olga' } as const;
const encryption = makeEncryption(Buffer.alloc(32, 7));
let bundle: TestDatabase;
let deps: CredentialDependencies;
let workspaceId: string;

beforeAll(async () => {
  bundle = await createTestDatabase();
  workspaceId = await insertTestWorkspace(bundle.database, start);
  const ask: CredentialDependencies['ask'] = async () => ({ verdict: 'ACCEPTED', words: 'BadDeviceToken' });
  const { database } = bundle;
  const clock = makeManualClock(start);
  deps = { database, clock, encryption, ask, isSandbox: false, onChanged: async () => {} };
});
afterAll(() => bundle.drop());

const connect = (given: GivenKey, appId?: string) =>
  connectCredential(deps, { actor, workspaceId, given, unasked: 'refuse', ...(appId === undefined ? {} : { appId }) });
const add = (app: App) => addApp(deps, { actor, workspaceId, ...app });
const shown = async () =>
  (await listWorkspaceApps(bundle.database, workspaceId)).map(({ platform, appId, identifier, credentialOf }) =>
    [platform, appId, identifier, credentialOf].map(String).join(' '),
  );

test('a workspace has a default app on each platform, of which its credential says what it is', async () => {
  expect(await shown()).toEqual(['ANDROID default null null', 'IOS default null null', 'WEB default null null']);
  await connect(ofDefault);
  expect((await shown())[1]).toBe('IOS default com.example.app default');
});

test('an app is added once, by its id and by what it is in an environment, and is no default app', async () => {
  await add(courier);
  const refusals: [Partial<App>, string][] = [
    [{ identifier: 'com.example.other' }, 'app'],
    [{ appId: 'second' }, 'identifier'],
    [{ appId: 'default' }, 'app'],
    [{ appId: 'a b' }, 'app'],
    [{ environment: null }, 'environment'],
    [{ name: ' ' }, 'name'],
    [{ platform: 'ANDROID', environment: null, identifier: 'shop' }, 'identifier'],
    [{ platform: 'WEB', environment: null, identifier: 'https://shop.example/' }, 'identifier'],
    [{ platform: 'WEB', environment: null, identifier: 'http://shop.example' }, 'identifier'],
  ];
  for (const [change, field] of refusals) {
    const { context } = await add({ ...courier, ...change }).then(
      () => ({ context: 'added' as never }),
      (error: { context: { field?: string; faults?: { field: string }[] } }) => error,
    );
    expect(context.field ?? context.faults?.map((fault) => fault.field).join(), JSON.stringify(change)).toBe(field);
  }
  await add({ ...courier, appId: 'courier-live', environment: 'production' });
  await add({ ...courier, platform: 'ANDROID', environment: null });
  expect(await shown()).toEqual([
    'ANDROID default null null',
    'ANDROID courier com.example.courier null',
    'IOS default com.example.app default',
    'IOS courier com.example.courier default',
    'IOS courier-live com.example.courier default',
    'WEB default null null',
  ]);
});

test('an app has a credential of its own, which is bound to it, and leaves that of the default app alone', async () => {
  await expect(connect(ofDefault, 'courier')).rejects.toMatchObject({ code: 'PROVIDER_KEY_INVALID' });
  await expect(connect(ofCourier, 'nobody')).rejects.toMatchObject({ context: { field: 'app' } });
  await connect(ofCourier, 'courier');
  expect((await shown())[3]).toBe('IOS courier com.example.courier courier');
  const rows = await listProviderCredentials(bundle.database, workspaceId);
  expect(rows.map(({ appId, summary }) => [appId, summary.topic])).toEqual([
    ['courier', 'com.example.courier'],
    ['default', 'com.example.app'],
  ]);
  const [own, other] = rows;
  const open = (row: typeof own, appId: string) =>
    JSON.parse(
      encryption
        .decrypt(row!.encrypted, encryptionContext.providerCredential({ workspaceId, provider: 'apns', appId }))
        .toString(),
    ) as ProviderCredential;
  expect(open(own, 'courier')).toMatchObject({ topic: 'com.example.courier' });
  expect(() => open(own, 'default')).toThrow();
  // As it was before there were apps.
  expect(encryption.decrypt(other!.encrypted, `provider-credential:${workspaceId}:apns`).toString()).toContain('TEAM');

  const credentialsOf = await makeLoadCredentials(deps)(workspaceId);
  const found = (appId: string | null) => credentialsOf.find({ platform: 'IOS', appId })?.credentials.apns;
  expect(found('courier')).toMatchObject({ topic: 'com.example.courier', environment: 'sandbox' });
  expect(found('courier-live')).toMatchObject({ topic: 'com.example.courier', environment: 'production' });
  expect(found(null)).toMatchObject({ topic: 'com.example.app', environment: 'production' });

  await checkCredential(deps, { actor, workspaceId, provider: 'apns', appId: 'courier' });
  const listed = (await listCredentials(deps, workspaceId)).find(({ provider }) => provider === 'apns')!;
  expect(listed.connected).toMatchObject({ summary: { topic: 'com.example.app' } });
  expect(listed.ofOtherApps).toMatchObject([
    { appId: 'courier', connected: { summary: { topic: 'com.example.courier' }, check: { verdict: 'ACCEPTED' } } },
  ]);
});

test('an app is renamed, and removed once it has no credential; each leaves a line in the audit log', async () => {
  const named = { actor, workspaceId, platform: 'IOS', appId: 'courier' } as const;
  await changeApp(deps, { ...named, name: 'Riders', restrictsPackage: undefined });
  await expect(changeApp(deps, { ...named, name: undefined, restrictsPackage: true })).rejects.toMatchObject({
    context: { faults: [{ field: 'restrict-package' }] },
  });
  await expect(removeApp(deps, named)).rejects.toMatchObject({ context: { field: 'app' } });
  await removeCredential(deps, { actor, workspaceId, provider: 'apns', appId: 'courier', whileSending: 'refuse' });
  await removeApp(deps, named);
  await expect(removeApp(deps, named)).rejects.toMatchObject({ context: { field: 'app' } });
  await expect(removeApp(deps, { ...named, appId: 'default' })).rejects.toMatchObject({ context: { field: 'app' } });
  expect((await shown()).filter((line) => line.startsWith('IOS'))).toEqual([
    'IOS default com.example.app default',
    'IOS courier-live com.example.courier default',
  ]);
  const lines = await bundle.database<{ action: string; name: string; app: string }[]>`
    select action, object_name as name, detail->>'app' as app from audit_log
    where action in ('app.change', 'app.remove', 'credential.remove') order by action`;
  expect(lines).toEqual([
    { action: 'app.change', name: 'Riders', app: null },
    { action: 'app.remove', name: 'Riders', app: null },
    { action: 'credential.remove', name: null, app: 'courier' },
  ]);
});
