import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle.stop());

const page = 'https://shop.example/offer?id=7';

test('what arrives at a phone or browser is enough to report it and to build its link, on every platform', async () => {
  const action = { type: 'richlanding', value: page };
  const accepted = await bundle.push({
    campaignName: 'Reported by all',
    targetPlatform: ['ANDROID', 'IOS', 'WEB'],
    targetAudience: 'All Users',
    payload: {
      ANDROID: { title: 'T', message: 'M', defaultAction: action },
      IOS: { title: 'T', message: 'M', defaultAction: action },
      WEB: { title: 'T', message: 'M', redirectURL: page, iconURL: 'https://shop.example/i.png' },
    },
    campaignDelivery: { type: 'soon' },
  });
  const { cid } = accepted.json();
  const messages = await until(async () => {
    const found = await bundle.inbox();
    return found.length === 3 && found;
  });
  const passOf: Record<string, (payload: any) => { token: string; proof: string }> = {
    ANDROID: ({ data }) => ({ token: data.svc_report_token, proof: data.svc_click_proof }),
    IOS: ({ svc }) => ({ token: svc.report_token, proof: svc.click_proof }),
    WEB: ({ report_token: token, click_proof: proof }) => ({ token, proof }),
  };
  for (const { platform, payload } of messages) {
    const { token, proof } = passOf[platform]!(payload);
    const body = { token, kind: 'impression', id: 'first' };
    expect((await bundle.call('POST', '/v1/interactions', { body })).status).toBe(204);
    const link = `${bundle.url}/v1/click/${token}.${proof}?to=${encodeURIComponent(page)}`;
    const answer = await fetch(link, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, page]);
  }
  const rows = await bundle.database`
    select platform, kind, total, unique_devices from campaign_interactions where campaign_id = ${cid}
    order by platform, kind`;
  expect(rows.map((row) => Object.values(row))).toEqual(
    ['ANDROID', 'IOS', 'WEB'].flatMap((platform) => ['CLICK', 'IMPRESSION'].map((kind) => [platform, kind, 1, 1])),
  );
  // The calls of devices are no integrator's: they stay out of the API log, and their tokens with them.
  await bundle.call('GET', '/sandbox/clock');
  const logged = await until(async () => {
    const entries = await bundle.database`select route, path from api_log`;
    return entries.some(({ route }) => route === '/sandbox/clock') && entries;
  });
  expect(logged.filter(({ path }) => /interactions|click/.test(path))).toEqual([]);
});
