import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertTestWorkspace } from '../test-workspace.ts';
import { expectStatus, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  await bundle.addDevices(6);
});
afterAll(() => bundle.close());

const attributes = [
  { attribute_name: 'team', attribute_data_type: 'string' },
  { attribute_name: 'goals', attribute_data_type: 'int' },
  { attribute_name: 'odds', attribute_data_type: 'float' },
  { attribute_name: 'scorers', attribute_data_type: 'array' },
  { attribute_name: 'day', attribute_data_type: 'date' },
];
const create = (event_name: string, more: object = {}) =>
  bundle.call('POST', '/v1.0/business_event', { event_name, event_attributes: attributes, created_by: 'ada', ...more });
const make = async (name: string): Promise<string> => (await create(name)).json().event_id;
const trigger = (version: 'V1' | 'V5', event_name: string, event_attributes: object = {}) =>
  bundle.call('POST', version === 'V1' ? '/v1.0/business_event/trigger' : '/v5/business-events/triggers', {
    event_name,
    event_attributes,
    triggered_by: 'feed',
  });
const attached = (business_event: string, more: Record<string, unknown> = {}) => ({
  campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
  basic_details: { name: `On ${business_event}`, platforms: ['ANDROID'], business_event },
  ...more,
});
const later = () => bundle.clock.advance(3_600_000);

describe('business events', () => {
  test('is created by V1 and found by name or id in both versions, with its optional fields', async () => {
    const answer = await create('MatchWon');
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { message: 'The business event has been created', event_id: expect.stringMatching(/^[0-9a-f]{24}$/) },
    ]);
    const { event_id } = answer.json();
    const shown = {
      event_id,
      event_name: 'MatchWon',
      event_attributes: attributes,
      created_by: 'ada',
      created_at: expect.stringMatching(/^2026-03-01T12:00:.*000$/),
      total_trigger: 0,
      usage_count: 0,
    };
    const first = await bundle.call('POST', '/v1.0/business_event/search', { event_ids: [event_id] });
    expect(first.json()).toEqual({ data: [{ db_name: expect.any(String), ...shown }] });
    const fifth = await bundle.call('POST', '/v5/business-events/search', { event_names: ['MatchWon', 'None'] });
    expect(fifth.json()).toMatchObject({
      type: 'business_event',
      data: { business_events: [{ id: event_id, ...shown }] },
    });
    expect(faultsOf(await bundle.call('POST', '/v1.0/business_event/search', {}))).toEqual([
      'event_ids key is mandatory field',
    ]);
  });

  test.each<[string, object, string]>([
    ['a name that is taken', {}, 'A business event of this name exists already'],
    ['no creator', { created_by: '' }, 'created_by key is mandatory field'],
    [
      'a type that is none',
      { event_attributes: [{ attribute_name: 'a', attribute_data_type: 'object' }] },
      'event_attributes must have attribute_data_type string, int, float, array, date',
    ],
    ['an attribute twice', { event_attributes: [attributes[0], attributes[0]] }, 'event_attributes names team twice'],
  ])('is rejected with 400: %s', async (_name, more, message) => {
    const answer = await create('MatchWon', more);
    expect([answer.statusCode, answer.json().error.message]).toEqual([400, message]);
  });

  test('is listed in V5 page by page, up to the last page', async () => {
    for (let index = 0; index < 24; index += 1) await make(`Page ${index}`);
    const first = (await bundle.call('GET', '/v5/business-events?limit=20')).json().data;
    expect(first.business_events[0].event_name).toBe('Page 23');
    expect(first.business_events).toHaveLength(20);
    const second = (await bundle.call('GET', `/v5/business-events?limit=20&cursor=${first.next_cursor}`)).json().data;
    expect(second.business_events.map((event: any) => event.event_name)).toEqual([
      'Page 3',
      'Page 2',
      'Page 1',
      'Page 0',
      'MatchWon',
    ]);
    expect(second).not.toHaveProperty('next_cursor');
    expectStatus(await bundle.call('GET', '/v5/business-events?limit=21'), 400);
  });

  test('is limited to fifty per workspace, also for concurrent requests', async () => {
    bundle.clock.advance(60_000);
    for (let index = 0; index < 24; index += 1) await make(`More ${index}`);
    const answers = await Promise.all([create('Fiftieth'), create('One too many')]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400]);
    expect(answers.find(({ statusCode }) => statusCode === 400)!.json().error.message).toBe(
      'A workspace has at most 50 business events',
    );
    await bundle.database`delete from business_events where name like 'More%' or name like 'Page%'`;
  });
});

describe('a firing (fact 6.3)', () => {
  beforeAll(later);

  test('starts one child of each attached campaign that is ACTIVE, shown among its executions', async () => {
    const [first, second] = [await bundle.live(attached('MatchWon')), await bundle.live(attached('MatchWon'))];
    const paused = await bundle.live(attached('MatchWon'));
    expectStatus(await bundle.act(paused, 'PAUSE'), 200);
    await bundle.draft(attached('MatchWon'));
    expect((await bundle.get(first)).status).toBe('ACTIVE');
    const values = { team: 'Roma', goals: 2, odds: 1.5, scorers: ['A', 'B'], day: '2026-03-01' };
    const fired = await trigger('V5', 'MatchWon', values);
    expect([fired.statusCode, fired.json()]).toEqual([
      200,
      {
        response_id: expect.any(String),
        type: 'business_event',
        data: {
          triggered_status: 'SUCCESS',
          message: 'The business event has been triggered',
          summary: { total: 2, triggered: 2, failed: 0 },
          triggered_campaign_ids: [first, second],
          failed_campaign_ids: [],
          triggered_flow_ids: [],
          failed_flow_ids: [],
        },
      },
    ]);
    const [run] = await bundle.runs(first);
    expect(run.business_event).toEqual({ event: 'MatchWon', attributes: values, triggeredBy: 'feed' });
    expect(await bundle.deliver()).toEqual(['user-0', 'user-0', 'user-3', 'user-3']);
    expect(await bundle.runs(paused)).toEqual([]);
    expect((await trigger('V1', 'MatchWon')).json()).toEqual({ message: 'The business event has been triggered' });
    await bundle.deliver();
    for (const version of ['v1', 'v5']) {
      const body = { request_id: 'r', limit: 15, page: 1 };
      const answer = (await bundle.call('POST', `/${version}/campaigns/${first}/executions`, body)).json();
      const { executions, total_instances } = answer.data ?? answer;
      expect([total_instances, executions.map(({ status }: any) => status)]).toEqual([2, ['SENT', 'SENT']]);
    }
    const [event] = (await bundle.call('POST', '/v5/business-events/search', { event_names: ['MatchWon'] })).json().data
      .business_events;
    expect(event).toMatchObject({ total_trigger: 2, usage_count: 3, last_received_time: expect.any(String) });
  });

  test.each([
    ['an attribute the event does not have', { city: 'Rome' }],
    ['a number where a text is wanted', { team: 7 }],
    ['a text where a whole number is wanted', { goals: '2' }],
    ['a part of a number', { goals: 1.5 }],
    ['a list of lists', { scorers: [['A']] }],
    ['no day of the calendar', { day: '2026-02-30' }],
  ])('is rejected with %s, and starts nothing', async (_name, values) => {
    const before = await bundle.database`select count(*) as runs from runs`;
    for (const version of ['V1', 'V5'] as const) {
      const answer = await trigger(version, 'MatchWon', values);
      expect([answer.statusCode, answer.json().error.message]).toEqual([
        400,
        'Wrong business event attribute passed in api request',
      ]);
    }
    expect(await bundle.database`select count(*) as runs from runs`).toEqual(before);
  });

  test('is rejected for an unknown event, and for an event without live campaigns', async () => {
    await make('Quiet');
    const words = async (version: 'V1' | 'V5', name: string) => {
      const answer = await trigger(version, name);
      return [answer.statusCode, answer.json().error.message];
    };
    expect(await words('V1', 'Quiet')).toEqual([400, 'No active campaign found for business event name']);
    expect(await words('V5', 'Quiet')).toEqual([422, 'No active campaign found for business event name']);
    expect(await words('V1', 'Unknown')).toEqual([400, 'Business event does not exists']);
    expect(await words('V5', 'Unknown')).toEqual([404, 'Business event does not exists']);
    const anonymous = await bundle.call('POST', '/v5/business-events/triggers', { event_name: 'Quiet' });
    expect(faultsOf(anonymous)).toEqual(['triggered_by is required.']);
  });

  test('starts one run if a request is repeated under one Idempotency-Key', async () => {
    await make('Once');
    const id = await bundle.live(attached('Once'));
    const headers = { 'idempotency-key': 'b5b1f3f0-4c7d-4f7b-8a57-4d5c1c1f0a12' };
    const body = { event_name: 'Once', triggered_by: 'feed' };
    const fire = () => bundle.call('POST', '/v5/business-events/triggers', body, { headers });
    expect((await fire()).json().data).toEqual((await fire()).json().data);
    expect(await bundle.runs(id)).toHaveLength(1);
    await bundle.deliver();
  });

  test('starts 10 campaigns in 5 minutes in V5, and reports the rest as failed', async () => {
    later();
    await make('Crowd');
    const ids: string[] = [];
    for (let index = 0; index < 12; index += 1) ids.push(await bundle.live(attached('Crowd')));
    const { data } = (await trigger('V5', 'Crowd')).json();
    expect(data).toMatchObject({
      triggered_status: 'PARTIAL_SUCCESS',
      summary: { total: 12, triggered: 10, failed: 2 },
      failed_campaign_ids: ids.slice(10),
    });
    expect((await trigger('V5', 'Crowd')).json().data.triggered_status).toBe('FAILURE');
    await bundle.deliver();
  });

  test('reports in V1 how many campaigns did not start, in addition to the unknown fields (decision D5)', async () => {
    later();
    await make('Throng');
    for (let index = 0; index < 12; index += 1) await bundle.live(attached('Throng'));
    for (let times = 0; times < 4; times += 1) expectStatus(await trigger('V1', 'Throng'), 200);
    const answer = await bundle.call('POST', '/v1.0/business_event/trigger', { event_name: 'Throng', colour: 'red' });
    expect([answer.statusCode, answer.headers['x-svc-warning']]).toEqual([
      200,
      'unknown field "colour", 10 campaigns beyond the limit were not started',
    ]);
    await bundle.deliver();
  });
});

describe('a campaign of an event', () => {
  test('must name an existing event; other campaigns must not name one', async () => {
    const unknown = await bundle.act(await bundle.draft(attached('Nothing')), 'PUBLISH');
    expect(faultsOf(unknown)).toEqual(['basic_details.business_event names an event that does not exist.']);
    const none = await bundle.draft(attached('x', { basic_details: { name: 'N', platforms: ['ANDROID'] } }));
    expect(faultsOf(await bundle.act(none, 'PUBLISH'))).toEqual(['basic_details.business_event is required.']);
  });

  test('fires from its start and retires at its expiry', async () => {
    bundle.clock.anchor(new Date('2026-05-01T12:00:00Z'));
    await make('Season');
    const scheduling_details = {
      delivery_type: 'AT_FIXED_TIME',
      start_time: '2026-05-02T00:00:00',
      expiry_time: '2026-05-03T00:00:00',
      timezone: 'Europe/Berlin',
    };
    const id = await bundle.live(attached('Season', { scheduling_details }));
    expectStatus(await trigger('V5', 'Season'), 422);
    bundle.clock.anchor(new Date('2026-05-01T22:00:00Z'));
    expectStatus(await trigger('V5', 'Season'), 200);
    await bundle.deliver();
    bundle.clock.anchor(new Date('2026-05-02T22:00:00Z'));
    expectStatus(await trigger('V5', 'Season'), 422);
    await bundle.fire();
    expect(await bundle.get(id)).toMatchObject({
      status: 'RETIRED',
      scheduling_details: {
        delivery_type: 'AT_FIXED_TIME',
        start_time: '2026-05-01T22:00:00',
        expiry_time: '2026-05-02T22:00:00',
        time_zone: 'UTC',
      },
    });
    expect(await bundle.runs(id)).toHaveLength(1);
  });

  test('responds to the event with its newest version only after a revision', async () => {
    await bundle.database`update workspaces set campaign_versioning = true`;
    await make('Revised');
    const first = await bundle.live(attached('Revised'));
    const change = { request_id: 'r', updated_by: 'ada', basic_details: { name: 'R', platforms: ['ANDROID', 'IOS'] } };
    const ios = { basic_details: { title: 'T', message: 'M' } };
    const answer = await bundle.call('PATCH', `/v1/campaigns/${first}`, {
      ...change,
      campaign_content: { content: { push: { ios } } },
    });
    expectStatus(answer, 204);
    const { triggered_campaign_ids } = (await trigger('V5', 'Revised')).json().data;
    expect(triggered_campaign_ids).toHaveLength(1);
    expect(triggered_campaign_ids[0]).not.toBe(first);
    expect(await bundle.deliver()).toEqual(['user-0', 'user-1', 'user-3', 'user-4']);
  });

  test('cannot find, trigger or name an event of another workspace (reliability R10)', async () => {
    const other = await insertTestWorkspace(bundle.database, bundle.clock.now());
    const headers = bundle.basic(await bundle.makeKey('campaigns', other), other);
    const made = await bundle.call(
      'POST',
      '/v1.0/business_event',
      { event_name: 'Foreign', created_by: 'eve' },
      { headers },
    );
    const { event_id } = made.json();
    const found = await bundle.call('POST', '/v5/business-events/search', { event_ids: [event_id] });
    expect(found.json().data.business_events).toEqual([]);
    expectStatus(await trigger('V5', event_id), 404);
    expectStatus(await bundle.act(await bundle.draft(attached(event_id)), 'PUBLISH'), 400);
  });
});
