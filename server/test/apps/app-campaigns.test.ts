import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveProviderCredential } from '../../src/app/credentials.ts';
import { exportRows } from '../../src/app/export.ts';
import { makeSimulatedCredentials } from '../../src/app/sandbox/simulated-credentials.ts';
import { until } from '../carillon-bundle.ts';
import { startAppsBundle } from './apps-bundle.ts';
import type { AppsBundle } from './apps-bundle.ts';

describe('a campaign of apps', () => {
  let bundle: AppsBundle;
  beforeAll(async () => {
    bundle = await startAppsBundle();
  });
  afterAll(() => bundle.stop());

  const body = (campaignName: string, more: object = {}) => ({
    ...{ campaignName, targetPlatform: ['ANDROID', 'IOS'], targetAudience: 'All Users' },
    payload: { ANDROID: { title: 'Hello', message: 'All' }, IOS: { title: 'Hello', message: 'All' } },
    campaignDelivery: { type: 'soon' },
    ...more,
  });

  const push = (campaignName: string, more: object = {}) => bundle.pushToEnd(body(campaignName, more));

  const ledger = (cid: string) => bundle.database<
    { app: string; platform: string; outcome: string; code: string | null }[]
  >`
    select coalesce(devices.app_id, 'default') as app, readable_deliveries.platform, readable_deliveries.outcome,
      readable_deliveries.code
    from readable_deliveries join devices on devices.id = readable_deliveries.device_id
    where campaign_id = ${cid} order by 2, 1`;

  test('a campaign over three apps of two platforms reaches each device once, as its app is reached', async () => {
    await bundle.addApp({
      platform: 'ANDROID',
      appId: 'courier',
      identifier: 'com.example.courier',
      restrictsPackage: true,
    });
    await bundle.addApp({ platform: 'ANDROID', appId: 'shop', identifier: 'com.example.shop' });
    await bundle.addApp({
      platform: 'IOS',
      appId: 'courier',
      identifier: 'com.example.courier',
      environment: 'sandbox',
    });
    await bundle.register('android-courier', {
      platform: 'ANDROID',
      push_id: `courier-${'c'.repeat(140)}`,
      app_id: 'courier',
    });
    await bundle.register('android-shop', { platform: 'ANDROID', push_id: `shop-${'s'.repeat(140)}`, app_id: 'shop' });
    await bundle.register('ios-courier', { platform: 'iOS', push_id: 'c1'.repeat(32), app_id: 'courier' });

    const cid = await push('To all apps');
    expect([...(await ledger(cid))].map(({ app, platform, outcome }) => [platform, app, outcome])).toEqual([
      ['ANDROID', 'courier', 'ACCEPTED'],
      ['ANDROID', 'default', 'ACCEPTED'],
      ['ANDROID', 'shop', 'ACCEPTED'],
      ['IOS', 'courier', 'ACCEPTED'],
      ['IOS', 'default', 'ACCEPTED'],
    ]);
    const messages = await until(async () => {
      const found = (await bundle.inbox()).filter((message) => message.campaignId === cid);
      return found.length >= 5 && found;
    });
    const carried = messages.map(({ platform, deviceToken, transport }) =>
      [platform, deviceToken.slice(0, 4), transport.restricted_package_name ?? transport['apns-topic']].map(String),
    );
    const [ofDefault] = await bundle.database<{ topic: string }[]>`
      select summary->>'topic' as topic from provider_credentials where provider = 'apns'`;
    expect(carried.sort()).toEqual([
      ['ANDROID', 'cour', 'com.example.courier'],
      ['ANDROID', 'demo', 'undefined'],
      ['ANDROID', 'shop', 'undefined'],
      ['IOS', 'a1a1', ofDefault!.topic],
      ['IOS', 'c1c1', 'com.example.courier'],
    ]);
  });

  test('a push that names apps reaches their devices alone, on every platform, and says why it reached no other', async () => {
    const cid = await push('To couriers', { advancedSettings: { appIds: ['courier'] } });
    expect([...(await ledger(cid))].map(({ app, platform }) => [platform, app])).toEqual([
      ['ANDROID', 'courier'],
      ['IOS', 'courier'],
    ]);
    const [run] = await bundle.database`select audience_devices as devices from runs where campaign_id = ${cid}`;
    expect(Number(run!.devices)).toBe(2);
    const ofDefault = await push('To the default apps', { advancedSettings: { appIds: ['default'] } });
    expect([...(await ledger(ofDefault))].map(({ app }) => app)).toEqual(['default', 'default']);
    const refused = await bundle.push(body('To nobody', { advancedSettings: { appIds: ['courier', 'nobody'] } }));
    expect(refused.json()).toMatchObject({
      status: 'Fail',
      Error_Message: expect.stringContaining('advancedSettings.appIds: "nobody" is no app of this workspace'),
    });
    const none = await bundle.push(body('To no app', { advancedSettings: { appIds: [] } }));
    expect(none.json().Error_Message).toContain('advancedSettings.appIds: must name an app');
  });

  test('a campaign of V5 that names apps reaches their devices alone; one that there is not keeps it a draft', async () => {
    const call = (method: string, path: string, parts: unknown) =>
      bundle.call(method, path, { headers: bundle.basic(bundle.keys.campaigns), body: parts });
    const parts = {
      ...{ channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'a program' },
      basic_details: { name: 'To couriers, by V5', platforms: ['ANDROID', 'IOS'] },
      campaign_content: {
        content: {
          push: Object.fromEntries(
            ['android', 'ios'].map((one) => [one, { basic_details: { title: 'A', message: 'B' } }]),
          ),
        },
      },
      segmentation_details: { is_all_user_campaign: true },
      scheduling_details: { delivery_type: 'ASAP' },
      advanced: { app_ids: ['courier', 'nobody'] },
    };
    const { id } = (await call('POST', '/v5/campaigns', parts)).json().data;
    const unknown = { field: 'advanced.app_ids', issue: '"nobody" is no app of this workspace' };
    const checked = await call('POST', `/v5/campaigns/${id}/validate`, {});
    expect(checked.json().data.errors).toEqual([unknown]);
    const loud = { sound: { name: 'siren.caf', critical: true } };
    const content = (ios: object) => ({ content: { push: { ...parts.campaign_content.content.push, ios } } });
    const { ios } = parts.campaign_content.content.push;
    await call('PATCH', `/v5/campaigns/${id}`, { campaign_content: content({ ...ios, options: loud }) });
    const silent = {
      field: 'campaign_content',
      issue: 'push.ios.options.sound.critical needs an app with critical alerts',
    };
    expect((await call('POST', `/v5/campaigns/${id}/validate`, {})).json().data.errors).toEqual([unknown, silent]);
    await call('PATCH', `/v5/campaigns/${id}`, {
      campaign_content: content({ ...ios, options: { sound: { critical: false } } }),
    });
    const publish = () => call('PATCH', `/v5/campaigns/${id}/status`, { action: 'PUBLISH' });
    expect((await publish()).status).toBe(400);
    expect((await call('PATCH', `/v5/campaigns/${id}`, { advanced: { app_ids: [] } })).status).toBe(400);

    expect((await call('PATCH', `/v5/campaigns/${id}`, { advanced: { app_ids: ['courier'] } })).status).toBe(200);
    expect((await publish()).status).toBe(200);
    await until(async () => {
      const [row] = await bundle.database`select 1 from campaigns where id = ${id} and status = 'SENT'`;
      return row !== undefined;
    });
    expect([...(await ledger(id))].map(({ app, platform }) => [platform, app])).toEqual([
      ['ANDROID', 'courier'],
      ['IOS', 'courier'],
    ]);
  });

  test('a device whose app has no credential is kept, and the others are reached', async () => {
    await bundle.database`update devices set app_id = 'removed' where app_id = 'shop'`;
    const rows = [...(await ledger(await push('To all apps but one')))];
    expect(rows.filter(({ platform }) => platform === 'ANDROID')).toEqual([
      { app: 'courier', platform: 'ANDROID', outcome: 'ACCEPTED', code: null },
      { app: 'default', platform: 'ANDROID', outcome: 'ACCEPTED', code: null },
      { app: 'removed', platform: 'ANDROID', outcome: 'REJECTED', code: 'NO_CREDENTIAL_FOR_APP' },
    ]);
    const [kept] = await bundle.database`select state from devices where app_id = 'removed'`;
    expect(kept).toEqual({ state: 'ACTIVE' });
  });

  test("an app's refused credential holds its devices alone; they are reached once the app has another", async () => {
    const { database, workspaceId, encryption } = bundle;
    const { fcm: credential } = await makeSimulatedCredentials('nobody');
    // The simulated Firebase is not told of this one.
    const stored = { workspaceId, appId: 'courier', credential, at: new Date() };
    await saveProviderCredential({ encryption }, database, stored);
    const held = async () => {
      const { cid } = (await bundle.push(body(`Held ${Date.now()}`, { targetPlatform: ['ANDROID'] }))).json();
      const rows = () => ledger(cid as string);
      await until(async () => (await rows()).length === 3);
      return { cid: cid as string, rows };
    };
    // A worker knows for two seconds what it read.
    const { cid, rows } = await until(async () => {
      const sent = await held();
      return (await sent.rows()).some(({ outcome }) => outcome === 'WAITING') && sent;
    });
    expect((await rows()).map(({ app, outcome }) => [app, outcome])).toEqual([
      ['courier', 'WAITING'],
      ['default', 'ACCEPTED'],
      ['removed', 'REJECTED'],
    ]);
    const [run] = await database`select status, status_reason as reason from runs where campaign_id = ${cid}`;
    expect(run).toMatchObject({ status: 'SENDING', reason: expect.stringContaining('(app courier)') });

    // The app takes that of the default app.
    await database`delete from provider_credentials where app_id = 'courier'`;
    await until(async () => (await rows())[0]!.outcome === 'ACCEPTED');
    await until(async () => (await bundle.inbox()).filter(({ campaignId }) => campaignId === cid).length === 2);
  });
});

describe('a campaign of providers', () => {
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
});
