import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ConsoleClient } from '../../../console/src/api/console-client.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from './signed-in-client.ts';

let bundle: CarillonBundle;
let client: ConsoleClient;
let cookie: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  ({ client, cookie } = await openSignedInClient(bundle));
});
afterAll(() => bundle?.stop());

test('the console explains why a person got a campaign, to who is signed in', async () => {
  const { workspaceId, database } = bundle;
  const answer = await bundle.push({
    ...{ campaignName: 'Explained', targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
    ...{ payload: { ANDROID: { title: 'T', message: 'M' } }, campaignDelivery: { type: 'soon' } },
  });
  const { cid: campaignId } = answer.json() as { cid: string };
  await until(
    async () => (await database`select status from campaigns where id = ${campaignId}`)[0]?.status === 'SENT',
  );
  const [user] = await database`
    select users.customer_id as id from devices join users on users.id = devices.user_id and users.bucket = devices.bucket where platform = 'ANDROID' limit 1`;
  const asked = { workspaceId, campaignId, customerId: user!.id as string };
  const told = await client.deliveries.explain(asked);
  expect(told).toMatchObject({ campaign: { id: campaignId, status: 'SENT', nextAt: null }, step: 'ACCEPTED' });
  expect(told.explanation).toMatch(/^The provider accepted the message at .*Z\.$/);
  expect(told.runs[0]!.devices.map(({ step }) => step)).toContain('ACCEPTED');
  expect(told.runs[0]!.createdAt).toMatch(/^\d{4}-/);
  expect(await client.deliveries.explain({ ...asked, customerId: 'nobody' })).toMatchObject({
    step: 'UNKNOWN_PERSON',
    runs: [],
  });
  const status = async (query: Record<string, string>, headers = { cookie }): Promise<number> =>
    (await bundle.call('GET', `/console/api/explain?${new URLSearchParams(query)}`, { headers })).status;
  expect(await status({ ...asked, campaignId: '0'.repeat(24) })).toBe(404);
  expect(await status({ ...asked, campaignId: 'x' })).toBe(400);
  expect(await status(asked, { cookie: '' })).toBe(401);
});
