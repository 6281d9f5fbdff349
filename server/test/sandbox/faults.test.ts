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
