import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { openSignedInClient } from './signed-in-client.ts';

let bundle: CarillonBundle;
let cookie: string;
let campaignId: string;
let responseId: string;
beforeAll(async () => {
  bundle = await startCarillonBundle();
  ({ cookie } = await openSignedInClient(bundle));
  const pushed = await bundle.push({
    campaignName: 'Spring sale',
    targetPlatform: ['ANDROID'],
    targetAudience: 'All Users',
    payload: { ANDROID: { title: 'Hello', message: 'There' } },
    campaignDelivery: { type: 'soon' },
  });
  ({ cid: campaignId, responseId } = pushed.json());
  await until(async () => (await bundle.database`select 1 from campaigns where status = 'SENT'`).length > 0);
  const at = new Date();
  await bundle.database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
      created_at, updated_at)
    values (${'5'.repeat(24)}, ${bundle.workspaceId}, 'Lapsed in spring', 'FILE', 'READY', 'API', 'u_em', 'string', 'test',
      ${at}, ${at})`;
});
afterAll(() => bundle.stop());

async function find(word: string, as = cookie): Promise<string[]> {
  const query = new URLSearchParams({ workspaceId: bundle.workspaceId, q: word });
  const answer = await bundle.call('GET', `/console/api/places?${query}`, { headers: { cookie: as } });
  expect(answer.status).toBe(200);
  return answer.json().places.map(({ kind, id, name }: Record<string, string>) => `${kind} ${id} ${name}`);
}

const [run, phone] = [
  async () => (await bundle.database<{ id: string }[]>`select id from runs where campaign_id = ${campaignId}`)[0]!.id,
  async () =>
    (
      await bundle.database<{ id: string; userId: string; deviceId: string; pushId: string }[]>`
        select devices.id, user_id as "userId", device_id as "deviceId", push_id as "pushId" from devices
        join users on users.bucket = devices.bucket and users.id = devices.user_id
        where customer_id = 'ada' and platform = 'ANDROID'`
    )[0]!,
];

test('a part of a name finds campaigns and segments, the whole id of a user the user', async () => {
  expect(await find(' SPRING ')).toEqual([
    `campaign ${campaignId} Spring sale`,
    `segment ${'5'.repeat(24)} Lapsed in spring`,
  ]);
  const { userId } = await phone();
  expect(await find('ada')).toContain(`user ${userId} ada`);
  expect(await find('nothing has this name')).toEqual([]);
});

test('an id of whatever kind leads to the screen of what has it', async () => {
  const { id, userId, deviceId } = await phone();
  expect(await find(campaignId)).toEqual([`campaign ${campaignId} Spring sale`]);
  expect(await find(await run())).toEqual([`run ${campaignId} Spring sale`]);
  expect(await find(responseId)).toEqual([`campaign ${campaignId} Spring sale`]);
  expect(await find('5'.repeat(24))).toEqual([`segment ${'5'.repeat(24)} Lapsed in spring`]);
  expect(await find(userId)).toEqual([`user ${userId} ada`]);
  expect(await find(id.toUpperCase())).toEqual([`device ${userId} ${deviceId}`]);
  const [key] = await bundle.database<{ id: string; name: string }[]>`select id, name from api_keys limit 1`;
  expect(await find(key!.id)).toEqual([`key ${key!.id} ${key!.name}`]);
  await until(async () => (await bundle.database`select 1 from api_log`).length > 0);
  const [call] = await bundle.database<{ id: string }[]>`select id from api_log limit 1`;
  expect(await find(call!.id)).toEqual([`call ${call!.id} POST /v2.1/transaction/sendpush`]);
});

test('the token by which a device reports of a message leads to its row in the delivery log', async () => {
  const { id, userId, deviceId, pushId } = await phone();
  const message = (await bundle.inbox()).find(({ deviceToken }) => deviceToken === pushId);
  const token = message.payload.data.svc_report_token as string;
  const [place] = await find(token);
  expect(place).toMatch(new RegExp(`^delivery \\d{4}-\\d\\d-\\d\\d~\\d+~${userId}~${await run()}~${id} ${deviceId}$`));
});

test('what a role may not open is not found by it', async () => {
  const invited = await bundle.call('POST', '/console/api/invitations', {
    headers: { cookie },
    body: { email: 'olga@example.com', role: 'analyst' },
  });
  const code = String(invited.json().link).split('=').at(-1)!;
  const accepted = await bundle.call('POST', '/console/api/invitation/acceptance', {
    body: { code, name: 'Olga', password: 'nine more green bottles' },
  });
  const analyst = accepted.headers.get('set-cookie')!.split(';', 1)[0]!;
  expect(await find('ada', analyst)).toEqual([]);
  expect(await find((await phone()).id, analyst)).toEqual([]);
  expect(await find('spring', analyst)).toHaveLength(2);
});
