import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addApp, changeApp, listWorkspaceApps, removeApp } from '../../src/app/apps.ts';
import { checkCredential, connectCredential, listCredentials, removeCredential } from '../../src/app/credentials.ts';
import type { CredentialDependencies } from '../../src/app/credentials.ts';
import { makeManualClock } from '../../src/clock.ts';
import { contentForApp, findCriticalSounds } from '../../src/domain/apps.ts';
import type { App, AppSettings } from '../../src/domain/apps.ts';
import { lostInApps } from '../../src/domain/campaigns/warnings.ts';
import type { IosContent } from '../../src/domain/content/content.ts';
import { makeCredentialsOfApps } from '../../src/domain/credentials/credentials.ts';
import type { CredentialOfApp } from '../../src/domain/credentials/credentials.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { GivenKey, ProviderCredential } from '../../src/domain/delivery/providers.ts';
import type { ApnsCredential } from '../../src/domain/providers/apns.ts';
import type { FcmCredential } from '../../src/domain/providers/fcm.ts';
import { makeLoadCredentials } from '../../src/engine/credentials.ts';
import { listProviderCredentials } from '../../src/storage/keys/provider-credentials.ts';
import { until } from '../carillon-bundle.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { startAppsBundle } from './apps-bundle.ts';
import type { AppsBundle } from './apps-bundle.ts';

describe('apps', () => {
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
    connectCredential(deps, {
      actor,
      workspaceId,
      given,
      unasked: 'refuse',
      ...(appId === undefined ? {} : { appId }),
    });
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
    expect(encryption.decrypt(other!.encrypted, `provider-credential:${workspaceId}:apns`).toString()).toContain(
      'TEAM',
    );

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
});

describe('credentials of apps', () => {
  const fcm = (projectId: string): FcmCredential => ({
    ...{ provider: 'fcm', projectId, clientEmail: 'a@b.example', privateKeyId: 'k', privateKey: 'p', simulated: false },
  });
  const apns = (topic: string): ApnsCredential => ({
    ...{ provider: 'apns', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: 'p', topic, simulated: false },
    environment: 'production',
  });
  const ofApp = (appId: string, credential: CredentialOfApp['credential']): CredentialOfApp => ({
    ...{ appId, credential, version: '1' },
  });
  const android = (appId: string, restrictsPackage: boolean): App => ({
    ...{ platform: 'ANDROID', appId, name: appId, identifier: `com.example.${appId}`, environment: null },
    restrictsPackage,
  });
  const ios = (appId: string): App => ({
    ...{ platform: 'IOS', appId, name: appId, identifier: `com.example.${appId}`, environment: 'sandbox' },
    restrictsPackage: false,
  });

  test('an app takes its own credential, else that of the default app of its provider', () => {
    const { find } = makeCredentialsOfApps(
      [android('courier', false), android('shop', true)],
      [ofApp('default', fcm('main')), ofApp('courier', fcm('couriers'))],
    );
    expect(find({ platform: 'ANDROID', appId: null })?.credentials.fcm).toEqual(fcm('main'));
    expect(find({ platform: 'ANDROID', appId: 'courier' })).toEqual({
      credentials: { fcm: fcm('couriers') },
      name: { provider: 'fcm', appId: 'courier', version: '1' },
    });
    expect(find({ platform: 'ANDROID', appId: 'shop' })).toEqual({
      credentials: { fcm: { ...fcm('main'), restrictedPackage: 'com.example.shop' } },
      name: { provider: 'fcm', appId: 'default', version: '1' },
    });
  });

  test("Apple's topic and environment are the app's, whosever the key is", () => {
    const { find } = makeCredentialsOfApps([ios('courier')], [ofApp('default', apns('com.example.main'))]);
    expect(find({ platform: 'IOS', appId: null })?.credentials.apns).toMatchObject({ topic: 'com.example.main' });
    expect(find({ platform: 'IOS', appId: 'courier' })?.credentials.apns).toEqual({
      ...apns('com.example.courier'),
      environment: 'sandbox',
    });
  });

  test('what names no app is of the default app, or of the only one where that has no credential', () => {
    const stored = [ofApp('courier', fcm('couriers'))];
    const { find: alone } = makeCredentialsOfApps([android('courier', false)], stored);
    expect(alone({ platform: 'ANDROID', appId: null })?.credentials).toEqual({ fcm: fcm('couriers') });
    const { find: ofTwo } = makeCredentialsOfApps([android('courier', false), android('shop', false)], stored);
    expect(ofTwo({ platform: 'ANDROID', appId: null })).toBeUndefined();
    expect(ofTwo({ platform: 'ANDROID', appId: 'shop' })).toBeUndefined();
  });

  test('an app that is not there has no credential; a platform without any is told from it', () => {
    const { find } = makeCredentialsOfApps([], [ofApp('default', fcm('main')), ofApp('gone', fcm('gone'))]);
    expect(find({ platform: 'ANDROID', appId: 'gone' })).toBeUndefined();
    expect(find({ platform: 'IOS', appId: 'courier' })?.credentials).toEqual({});
    expect(find({ platform: 'IOS', appId: null })?.credentials).toEqual({});
  });
});

describe('settings of apps', () => {
  let bundle: AppsBundle;
  beforeAll(async () => {
    bundle = await startAppsBundle();
  });
  afterAll(() => bundle.stop());

  const call = async (method: string, path: string, body?: object) => {
    const answer = await bundle.call(method, path, {
      headers: bundle.basic(),
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, body: answer.status === 204 ? undefined : answer.json() };
  };
  const courier = { platform: 'ANDROID', identifier: 'com.example.courier' };
  const whole = {
    ...courier,
    ...{ name: 'Couriers', mode: 'notification', restrictPackage: true, pushFrom: 'dispatch', dataPrefix: 'cou' },
    defaults: { channel_id: 'orders', sound: 'bell', icon: 'ic_van', color: '#0a7d5a' },
  };

  test('an app is put with what it has of its own, and putting it again replaces that', async () => {
    const made = await call('PUT', '/v1/apps/courier', whole);
    expect(made).toEqual({ status: 201, body: { app_id: 'courier', credential_of: 'default', ...whole } });
    expect(await call('GET', '/v1/apps/courier')).toEqual({ ...made, status: 200 });
    const plain = await call('PUT', '/v1/apps/courier', courier);
    expect(plain).toEqual({
      status: 200,
      body: { app_id: 'courier', ...courier, name: 'courier', restrictPackage: false, credential_of: 'default' },
    });
    expect((await call('PUT', '/v1/apps/courier', whole)).body).toEqual(made.body);
    const { body } = await call('GET', '/v1/apps');
    expect(body.apps.map((app: { platform: string; app_id: string }) => `${app.platform} ${app.app_id}`)).toEqual([
      ...['ANDROID default', 'ANDROID courier', 'IOS default', 'WEB default'],
    ]);
    const log = await bundle.database<{ action: string; actor: string }[]>`
      select action, actor_name as actor from audit_log where object_id = 'courier' order by at, id`;
    expect([...log].map(({ action }) => action)).toEqual(['app.add', 'app.change', 'app.change']);
    expect(log[0]!.actor).not.toBe('');
  });

  test('what an app cannot be, or have on its platform, is refused by its name, and nothing is stored', async () => {
    const refusalOf = async (path: string, body: object) => {
      const answer = await call('PUT', path, body);
      return [answer.status, answer.body.field, answer.body.detail];
    };
    const ios = { platform: 'IOS', identifier: 'com.example.x' };
    const web = { platform: 'WEB', identifier: 'https://x.example' };
    expect(await refusalOf('/v1/apps/x', {})).toEqual([400, 'platform', 'is required']);
    expect(await refusalOf('/v1/apps/x', { ...ios, platform: 'TV' })).toEqual([
      ...[400, 'platform', 'must be ANDROID, IOS or WEB'],
    ]);
    expect(await refusalOf('/v1/apps/x', { ...ios, mode: 'data' })).toEqual([400, 'mode', 'is of apps on ANDROID']);
    expect(await refusalOf('/v1/apps/x', { ...ios, mode: 'v2' })).toEqual([
      ...[400, 'mode', 'must be data, notification or both'],
    ]);
    expect(await refusalOf('/v1/apps/x', { ...web, defaults: { sound: 'bell' } })).toEqual([
      ...[400, 'defaults.sound', 'is of apps on ANDROID or IOS'],
    ]);
    expect(await refusalOf('/v1/apps/courier', { ...courier, criticalAlerts: true })).toEqual([
      ...[400, 'criticalAlerts', 'is of apps on IOS'],
    ]);
    expect(await refusalOf('/v1/apps/courier', { ...courier, defaults: { color: 'green' } })).toEqual([
      ...[400, 'defaults.color', 'must be a colour such as #0a7d5a'],
    ]);
    expect((await refusalOf('/v1/apps/courier', { ...courier, dataPrefix: 'gcm' })).slice(0, 2)).toEqual([
      ...[400, 'dataPrefix'],
    ]);
    expect((await refusalOf('/v1/apps/courier', { ...courier, identifier: 'com.example.other' })).slice(0, 2)).toEqual([
      ...[400, 'identifier'],
    ]);
    expect((await refusalOf('/v1/apps/default', courier))[0]).toBe(400);
    expect((await call('GET', '/v1/apps/x')).status).toBe(404);
    expect((await call('GET', '/v1/apps/courier')).body).toMatchObject(whole);
  });

  test('where two platforms have an app of one id, the platform is named', async () => {
    const ios = { platform: 'IOS', identifier: 'com.example.courier', environment: 'sandbox' };
    expect((await call('PUT', '/v1/apps/courier', ios)).status).toBe(201);
    expect((await call('GET', '/v1/apps/courier')).body).toMatchObject({ field: 'platform' });
    expect((await call('DELETE', '/v1/apps/courier')).status).toBe(400);
    expect((await call('GET', '/v1/apps/courier?platform=IOS')).body).toMatchObject(ios);
    expect((await call('DELETE', '/v1/apps/courier?platform=IOS')).status).toBe(204);
    expect((await call('GET', '/v1/apps/courier')).body).toMatchObject(whole);
  });

  test('apps are read and changed with the key of data alone', async () => {
    const { keys } = bundle;
    const answers = await Promise.all([
      bundle.call('GET', '/v1/apps', { headers: bundle.basic(keys.push) }),
      bundle.call('GET', '/v1/apps', { headers: bundle.basic('another') }),
      bundle.call('GET', '/v1/apps', {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 401, 401]);
  });

  test('messages to an app are written as it says, and to the others as the workspace says', async () => {
    const site = { platform: 'WEB', identifier: 'https://shop.example', declarative: 'always' };
    expect((await call('PUT', '/v1/apps/shop', site)).status).toBe(201);
    const huawei = { platform: 'ANDROID', identifier: 'com.example.huawei', mode: 'data', dataPrefix: 'hua' };
    expect((await call('PUT', '/v1/apps/huawei', huawei)).status).toBe(201);
    const iphone = {
      platform: 'IOS',
      identifier: 'com.example.shop',
      dataPrefix: 'sho',
      defaults: { sound: 'bell.caf' },
    };
    expect((await call('PUT', '/v1/apps/shop', iphone)).status).toBe(201);
    const pager = { platform: 'IOS', identifier: 'com.example.pager', criticalAlerts: true };
    expect((await call('PUT', '/v1/apps/pager', pager)).status).toBe(201);
    const token = (name: string) => `${name}-${'t'.repeat(120)}`;
    await bundle.register('van', { platform: 'ANDROID', push_id: token('van'), app_id: 'courier' });
    await bundle.register('hua', {
      ...{ platform: 'ANDROID', push_id: token('hua'), push_provider: 'hms', app_id: 'huawei' },
    });
    await bundle.register('iph', { platform: 'iOS', push_id: 'b2'.repeat(32), app_id: 'shop' });

    const android = { title: 'T', message: 'M', additionalActions: [{ type: 'copy', name: 'Copy', value: 'X' }] };
    const body = {
      ...{ campaignName: 'By app', targetPlatform: ['ANDROID', 'IOS'], targetAudience: 'All Users' },
      payload: { ANDROID: android, IOS: { title: 'T', message: 'M' } },
      campaignDelivery: { type: 'soon' },
    };
    const sent = await bundle.push(body);
    // The workspace sends data, and so does the app of Huawei phones.
    expect(sent.headers.get('x-svc-warning')).toBe(
      'payload.ANDROID.additionalActions is not shown in mode notification while app courier is in the background',
    );
    const { cid } = sent.json();
    const messages = await until(async () => {
      // In mode notification a phone gets no word of the campaign.
      const found = (await bundle.inbox()).filter(({ campaignId = cid }) => (campaignId ?? cid) === cid);
      return found.length >= 5 && found;
    });
    const payloadTo = (address: string): any => messages.find(({ deviceToken }) => deviceToken === address)!.payload;
    const van = payloadTo(token('van'));
    expect(van.data).toEqual({});
    expect(van.android.notification).toMatchObject({
      ...{ channel_id: 'orders', sound: 'bell', icon: 'ic_van', color: '#0a7d5a' },
    });
    const hua = payloadTo(token('hua'));
    expect(JSON.stringify(hua)).toContain('hua_message_id');
    expect(JSON.stringify(hua)).not.toContain('"notification"');
    const iph = payloadTo('b2'.repeat(32));
    expect(iph).toMatchObject({ aps: { sound: 'bell.caf' }, sho: { message_id: expect.any(String) } });
    expect(iph.svc).toBeUndefined();
    const other = messages.find(({ deviceToken }) => deviceToken.startsWith('demo-android'))!.payload as any;
    expect(other.data).toMatchObject({ svc_message_id: expect.any(String) });
    expect(other.android.notification).toBeUndefined();
  });

  test('a critical sound reaches the apps that Apple granted it to, the others with a plain sound, and none where no app has it', async () => {
    expect((await call('GET', '/v1/apps/pager')).body.criticalAlerts).toBe(true);
    await bundle.register('pag', { platform: 'iOS', push_id: 'c3'.repeat(32), app_id: 'pager' });
    await bundle.register('pfc', {
      ...{ platform: 'iOS', push_id: 'firebase'.repeat(16), push_provider: 'fcm', app_id: 'pager' },
    });
    const sound = { name: 'siren.caf', critical: true, volume: 0.8 };
    const named = (campaignName: string, appIds?: string[]) => ({
      ...{ campaignName, targetPlatform: ['IOS'], targetAudience: 'All Users', campaignDelivery: { type: 'soon' } },
      payload: { IOS: { title: 'T', message: 'M', options: { sound } } },
      ...(appIds && { advancedSettings: { appIds } }),
    });
    const refused = await bundle.push(named('For couriers', ['courier', 'shop', 'default']));
    expect(refused.json()).toMatchObject({
      status: 'Fail',
      Error_Message: 'Error parsing parameters: payload.IOS.options.sound.critical: needs an app with critical alerts',
    });
    const sent = await bundle.push(named('For all'));
    expect(sent.headers.get('x-svc-warning')).toBe(
      'payload.IOS.options.sound.critical needs an entitlement of the app; apps without critical alerts play a plain sound',
    );
    const { cid } = sent.json();
    const sounds = await until(async () => {
      const found = (await bundle.inbox()).filter(({ campaignId }) => campaignId === cid);
      const byToken = found.map(({ deviceToken, payload }: any) => [
        deviceToken,
        (payload.apns?.payload ?? payload).aps.sound,
      ]);
      return byToken.length >= 4 && Object.fromEntries(byToken);
    });
    expect(sounds['c3'.repeat(32)]).toEqual({ critical: 1, name: 'siren.caf', volume: 0.8 });
    expect(sounds['firebase'.repeat(16)]).toEqual({ critical: 1, name: 'siren.caf', volume: 0.8 });
    expect(sounds['b2'.repeat(32)]).toBe('siren.caf');
    expect(Object.values(sounds).filter((heard) => heard === 'siren.caf')).toHaveLength(Object.keys(sounds).length - 2);
  });
});

describe('settings in contents', () => {
  const defaults = { channelId: 'orders', sound: 'bell', icon: 'ic_van', color: '#0a7d5a' };
  const android = { title: 'T', message: 'M', richContent: [], additionalActions: [] };

  test('what a content says itself is not the default of its app', () => {
    const content = {
      ...android,
      channelId: 'news',
      richContent: [{ type: 'sound' as const, value: 'horn' }],
      options: { color: '#000000' },
    };
    expect(contentForApp(content, { platform: 'ANDROID', settings: { defaults } })).toEqual({
      ...content,
      options: { icon: 'ic_van', color: '#000000' },
    });
    const ios = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [] };
    const named = { ...ios, options: { sound: { name: 'horn.caf' } } };
    expect(contentForApp(named, { platform: 'IOS', settings: { defaults } })).toEqual(named);
    const web = { title: 'T', message: 'M', redirectUrl: 'https://a.example', iconUrl: 'i', autoDismiss: false };
    const declared = { ...web, options: { declarative: 'never' as const } };
    expect(contentForApp(declared, { platform: 'WEB', settings: { declarative: 'auto' } })).toEqual(declared);
    expect(contentForApp(web, { platform: 'WEB', settings: { declarative: 'auto' } }).options).toEqual({
      declarative: 'auto',
    });
  });

  test('a critical sound is that of apps with critical alerts, and a plain one elsewhere', () => {
    const sound = { name: 'siren.caf', critical: true as const, volume: 0.8 };
    const options = { sound, relevanceScore: 1 };
    const content = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [], options };
    const madeFor = (settings: AppSettings) => contentForApp(content, { platform: 'IOS', settings }).options;
    expect(madeFor({ criticalAlerts: true })).toEqual(options);
    expect(madeFor({ defaults: { sound: 'bell' } })).toEqual({ ...options, sound: { name: 'siren.caf' } });
  });

  test('a critical sound asks for an app with critical alerts among those that are reached', () => {
    const app = (appId: string, platform: App['platform'], settings: AppSettings = {}) => ({
      appId,
      platform,
      settings,
    });
    const apps = [app('shop', 'IOS', { criticalAlerts: true }), app('courier', 'IOS'), app('pager', 'ANDROID')];
    const own = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [] };
    const plain = { ...own, options: { sound: { name: 'bell' } } };
    const loud = { ...own, options: { sound: { name: 'bell', critical: true as const } } };
    const found = (appIds: string[] | undefined, IOS: IosContent = loud) =>
      findCriticalSounds({ IOS }, { apps, appIds });
    expect(found(undefined)).toEqual([]);
    expect(found(['shop', 'courier'])).toEqual([]);
    expect(found(['courier'])).toEqual(['content']);
    expect(found(['pager'], { ...plain, fallback: loud })).toEqual(['fallback']);
    expect(found(['courier'], plain)).toEqual([]);
    expect(findCriticalSounds({ IOS: loud }, { apps: [], appIds: undefined })).toEqual(['content']);
  });

  test('what is lost is told of the modes that the message meets', () => {
    const app = (appId: string, mode?: 'data' | 'notification'): App => ({
      ...{
        platform: 'ANDROID',
        appId,
        name: appId,
        identifier: `a.${appId}`,
        environment: null,
        restrictsPackage: false,
      },
      settings: mode === undefined ? {} : { mode },
    });
    const apps = [app('shop', 'data'), app('courier', 'notification'), app('plain')];
    const content = { ...android, summary: 'S' };
    const told = (appIds: string[] | undefined, { isSilent = false, mode = 'both' as const, own = content } = {}) =>
      lostInApps(own, { mode, apps, settings: { isSilent, ...(appIds && { appIds }) } }).map((lost) =>
        [lost.mode, ...lost.apps].join(' '),
      );
    expect(told(undefined)).toEqual(['both', 'notification courier']);
    expect(told(['shop'])).toEqual([]);
    expect(told(['shop', 'courier'])).toEqual(['notification courier']);
    expect(told(['plain'])).toEqual(['both']);
    expect(told(undefined, { isSilent: true })).toEqual([]);
    expect(told(undefined, { own: { ...content, options: { deliveryMode: 'notification' } } as never })).toEqual([
      'notification',
    ]);
  });
});
