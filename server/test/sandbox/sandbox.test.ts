import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reasonOf, shownHeaders } from '../../src/domain/sandbox/refusals.ts';
import { makeSimulateApns } from '../../src/providers/apns/simulator.ts';
import { makeSimulateFcm } from '../../src/providers/fcm/simulator.ts';
import { makeSimulatedSubscription } from '../../src/providers/webpush/simulated-browser.ts';
import { makeSimulateWebPush } from '../../src/providers/webpush/simulator.ts';
import { withSession } from '../../src/storage/database.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { Integration } from './integration/integration.js';

type Told = { id: string; platform: string; title: string };

describe('sandbox', () => {
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
});

describe('an integration', () => {
  const run = promisify(execFile);

  let bundle: CarillonBundle;
  /** The caller's own server: its file, and where callbacks go. */
  const callbacks: Record<string, unknown>[] = [];
  const site = createServer((request, response) => {
    if (request.method === 'GET') return void response.end('ada\nnobody\n');
    let text = '';
    request.on('data', (piece) => (text += String(piece)));
    request.on('end', () => {
      callbacks.push(JSON.parse(text) as Record<string, unknown>);
      response.end();
    });
  });
  let siteUrl: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    bundle = await startCarillonBundle();
  });
  afterAll(async () => {
    await bundle.stop();
    site.close();
  });

  const advance = async (seconds: number) => {
    const answer = await bundle.call('POST', '/sandbox/clock', { body: { advanceSeconds: seconds } });
    expect(answer.status).toBe(200);
    // On a busy machine an advance takes more than 20 seconds: it answers on the way, and the clock says when it has come.
    const advancing = async () => (await bundle.call('GET', '/sandbox/clock')).json().advancing;
    await expect.poll(advancing, { timeout: 50_000, interval: 250 }).toBeNull();
  };

  test('an integration by curl, written against the interface alone, gets what it says with one base URL changed', async () => {
    const { stdout } = await run('bash', [join(import.meta.dirname, 'integration', 'integration.sh')], {
      env: {
        PATH: process.env.PATH,
        BASE_URL: bundle.url,
        CLIENT_ID: bundle.workspaceId,
        OAUTH_KEY: bundle.keys.oauth,
        DATA_KEY: bundle.keys.data,
        PUSH_KEY: bundle.keys.push,
        DB_NAME: bundle.block.dbName,
        FILE_URL: `${siteUrl}/users.csv`,
        CALLBACK_URL: `${siteUrl}/callback`,
      },
    });
    const answers: Record<string, unknown> = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(' ')), JSON.parse(line.slice(line.indexOf(' ') + 1)) as unknown]),
    );
    const text = expect.any(String) as string;
    const token = { access_token: text, token_type: 'Bearer', expires_in: 900 };
    // There may be more beside; what the interface names is as it says.
    expect(answers).toMatchObject({
      token: { status: 'SUCCESS', data: { ...token, refresh_token: text } },
      refresh: { status: 'SUCCESS', data: token },
      segment: { message: text, success: true, cs_name: 'By curl', cs_id: text },
      'v2.1': { status: 'Success', requestId: text, responseId: text, cid: text },
      v2: { status: 'Success', requestId: text, responseId: text, cid: text },
    });
    expect(answers.refresh).not.toHaveProperty('data.refresh_token');
    const [callback] = await until(async () => callbacks.length > 0 && callbacks);
    expect(callback).toEqual({
      ...{ db_name: bundle.block.dbName, segment_name: 'By curl', request_id: text, status: 201 },
      ...{ values_found: 2, values_processed: 2, user_count: 1 },
    });
    await until(async () => (await bundle.inbox()).length === 2);
  });

  test('an integration by fetch lives through 30 days of a daily campaign and the end of its token', async () => {
    const { keys, url: baseUrl, workspaceId: clientId } = bundle;
    const integration = new Integration({ baseUrl, clientId, oauthKey: keys.oauth, pushKey: keys.push });
    const endDate = new Date(Date.now() + 60 * 86_400_000).toISOString().replace(/^(\d+)-(\d+)-(\d+)T.*/, '$2/$3/$1');
    const cid = await integration.sendDaily('Each morning', { time: '09:00 AM', endDate, timezone: 'Europe/Berlin' });
    expect(await integration.findCampaigns('Each morning')).toMatchObject([{ id: cid }]);
    expect(integration.tokensAsked).toBe(1);
    await advance(30 * 86_400);
    const executions = await integration.executions(cid);
    expect(executions.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 'SENT'));
    expect(new Set(executions.map((execution) => execution.sent_time.slice(0, 10))).size).toBe(30);
    expect(integration.tokensAsked).toBe(2);
  });
});

describe('refusals', () => {
  const now = new Date('2026-11-23T04:00:00Z');
  const asked = { method: 'POST', headers: {}, body: Buffer.alloc(0), now, shownAt: now };

  describe('each simulated provider says by what it refuses, and why in its own words', () => {
    test.each([
      ['fcm', '/v1/projects/shop/messages', 404, 'route', 'NOT_FOUND: Requested entity was not found.'],
      [
        ...['fcm', '/v1/projects/shop/messages:send', 401, 'credentials'],
        'UNAUTHENTICATED: Request had invalid authentication credentials.',
      ],
      ['fcm', '/token', 400, 'credentials', 'unsupported_grant_type'],
      ['apns', '/4/device/1', 404, 'route', 'BadPath'],
      ['apns', '/3/device/1', 403, 'credentials', 'MissingProviderToken'],
      ['webpush', '/elsewhere', 404, 'route', 'no such subscription'],
      ['webpush', '/push/1', 401, 'credentials', 'VAPID is required'],
    ] as [string, string, number, string, string][])('%s %s: %i by %s', async (...row) => {
      const [provider, path, status, rule, reason] = row;
      const simulate = {
        fcm: makeSimulateFcm(() => []),
        apns: makeSimulateApns(() => []),
        webpush: makeSimulateWebPush(() => [], { secret: Buffer.alloc(32) }),
      }[provider]!;
      const answer = await simulate({ ...asked, path });
      if (answer === 'silence') throw new Error('it is silent');
      expect([answer.status, answer.rule, reasonOf(answer)]).toEqual([status, rule, reason]);
    });
  });

  test('the field that Google names is part of the reason', () => {
    const details = [{ '@type': 'x' }, { fieldViolations: [{ field: 'message.token', description: 'bad' }] }];
    const error = { code: 400, status: 'INVALID_ARGUMENT', message: 'bad', details };
    expect(reasonOf({ status: 400, body: { error } })).toBe('INVALID_ARGUMENT: message.token: bad');
  });

  test('of what authorizes only the scheme is shown, and no pseudo-header', () => {
    const headers = { ':path': '/', authorization: 'vapid t=secret, k=key', ttl: '60', 'set-cookie': ['a', 'b'] };
    expect(shownHeaders(headers)).toEqual({ authorization: 'vapid …', ttl: '60', 'set-cookie': 'a, b' });
  });
});

describe('the page that makes a browser a device', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle.stop());

  const subscription = (id: string) => JSON.parse(makeSimulatedSubscription({ secret: randomBytes(32), id }));
  const register = (body: unknown) => bundle.call('POST', '/sandbox/browser/devices', { body });

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
