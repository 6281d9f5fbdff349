import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportRows } from '../../src/app/export.ts';
import { until } from '../carillon-bundle.ts';
import { startAppsBundle } from './apps-bundle.ts';
import type { AppsBundle } from './apps-bundle.ts';

let bundle: AppsBundle;
beforeAll(async () => {
  bundle = await startAppsBundle();
  const android = { platform: 'ANDROID', restrictsPackage: true } as const;
  await bundle.addApp({ ...android, appId: 'shop', identifier: 'com.example.shop' });
  await bundle.addApp({ ...android, appId: 'courier', identifier: 'com.example.courier' });
  await bundle.addApp({ platform: 'IOS', appId: 'shop', identifier: 'com.example.shop', environment: 'sandbox' });
});
afterAll(() => bundle.stop());

const content = { title: 'Hello', message: 'All' };
const body = {
  ...{ targetPlatform: ['ANDROID', 'IOS', 'WEB'], targetAudience: 'All Users' },
  payload: {
    ANDROID: content,
    IOS: content,
    WEB: { ...content, redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' },
  },
  campaignDelivery: { type: 'soon' },
};

const push = (campaignName: string) => bundle.pushToEnd({ ...body, campaignName });

/** The ledger's rows as they are exported. */
async function exportLedger(campaignId: string) {
  let text = '';
  await exportRows(bundle.database, {
    ...{ workspaceId: bundle.workspaceId, subject: { kind: 'ledger', campaignId }, format: 'ndjson', at: new Date() },
    async write(piece) {
      text += piece;
    },
  });
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
}

const inboxOf = (campaignId: string, messages: number) =>
  until(async () => {
    const found = (await bundle.inbox()).filter((message) => message.campaignId === campaignId);
    return found.length >= messages && found;
  });

test('one campaign over three apps and four providers reaches each device once, and its ledger says by which', async () => {
  const token = (name: string) => `${name}-${'t'.repeat(120)}`;
  await bundle.register('android', { platform: 'ANDROID', push_id: token('android'), app_id: 'shop' });
  await bundle.register('huawei', {
    platform: 'ANDROID',
    push_id: token('huawei'),
    push_provider: 'hms',
    app_id: 'shop',
  });
  await bundle.register('huawei-2', {
    platform: 'ANDROID',
    push_id: token('huawei-2'),
    push_provider: 'hms',
    app_id: 'courier',
  });
  await bundle.register('huawei-3', { platform: 'ANDROID', push_id: token('huawei-3'), push_provider: 'hms' });
  await bundle.register('iphone', { platform: 'iOS', push_id: 'c1'.repeat(32), app_id: 'shop' });
  await bundle.register('iphone-2', {
    platform: 'iOS',
    push_id: token('iphone-2'),
    push_provider: 'fcm',
    app_id: 'shop',
  });
  await bundle.register('iphone-3', { platform: 'iOS', push_id: token('iphone-3'), push_provider: 'fcm' });
  await bundle.register('browser', { platform: 'web', push_id: token('browser'), push_provider: 'fcm' });

  const cid = await push('To all');
  const rows = await exportLedger(cid);
  expect(rows.every(({ outcome, attempts }) => outcome === 'ACCEPTED' && Number(attempts) === 1)).toBe(true);
  const reached = rows.map(({ platform, app_id, push_provider }) => `${platform} ${app_id} ${push_provider}`).sort();
  expect(reached).toEqual([
    'ANDROID courier hms',
    // The demo's own phone.
    'ANDROID default fcm',
    'ANDROID default hms',
    'ANDROID shop fcm',
    'ANDROID shop hms',
    'IOS default apns',
    'IOS default fcm',
    'IOS shop apns',
    'IOS shop fcm',
    'WEB default fcm',
    'WEB default webpush',
  ]);
  const messages = await inboxOf(cid, rows.length);
  expect(new Set(messages.map(({ deviceToken }) => deviceToken)).size).toBe(rows.length);
  const transportOf = (name: string) => messages.find(({ deviceToken }) => deviceToken === token(name))!.transport;
  expect(transportOf('huawei')).toMatchObject({ urgency: expect.any(String), collapse_key: '-1' });
  expect(transportOf('android').restricted_package_name).toBe('com.example.shop');
  expect(transportOf('iphone-2')).toMatchObject({ 'apns-push-type': 'alert' });
  expect(transportOf('iphone-2')['apns-topic']).toBeUndefined();
  expect(transportOf('browser')).toMatchObject({ Urgency: expect.any(String), TTL: expect.any(String) });
  expect((await bundle.call('GET', '/sandbox/counters')).json()).toMatchObject({ HMS: { accepted: 3, refused: 0 } });
});

test('an installation that Firebase knows by an id is reached by it, with others and by itself, and may be gone', async () => {
  const fid = (word: string) => word.padEnd(22, 'A');
  for (const name of ['one', 'two', 'magic-gone', 'magic-invalid'])
    await bundle.register(`fid-${name}`, { platform: 'ANDROID', push_id: fid(name), push_id_type: 'fid' });
  await bundle.register('fid-phone', {
    platform: 'iOS',
    push_provider: 'fcm',
    push_id: fid('phone'),
    push_id_type: 'fid',
  });
  const faults = { fcm: { status: 503, headers: { 'retry-after': '1' }, device: 'two', count: 1 } };
  expect((await bundle.call('POST', '/sandbox/faults', { body: faults })).status).toBe(204);
  const rows = await exportLedger(await push('By installation'));
  const resultOf = (name: string) => {
    const { outcome, code, attempts } = rows.find(({ customer_id }) => customer_id === `fid-${name}`)!;
    return [outcome, code, Number(attempts)];
  };
  expect(resultOf('one')).toEqual(['ACCEPTED', null, 1]);
  expect(resultOf('two')).toEqual(['ACCEPTED', null, 2]);
  expect(resultOf('phone')).toEqual(['ACCEPTED', null, 1]);
  expect(resultOf('magic-gone')).toEqual(['GONE', 'UNREGISTERED', 1]);
  // All that the answer complains of is message.fid.
  expect(resultOf('magic-invalid')).toEqual(['GONE', 'INVALID_ARGUMENT', 1]);
});

test('phones of Huawei that are gone, and those that are to wait, are as those of others', async () => {
  await bundle.register('gone', { platform: 'ANDROID', push_id: 'magic-gone-huawei', push_provider: 'hms' });
  await bundle.register('tired', { platform: 'ANDROID', push_id: 'tired-huawei', push_provider: 'hms' });
  const faults = { hms: { status: 503, headers: { 'retry-after': '1' }, device: 'tired', count: 1 } };
  expect((await bundle.call('POST', '/sandbox/faults', { body: faults })).status).toBe(204);
  const rows = await exportLedger(await push('Again'));
  const rowOf = (customerId: string) => rows.find(({ customer_id }) => customer_id === customerId);
  expect(rowOf('gone')).toMatchObject({ push_provider: 'hms', outcome: 'GONE', code: '80300007' });
  expect(rowOf('tired')).toMatchObject({ push_provider: 'hms', outcome: 'ACCEPTED', attempts: 2 });
  // The second try goes to Huawei too.
  const { transport } = await until(async () =>
    (await bundle.inbox()).find(({ deviceToken }) => deviceToken === 'tired-huawei'),
  );
  expect(transport).toMatchObject({ urgency: 'HIGH', collapse_key: '-1' });
  const [device] = await bundle.database`select state from devices where push_id = 'magic-gone-huawei'`;
  expect(device).toEqual({ state: 'GONE' });
  const { refusals } = (await bundle.call('GET', '/sandbox/refusals')).json();
  expect(refusals).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ provider: 'hms', status: 200, reason: expect.stringMatching(/^80300007: /) }),
      expect.objectContaining({ provider: 'hms', status: 503, rule: 'fault', device: 'tired-huawei' }),
    ]),
  );
});
