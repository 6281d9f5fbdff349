import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeClockAdvance } from '../../src/app/sandbox/clock-advance.ts';
import { makeManualClock } from '../../src/clock.ts';
import { sandboxBrowserRoutes } from '../../src/http/sandbox/browser-page.ts';
import { sandboxRoutes } from '../../src/http/sandbox/routes.ts';
import type { SandboxGuard } from '../../src/http/sandbox/routes.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { emptiedTables } from '../../src/storage/installation/sandbox.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { propertyRuns } from '../property-runs.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

describe('an advanced clock', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterEach(() => bundle.call('POST', '/sandbox/faults', { body: {} }));
  afterAll(() => bundle.stop());

  const days = propertyRuns(105);
  const dayMilliseconds = 86_400_000;

  const readClock = async () => (await bundle.call('GET', '/sandbox/clock')).json();
  const move = (body: object) => bundle.call('POST', '/sandbox/clock', { body });
  const setFault = (fcm: object) => bundle.call('POST', '/sandbox/faults', { body: { fcm } });

  const pushToAll = (campaignName: string, campaignDelivery: object = { type: 'soon' }) =>
    bundle.push({
      ...{ campaignName, campaignDelivery, targetAudience: 'All Users', targetPlatform: ['ANDROID'] },
      payload: { ANDROID: { title: 'Title', message: 'Text' } },
    });

  const asAmerican = (at: Date): string => at.toISOString().replace(/^(\d+)-(\d+)-(\d+)T.*/, '$2/$3/$1');

  test(`an advance of ${days} days sends a daily campaign once a day, at its hour, and misses none`, async () => {
    const { now, offsetSeconds } = await readClock();
    const endDate = asAmerican(new Date(Date.parse(now) + 2 * days * dayMilliseconds));
    const daily = { type: 'periodic', time: '09:00 AM', endDate, repeatAfter: '1' };
    const { cid } = (await pushToAll('Each day at nine', daily)).json();
    const there = await advance((days * dayMilliseconds) / 1000);
    expect(there.offsetSeconds).toBe(offsetSeconds + (days * dayMilliseconds) / 1000);
    const runs = await bundle.database`
      with ledger as materialized (
        select run_id, array_agg(outcome) as outcomes from readable_deliveries where campaign_id = ${cid} group by run_id
      )
      select status, started_at as "startedAt", outcomes
      from runs left join ledger on ledger.run_id = runs.id where campaign_id = ${cid} order by started_at`;
    expect(runs).toHaveLength(days);
    const firstDay = Date.parse((runs[0]!.startedAt as Date).toISOString().slice(0, 10));
    runs.forEach(({ status, startedAt, outcomes }, index) => {
      expect([status, outcomes]).toEqual(['SENT', ['ACCEPTED']]);
      const lateMilliseconds = (startedAt as Date).getTime() - (firstDay + 9 * 3_600_000 + index * dayMilliseconds);
      expect(lateMilliseconds).toBeGreaterThanOrEqual(0);
      // Of real time, on a busy machine.
      expect(lateMilliseconds).toBeLessThan(60_000);
    });
  });

  test('an advance lets each attempt be made when it is due', async () => {
    await setFault({ status: 503, count: 3 });
    const { cid } = (await pushToAll('At the fourth attempt')).json();
    await until(async () => {
      const [row] = await bundle.database`
        select 1 from readable_deliveries where campaign_id = ${cid} and outcome = 'WAITING'`;
      return row;
    });
    await advance(7200);
    const [delivery] = await bundle.database`
      select outcome, attempts from readable_deliveries where campaign_id = ${cid}`;
    expect(delivery).toEqual({ outcome: 'ACCEPTED', attempts: 4 });
  });

  test('a clock that runs until it is idle stands where the last thing was due, and passes over what is further ahead', async () => {
    await move({ reset: true });
    const { now } = await readClock();
    const inDays = (days: number) => asAmerican(new Date(Date.parse(now) + days * dayMilliseconds));
    const later = async (name: string, days: number) =>
      (await pushToAll(name, { type: 'later', date: inDays(days), time: '09:00 AM' })).json().cid as string;
    const [near, far] = [await later('In three days', 3), await later('In fifty days', 50)];
    const { offsetSeconds, advancing } = (await move({ runUntilIdle: true, withinSeconds: 10 * 86_400 })).json();
    expect(advancing).toBeNull();
    expect(Math.abs(offsetSeconds / 86_400 - 3)).toBeLessThan(1);
    const runs = await bundle.database`
      select campaign_id as id, status from runs where campaign_id in (${near}, ${far}) and status = 'SENT'`;
    expect(runs).toEqual([{ id: near, status: 'SENT' }]);
    expect((await move({ runUntilIdle: true, withinSeconds: 86_400 })).json().offsetSeconds).toBe(offsetSeconds);
  });

  test('an advance says how far it is, is the only one, and a reset ends it where it is', async () => {
    await setFault({ delayMilliseconds: 4_000 });
    await pushToAll('On a slow line');
    const first = move({ advanceSeconds: 30 * 86_400 });
    const { advancing } = await until(async () => {
      const state = await readClock();
      return state.advancing !== null && state;
    });
    expect(advancing).toEqual({ stops: 0, remainingSeconds: 30 * 86_400 });
    const second = await move({ advanceSeconds: 1 });
    expect([second.status, second.json().title]).toEqual([409, expect.stringContaining('The clock is being moved')]);
    const reset = await move({ reset: true });
    expect(reset.json()).toMatchObject({ offsetSeconds: 0, advancing: null });
    expect((await first).json()).toMatchObject({ advancing: null });
  });

  test('what comes after the clock went back, or while it stands, is newer in the inbox than all before it', async () => {
    await advance(40 * 86_400);
    const first = (await pushToAll('In forty days')).json().cid as string;
    const inboxUntil = (cid: string, query = '') =>
      until(async () => {
        const messages: { id: string; campaignId: string; receivedAt: string }[] = await bundle.inbox(query);
        return messages.some(({ campaignId }) => campaignId === cid) && messages;
      });
    const [newest] = await inboxUntil(first);
    await move({ reset: true });
    await move({ freeze: true });
    const order = [];
    for (const name of ['Back again', 'In the same moment', 'And again']) {
      const { cid } = (await pushToAll(name)).json() as { cid: string };
      // Of what is accepted within a moment that stands either may be sent first.
      await inboxUntil(cid, `?after=${newest!.id}`);
      order.unshift(cid);
    }
    const messages = await bundle.inbox(`?after=${newest!.id}`);
    expect(messages).toHaveLength(3);
    expect(messages.every(({ receivedAt }) => receivedAt < newest!.receivedAt)).toBe(true);
    expect(messages.map(({ campaignId }) => campaignId)).toEqual(order);
    expect((await bundle.inbox('?limit=3')).map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    await move({ reset: true });
  });

  test('a clock that stands lets nothing come due until it is moved, and runs on from where it stands', async () => {
    await move({ reset: true });
    const frozen = (await move({ freeze: true })).json();
    expect(frozen).toMatchObject({ frozen: true, advancing: null });
    const { cid } = (await pushToAll('While it stands')).json();
    const run = await until(async () => {
      const [found] = await bundle.database`
        select started_at as "startedAt" from runs where campaign_id = ${cid} and status = 'SENT'`;
      return found;
    });
    expect((run.startedAt as Date).toISOString()).toBe(frozen.now);
    expect((await readClock()).now).toBe(frozen.now);
    const message = await until(async () => (await bundle.inbox()).find(({ campaignId }) => campaignId === cid));
    expect(message.receivedAt).toBe(frozen.now);

    const moved = await advance(3600);
    expect(Date.parse(moved.now) - Date.parse(frozen.now)).toBe(3_600_000);
    expect((await move({ freeze: true })).json().now).toBe(moved.now);
    const runs = (await move({ resume: true })).json();
    expect([runs.frozen, Date.parse(runs.now) - Date.parse(moved.now) < 60_000]).toEqual([false, true]);
    await until(async () => (await readClock()).now > runs.now);
    const [stored] = await bundle.database`select clock_frozen_at from installation`;
    expect(stored).toEqual({ clock_frozen_at: null });
    expect((await move({ reset: true })).json()).toMatchObject({ frozen: false, offsetSeconds: 0 });
  });

  test('a clock that another node let stand stands here within a look, and a reset lets it run', async () => {
    const at = new Date(Math.floor(Date.now() / 1000) * 1000);
    await bundle.database`update installation set clock_offset_ms = 60000, clock_frozen_at = ${at}`;
    const expected = new Date(at.getTime() + 60_000).toISOString();
    await until(async () => (await readClock()).now === expected);
    expect(await readClock()).toMatchObject({ frozen: true, now: expected });
    expect((await move({ reset: true })).json()).toMatchObject({ frozen: false, offsetSeconds: 0 });
  });

  /** Advances to the end, also when the response came on the way. */
  async function advance(advanceSeconds: number) {
    const answer = await move({ advanceSeconds });
    expect(answer.status).toBe(200);
    return await until(async () => {
      const state = await readClock();
      return state.advancing === null && state;
    });
  }
});

describe('a stopped clock', () => {
  const start = new Date('2026-03-01T12:00:00Z');
  const hour = 3_600_000;

  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  test('a stop of an advance wakes the jobs with work once, however long they take; the others are woken at its end', async () => {
    const { database } = bundle;
    const workspaceId = await insertTestWorkspace(database, start);
    for (const [number, hours] of [1, 2, 5].entries()) {
      await database`
        insert into mails (id, workspace_id, recipients, subject, body, state, next_at, created_at)
        values (${String(number).repeat(24)}, ${workspaceId}, '{a@b.c}', 'Subject', 'Body', 'PENDING',
          ${new Date(start.getTime() + hours * hour)}, ${start})`;
    }
    const clock = makeManualClock(start);
    const wakes: string[] = [];
    let looks = 0;
    const advance = makeClockAdvance({
      database,
      clock,
      log: makeLog({ level: 'silent', pretty: false }),
      onClockStopped() {
        wakes.push(clock.now().toISOString().slice(11, 19));
      },
      onClockMoved: () => void wakes.push('all'),
      // What was woken takes a hundred looks; the answer to the caller is not waited for.
      async pause(milliseconds) {
        if (milliseconds > 1_000) return new Promise(() => {});
        looks += 1;
        if (looks % 100 !== 0) return;
        await database`
          update mails set state = 'SENT', next_at = null, ended_at = ${start}
          where next_at <= ${clock.now()} and state = 'PENDING'`;
      },
    });
    await advance.move({ actor: { kind: 'system', name: 'the test' }, move: { advanceSeconds: 6 * 3_600 } });
    expect(wakes).toEqual(['12:00:00', '13:00:00', '14:00:00', '17:00:00', 'all']);
    expect(clock.now()).toEqual(new Date(start.getTime() + 6 * hour));
  });
});

describe('faults', () => {
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
});

describe('a reset', () => {
  let bundle: CarillonBundle;
  let other: string;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
    other = await insertTestWorkspace(bundle.database, new Date('2026-01-01T00:00:00Z'));
  });
  afterAll(() => bundle.stop());

  // Kept: the log of what people did, credentials, and the row that names the demo.
  const kept = ['account_roles', 'apps', 'audit_log', 'provider_credentials', 'installation'];
  // When a row was made is when the reset was; a push key is sealed anew, with another nonce.
  const times = ['created_at', 'updated_at', 'registered_at', 'secret_sealed', 'last_used_at'];

  const push = (name: string, more: Record<string, unknown> = {}) =>
    bundle.push({
      campaignName: name,
      targetPlatform: ['ANDROID'],
      targetAudience: 'All Users',
      payload: { ANDROID: { title: 'Hello', message: 'There' } },
      campaignDelivery: { type: 'soon' },
      ...more,
    });

  test('the demo is what its first start made it, in one call, and other workspaces are as they were', async () => {
    const { database, workspaceId } = bundle;
    await database`
      insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      values (${other}, 1, ${'1'.repeat(24)}, 'neighbour', '2026-01-01', '2026-01-01')`;
    const [first, neighbour] = [await readWorkspace(workspaceId), await readWorkspace(other)];
    expect(Object.keys(first).toSorted()).toEqual([
      'api_keys',
      'devices',
      'identifiers',
      'push_addresses',
      'users',
      'workspaces',
    ]);
    const { accessToken } = await bundle.token();
    await changeEverything();
    expect(await readWorkspace(workspaceId)).not.toEqual(first);

    const answer = await bundle.call('POST', '/sandbox/reset');
    expect([answer.status, answer.json()]).toEqual([200, { workspaceId }]);
    expect(await bundle.inbox()).toEqual([]);
    expect(await readWorkspace(workspaceId)).toEqual(first);
    expect(await readWorkspace(other)).toEqual(neighbour);
    expect((await bundle.call('GET', '/sandbox/counters')).text).not.toMatch(/:[1-9]/);

    const headers = { authorization: `Bearer ${accessToken}` };
    const path = `/v1/customers/export?app_id=${workspaceId}`;
    await until(async () => (await bundle.call('POST', path, { headers, body: {} })).status === 401);
    // The keys of before go on.
    expect((await push('After the reset')).json()).toMatchObject({ status: 'Success' });
    await until(async () => (await bundle.inbox()).length > 0);
  });

  test('what is being sent is stopped first, also by a provider that keeps its answers back', async () => {
    const { database, workspaceId } = bundle;
    await bundle.call('POST', '/sandbox/faults', { body: { fcm: { delayMilliseconds: 2000 } } });
    await push('Under way');
    await until(async () => (await database`select 1 from chunks where state = 'CLAIMED'`).length > 0);
    expect((await bundle.call('POST', '/sandbox/reset')).status).toBe(200);
    for (const table of ['campaigns', 'runs', 'chunks', 'sandbox_messages'])
      expect(await database`select 1 from ${database(table)} where workspace_id = ${workspaceId}`, table).toHaveLength(
        0,
      );
    expect(await database`select 1 from deliveries`).toHaveLength(0);
    expect((await push('At once again')).json()).toMatchObject({ status: 'Success' });
    await until(async () => (await bundle.inbox()).length > 0);
  });

  test('no table of a workspace is new and left out of the reset', async () => {
    const tables = (await tablesOf('^workspace_(id|number)$')).filter((table) => !kept.includes(table));
    expect(emptiedTables.toSorted()).toEqual(tables);
  });

  async function tablesOf(column: string): Promise<string[]> {
    const rows = await bundle.database`
      select relname as name from pg_attribute join pg_class on pg_class.oid = attrelid
      join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relkind in ('r', 'p') and not relispartition and attname ~ ${column} and not attisdropped
      order by 1`;
    return rows.map(({ name }) => String(name));
  }

  /** Every row of a workspace, in the order of its ids. The numbers of keys are never given again, so that old tokens end. */
  async function readWorkspace(workspaceId: string): Promise<Record<string, unknown[]>> {
    const found: Record<string, unknown[]> = {};
    for (const table of await tablesOf('^workspace_(id|number)$')) {
      if (kept.includes(table)) continue;
      const { database } = bundle;
      const ofWorkspace =
        table === 'deliveries'
          ? database`workspace_number = (select number from workspaces where id = ${workspaceId})`
          : database`workspace_id = ${workspaceId}`;
      const rows = await bundle.database`
        select to_jsonb(given) - ${table === 'api_keys' ? [...times, 'number'] : times}::text[] as row
        from ${bundle.database(table)} as given
        where ${ofWorkspace} order by 1`;
      if (rows.length > 0) found[table] = rows.map(({ row }) => row as unknown);
    }
    const [workspace] = await bundle.database`
      select to_jsonb(workspaces) - 'created_at' as row from workspaces where id = ${workspaceId}`;
    return { ...found, workspaces: [workspace!.row] };
  }

  async function changeEverything(): Promise<void> {
    const { database, workspaceId } = bundle;
    const customer = (customerId: string) =>
      bundle.call('POST', `/v1/customer/${workspaceId}`, {
        headers: bundle.basic(),
        body: { type: 'customer', customer_id: customerId, attributes: { city: 'Lisbon' } },
      });
    await customer('ada');
    await customer('somebody new');
    const { accessToken } = await bundle.token();
    await bundle.call('POST', `/v1/event/${workspaceId}`, {
      headers: { authorization: `Bearer ${accessToken}` },
      body: { type: 'event', customer_id: 'ada', actions: [{ action: 'bought', attributes: {} }] },
    });
    await push('Sent before');
    await until(async () => (await bundle.inbox()).length > 0);
    await database`update api_keys set archived_at = now() where workspace_id = ${workspaceId} and kind = 'data'`;
    await database`update workspaces set name = 'Renamed', time_zone = 'Asia/Calcutta' where id = ${workspaceId}`;
    await database`delete from devices where workspace_id = ${workspaceId} and platform = 'IOS'`;
    await push('Later', {
      campaignDelivery: {
        type: 'periodic',
        time: '10:00 AM',
        startDate: '01/01/2030',
        endDate: '02/01/2030',
        repeatAfter: '1',
      },
    });
  }
});

type Server = Awaited<ReturnType<typeof buildServer>>;

describe('guards of the sandbox', () => {
  let server: Server;
  /** The same with the setting that opens it. */
  let openServer: Server;
  const routes: { method: string; url: string }[] = [];
  beforeAll(async () => {
    const clock = makeManualClock(new Date('2026-01-01T00:00:00Z'));
    const clientFolder = join(import.meta.dirname, '..', '..', '..', 'client');
    // No use case is called: what passes the guard is the clock alone, or is refused for its body.
    const clockAdvance = { progress: () => undefined };
    const shared = { clock, clockAdvance, allowedHosts: ['Sandbox.example.com', '*.svc.example'], clientFolder };
    const options = { log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: 1 } as const;
    const build = (access: SandboxGuard['access'], onRoute: (route: { method: unknown; url: string }) => void) =>
      buildServer(options, [
        async (scope) => {
          scope.addHook('onRoute', onRoute);
          await scope.register(sandboxRoutes({ ...shared, access } as never));
          await scope.register(sandboxBrowserRoutes({ ...shared, access } as never));
        },
      ]);
    server = await build('local', ({ method, url }) => void routes.push({ method: String(method), url }));
    openServer = await build('network', () => undefined);
  });
  afterAll(() => Promise.all([server.close(), openServer.close()]));

  const ask = async (headers: Record<string, string>, more: InjectOptions = {}): Promise<number> =>
    (await server.inject({ url: '/sandbox/clock', ...more, headers: { host: 'localhost:8080', ...headers } }))
      .statusCode;
  /** Refused for its body, so it passed the guard and changed nothing. */
  const change = { method: 'POST', url: '/sandbox/faults', payload: [] } as const;

  describe('the sandbox answers what runs on this machine and beside it', () => {
    test.each([
      ...['localhost', 'localhost:8080', '127.0.0.1:8080', '127.1.2.3', '[::1]:8080', '0.0.0.0:80', '192.168.1.7'],
      ...[
        'carillon',
        'carillon:8080',
        'carillon_api_1',
        'a.localhost',
        'host.docker.internal',
        'push.test',
        'LOCALHOST.',
      ],
      ...['sandbox.example.com', 'SANDBOX.example.com:443', 'oauth2-01.svc.example'],
    ])('Host: %s', async (host) => {
      expect(await ask({ host })).toBe(200);
      expect(await ask({ host, 'content-type': 'application/json' }, change)).toBe(400);
    });

    test.each([
      [{}],
      [{ origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }],
      [{ host: '[::1]:8080', origin: 'http://[::1]:8080' }],
      // A proxy on the way says which host the browser asked.
      [{ host: 'carillon:8080', 'x-forwarded-host': 'sandbox.example.com', origin: 'https://sandbox.example.com' }],
    ] as [Record<string, string>][])('a request with %j', async (headers) => {
      expect(await ask({ ...headers, 'content-type': 'application/json' }, change)).toBe(400);
    });

    test('a link from another page, and an address that was typed', async () => {
      const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      expect(await ask({ ...page, 'sec-fetch-site': 'cross-site' }, { url: '/sandbox/browser' })).toBe(200);
      expect(await ask({ ...page, 'sec-fetch-site': 'none' }, { url: '/sandbox/browser' })).toBe(200);
    });
  });

  describe('every route of the sandbox is shut to a page of the web', () => {
    const strangers: Record<string, [status: number, headers: Record<string, string>]> = {
      'by its origin': [403, { origin: 'https://evil.example' }],
      'from an opaque origin': [403, { origin: 'null' }],
      'from another port of this machine': [403, { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
      'without an origin': [403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
      'in a frame': [403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
      'that points its name here': [421, { host: 'evil.example:8080', 'sec-fetch-site': 'same-origin' }],
      'that points its name here and names another': [421, { host: 'evil.example', 'x-forwarded-host': 'localhost' }],
      'with a name below ours': [421, { host: 'localhost.evil.example' }],
      'with an address in its name': [421, { host: '127.0.0.1.nip.example:8080' }],
      'with a name like a listed one': [421, { host: 'evilsvc.example' }],
    };
    test.each(Object.entries(strangers))('%s', async (_what, [status, headers]) => {
      expect(routes.length).toBeGreaterThan(15);
      for (const { method, url } of routes) {
        const answer = await server.inject({
          method: method as 'GET',
          url,
          headers: { host: 'localhost:8080', ...headers },
        });
        expect([method, url, answer.statusCode]).toEqual([method, url, status]);
        if (method !== 'HEAD') expect(answer.json()).toMatchObject({ status, title: expect.any(String) });
      }
    });
  });

  describe('every route of the sandbox is shut to callers on other machines', () => {
    type Caller = { from: string; headers?: Record<string, string> };
    const local: Record<string, Caller> = {
      'the loopback': { from: '127.0.0.1' },
      'another address of the loopback': { from: '127.8.9.10' },
      'the loopback of IPv6': { from: '::1' },
      'the loopback by a socket of both families': { from: '::ffff:127.0.0.1' },
      'a local proxy for a local browser': { from: '::1', headers: { 'x-forwarded-for': '127.0.0.1, [::1]:4711' } },
      'a local proxy that says it by RFC 7239': {
        from: '127.0.0.1',
        headers: { forwarded: 'for=127.0.0.1;proto=http, for="[::1]:4711"' },
      },
    };
    const remote: Record<string, Caller> = {
      'a neighbour': { from: '192.168.1.7' },
      'the bridge of a container engine': { from: '172.17.0.1' },
      'a neighbour by IPv6': { from: '2001:db8::7' },
      'a neighbour by a socket of both families': { from: '::ffff:192.0.2.7' },
      'a neighbour that claims to be forwarded': { from: '192.168.1.7', headers: { 'x-forwarded-for': '127.0.0.1' } },
      'a local proxy': { from: '127.0.0.1', headers: { 'x-forwarded-for': '198.51.100.7' } },
      'a local proxy, and claims to be local': {
        from: '127.0.0.1',
        headers: { 'x-forwarded-for': '127.0.0.1, 198.51.100.7' },
      },
      'a local proxy behind another one': { from: '::1', headers: { 'x-forwarded-for': '198.51.100.7, 127.0.0.1' } },
      'a local proxy that hides it': { from: '127.0.0.1', headers: { 'x-forwarded-for': 'unknown' } },
      'a local proxy that leaves it empty': { from: '127.0.0.1', headers: { 'x-forwarded-for': '' } },
      'a local proxy that names it alone': { from: '127.0.0.1', headers: { 'x-real-ip': '198.51.100.7' } },
      'a local proxy that says it by RFC 7239': {
        from: '127.0.0.1',
        headers: { forwarded: 'for="[2001:db8::7]:4711";proto=https' },
      },
      'a local proxy that hides it by RFC 7239': {
        from: '127.0.0.1',
        headers: { forwarded: 'for=_hidden, for=127.0.0.1' },
      },
      'a local proxy that says only how': { from: '127.0.0.1', headers: { forwarded: 'proto=https' } },
    };
    const call = (on: Server, { from, headers }: Caller, route: { method: string; url: string }) =>
      on.inject({
        ...route,
        method: route.method as 'GET',
        remoteAddress: from,
        headers: { host: 'localhost:8080', ...headers },
      });

    test.each(Object.entries(local))('but not to %s', async (_what, caller) => {
      const clock = await call(server, caller, { method: 'GET', url: '/sandbox/clock' });
      expect(clock.statusCode).toBe(200);
    });

    test.each(Object.entries(remote))('%s, and says how to open it', async (_what, caller) => {
      expect(routes.length).toBeGreaterThan(15);
      for (const route of routes) {
        const answer = await call(server, caller, route);
        expect([route.method, route.url, answer.statusCode]).toEqual([route.method, route.url, 403]);
        if (route.method === 'HEAD') continue;
        expect(answer.json()).toMatchObject({ code: 'SANDBOX_NOT_LOCAL', status: 403 });
        expect(answer.json().detail).toMatch(/CARILLON_SANDBOX_ACCESS=network/);
      }
      const opened = await call(openServer, caller, { method: 'GET', url: '/sandbox/clock' });
      expect(opened.statusCode).toBe(200);
    });

    test('the setting opens nothing to pages of other sites', async () => {
      const stranger = { from: '192.168.1.7', headers: { origin: 'https://evil.example' } };
      expect((await call(openServer, stranger, { method: 'GET', url: '/sandbox/clock' })).statusCode).toBe(403);
    });
  });

  test('a list of hosts is refused in production, which has no sandbox', () => {
    expect(() =>
      readConfig({
        environment: { CARILLON_ALLOWED_HOSTS: 'a.example', CARILLON_MODE: 'production' },
        arguments: [],
      }),
    ).toThrow(/CARILLON_ALLOWED_HOSTS/);
  });
});
