import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countUses } from '../../src/app/data.ts';
import { exportRows } from '../../src/app/export.ts';
import type { ExportSubject } from '../../src/app/export.ts';
import { networkOfAddress } from '../../src/domain/access/installations.ts';
import { newInstallationsPerMinute, newInstallationWindows } from '../../src/domain/limits/installations.ts';
import { makeDropOldRecords } from '../../src/engine/housekeeping/old-records.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { makeAppOf } from '../sdk/web-site.ts';
import { makeInstallationBundle, secretOf } from './installation-bundle.ts';
import type { InstallationBundle, Phone } from './installation-bundle.ts';

let phones = 0;
const newPhone = (): Phone => ({ id: `recorded-installation-${(phones += 1)}`, secret: secretOf(String(phones % 10)) });
const day = 86_400_000;

describe('installations', () => {
  let bundle: InstallationBundle;
  beforeAll(async () => {
    bundle = await makeInstallationBundle();
  });
  afterAll(() => bundle?.stop());

  const register = async (address: string) =>
    (await bundle.register(newPhone(), { push_token: null }, { address })).status;

  test.each([
    ['203.0.113.9', '203.0.113.200', '203.0.114.9'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'],
    ['::ffff:192.0.2.1', '192.0.2.77', '192.0.3.1'],
  ])('are limited together in the network of %s and %s, apart from %s', async (one, same, other) => {
    await bundle.database`delete from limit_windows`;
    expect(await register(one)).toBe(200);
    const [{ events: limit }] = newInstallationWindows['installation-network'];
    await bundle.database`
      update limit_windows set events = array_fill(events[1], array[${limit - 1}::integer]) where operation = 'installation-network'`;
    expect([await register(same), await register(same), await register(one)]).toEqual([200, 429, 429]);
    expect(await register(other)).toBe(200);
    bundle.clock.advance(600_001);
    expect(await register(same)).toBe(200);
  });

  test('are counted as one network if an address cannot be read, and never by a part of another kind of address', () => {
    expect(['', 'not an address', '300.1.2.3'].map(networkOfAddress)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(networkOfAddress('2001:DB8::1')).toBe(networkOfAddress('2001:db8:0:0:9::'));
  });

  test('are limited for a workspace over all networks, and a known one still refreshes', async () => {
    bundle.clock.advance(60_000);
    const known = newPhone();
    await bundle.register(known);
    const used = { operation: 'installation', workspaceId: bundle.workspaceId, limit: newInstallationsPerMinute };
    const wanted = newInstallationsPerMinute - 2;
    await countUses(bundle.database, [{ ...used, wanted, windowSeconds: 60, at: bundle.clock.now() }]);
    expect([await register('198.18.0.1'), await register('198.18.1.1')]).toEqual([200, 429]);
    expect((await bundle.register(known)).status).toBe(200);
    bundle.clock.advance(60_000);
    expect(await register('198.18.0.1')).toBe(200);
  });

  test('without a user are deleted 90 days after their last call; the others stay', async () => {
    const { database, clock } = bundle;
    const clean = makeDropOldRecords({ database, clock: { realNow: () => clock.now() }, inboxMessages: 10 });
    const [idle, refreshed, anonymous] = [newPhone(), newPhone(), newPhone()];
    await bundle.register(idle, { push_token: null });
    await bundle.register(refreshed, { push_token: null });
    await bundle.register(anonymous);
    const left = async () => {
      const ids = [idle, refreshed, anonymous].map(({ id }) => id);
      const rows = await database`select id from installations where id = any(${ids}) order by id`;
      return rows.map(({ id }) => id as string);
    };
    clock.advance(60 * day);
    await bundle.register(refreshed, { push_token: null });
    clock.advance(30 * day - 1);
    await clean.runOnce(clock.now());
    expect(await left()).toHaveLength(3);
    clock.advance(2);
    await clean.runOnce(clock.now());
    expect(await left()).toEqual([refreshed.id, anonymous.id].sort());
    // Its app registers again.
    expect((await bundle.register(idle, { push_token: null })).status).toBe(200);
  });

  test('remember the ids of events for 14 days', async () => {
    const { database, clock } = bundle;
    const clean = makeDropOldRecords({ database, clock: { realNow: () => clock.now() }, inboxMessages: 10 });
    const phone = newPhone();
    await bundle.register(phone);
    const report = async () =>
      (await bundle.report(phone, [{ id: 'remembered-1', type: 'event', name: 'Opened' }])).body;
    expect(await report()).toMatchObject({ accepted: 1, repeated: 0 });
    clock.advance(14 * day - 1);
    await clean.runOnce(clock.now());
    expect(await report()).toMatchObject({ accepted: 0, repeated: 1 });
    clock.advance(2);
    await clean.runOnce(clock.now());
    expect(await report()).toMatchObject({ accepted: 1, repeated: 0 });
  });

  test('are exported as devices of their users, with attributes and events of the app, and without a secret', async () => {
    const phone = newPhone();
    await bundle.register(phone, { model: 'Pixel 9' });
    await bundle.signIn(phone, 'elsa');
    await bundle.report(phone, [
      { id: 'exported-1', type: 'event', name: 'Exported', attributes: { page: 'offers' } },
      { id: 'exported-2', type: 'set', attributes: { team: 'Kestrels' } },
    ]);
    const write = async (kind: 'users' | 'devices' | 'events') => {
      let text = '';
      await exportRows(bundle.database, {
        ...{
          workspaceId: bundle.workspaceId,
          subject: { kind } as ExportSubject,
          format: 'ndjson',
          at: bundle.clock.now(),
        },
        write: async (piece) => void (text += piece),
      });
      expect(text).not.toContain(phone.secret);
      return text.split('\n').find((line) => line.includes('"elsa"'));
    };
    expect(await write('users')).toContain('"app:team":"Kestrels"');
    expect(await write('devices')).toContain(`"token-${phone.id}"`);
    expect(await write('events')).toContain('"Exported"');
  });

  test('move with a user whom a server merges, and sign out as the retained one', async () => {
    const headers = bundle.basic(await bundle.makeKey('data'));
    const send = (url: string, payload: object) =>
      bundle.installationServer.inject({ method: 'POST', url, headers, payload });
    const phone = newPhone();
    await bundle.register(phone);
    await bundle.signIn(phone, 'merged-fred');
    const url = `/v1/customer/${bundle.workspaceId}`;
    await send(url, { type: 'customer', customer_id: 'retained-frida', attributes: {} });
    const merged = await send(`/v1/customer/merge?app_id=${bundle.workspaceId}`, {
      merge_data: [{ merged_user: 'merged-fred', retained_user: 'retained-frida' }],
    });
    expect(merged.statusCode).toBe(200);
    expect(await bundle.devices()).toContain(`retained-frida token-${phone.id} ACTIVE`);
    await bundle.report(phone, [{ id: 'after-merge', type: 'event', name: 'AfterMerge' }]);
    expect(await bundle.events('retained-frida')).toEqual(['AfterMerge']);
    // A later sign-in must not merge the retained user into another.
    await bundle.signIn(phone, 'gustav');
    expect(await bundle.events('retained-frida')).toEqual(['AfterMerge']);
    expect(await bundle.events('gustav')).toEqual([]);
    expect(await bundle.devices()).toContain(`gustav token-${phone.id} ACTIVE`);
    await bundle.signOut(phone);
    expect(await bundle.devices()).toContain(`anonymous token-${phone.id} ACTIVE`);
  });

  test('of an anonymous user move with it, and count as identified', async () => {
    const headers = bundle.basic(await bundle.makeKey('data'));
    const phone = newPhone();
    await bundle.register(phone);
    const [anonymous] = await bundle.database<{ customerId: string }[]>`
      select customer_id as "customerId" from users where id = (select user_id from installations where id = ${phone.id})`;
    const url = `/v1/customer/${bundle.workspaceId}`;
    const payload = { type: 'customer', customer_id: 'hedda', attributes: {} };
    await bundle.installationServer.inject({ method: 'POST', url, headers, payload });
    await bundle.installationServer.inject({
      ...{ method: 'POST', url: `/v1/customer/merge?app_id=${bundle.workspaceId}`, headers },
      payload: { merge_data: [{ merged_user: anonymous!.customerId, retained_user: 'hedda' }] },
    });
    const state = await bundle.app('PATCH', `/v1/app/installations/${phone.id}`, { secret: phone.secret, body: {} });
    expect(state.body).toMatchObject({ signed_in: true });
  });
});

describe('receipts of an app', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle?.stop());

  test('count once per id, by the token of the message; an unknown token does not hold back the others', async () => {
    const { appKey } = await makeAppOf(bundle);
    const phone = newPhone();
    const call = (path: string, body: object, secret = phone.secret) =>
      bundle.call('POST', `/v1/app/${path}`, {
        headers: { authorization: `Bearer ${appKey}`, 'carillon-installation-secret': secret },
        body,
      });
    await call('installations', { installation_id: phone.id, platform: 'ANDROID', push_token: 'token-with-receipts' });
    await call(`installations/${phone.id}/identify`, { user_id: 'ida' });
    await bundle.push({
      ...{ campaignName: 'With receipts', targetPlatform: ['ANDROID'], targetAudience: 'User' },
      targetUserAttributes: {
        ...{ attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: 'ida' },
      },
      payload: { ANDROID: { title: 'Hello', message: 'Ida' } },
      campaignDelivery: { type: 'soon' },
    });
    const { data } = await until(
      async () => (await bundle.inbox()).find(({ deviceToken }) => deviceToken === 'token-with-receipts')?.payload,
    );
    const token = data.svc_report_token as string;
    const receipts = [
      { id: 'receipt-1', token, type: 'shown' },
      { id: 'receipt-2', token, type: 'clicked' },
      { id: 'receipt-3', token: 'x'.repeat(token.length), type: 'shown' },
    ];
    const refused = [{ id: 'receipt-3', reason: 'the token is not known' }];
    for (let repeat = 0; repeat < 2; repeat += 1)
      expect((await call('receipts', { installation_id: phone.id, receipts })).json()).toEqual({
        accepted: 2,
        refused,
      });
    const rows = await bundle.database`
      select kind, total from campaign_interactions where campaign_id = ${data.gcm_campaign_id} order by kind`;
    expect(rows.map(({ kind, total }) => `${kind} ${total}`)).toEqual(['CLICK 1', 'IMPRESSION 1']);
    const stranger = await call('receipts', { installation_id: phone.id, receipts }, secretOf('w'));
    expect([stranger.status, stranger.json().code]).toEqual([401, 'INSTALLATION_UNKNOWN']);
  });
});
