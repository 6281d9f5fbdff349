import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';

let bundle: CarillonBundle;
beforeAll(async () => {
  bundle = await startCarillonBundle();
});
afterAll(() => bundle.stop());

let names = 0;
const pushToAll = (more: Record<string, unknown> = {}) => ({
  campaignName: `To everybody ${(names += 1)}`,
  targetPlatform: ['ANDROID', 'IOS', 'WEB'],
  targetAudience: 'All Users',
  payload: {
    ANDROID: { title: 'For Android', message: 'Hello' },
    IOS: { title: 'For iOS', message: 'Hello' },
    WEB: {
      title: 'For the web',
      message: 'Hello',
      redirectURL: 'https://example.com/sale',
      iconURL: 'https://example.com/icon.png',
    },
  },
  campaignDelivery: { type: 'soon' },
  ...more,
});

const waitForRun = (cid: string) =>
  until(async () => {
    const [row] = await bundle.database`select status from campaigns where id = ${cid} and status <> 'SENDING'`;
    return row?.status as string | undefined;
  });

describe('a push from the request to the phone', () => {
  test('reaches the three demo devices, each through its own provider, and is in the ledger once a device', async () => {
    const answer = await bundle.push(pushToAll());
    expect(answer.json()).toMatchObject({ status: 'Success' });
    const { cid } = answer.json();
    expect(await waitForRun(cid)).toBe('SENT');
    const messages = await until(async () => {
      const found = (await bundle.inbox()).filter((message) => message.campaignId === cid);
      return found.length === 3 && found;
    });
    expect(messages.map((message) => [message.platform, message.title]).sort()).toEqual([
      ['ANDROID', 'For Android'],
      ['IOS', 'For iOS'],
      ['WEB', 'For the web'],
    ]);
    const ledger = await bundle.database`
      select platform, outcome, attempts
      from readable_deliveries where campaign_id = ${cid} order by 1`;
    expect([...ledger]).toEqual(
      ['ANDROID', 'IOS', 'WEB'].map((platform) => ({ platform, outcome: 'ACCEPTED', attempts: 1 })),
    );
  });

  test('named users are reached alone', async () => {
    const answer = await bundle.push(
      pushToAll({
        targetAudience: 'User',
        targetUserAttributes: {
          attribute: 'USER_ATTRIBUTE_USER_EMAIL',
          comparisonParameter: 'is',
          attributeValue: 'grace@example.com',
        },
      }),
    );
    const { cid } = answer.json();
    expect(await waitForRun(cid)).toBe('SENT');
    const found = await until(async () => {
      const messages = (await bundle.inbox()).filter((message) => message.campaignId === cid);
      return messages.length > 0 && messages;
    });
    expect(found.map((message) => message.platform)).toEqual(['IOS']);
    const [row] = await bundle.database`
      select count(*) as devices from readable_deliveries where campaign_id = ${cid}`;
    expect(row!.devices).toBe(1);
  });

  test('the printed curl is a request that is accepted, and shows on a phone', async () => {
    const text = bundle.block.curl!;
    const [, url] = /curl (\S+)/.exec(text) ?? [];
    const headers = Object.fromEntries(
      [...text.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name, value]),
    );
    const [, body] = /(?:-d|--data) '([^]+)'/.exec(text)!;
    const answer = await fetch(url!, { method: 'POST', headers: headers as Record<string, string>, body: body! });
    expect(await answer.json()).toMatchObject({ status: 'Success' });
  });
});

type Told = { id: string; platform: string; title: string };

/** The messages of that title in a stream of events; the id of each is that of its event. */
async function* readEvents(stream: Response, title: string): AsyncGenerator<Told, undefined> {
  let text = '';
  for await (const piece of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [, id, data] = /^event: message\nid: (.+)\ndata: (.+)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (data === undefined) continue;
      const message = JSON.parse(data) as Told;
      expect(message.id).toBe(id);
      if (message.title === title) yield message;
    }
  }
  return undefined;
}

describe('the inbox', () => {
  test('waits for the first message newer than the one named', async () => {
    const [newest] = await bundle.inbox('?limit=1');
    const waiting = bundle.inbox(`?wait=20000&after=${newest.id}`);
    await bundle.push(pushToAll({ targetPlatform: ['ANDROID'] }));
    const messages = await waiting;
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.every((message) => message.id > newest.id)).toBe(true);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=x', 'limit'],
    ['after=zz', 'after'],
    ['wait=-1', 'wait'],
  ])('%s is refused and the parameter is named', async (query, field) => {
    const answer = await bundle.call('GET', `/sandbox/inbox?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(field);
  });

  test('tells of each message once as it arrives, and goes on after the id that a reader names', async () => {
    const aborting = new AbortController();
    const stream = await fetch(`${bundle.url}/sandbox/inbox/events`, { signal: aborting.signal });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const told = readEvents(stream, 'Told as it comes');
    const payload = { title: 'Told as it comes', message: 'Text' };
    await bundle.push(pushToAll({ targetPlatform: ['ANDROID', 'IOS'], payload: { ANDROID: payload, IOS: payload } }));
    const first = (await told.next()).value!;
    const second = (await told.next()).value!;
    expect([first.platform, second.platform].toSorted()).toEqual(['ANDROID', 'IOS']);
    const inbox: { title: string }[] = await bundle.inbox();
    expect(inbox.filter(({ title }) => title === payload.title).toReversed()).toEqual([first, second]);
    const again = await fetch(`${bundle.url}/sandbox/inbox/events`, {
      signal: aborting.signal,
      headers: { 'last-event-id': first.id },
    });
    expect((await readEvents(again, payload.title).next()).value).toEqual(second);
    aborting.abort();
  });

  test('is emptied with its counters', async () => {
    const other = await startCarillonBundle();
    try {
      await other.push(pushToAll());
      await until(async () => (await other.inbox()).length === 3);
      expect((await other.call('DELETE', '/sandbox/inbox')).status).toBe(204);
      expect(await other.inbox()).toEqual([]);
      const counters = (await other.call('GET', '/sandbox/counters')).text;
      expect(counters).not.toMatch(/"accepted":[1-9]/);
    } finally {
      await other.stop();
    }
  });
});

describe('fault switches', () => {
  test('a misspelt switch is refused by name', async () => {
    const answer = await bundle.call('POST', '/sandbox/faults', { body: { fcm: { stats: 503 } } });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('fcm.stats');
  });

  test.each([[[]], [{ apns: 1 }], [{ sms: {} }], [{ fcm: { status: 99 } }], [{ fcm: { reset: 'yes' } }]])(
    '%j is refused',
    async (body) => {
      expect((await bundle.call('POST', '/sandbox/faults', { body })).status).toBe(400);
    },
  );

  test('a provider that fails once is tried again when its time has come, and the run ends SENT', async () => {
    const fault = { status: 503, headers: { 'retry-after': '30' }, body: '{}', count: 1 };
    expect((await bundle.call('POST', '/sandbox/faults', { body: { fcm: fault } })).status).toBe(204);
    const { cid } = (await bundle.push(pushToAll({ targetPlatform: ['ANDROID'] }))).json();
    await until(async () => {
      const [row] = await bundle.database`
        select 1 from readable_deliveries where campaign_id = ${cid} and outcome = 'WAITING'`;
      return row;
    });
    await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 60 } });
    expect(await waitForRun(cid)).toBe('SENT');
    const [row] = await bundle.database`
      select outcome, attempts from readable_deliveries where campaign_id = ${cid}`;
    expect(row).toEqual({ outcome: 'ACCEPTED', attempts: 2 });
    await bundle.call('POST', '/sandbox/faults', { body: {} });
  });
});

test('the inbox shows how each provider was asked to carry the message', async () => {
  const { cid } = (await bundle.push(pushToAll({ advancedSettings: { ttl: { ANDROID: 30, WEB: 10 } } }))).json();
  const messages = await until(async () => {
    const found = (await bundle.inbox()).filter((message) => message.campaignId === cid);
    return found.length === 3 && found;
  });
  const transport = Object.fromEntries(messages.map((message) => [message.platform, message.transport]));
  expect(transport).toEqual({
    ANDROID: { priority: 'HIGH', ttl: '1800s' },
    IOS: {
      'apns-topic': expect.any(String),
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-expiration': expect.stringMatching(/^\d+$/),
      'apns-collapse-id': expect.any(String),
    },
    WEB: { TTL: '600', Urgency: 'normal', Topic: expect.any(String), 'Content-Encoding': 'aes128gcm' },
  });
  const headers = Object.fromEntries(messages.map((message) => [message.platform, message.headers]));
  expect(headers).toMatchObject({
    ANDROID: { authorization: 'Bearer …', 'content-type': 'application/json; charset=utf-8' },
    IOS: { authorization: 'bearer …', 'apns-priority': '10' },
    WEB: { authorization: 'vapid …', ttl: '600', urgency: 'normal' },
  });
});

test('an event counts as a conversion within seconds', async () => {
  const goal = { name: 'Bought', eventName: 'Bought' };
  const { cid } = (await bundle.push(pushToAll({ conversionGoals: [goal] }))).json();
  expect(await waitForRun(cid)).toBe('SENT');
  const [user] = await bundle.database`
    select customer_id as "customerId" from users
    join readable_deliveries as deliveries on deliveries.bucket = users.bucket and deliveries.user_id = users.id
    where deliveries.campaign_id = ${cid} limit 1`;
  const begin = performance.now();
  await bundle.call('POST', `/v1/event/${bundle.workspaceId}`, {
    headers: bundle.basic(),
    body: { type: 'event', customer_id: user!.customerId, actions: [{ action: 'Bought' }] },
  });
  await until(async () => (await bundle.database`select 1 from conversions where campaign_id = ${cid}`)[0]);
  // Not the two minutes of production; a busy machine is slow.
  expect(performance.now() - begin).toBeLessThan(30_000);
});

test.each(['0', '0.4', '3', '260.5'])('an inbox that nothing comes to in %s ms is an empty list', async (wait) => {
  const answer = await bundle.call('GET', `/sandbox/inbox?wait=${wait}&after=${'f'.repeat(24)}`);
  expect([answer.status, answer.json()]).toEqual([200, { messages: [] }]);
});

describe('the clock', () => {
  test('an access token expires when time is moved: ER008, while an unknown one is ER001', async () => {
    const { accessToken } = await bundle.token();
    const device = (token: string) =>
      bundle.call('POST', `/v1/customer/${bundle.workspaceId}`, {
        headers: { authorization: `Bearer ${token}` },
        body: { type: 'customer', customer_id: 'tok' },
      });
    expect((await device(accessToken)).status).toBe(200);
    await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 901 } });
    const expired = await device(accessToken);
    expect([expired.status, expired.json().code]).toEqual([401, 'ER008']);
    const unknown = await device(`${accessToken.slice(0, -3)}AAA`);
    expect([unknown.status, unknown.json().code]).toEqual([401, 'ER001']);
  });

  test.each([
    [{ advanceSeconds: -1 }],
    [{ advanceSeconds: '5' }],
    [{ advanceSeconds: 399_999_999 }],
    [{}],
    [{ to: 'x' }],
  ])('the move %j is refused and time stays', async (body) => {
    const before = (await bundle.call('GET', '/sandbox/clock')).json().offsetSeconds;
    expect((await bundle.call('POST', '/sandbox/clock', { body })).status).toBe(400);
    expect((await bundle.call('GET', '/sandbox/clock')).json().offsetSeconds).toBe(before);
  });

  test('after the clock has leapt a month the simulated providers still believe the tokens made for them', async () => {
    await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: 30 * 86_400 } });
    const { cid } = (await bundle.push(pushToAll())).json();
    expect(await waitForRun(cid)).toBe('SENT');
    const rows = await bundle.database`
      select outcome from readable_deliveries where campaign_id = ${cid}`;
    expect(rows.map((row) => row.outcome)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED']);
  });
});
