import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle.stop());

test('phones and browsers show what was rendered for them, and statistics count who could not be addressed', async () => {
  const attributes = { vip: true };
  const saved = await bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
    headers: bundle.basic(),
    body: { type: 'customer', customer_id: 'ada', attributes },
  });
  expect(saved.status).toBe(200);
  const title = "Hello {{ UserAttribute['First Name'] }}";
  const message = "{{ 'Gold' if UserAttribute['vip'] else 'Silver' }}";
  const web = { redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/i.png' };
  const fallback = { message: 'Welcome' };
  const answer = await bundle.push({
    campaignName: 'Personal for all',
    targetPlatform: ['ANDROID', 'IOS', 'WEB'],
    targetAudience: 'All Users',
    payload: {
      ANDROID: { title, message },
      IOS: { title, message, fallback },
      WEB: { title, message, ...web },
    },
    campaignDelivery: { type: 'soon' },
  });
  const { cid } = answer.json();
  await until(async () => {
    const [row] = await bundle.database`select status from campaigns where id = ${cid} and status = 'SENT'`;
    return row !== undefined;
  });
  const rows = await bundle.database`
    select users.customer_id as who, deliveries.platform, deliveries.outcome, deliveries.code
    from readable_deliveries as deliveries join runs on runs.id = deliveries.run_id
    join users on users.bucket = deliveries.bucket and users.id = deliveries.user_id
    where runs.campaign_id = ${cid} order by deliveries.platform`;
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['ada', 'ANDROID', 'ACCEPTED', null],
    ['grace', 'IOS', 'ACCEPTED', 'FALLBACK_USER_ATTRIBUTE'],
    ['tim', 'WEB', 'FAILED', 'TEMPLATE_USER_ATTRIBUTE'],
  ]);
  const shown = await until(async () => {
    const found = (await bundle.inbox()).filter(({ campaignId }) => campaignId === cid);
    return found.length === 2 && found;
  });
  expect(shown.map(({ platform, title: line, body }) => [platform, line, body]).sort()).toEqual([
    ['ANDROID', 'Hello Ada', 'Gold'],
    ['IOS', 'Hello Grace', 'Welcome'],
  ]);
  const [run] = await bundle.database`select day::text as day from runs where campaign_id = ${cid}`;
  const { accessToken } = await bundle.token();
  const stats = await bundle.call('POST', '/core-services/v1/campaign-stats', {
    headers: { authorization: `Bearer ${accessToken}`, 'svc-appkey': bundle.workspaceId },
    body: {
      request_id: 'r',
      campaign_ids: [cid],
      start_date: run!.day,
      end_date: run!.day,
      attribution_type: 'TOTAL_CONVERSIONS',
      metric_type: 'TOTAL',
    },
  });
  const { platforms } = stats.json().data[cid][0];
  const { performance_stats, failure_breakdown } = platforms.web.locales.all_locales.variations.all_variations;
  expect([performance_stats.failed, failure_breakdown]).toEqual([1, { TEMPLATE_USER_ATTRIBUTE: 1 }]);
});
