import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from './signed-in-client.ts';

let bundle: CarillonBundle;
let cookie: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  ({ cookie } = await openSignedInClient(bundle));
});
afterAll(() => bundle.stop());

const add = (body: object) =>
  bundle.call('POST', `/console/api/sandbox/devices?workspaceId=${bundle.workspaceId}`, {
    headers: { cookie },
    body: { customerId: 'bea', ...body },
  });

test('a virtual device is throttled where its provider throttles so, and refused with the reason elsewhere', async () => {
  const phone = await add({ platform: 'ANDROID', behaviour: 'throttled' });
  expect([phone.status, phone.text]).toEqual([
    400,
    expect.stringContaining('must not be throttled for a device that fcm reaches'),
  ]);
  const browser = await add({ platform: 'WEB', behaviour: 'throttled' });
  expect(browser.status).toBeLessThan(300);
  expect(browser.text).toContain('"behaviour":"throttled"');
});
