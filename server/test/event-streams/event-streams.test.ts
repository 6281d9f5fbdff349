import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listDeadBatches, resendDeadBatches } from '../../src/app/event-streams.ts';
import { recordInteractions } from '../../src/app/interactions.ts';
import { makeTokenAuthority } from '../../src/app/tokens/token-authority.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { eventUuid } from '../../src/domain/events/event-streams.ts';
import { reportDigest } from '../../src/domain/events/interactions.ts';
import type { InteractionKind } from '../../src/domain/events/interactions.ts';
import type { Variant } from '../../src/domain/experiments/variants.ts';
import { makeId } from '../../src/domain/ids.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { eventStreamRoutes } from '../../src/http/event-streams.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeLog } from '../../src/log.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { endEventBatch } from '../../src/storage/outbox/event-streams.ts';
import { markReports } from '../../src/storage/outbox/stream-marks.ts';
import { insertErasure } from '../../src/storage/users/erasures.ts';
import { campaign, expectStatus } from '../campaigns/authoring-bundle.ts';
import { makeCampaignBundle } from '../campaigns/campaign-bundle.ts';
import type { CampaignBundle } from '../campaigns/campaign-bundle.ts';
import { contentIn, shares } from '../experiments/variation-bundle.ts';
import { makeEventStreamBundle } from './event-stream-bundle.ts';
import type { EventStreamBundle } from './event-stream-bundle.ts';

type Call = { body?: unknown; headers?: Record<string, string> };

describe('routes of event streams', () => {
  let bundle: CampaignBundle;
  let server: Awaited<ReturnType<typeof buildServer>>;
  let data: Record<string, string>;
  beforeAll(async () => {
    bundle = await makeCampaignBundle();
    const { database, clock } = bundle;
    const encryption = makeEncryption(Buffer.alloc(32, 9));
    const tokens = makeTokenAuthority({ database, clock, encryption });
    server = await buildServer({ log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: false }, [
      eventStreamRoutes({ database, clock, encryption, tokens, vendorHeaders: makeVendorHeaders('SVC') }),
    ]);
    data = bundle.headersOf({ ...bundle.own, key: await bundle.makeKey('data', bundle.own.workspaceId) });
  });
  afterEach(() => bundle.database`delete from event_streams`);
  afterAll(async () => {
    await server.close();
    await bundle.end();
  });
  const url = 'https://receiver.example/events';
  const faultsOf = (reply: { json(): any }) => reply.json().error.details.map((detail: any) => detail.message);

  test('a stream is made with its secret, shown without it, changed and removed', async () => {
    const made = await call('POST', '', { body: { url, user_attributes: ['city'] } });
    expect(made.statusCode).toBe(201);
    const { event_stream: stream, secret } = made.json().data;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(stream).toMatchObject({
      ...{ url, events: ['delivered', 'clicked', 'cleared', 'control_group'], user_attributes: ['city'] },
      ...{ device_attributes: [], delivered_events: 0, last_delivered_at: null, pending_batches: 0, dead_batches: 0 },
    });
    const changed = await call('PATCH', `/${stream.id}`, {
      body: { events: ['clicked'], device_attributes: ['platform'] },
    });
    expect(changed.json().data.event_stream).toMatchObject({ events: ['clicked'], url, user_attributes: ['city'] });
    const listed = (await call('GET', '')).json().data.event_streams;
    expect(listed).toEqual([(await call('GET', `/${stream.id}`)).json().data.event_stream]);
    expect(JSON.stringify(listed)).not.toContain('whsec_');
    expect((await call('DELETE', `/${stream.id}`)).json().data).toEqual({ removed: true });
    for (const [method, path, body] of [
      ['GET', `/${stream.id}`],
      ['PATCH', `/${stream.id}`, {}],
      ['DELETE', `/${stream.id}`],
      ['GET', `/${stream.id}/dead-batches`],
      ['POST', `/${stream.id}/dead-batches/resend`, {}],
    ] as const)
      expect((await call(method, path, { body })).statusCode).toBe(404);
  });

  test('two changes of different members at once both stand', async () => {
    const { id } = (await call('POST', '', { body: { url } })).json().data.event_stream;
    const changes = [
      { events: ['clicked'] },
      { user_attributes: ['city'] },
      { device_attributes: ['platform'] },
      { url: `${url}/2` },
    ];
    await Promise.all(changes.map((body) => call('PATCH', `/${id}`, { body })));
    const { event_stream: stream } = (await call('GET', `/${id}`)).json().data;
    expect(stream).toMatchObject(Object.assign({}, ...changes));
  });

  test('a workspace has five of them, and another workspace none of these', async () => {
    const made = [];
    for (let nth = 0; nth < 5; nth += 1) made.push(await call('POST', '', { body: { url } }));
    expect(made.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201, 201]);
    const sixth = await call('POST', '', { body: { url } });
    expect([sixth.statusCode, sixth.json().error.message]).toEqual([409, 'A workspace has at most 5 event streams.']);
    const other = await bundle.makeWorkspace();
    const headers = bundle.headersOf({ ...other, key: await bundle.makeKey('data', other.workspaceId) });
    expect((await call('GET', '', { headers })).json().data.event_streams).toEqual([]);
    const { id } = made[0]!.json().data.event_stream;
    expect((await call('GET', `/${id}`, { headers })).statusCode).toBe(404);
    expect((await call('DELETE', `/${id}`, { headers })).statusCode).toBe(404);
  });

  test('a repeated request makes one stream, and is told its secret again (decision D4)', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, again] = [
      await call('POST', '', { body: { url }, headers }),
      await call('POST', '', { body: { url }, headers }),
    ];
    expect(again.json().data).toEqual(first.json().data);
    expect((await call('GET', '')).json().data.event_streams).toHaveLength(1);
    expect((await call('POST', '', { body: { url: `${url}/2` }, headers })).statusCode).toBe(409);
  });

  test('what is wrong is told all at once, and what is unknown is warned of (decision D5)', async () => {
    const wrong = { url: 'ftp://a', events: ['opened'], user_attributes: [1], device_attributes: ['gaid'] };
    const refused = await call('POST', '', { body: wrong });
    expect(refused.statusCode).toBe(400);
    expect(faultsOf(refused).map((fault: string) => fault.split(' ')[0])).toEqual([
      'url',
      'events',
      'device_attributes',
      'user_attributes',
    ]);
    expect(faultsOf(await call('POST', '', { body: {} }))).toEqual(['url is required.']);
    expect(faultsOf(await call('POST', '', { body: { url: 'https://u:p@a.example' } }))).toHaveLength(1);
    const made = await call('POST', '', { body: { url, secret: 'mine' } });
    expect(made.headers['x-svc-warning']).toBe('unknown field "secret"');
  });

  test('it takes the data key alone, since data of users leave', async () => {
    expect((await call('GET', '', { headers: bundle.headersOf(bundle.own) })).statusCode).toBe(403);
    expect((await call('GET', '', { headers: { authorization: 'Basic eDp5' } })).statusCode).toBe(401);
    expect((await call('PUT', '', { body: {} })).statusCode).toBe(405);
  });

  async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT', path: string, { body, headers }: Call = {}) {
    bundle.clock.advance(1000);
    return server.inject({
      method,
      url: `/v1/event-streams${path}`,
      headers: { ...data, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
  }
});

type Reported = { kind: InteractionKind; name: string; customer?: string; variant?: Variant };

describe('event streams', () => {
  const actor = { kind: 'program', name: 'a test' } as const;
  let bundle: EventStreamBundle;
  beforeAll(async () => {
    bundle = await makeEventStreamBundle();
    await bundle.addPhones(230);
    await bundle.database`update devices set platform = 'IOS' where push_id like 'push-user-1%'`;
  });
  afterEach(async () => {
    bundle.answer(() => ({ kind: 'accepted' }));
    await bundle.removeStreams();
  });
  afterAll(() => bundle.end());

  const uuidsOf = (events: any[]) => new Set(events.map((event) => event.event_uuid));
  const withControlGroup = {
    control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 30 },
  };
  const bothPlatforms = { basic_details: { name: 'Spring sale', platforms: ['ANDROID', 'IOS'], tags: [] } };
  const content = {
    campaign_content: {
      content: {
        push: {
          android: {
            template_type: 'BASIC',
            basic_details: { title: 'T', message: 'M', notification_channel: 'news' },
          },
          ios: { template_type: 'BASIC', basic_details: { title: 'T', message: 'M' } },
        },
      },
    },
  };

  describe('a stream of events (fact 7)', () => {
    test('has each accepted message and each user whom a control group kept out once, as the ledger does, 100 a request', async () => {
      await bundle.addStream({ userAttributes: ['city', 'missing'], deviceAttributes: ['platform', 'push_id'] });
      await bundle.setAttribute('user-2', { city: 'Köln', secret: 'not named' });
      const id = await bundle.live({ ...bothPlatforms, ...content, ...withControlGroup });
      bundle.answer(({ pushId }) =>
        pushId === 'push-user-3' ? { kind: 'rejected', code: 'TOO_BIG', detail: '' } : { kind: 'accepted' },
      );
      await bundle.deliver();
      await bundle.postAll();
      const events = bundle.events();
      const rows = await bundle.database<any[]>`
        select users.customer_id, deliveries.platform, deliveries.outcome, deliveries.run_id, deliveries.sent_at
        from readable_deliveries as deliveries join users on users.id = deliveries.user_id
        where deliveries.campaign_id = ${id}`;
      const codeOf = (row: any) =>
        row.outcome === 'WITHHELD'
          ? 'SVC_CAMPAIGN_CONTROL_GROUP'
          : row.platform === 'IOS'
            ? 'n_i_s'
            : 'NOTIFICATION_RECEIVED_SVC';
      const expected = rows
        .filter(({ outcome }) => outcome !== 'REJECTED')
        .map((row) => `${codeOf(row)} ${row.customer_id}`);
      expect(rows.length).toBe(230);
      expect(events.map((event) => `${event.event_code} ${event.uid}`).sort()).toEqual(expected.sort());
      expect(uuidsOf(events).size).toBe(events.length);
      expect(new Set(events.map(({ event_code }) => event_code)).size).toBe(3);
      const sizes = bundle.received.map(({ body }) => body.events.length);
      expect(sizes.sort((one, other) => other - one)).toEqual([100, 100, expected.length - 200]);
      for (const { id: batchId, body } of bundle.received)
        expect(body).toMatchObject({ source: 'CARILLON', svc_request_id: batchId });
      const own = events.find(({ uid }) => uid === 'user-2');
      const [run] = await bundle.runs(id);
      expect(own).toMatchObject({
        event_type: 'CAMPAIGN_EVENT',
        event_time: Math.floor(rows[0].sent_at.getTime() / 1000),
        event_attributes: {
          ...{ campaign_id: id, campaign_name: 'Spring sale', campaign_type: 'ONE_TIME' },
          ...{ campaign_channel: 'PUSH', execution_id: run.id },
        },
        user_attributes: { city: 'Köln' },
      });
      expect(bundle.forged()).toBe(0);
      expect(await bundle.count('event_stream_batches')).toBe(0);
      expect(await bundle.count('event_stream_marks')).toBe(0);
    });

    test('says of which content a message was, and its click, as the ledger does; of a control group nothing', async () => {
      await bundle.addStream();
      await bundle.database`update users set attributes = '{"locale": "pt"}' where customer_id like 'user-2%'`;
      const id = await bundle.live({
        ...withControlGroup,
        basic_details: { name: 'Compared', platforms: ['ANDROID'], tags: [] },
        campaign_content: {
          locales: ['default', 'pt'],
          variation_details: shares(50, 50),
          content: contentIn(['default', 'pt'], 2),
        },
      });
      await bundle.deliver();
      const [sent] = await bundle.database<any[]>`
        select deliveries.variation, users.customer_id as customer from readable_deliveries as deliveries
        join users on users.id = deliveries.user_id
        where deliveries.campaign_id = ${id} and deliveries.locale = 'pt' and deliveries.outcome = 'ACCEPTED' limit 1`;
      const { customer, variation: number } = sent;
      await report(id, { kind: 'click', name: 'once', customer, variant: { variation: number, locale: 2 } });
      await bundle.postAll();
      const told = bundle.events().map(({ event_code, uid, event_attributes: { variation, locale } }) => {
        const what = event_code.includes('CLICKED') ? 'clicked' : event_code.includes('GROUP') ? 'group' : 'sent';
        return [uid, what, variation, locale];
      });
      const rows = await bundle.database<any[]>`
        select users.customer_id, deliveries.code, 'variation_' || deliveries.variation as variation, deliveries.locale
        from readable_deliveries as deliveries join users on users.id = deliveries.user_id
        where deliveries.campaign_id = ${id}`;
      const expected = rows.map(({ customer_id, code, variation, locale }) =>
        code === null ? [customer_id, 'sent', variation, locale] : [customer_id, 'group', undefined, undefined],
      );
      expected.push([customer, 'clicked', `variation_${number}`, 'pt']);
      const inOrder = (list: any[]) => list.map((entry) => JSON.stringify(entry)).toSorted();
      expect(inOrder(told)).toEqual(inOrder(expected));
    });

    test('costs nothing where there is none, and notes nothing that it did not ask for', async () => {
      await bundle.live();
      await bundle.deliver();
      expect(await bundle.count('event_stream_marks')).toBe(0);
      await bundle.addStream({ events: ['clicked'] });
      await bundle.live({ basic_details: { name: 'Another', platforms: ['ANDROID'], tags: [] } });
      await bundle.deliver();
      expect(await bundle.count('event_stream_marks')).toBe(0);
    });

    test('has a message that waited once, when a provider took it', async () => {
      await bundle.addStream({ events: ['delivered'] });
      const id = await bundle.live({ basic_details: { name: 'Waits', platforms: ['ANDROID'], tags: [] } });
      bundle.answer(({ pushId }) =>
        pushId === 'push-user-2' ? { kind: 'wait', code: 'UNAVAILABLE', scope: 'device' } : { kind: 'accepted' },
      );
      await bundle.deliver();
      await bundle.postAll();
      expect(bundle.events().filter(({ uid }) => uid === 'user-2')).toEqual([]);
      bundle.answer(() => ({ kind: 'accepted' }));
      bundle.clock.advance(600_000);
      while ((await bundle.retry()) > 0);
      await bundle.postAll();
      expect(bundle.events().filter(({ uid }) => uid === 'user-2')).toHaveLength(1);
      const [ledger] = await bundle.database<any[]>`
        select count(*) as accepted from readable_deliveries where campaign_id = ${id} and outcome = 'ACCEPTED'`;
      expect(bundle.events().length).toBe(ledger.accepted);
    });

    test('has clicks with their action and clears, each once; that a message was shown is none of them', async () => {
      const id = await bundle.live({ basic_details: { name: 'Clicked', platforms: ['ANDROID'], tags: [] } });
      await bundle.deliver();
      await bundle.addStream({ deviceAttributes: ['device_id'] });
      for (const kind of ['impression', 'close'] as const) await report(id, { kind, name: 'once' });
      for (let repeat = 0; repeat < 2; repeat += 1) await report(id, { kind: 'click', name: 'buy' });
      await bundle.postAll();
      expect(bundle.events().map(({ event_code, uid, event_type }) => [event_code, uid, event_type])).toEqual([
        ['NOTIFICATION_CLEARED_SVC', 'user-2', 'USER_ACTION_EVENT'],
        ['NOTIFICATION_CLICKED_SVC', 'user-2', 'USER_ACTION_EVENT'],
      ]);
      expect(bundle.events()[1]).toMatchObject({
        event_attributes: { action: 'buy' },
        device_attributes: { device_id: 'phone' },
        push_id: null,
      });
    });

    test('says nothing of a test of a campaign', async () => {
      await bundle.addStream();
      const body = {
        ...campaign(),
        test_campaign_meta: { identifier: 'uid', identifier_values: ['user-2'] },
      };
      expectStatus(await bundle.call('POST', '/v5/campaigns/test', body), 200);
      await bundle.deliver();
      await bundle.postAll();
      expect(bundle.received).toEqual([]);
      expect(await bundle.count('event_stream_marks')).toBe(0);
    });
  });

  describe('a receiver that does not take a batch', () => {
    async function addBatch(name: string): Promise<string> {
      const stream = await bundle.addStream({ events: ['clicked'] });
      const id = await bundle.live({ basic_details: { name, platforms: ['ANDROID'], tags: [] } });
      await bundle.deliver();
      await report(id, { kind: 'click', name });
      await bundle.note();
      return stream;
    }

    test('gets it again after 30, 60 and 120 s with the same ids; then it is shown as given up, and can be sent again', async () => {
      const stream = await addBatch('Refused');
      const of = { workspaceId: bundle.workspaceId, id: stream };
      bundle.reply(500);
      expect(await bundle.postDue()).toBe(1);
      for (const seconds of [30, 60, 120]) {
        bundle.clock.advance(seconds * 1000 - 1);
        expect(await bundle.postDue()).toBe(0);
        bundle.clock.advance(1);
        expect(await bundle.postDue()).toBe(1);
      }
      bundle.clock.advance(86_400_000);
      expect(await bundle.postDue()).toBe(0);
      expect(bundle.received).toHaveLength(4);
      const [batch] = await listDeadBatches(bundle.deps, { ...of, limit: 10 });
      expect(batch).toMatchObject({ events: 1, attempts: 4, lastStatus: 500, lastError: null });
      expect(await resendDeadBatches(bundle.deps, { ...of, actor, batchId: batch!.id })).toBe(1);
      expect(await resendDeadBatches(bundle.deps, { ...of, actor })).toBe(0);
      bundle.reply(200);
      expect(await bundle.postDue()).toBe(1);
      expect(bundle.received).toHaveLength(5);
      expect(new Set(bundle.received.map(({ id }) => id)).size).toBe(1);
      expect(uuidsOf(bundle.events()).size).toBe(1);
      expect(await listDeadBatches(bundle.deps, { ...of, limit: 10 })).toEqual([]);
      expect(await bundle.count('event_stream_batches')).toBe(0);
    });

    test('gets it again from another worker when one died with it, and what that one stores later counts for nothing', async () => {
      const stream = await addBatch('Died');
      const dying = bundle.makePoster(() => new Promise(() => {}));
      void dying.runOnce(bundle.clock.now());
      for (;;) {
        const [row] = await bundle.database<
          any[]
        >`select attempts from event_stream_batches where stream_id = ${stream}`;
        if (row.attempts === 1) break;
      }
      expect(await bundle.postDue()).toBe(0);
      bundle.clock.advance(60_001);
      const [{ id }] = await bundle.database<any[]>`select id from event_stream_batches where stream_id = ${stream}`;
      bundle.reply(500);
      expect(await bundle.postDue()).toBe(1);
      await endEventBatch(bundle.database, { id, attempts: 1, at: bundle.clock.now() });
      expect(await bundle.count('event_stream_batches')).toBe(1);
      bundle.reply(204);
      bundle.clock.advance(60_000);
      expect(await bundle.postDue()).toBe(1);
      expect(new Set(bundle.received.map((request) => request.id))).toEqual(new Set([id]));
    });

    test('is told of nobody who was erased meanwhile, and the event stays', async () => {
      await bundle.addPhones(1, 'gone');
      await bundle.addStream({ events: ['delivered'], deviceAttributes: ['device_id'] });
      const [{ bucket, id: userId }] = await bundle.database<
        any[]
      >`select bucket, id from users where customer_id = 'gone-0'`;
      await bundle.live({ basic_details: { name: 'Erased', platforms: ['ANDROID'], tags: [] } });
      await bundle.deliver();
      await bundle.note();
      const at = bundle.clock.now();
      const { workspaceId, database } = bundle;
      const erasure = { id: makeId(at), workspaceId, bucket, userId, customerDigest: Buffer.alloc(32), at, dueAt: at };
      await insertErasure(database, erasure);
      expect(await makeEraseDueUsers({ database: bundle.database }).runOnce(at)).toBe(1);
      const [left] = await bundle.database<any[]>`
        select count(*) as rows from event_stream_batches where events::text like ${`%${userId}%`}`;
      expect(left.rows).toBe(0);
      while ((await bundle.postDue()) > 0);
      const nobody = bundle.events().filter(({ uid }) => uid === null);
      expect(nobody).toHaveLength(1);
      expect(nobody[0]).toMatchObject({ event_code: 'NOTIFICATION_RECEIVED_SVC', device_attributes: {} });
    });
  });

  describe('nothing is lost and nothing comes twice', () => {
    test('when several nodes make batches at once', async () => {
      await bundle.addStream({ events: ['delivered'] });
      await bundle.live({ basic_details: { name: 'Nodes', platforms: ['ANDROID'], tags: [] } });
      await bundle.deliver();
      while ((await Promise.all([bundle.note(), bundle.note(), bundle.note()])).some((count) => count > 0));
      while ((await bundle.postDue()) > 0);
      expect(bundle.events().length).toBe(bundle.sent.length);
      expect(uuidsOf(bundle.events()).size).toBe(bundle.sent.length);
    });

    test('when a transaction that began first commits last', async () => {
      const id = await bundle.live({ basic_details: { name: 'Late', platforms: ['ANDROID'], tags: [] } });
      await bundle.deliver();
      await bundle.addStream({ events: ['clicked'] });
      const [run] = await bundle.runs(id);
      const { workspaceId } = bundle;
      const report = {
        workspaceId,
        runId: run.id,
        bucket: 1,
        kind: 'clicked',
        platform: 'ANDROID',
        ...{ action: null, variation: null, locale: null },
      } as const;
      const mark = (name: string) => ({ ...report, deviceId: name, uuid: eventUuid([name]) });
      const at = bundle.clock.now();
      await inTransaction(bundle.database, async (slow) => {
        await markReports(slow, { marks: [mark('slow')], at });
        await inTransaction(bundle.database, (quick) => markReports(quick, { marks: [mark('quick')], at }));
        await bundle.postAll();
        expect([...uuidsOf(bundle.events())]).toEqual([eventUuid(['quick'])]);
      });
      await bundle.postAll();
      expect(bundle.events().map(({ event_uuid }) => event_uuid)).toEqual([eventUuid(['quick']), eventUuid(['slow'])]);
    });

    test('when the window of a send is stored by whoever takes it over', async () => {
      await bundle.addStream({ events: ['delivered'] });
      const id = await bundle.live({ basic_details: { name: 'Taken over', platforms: ['ANDROID'], tags: [] } });
      while ((await bundle.release()) > 0);
      const [{ id: runId }] = await bundle.runs(id);
      const [run, chunk] = [await bundle.run(runId), (await bundle.claim('first'))!];
      const before = bundle.sent.length;
      bundle.answer(() => new Promise(() => {}));
      void bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
      while (bundle.sent.length === before) await new Promise((resolve) => setTimeout(resolve, 2));
      bundle.answer(() => ({ kind: 'accepted' }));
      bundle.clock.advance(61_000);
      await Promise.all([bundle.work({ owner: 'second', windowDevices: 7 }), bundle.work({ owner: 'third' })]);
      await bundle.postAll();
      expect(bundle.events().length).toBe(await accepted(id));
      expect(uuidsOf(bundle.events()).size).toBe(bundle.events().length);
    });
  });

  async function report(campaignId: string, { kind, name, customer = 'user-2', variant }: Reported): Promise<void> {
    const [run] = await bundle.runs(campaignId);
    const [device] = await bundle.database<any[]>`
      select bucket, id, platform from devices where push_id = ${`push-${customer}`}`;
    const subject = {
      ...{ workspaceId: bundle.workspaceId, runId: run.id, bucket: device!.bucket },
      ...{ deviceId: device!.id, platform: device!.platform },
      ...(variant ? { variant } : {}),
    };
    const at = bundle.clock.now();
    await recordInteractions({ database: bundle.database, since: new Date(0) }, [
      { subject, kind, action: name === 'buy' ? 'buy' : null, digest: reportDigest(name), at },
    ]);
  }

  async function accepted(campaignId: string): Promise<number> {
    const [row] = await bundle.database<any[]>`
      select count(*) as devices from readable_deliveries where campaign_id = ${campaignId} and outcome = 'ACCEPTED'`;
    return row.devices;
  }
});
