import { afterAll, beforeAll, expect, test } from 'vitest';
import { addApp } from '../../src/app/apps/manage-apps.ts';
import { exportRows } from '../../src/app/export/export-rows.ts';
import { makeClock } from '../../src/clock.ts';
import type { Platform } from '../../src/domain/campaigns/content.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  const app = (platform: Platform, appId: string, identifier: string) =>
    addApp(
      { database: bundle.database, clock: makeClock() },
      {
        ...{
          by: { id: null, name: 'Olga' },
          workspaceId: bundle.workspaceId,
          name: appId,
          platform,
          appId,
          identifier,
        },
        ...{ environment: platform === 'IOS' ? ('sandbox' as const) : null, restrictsPackage: platform === 'ANDROID' },
      },
    );
  await app('ANDROID', 'shop', 'com.example.shop');
  await app('IOS', 'shop', 'com.example.shop');
  await app('ANDROID', 'courier', 'com.example.courier');
});
afterAll(() => bundle.stop());

async function register(customerId: string, attributes: Record<string, unknown>): Promise<void> {
  const post = (family: string, body: object) =>
    bundle.call('POST', `/v1/${family}/${bundle.workspaceId}`, { headers: bundle.basic(), body });
  await post('customer', { type: 'customer', customer_id: customerId });
  const device = { type: 'device', customer_id: customerId, device_id: customerId, attributes };
  expect((await post('device', device)).status).toBe(200);
}

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

async function push(campaignName: string): Promise<string> {
  const { cid } = (await bundle.push({ ...body, campaignName })).json();
  await until(async () => {
    const [row] = await bundle.database`select 1 from campaigns where id = ${cid} and status = 'SENT'`;
    return row !== undefined;
  });
  return cid as string;
}

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
  await register('android', { platform: 'ANDROID', push_id: token('android'), app_id: 'shop' });
  await register('huawei', { platform: 'ANDROID', push_id: token('huawei'), push_provider: 'hms', app_id: 'shop' });
  await register('huawei-2', {
    platform: 'ANDROID',
    push_id: token('huawei-2'),
    push_provider: 'hms',
    app_id: 'courier',
  });
  await register('huawei-3', { platform: 'ANDROID', push_id: token('huawei-3'), push_provider: 'hms' });
  await register('iphone', { platform: 'iOS', push_id: 'c1'.repeat(32), app_id: 'shop' });
  await register('iphone-2', { platform: 'iOS', push_id: token('iphone-2'), push_provider: 'fcm', app_id: 'shop' });
  await register('iphone-3', { platform: 'iOS', push_id: token('iphone-3'), push_provider: 'fcm' });
  await register('browser', { platform: 'web', push_id: token('browser'), push_provider: 'fcm' });

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

test('phones of Huawei that are gone, and those that are to wait, are as those of others', async () => {
  await register('gone', { platform: 'ANDROID', push_id: 'magic-gone-huawei', push_provider: 'hms' });
  await register('tired', { platform: 'ANDROID', push_id: 'tired-huawei', push_provider: 'hms' });
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
