import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { abandonedCart, did, message, send, wait, welcome, winBack } from './journey-examples.ts';

describe('journeys', () => {
  let bundle: CarillonBundle;
  beforeAll(async () => {
    bundle = await startCarillonBundle();
  });
  afterAll(() => bundle?.stop());

  async function call(
    method: string,
    path: string,
    ...[body, headers]: [body?: unknown, headers?: Record<string, string>]
  ) {
    // The limits of campaign calls are met by tests of campaigns.
    await bundle.database`delete from limit_windows where operation = 'campaign'`;
    return bundle.call(method, `/v1/journeys${path}`, {
      headers: { ...bundle.basic(bundle.keys.campaigns), ...headers },
      ...(body === undefined ? {} : { body }),
    });
  }
  let made = 0;
  async function create(graph: object, name = `Journey ${(made += 1)}`): Promise<string> {
    const answer = await call('POST', '', { name, graph });
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return answer.json().data.journey.id;
  }
  async function publish(id: string, users?: object) {
    return call('POST', `/${id}/publish`, users === undefined ? {} : { users });
  }
  const get = async (id: string) => (await call('GET', `/${id}`)).json().data.journey;
  const statusesOf = async (id: string) =>
    (await bundle.database`select status from campaigns where journey_id = ${id} order by id`).map(
      ({ status }) => status,
    );
  const simple = { entry: { type: 'api' }, first_step: 'hello', steps: [send('hello', 'pause'), wait('pause', null)] };

  test('keeps a draft as it was sent, lists it by status, name and date, and removes it', async () => {
    const graph = { entry: { type: 'event' }, steps: [{ id: 'unfinished' }] };
    const id = await create(graph, 'Summer Welcome');
    expect(await get(id)).toMatchObject({
      name: 'Summer Welcome',
      status: 'DRAFT',
      version: null,
      draft: graph,
      live: null,
    });
    const listed = async (query: string) =>
      (await call('GET', `?${query}`)).json().data.journeys.map((journey: { id: string }) => journey.id);
    expect(await listed('name=mer+wel')).toEqual([id]);
    expect(await listed('name=mer+wel&status=ACTIVE')).toEqual([]);
    expect(await listed('name=mer+wel&created_before=2020-01-01T00:00:00Z')).toEqual([]);
    expect((await call('GET', '?created_from=yesterday')).status).toBe(400);
    expect((await call('PATCH', `/${id}`, { name: 'Winter' })).json().data.journey).toMatchObject({
      name: 'Winter',
      draft: graph,
    });
    expect((await call('POST', '', { name: 'Winter', graph })).json().error.message).toBe(
      'A journey with this name already exists.',
    );
    expect((await call('DELETE', `/${id}`)).json().data).toEqual({ removed: true });
    expect((await call('GET', `/${id}`)).status).toBe(404);
  });

  test('lists pages with a cursor, each journey once', async () => {
    const ids = [await create(simple), await create(simple), await create(simple)];
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query: string = cursor === undefined ? '' : `&cursor=${cursor}`;
      const { data } = (await call('GET', `?limit=2${query}`)).json();
      seen.push(...data.journeys.map((journey: { id: string }) => journey.id));
      cursor = data.next_cursor;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(ids));
  });

  test('creates one journey for a repeated request', async () => {
    const body = { name: 'Repeated', graph: simple };
    const twice = [
      await call('POST', '', body, { 'idempotency-key': 'journey-1' }),
      await call('POST', '', body, { 'idempotency-key': 'journey-1' }),
    ];
    expect(twice.map((answer) => answer.json().data.journey.id)).toEqual(
      Array(2).fill(twice[0]!.json().data.journey.id),
    );
  });

  test('reports everything that keeps a draft from being published, and publishes nothing', async () => {
    const city = { filter_type: 'custom_segments', id: '0123456789abcdef01234567', name: 'Gone' };
    const id = await create({
      ...simple,
      steps: [
        send('hello', 'fork', { campaign_content: { content: {} } }),
        {
          ...{ type: 'branch', id: 'fork', next: 'pause', else_next: null },
          condition: { type: 'user', included_filters: { filter_operator: 'and', filters: [city] } },
        },
        wait('pause', null, 400),
      ],
    });
    const { valid, faults } = (await call('GET', `/${id}/validation`)).json().data;
    expect(valid).toBe(false);
    expect(faults.map(({ field }: { field: string }) => field)).toEqual(
      expect.arrayContaining(['graph.steps.pause.duration', expect.stringMatching(/^graph\.steps\.hello\.message/)]),
    );
    const refused = await publish(id);
    expect(refused.status).toBe(400);
    expect(refused.json().error.details).toHaveLength(faults.length);
    expect(await statusesOf(id)).toEqual([]);
    expect((await get(id)).status).toBe('DRAFT');
  });

  test('reports a segment that does not exist with the step that names it', async () => {
    const gone = { filter_type: 'custom_segments', id: '0123456789abcdef01234567', name: 'Gone' };
    const id = await create({
      ...{ entry: { type: 'api' }, first_step: 'fork' },
      steps: [
        {
          ...{ type: 'branch', id: 'fork', next: null, else_next: null },
          condition: { type: 'user', included_filters: { filter_operator: 'and', filters: [gone] } },
        },
      ],
    });
    expect((await call('GET', `/${id}/validation`)).json().data.faults).toEqual([
      { field: 'graph.steps.fork.condition.included_filters', reason: expect.any(String) },
    ]);
  });

  test('publishes with a hidden campaign per message, and keeps those of messages that did not change', async () => {
    const id = await create({ ...simple, steps: [send('hello', 'again'), send('again', null)] });
    const first = (await publish(id)).json().data.journey;
    expect(first).toMatchObject({ status: 'ACTIVE', version: 1, draft: null, has_draft: false });
    expect(Object.keys(first.campaigns).toSorted()).toEqual(['again', 'hello']);
    const search = await bundle.call('POST', '/v5/campaigns/search', {
      headers: bundle.basic(bundle.keys.campaigns),
      body: { request_id: 'hidden', limit: 15, page: 1, campaign_fields: { id: Object.values(first.campaigns) } },
    });
    expect(search.text).not.toContain(first.campaigns.hello);
    const [condition] = await bundle.database`
      select event_names from trigger_conditions where campaign_id = ${first.campaigns.hello}`;
    expect(condition!.event_names).toEqual(['']);
    const [campaign] = await bundle.database`select * from campaigns where id = ${first.campaigns.hello}`;
    expect(campaign).toMatchObject({ delivery_type: 'EVENT_TRIGGERED', status: 'ACTIVE', audience: 'ALL_USERS' });

    const steps = [send('hello', 'again'), { ...send('again', null), message: message('Changed') }];
    await call('PATCH', `/${id}`, { graph: { ...simple, steps } });
    const second = (await publish(id)).json().data.journey;
    expect(second.version).toBe(2);
    expect(second.campaigns.hello).toBe(first.campaigns.hello);
    expect(second.campaigns.again).not.toBe(first.campaigns.again);
    expect((await publish(id)).json().error.message).toBe('The journey does not allow PUBLISH: it is ACTIVE.');
  });

  test('pauses, resumes and stops the campaigns of its messages; a stop is final', async () => {
    const id = await create(simple);
    expect((await call('POST', `/${id}/pause`)).status).toBe(409);
    await publish(id);
    expect((await call('POST', `/${id}/pause`)).json().data.journey.status).toBe('PAUSED');
    expect(await statusesOf(id)).toEqual(['PAUSED']);
    expect((await call('POST', `/${id}/resume`)).json().data.journey.status).toBe('ACTIVE');
    expect(await statusesOf(id)).toEqual(['ACTIVE']);
    await insertInside(id, 'hello');
    expect((await call('POST', `/${id}/stop`)).json().data.journey.status).toBe('STOPPED');
    expect(await statusesOf(id)).toEqual(['STOPPED']);
    expect((await call('POST', `/${id}/resume`)).status).toBe(409);
    expect((await call('PATCH', `/${id}`, { graph: simple })).status).toBe(409);
    expect((await call('GET', `/${id}/figures`)).json().data).toEqual({
      inside: [],
      edges: [{ version: 1, step: '', edge: 'STOPPED', users: 1 }],
    });
  });

  /** Puts a person at a step, as an entry does. */
  async function insertInside(id: string, step: string, passed: string[] = []): Promise<string> {
    const customerId = `person-${(made += 1)}`;
    const { workspaceId, database } = bundle;
    const answer = await bundle.call('POST', `/v1/customer/${workspaceId}`, {
      headers: bundle.basic(),
      body: { type: 'customer', customer_id: customerId, attributes: { city: 'Oslo' } },
    });
    expect(answer.status).toBe(200);
    const due = '2090-01-01T00:00:00Z';
    await database`
      insert into journey_positions (
        workspace_id, bucket, user_id, journey_id, entry_id, version, step, entered_at, arrived_at, due_at, entry_event
      )
      select workspace_id, bucket, id, ${id}, ${`entry-${customerId}`}, 1, ${step}, now(), now(), ${due}, '{}'
      from users where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
    for (const one of passed)
      await database`
        insert into journey_passages (
          workspace_id, bucket, user_id, journey_id, entry_id, step, version, arrived_at, left_at, edge
        )
        select workspace_id, bucket, id, ${id}, ${`entry-${customerId}`}, ${one}, 1, now(), now(), 'next'
        from users where workspace_id = ${workspaceId} and customer_id = ${customerId}`;
    return customerId;
  }

  test('asks for a rule for people at a removed step, and moves them or lets them leave', async () => {
    const id = await create({ ...simple, steps: [send('hello', 'pause'), wait('pause', 'old'), wait('old', null)] });
    await publish(id);
    const [fresh, served] = [await insertInside(id, 'old', []), await insertInside(id, 'old', ['later'])];
    const steps = [send('hello', 'pause'), wait('pause', 'later', 2), wait('later', null)];
    await call('PATCH', `/${id}`, { graph: { ...simple, steps } });
    expect((await publish(id)).json().error).toMatchObject({
      message: 'Users are at the removed step old.',
      target: 'old',
    });
    expect((await publish(id, { old: 'nowhere' })).status).toBe(400);
    expect((await publish(id, { pause: null })).status).toBe(400);
    expect((await get(id)).version).toBe(1);

    expect((await publish(id, { old: 'pause' })).json().data.journey.version).toBe(2);
    const waiting = async (step: string) =>
      (await call('GET', `/${id}/steps/${step}/users`))
        .json()
        .data.users.map((one: any) => [one.customer_id, one.version]);
    expect([await waiting('old'), await waiting('pause')]).toEqual([[], [[fresh, 2]]]);
    const [moved] = (await call('GET', `/${id}/history?customer_id=${fresh}`)).json().data.entries;
    expect(moved).toMatchObject({ step: 'pause', version: 2, ended_at: null, passages: [] });
    // Nobody passes a step twice: this person passed a step behind the one to which the rule leads.
    const [left] = (await call('GET', `/${id}/history?customer_id=${served}`)).json().data.entries;
    expect(left).toMatchObject({
      step: 'old',
      end_reason: 'STEP_REMOVED',
      passages: [{ step: 'later', edge: 'next' }],
    });
    expect((await call('GET', `/${id}/figures`)).json().data).toEqual({
      inside: [{ step: 'pause', users: 1 }],
      edges: [{ version: 1, step: '', edge: 'STEP_REMOVED', users: 1 }],
    });
  });

  test('lists people at a step with a cursor', async () => {
    const id = await create(simple);
    await publish(id);
    const users = [await insertInside(id, 'pause'), await insertInside(id, 'pause'), await insertInside(id, 'pause')];
    const first = (await call('GET', `/${id}/steps/pause/users?limit=2`)).json().data;
    const rest = (await call('GET', `/${id}/steps/pause/users?limit=2&cursor=${first.next_cursor}`)).json().data;
    const names = [...first.users, ...rest.users].map(({ customer_id: name }) => name);
    expect(names.toSorted()).toEqual(users.toSorted());
    expect((await call('GET', `/${id}/history?customer_id=nobody`)).status).toBe(404);
  });

  test('lets people enter by the route, once for a repeated request and by the rule of re-entry', async () => {
    const id = await create({ ...simple, first_step: 'pause', steps: [wait('pause', null)] });
    const elsewhere = await create({ ...simple, first_step: 'other', steps: [wait('other', null)] });
    await publish(elsewhere);
    const ada = await insertInside(elsewhere, 'other');
    const users = [{ customer_id: ada, attributes: { product: 'Lamp' } }, { customer_id: 'nobody-knows' }];
    expect((await call('POST', `/${id}/entries`, { users })).status).toBe(409);
    await publish(id);
    const first = { entered: [ada], refused: [], unknown: ['nobody-knows'] };
    const key = { 'idempotency-key': 'entry-1' };
    expect((await call('POST', `/${id}/entries`, { users }, key)).json().data).toEqual(first);
    expect((await call('POST', `/${id}/entries`, { users }, key)).json().data).toEqual(first);
    expect((await call('POST', `/${id}/entries`, { users })).json().data).toEqual({
      ...first,
      entered: [],
      refused: [ada],
    });
    const { entries } = (await call('GET', `/${id}/history?customer_id=${ada}`)).json().data;
    expect(entries).toMatchObject([{ step: 'pause', version: 1, ended_at: null }]);
    expect((await call('GET', `/${id}/figures`)).json().data.edges).toEqual([
      { version: 1, step: '', edge: 'entered', users: 1 },
    ]);
    const twice = { users: [{ customer_id: ada }, { customer_id: ada }] };
    expect((await call('POST', `/${id}/entries`, twice)).status).toBe(400);
  });

  test('accepts the examples of the guide', async () => {
    const page = readFileSync(new URL('../../../docs/journeys.md', import.meta.url), 'utf8');
    for (const graph of [welcome, abandonedCart, winBack]) expect(page).toContain(JSON.stringify(graph, undefined, 2));
    for (const graph of [welcome, abandonedCart, winBack]) {
      const id = await create(graph);
      expect((await call('GET', `/${id}/validation`)).json().data).toEqual({ valid: true, faults: [] });
      expect((await publish(id)).status).toBe(200);
    }
  });

  test('stores the events that let people enter, and those that people are watched for', async () => {
    const id = await create({ ...welcome, exit_events: { included_filters: did('Unsubscribed') } });
    await publish(id);
    const [version] =
      await bundle.database`select entry_events, watched_events from journey_versions where journey_id = ${id}`;
    expect(version).toEqual({ entry_events: ['Signed up'], watched_events: ['Ordered', 'Unsubscribed'] });
  });

  test('shows another workspace nothing, and lets it change nothing', async () => {
    const id = await create(simple);
    await publish(id);
    const { database } = bundle;
    const at = new Date('2026-01-01T00:00:00Z');
    const other = await insertTestWorkspace(database, at);
    const encryption = makeEncryption(Buffer.alloc(32, 1));
    const { secret } = await createKey({ encryption }, database, {
      ...{ workspaceId: other, kind: 'campaigns', name: 'Intruder', at },
    });
    const authorization = `Basic ${Buffer.from(`${other}:${secret}`).toString('base64')}`;
    const asOther = async (method: string, path: string, body?: unknown) =>
      (await call(method, path, body, { authorization })).status;
    expect((await call('GET', '', undefined, { authorization })).json().data.journeys).toEqual([]);
    expect([
      await asOther('GET', `/${id}`),
      await asOther('PATCH', `/${id}`, { name: 'Taken over' }),
      await asOther('DELETE', `/${id}`),
      await asOther('GET', `/${id}/validation`),
      await asOther('POST', `/${id}/publish`, {}),
      await asOther('POST', `/${id}/pause`),
      await asOther('POST', `/${id}/stop`),
      await asOther('POST', `/${id}/entries`, { users: [{ customer_id: 'ada' }] }),
      await asOther('GET', `/${id}/figures`),
      await asOther('GET', `/${id}/steps/hello/users`),
      await asOther('GET', `/${id}/history?customer_id=ada`),
    ]).toEqual(Array(11).fill(404));
    expect((await get(id)).status).toBe('ACTIVE');
  });
});
