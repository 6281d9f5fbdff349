import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterEach(() => bundle.call('POST', '/sandbox/faults', { body: {} }));
afterAll(() => bundle.stop());

const setFaults = async (body: object) => {
  expect((await bundle.call('POST', '/sandbox/faults', { body })).status).toBe(204);
};
const search = () =>
  bundle.call('POST', '/v5/campaigns/search', {
    headers: bundle.basic(bundle.keys.campaigns),
    body: { limit: 1, page: 1 },
  });

test('a fault of one route fails its second call as told, and no other route', async () => {
  await setFaults({
    api: { route: 'POST /v5/campaigns/*', nth: 2, status: 503, headers: { 'retry-after': '7' }, body: 'later' },
  });
  const statuses = [];
  for (let call = 1; call <= 3; call += 1) {
    const answer = await search();
    statuses.push(answer.status);
    if (call === 2) expect([answer.text, answer.headers.get('retry-after')]).toEqual(['later', '7']);
    expect((await bundle.token()).accessToken).toMatch(/^cat_/);
  }
  expect(statuses).toEqual([200, 503, 200]);
});

test('a fault of all routes spares the switches, the console and who asks whether the node lives', async () => {
  await setFaults({ api: { reset: true } });
  await expect(search()).rejects.toThrow('fetch failed');
  for (const path of ['/sandbox/clock', '/console/', '/livez', '/readyz'])
    expect([path, (await bundle.call('GET', path)).status]).toEqual([path, 200]);
  await bundle.call('DELETE', '/sandbox/inbox');
  expect((await search()).status).toBe(200);
});

test('a fault of one device meets it alone', async () => {
  const [device] = await bundle.database`select push_id from devices where platform = 'ANDROID'`;
  const push = async (campaignName: string) => {
    const { cid } = (
      await bundle.push({
        ...{ campaignName, targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
        payload: { ANDROID: { title: 'Title', message: 'Text' } },
        campaignDelivery: { type: 'soon' },
      })
    ).json();
    return until(async () => {
      const [row] = await bundle.database`select outcome from readable_deliveries where campaign_id = ${cid}`;
      return row?.outcome as string | undefined;
    });
  };
  await setFaults({ fcm: { device: 'another', status: 503 } });
  expect(await push('To a device without fault')).toBe('ACCEPTED');
  await setFaults({
    fcm: [
      { device: 'another', status: 404 },
      { device: device!.push_id, status: 503 },
    ],
  });
  expect(await push('To the device of the fault')).toBe('WAITING');
});

test('what a provider refused is listed with why, newest first, and without secrets', async () => {
  const { database, workspaceId } = bundle;
  await bundle.call('DELETE', '/sandbox/inbox');
  await database`
    update devices set push_id = 'magic-gone-' || device_id where workspace_id = ${workspaceId} and platform = 'ANDROID'`;
  await setFaults({ apns: { status: 400, body: '{"reason":"BadTopic"}', count: 1 } });
  const pushed = await bundle.push({
    ...{ campaignName: 'Refused twice', targetAudience: 'All Users', targetPlatform: ['ANDROID', 'IOS'] },
    payload: { ANDROID: { title: 'Title', message: 'Text' }, IOS: { title: 'Title', message: 'Text' } },
    campaignDelivery: { type: 'soon' },
  });
  expect(pushed.json().status).toBe('Success');
  const list = async () => (await bundle.call('GET', '/sandbox/refusals')).json().refusals;
  const refusals = await until(async () => {
    const found = await list();
    return found.length >= 2 && found;
  });
  const of = (wanted: string) => refusals.find(({ provider }: { provider: string }) => provider === wanted);
  expect(of('fcm')).toMatchObject({
    ...{ status: 404, rule: 'magic address', device: expect.stringMatching(/^magic-gone-/) },
    reason: 'NOT_FOUND: Requested entity was not found.',
    headers: { authorization: 'Bearer …', 'content-type': expect.stringContaining('application/json') },
  });
  expect(of('apns')).toMatchObject({
    ...{ status: 400, rule: 'fault', reason: '{"reason":"BadTopic"}' },
    headers: { authorization: 'bearer …', 'apns-push-type': 'alert' },
  });
  expect(refusals[0].number).toBe(refusals[1].number + 1);
  expect((await bundle.call('GET', '/sandbox/refusals?limit=1')).json().refusals).toEqual([refusals[0]]);
  await bundle.call('DELETE', '/sandbox/inbox');
  expect(await list()).toEqual([]);
});
