import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomBytes } from 'node:crypto';
import { makeSimulatedSubscription } from '../../src/providers/webpush/simulated-browser.ts';
import { withSession } from '../../src/storage/database.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle.stop());

const subscription = (id: string) => JSON.parse(makeSimulatedSubscription({ secret: randomBytes(32), id }));
const register = (body: unknown) => bundle.call('POST', '/sandbox/browser/devices', { body });

describe('the page that makes a browser a device', () => {
  test.each([
    ['/sandbox/browser', 'text/html'],
    ['/sandbox/browser/page.css', 'text/css'],
    ['/sandbox/browser/page.js', 'text/javascript'],
    ['/sandbox/browser/subscribe-browser.js', 'text/javascript'],
    ['/sandbox/carillon-service-worker.js', 'text/javascript'],
  ])('%s is served under a policy that runs no inline script', async (path, type) => {
    const answer = await bundle.call('GET', path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain(type);
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toContain('unsafe');
    if (type === 'text/html') expect(answer.text).not.toMatch(/<script(?![^>]*src=)|\son\w+=|style=/i);
  });

  test('returns only the public half of the VAPID key', async () => {
    const settings = (await bundle.call('GET', '/sandbox/browser/settings')).json();
    expect(Object.keys(settings).sort()).toEqual(['publicKey', 'workspaceId']);
    const point = Buffer.from(settings.publicKey, 'base64url');
    expect([point.length, point[0]]).toEqual([65, 4]);
  });

  test('the subscription is a web device of the customer, who is created if unknown; subscribing again gives the same device', async () => {
    const body = { customerId: 'someone new', subscription: subscription('theirs') };
    const { deviceId } = (await register(body)).json();
    expect(deviceId).toMatch(/^browser-[0-9a-f]{16}$/);
    expect((await register(body)).json()).toEqual({ deviceId });
    const rows = await bundle.database`
      select device_id, platform, state from devices join users on users.bucket = devices.bucket and users.id = devices.user_id
      where customer_id = 'someone new'`;
    expect(rows).toEqual([{ device_id: deviceId, platform: 'WEB', state: 'ACTIVE' }]);
  });

  test('a circle of locks, as of two people who take one browser from each other, is tried again', async () => {
    const body = { customerId: 'tim', subscription: subscription('shared') };
    expect((await register({ ...body, customerId: 'ann' })).status).toBe(200);
    let answer: ReturnType<typeof register> | undefined;
    await withSession(bundle.database, async (session) => {
      await session`begin`;
      // The other one is ended: the database looks for circles for whoever has waited this long.
      await session`set local deadlock_timeout = '60s'`;
      const [device] = await session`
        select id, workspace_id, bucket from devices where push_id = ${JSON.stringify(body.subscription)}`;
      await session`select 1 from devices where bucket = ${device!.bucket} and id = ${device!.id} for update`;
      answer = register(body);
      await until(() => isAnybodyWaiting(bundle.database));
      await session`
        update push_addresses set device_row_id = device_row_id
        where workspace_id = ${device!.workspace_id} and device_row_id = ${device!.id}`;
      await session`commit`;
    });
    expect((await answer!).status).toBe(200);
  });

  test.each([
    ['no subscription', { customerId: 'tim' }],
    ['a reserved customer', { customerId: 'null', subscription: subscription('x') }],
    [
      'an endpoint that is no https address',
      { customerId: 'tim', subscription: { ...subscription('x'), endpoint: 'http://e.x' } },
    ],
    [
      'an endpoint of a subscription that was removed',
      { customerId: 'tim', subscription: { ...subscription('x'), endpoint: 'https://permanently-removed.invalid/' } },
    ],
    [
      'keys that are none',
      { customerId: 'tim', subscription: { endpoint: 'https://e.x', keys: { p256dh: 'A', auth: 'A' } } },
    ],
    ['more than is asked', { customerId: 'tim', subscription: subscription('x'), workspaceId: 'other' }],
  ])('%s is refused', async (_what, body) => {
    const answer = await register(body);
    expect([answer.status, answer.json().code]).toEqual([400, 'PARAMETER_INVALID']);
  });
});
