import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../carillon-bundle.ts';
import { startAppsBundle } from './apps-bundle.ts';
import type { AppsBundle } from './apps-bundle.ts';

let bundle: AppsBundle;
beforeAll(async () => {
  bundle = await startAppsBundle();
});
afterAll(() => bundle.stop());

const call = async (method: string, path: string, body?: object) => {
  const answer = await bundle.call(method, path, { headers: bundle.basic(), ...(body === undefined ? {} : { body }) });
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
