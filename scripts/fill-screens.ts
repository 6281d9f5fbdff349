import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeCarillonClient } from '../client/src/index.ts';

export type StartLine = {
  url: string;
  console: string;
  workspaceId: string;
  dbName: string;
  keys: { data: string; push: string; campaigns: string };
};

export type ScreenIds = {
  workspaceId: string;
  campaignId: string;
  draftId: string;
  segmentId: string;
  filterSegmentId: string;
  userId: string;
};
export type Filled = { ids: ScreenIds; cookie: string };

type Filling = {
  start: StartLine;
  command: (...words: string[]) => void;
  folder: string;
};

const users = 1500;
const goldInLisbon = {
  filter_operator: 'and',
  filters: [
    { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'in', value: 'Lisbon' },
    { filter_type: 'user_attributes', name: 'plan', data_type: 'string', operator: 'in', value: 'gold' },
  ],
};

/** Campaigns of the days before, each with the days until the next one. */
const earlierCampaigns: [name: string, message: string, platforms: string[], days: number][] = [
  ['New year sale', 'Half price until Sunday', ['ANDROID', 'IOS', 'WEB'], 2],
  ['Loyalty points', 'Your points of December', ['ANDROID', 'IOS'], 1],
  ['Wish lists', 'Two of your wishes are reduced', ['IOS', 'WEB'], 3],
];
export const historyDays = earlierCampaigns.reduce((sum, [, , , days]) => sum + days, 0);

type History = Pick<Filling, 'command' | 'folder'> & {
  keys: StartLine['keys'];
  /** Moves the clock and starts the node again: only a start prepares the days of another time at once. */
  moveClock: (seconds: number) => Promise<StartLine>;
};

/** The users, with devices, and the campaigns of the days before. Returns the line of the last start. */
export async function fillHistory({ command, folder, keys, moveClock }: History): Promise<StartLine> {
  let start = await moveClock(0);
  const file = join(folder, 'people.ndjson');
  command('sandbox', 'generate-users', '--users', String(users), '--out', file);
  command('import', file);
  for (const [campaignName, message, platforms, days] of earlierCampaigns) {
    const { url: baseUrl, workspaceId } = start;
    const text = { title: campaignName, message };
    const web = { ...text, redirectURL: 'https://example.com/sale', iconURL: 'https://example.com/icon.png' };
    const payload = Object.entries({ ANDROID: text, IOS: text, WEB: web });
    await makeCarillonClient({ baseUrl, workspaceId, pushKey: keys.push }).sendPush({
      campaignName,
      targetPlatform: platforms,
      targetAudience: 'All Users',
      payload: Object.fromEntries(payload.filter(([platform]) => platforms.includes(platform))),
      campaignDelivery: { type: 'soon' },
    } as never);
    const authorization = `Basic ${Buffer.from(`${workspaceId}:${keys.campaigns}`).toString('base64')}`;
    await until(async () => {
      const found = await fetch(`${baseUrl}/v5/campaigns/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ limit: 15, page: 1, campaign_fields: { status: ['SENT'] } }),
      });
      return (await found.text()).includes(campaignName);
    });
    start = await moveClock(days * 86_400);
  }
  return start;
}

/** A shop's day: dead devices, campaigns, a segment from a file, and calls that failed. */
export async function fillScreens({ start }: { start: StartLine }): Promise<Filled> {
  const { url, workspaceId, dbName, keys } = start;
  const basic = (secret: string) => `Basic ${Buffer.from(`${workspaceId}:${secret}`).toString('base64')}`;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basic(keys.data), ...headers },
      body: JSON.stringify(body),
    });
    return (await answer.json().catch(() => ({}))) as Record<string, unknown>;
  };

  const customer = (customerId: string, attributes: Record<string, unknown>) =>
    post(`/v1/customer/${workspaceId}`, { type: 'customer', customer_id: customerId, attributes });
  await customer('ada', { city: 'Lisbon', plan: 'gold', orders: 12, sizes: ['S', 'M'] });
  for (const [number, token] of ['magic-gone', 'magic-gone', 'magic-invalid', 'magic-rejected'].entries()) {
    await customer(`lost-${number}`, { city: 'Oslo' });
    await post(`/v1/device/${workspaceId}`, {
      type: 'device',
      customer_id: `lost-${number}`,
      device_id: 'old phone',
      attributes: { platform: 'ANDROID', push_id: `${token}-${number}` },
    });
  }
  await post(`/v1/event/${workspaceId}`, {
    type: 'event',
    customer_id: 'ada',
    actions: [{ action: 'order placed', attributes: { total: 59.9 } }],
  });

  const client = makeCarillonClient({ baseUrl: url, workspaceId, pushKey: keys.push });
  const send = async (campaignName: string, message: string, delivery: object = { type: 'soon' }): Promise<string> => {
    const text = { title: campaignName, message };
    const { cid } = await client.sendPush({
      campaignName,
      targetPlatform: ['ANDROID', 'IOS', 'WEB'],
      targetAudience: 'All Users',
      payload: {
        ANDROID: text,
        IOS: text,
        WEB: { ...text, redirectURL: 'https://example.com/sale', iconURL: 'https://example.com/icon.png' },
      },
      campaignDelivery: delivery,
      conversionGoals: [{ name: 'Order', eventName: 'order placed' }],
    } as never);
    return cid!;
  };
  for (const name of ['Welcome back', 'Weekly digest', 'Price drop'])
    await send(name, 'New in your size since you left');
  const campaignId = await send('Spring sale', 'Everything 20 % off until Sunday');
  await sendPlanned(send);

  // A call that is signed for another name, and one with a reserved customer id.
  const signature = createHash('sha256').update(`${workspaceId}|Another name|${keys.push}`).digest('hex');
  await post(
    '/v2.1/transaction/sendpush',
    { campaignName: 'Order shipped', targetPlatform: ['ANDROID'], targetAudience: 'All Users' },
    { 'x-svc-appkey': workspaceId, 'x-svc-pushapi-signature': signature, 'x-svc-query-type': 'all users' },
  );
  await customer('guest', {});
  await fillSegment({ post, headers: { 'svc-appkey': workspaceId, 'svc-dbname': dbName } });

  const cookie = await openConsole(start);
  return { cookie, ids: await actInConsole({ url, workspaceId, cookie, campaignId }) };
}

type Acting = { url: string; workspaceId: string; cookie: string; campaignId: string };

/** Actions of users in the console and on their phones, after everything was sent. */
async function actInConsole({ url, workspaceId, cookie, campaignId }: Acting): Promise<ScreenIds> {
  const ask = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const [address, query = ''] = path.split('?');
    const answer = await fetch(`${url}/console/api/${address}?workspaceId=${workspaceId}&${query}`, {
      method,
      headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json().catch(() => ({}))) as Answer;
  };
  const read = <Answer>(path: string) => ask<Answer>('GET', path);
  type Made = { id: string };
  await until(async () => (await read<{ status: string }>(`campaigns/${campaignId}/progress`)).status === 'SENT');
  await until(async () => (await read<Segments>('segments')).segments.every(({ state }) => state === 'READY'));
  // A user opened the message and bought something.
  const { messages } = await read<{ messages: Made[] }>('inbox');
  for (const { id } of messages.slice(0, 12))
    for (const kind of ['impression', 'click']) await ask('POST', `sandbox/messages/${id}/${kind}`);
  await ask('POST', `campaigns/${campaignId}/template`, { name: 'Season sale' });
  const { id: draftId } = await ask<Made>('POST', `campaigns/${campaignId}/clone`);
  const [segment] = (await read<Segments>('segments')).segments;
  const filters = { name: 'Gold in Lisbon', included_filters: goldInLisbon };
  const { id: filterSegmentId } = await ask<Made>('POST', 'segments/filter', filters);
  const [ada] = (await read<{ users: Made[] }>('people?q=ada')).users;
  return { workspaceId, campaignId, draftId, segmentId: segment!.id, filterSegmentId, userId: ada!.id };
}

type Send = (campaignName: string, message: string, delivery: object) => Promise<string>;

/** Two scheduled campaigns: the clock of the pictures is in January 2027. */
async function sendPlanned(send: Send): Promise<void> {
  const zone = { time: '09:30 AM', timezone: 'UTC' };
  await send('Payday offers', 'Two for one until Sunday', { type: 'later', date: '01/29/2027', ...zone });
  const period = { type: 'periodic', startDate: '01/15/2027', endDate: '03/31/2027', repeatAfter: '3' };
  await send('New arrivals', 'This week in your size', { ...period, ...zone });
}

type Segments = { segments: { id: string; state: string }[] };
type Post = (path: string, body: unknown, headers?: Record<string, string>) => Promise<Record<string, unknown>>;

/** A file to download, with values that no user has, and a receiver for the result. */
async function fillSegment({ post, headers }: { post: Post; headers: Record<string, string> }): Promise<void> {
  const lines = [
    'ada@example.com',
    'grace@example.com',
    'tim@example.com',
    'nobody@example.com',
    'ada@example.com',
    '',
  ];
  let told: () => void;
  const isTold = new Promise<void>((resolve) => (told = resolve));
  const server = createServer((request, response) => {
    response.end(request.url === '/lapsed.csv' ? lines.join('\n') : '');
    if (request.url === '/result') told();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await post(
    '/v2/custom-segments/file-segment',
    {
      name: 'Lapsed customers',
      attribute_name: 'u_em',
      attribute_type: 'string',
      file_url: `${origin}/lapsed.csv`,
      expiry_time: 30,
      callback_url: `${origin}/result`,
      emails: ['crm@example.com'],
    },
    headers,
  );
  await Promise.race([isTold, setTimeout(15_000)]);
  server.closeAllConnections();
  server.close();
}

/** The link that the start prints works once, so the script and the browser share its session. */
async function openConsole({ url, console: link }: StartLine): Promise<string> {
  const code = new URLSearchParams(new URL(link).hash.slice(1)).get('sign-in');
  const answer = await fetch(`${url}/console/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return answer.headers.get('set-cookie')!.split(';', 1)[0]!;
}

async function until(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await setTimeout(200);
}
