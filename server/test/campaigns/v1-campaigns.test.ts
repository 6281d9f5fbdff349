import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { android, campaign, expectStatus, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  await bundle.addDevices(6);
});
afterAll(() => bundle.close());

let requests = 0;
beforeEach(() => {
  requests += 1;
});
const nextId = (): string => `r-${(requests += 1)}`;

/** A campaign as V1 wants it: every part there. */
const complete = (more: Record<string, unknown> = {}) =>
  campaign({
    request_id: nextId(),
    delivery_controls: { bypass_dnd: true },
    advanced: { platform_level_priority: { android_specific_priority: { send_with_priority: 'HIGH' } } },
    ...more,
  });
const create = (body: unknown, prefix = '/v1') => bundle.call('POST', `${prefix}/campaigns`, body);
const make = async (more: Record<string, unknown> = {}): Promise<string> => {
  const answer = await create(complete(more));
  expectStatus(answer, 201);
  return answer.json().campaign_id;
};
const patch = (id: string, change: object) =>
  bundle.call('PATCH', `/v1/campaigns/${id}`, { request_id: nextId(), updated_by: 'grace@example.com', ...change });
const act = (action: string, ids: unknown) =>
  bundle.call('POST', '/v1/campaigns/status', { request_id: nextId(), action, campaign_ids: ids });
const at = (start_time: string, more: object = {}) => ({
  scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time, ...more },
});
const daily = (start: string, more: object = {}) => ({
  campaign_delivery_type: 'PERIODIC',
  ...at(start, { expiry_time: '2027-12-31T00:00:00', periodic_details: { sending_frequency: 'DAILY' }, ...more }),
});

describe('creation', () => {
  test.each(['/v1', '/core-services/v1'])(
    'returns 201 with the id from %s/campaigns, and the campaign is live (decision D3)',
    async (prefix) => {
      const answer = await create(complete(), prefix);
      expect([answer.statusCode, answer.json()]).toEqual([
        201,
        { campaign_id: expect.stringMatching(/^[0-9a-f]{24}$/) },
      ]);
      expect(answer.headers.deprecation).toMatch(/^@\d+$/);
      expect((await bundle.get(answer.json().campaign_id)).status).toBe('SENDING');
      expect(await bundle.deliver()).toEqual(['user-0', 'user-3']);
    },
  );

  test('names all missing parts of a body', async () => {
    const answer = await create({ request_id: 'r', channel: 'PUSH' });
    expect([answer.statusCode, answer.json().error.code, answer.json().error.request_id]).toEqual([
      400,
      '400 Bad Request',
      'r',
    ]);
    expect(faultsOf(answer)).toEqual(
      [
        'campaign_delivery_type',
        'created_by',
        'basic_details',
        'campaign_content',
        'segmentation_details',
        'scheduling_details',
        'delivery_controls',
        'advanced',
      ].map((field) => `${field} key is mandatory field`),
    );
  });

  test('rejects each unsupported field by name, in the shape of V1', async () => {
    const answer = await create(complete({ delivery_controls: { expiry_time_of_sync_data_in_hour: 5 } }));
    expect([answer.statusCode, answer.json().error]).toMatchObject([
      400,
      {
        code: '400 Bad Request',
        target: 'delivery_controls.expiry_time_of_sync_data_in_hour',
        details: [
          {
            target: 'delivery_controls.expiry_time_of_sync_data_in_hour',
            message: 'delivery_controls.expiry_time_of_sync_data_in_hour is not available in this version',
          },
        ],
      },
    ]);
  });

  test('reads times as UTC, and V5 shows them in UTC', async () => {
    const id = await make(at('2026-05-01T09:00:00'));
    expect((await bundle.row(id)).next_at.toISOString()).toBe('2026-05-01T09:00:00.000Z');
    expect((await bundle.get(id)).scheduling_details).toEqual({
      delivery_type: 'SCHEDULED',
      schedule_time: '2026-05-01T09:00:00',
      time_zone: 'UTC',
    });
  });

  test('rejects a request_id for an hour after a success, and accepts it immediately after a failure', async () => {
    const request_id = 'only-once';
    expectStatus(await create(complete({ request_id, channel: 'SMS' })), 400);
    expectStatus(await create(complete({ request_id })), 201);
    const second = await create(complete({ request_id }));
    expect([second.statusCode, second.json().error]).toMatchObject([
      409,
      { code: '409 Conflict', message: 'request_id was used in the last hour.', target: 'request_id', request_id },
    ]);
    bundle.clock.advance(3_600_000);
    expectStatus(await create(complete({ request_id })), 201);
    await bundle.deliver();
  });

  test('requires SVC-APPKEY, and rejects a key that does not cover campaigns', async () => {
    const data = bundle.basic(await bundle.makeKey('data'));
    const answer = await bundle.call('POST', '/v1/campaigns', complete(), { headers: data });
    expect(answer.statusCode).toBe(401);
  });
});

describe('changes (fact 6.3)', () => {
  test('publishes a draft of V5 with 204 and no body', async () => {
    const id = await bundle.draft({ segmentation_details: null });
    const answer = await patch(id, { segmentation_details: { is_all_user_campaign: true } });
    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect((await bundle.get(id)).status).toBe('SENDING');
    await bundle.deliver();
    const half = await bundle.draft({ campaign_content: null });
    expect(faultsOf(await patch(half, {}))).toEqual(['campaign_content key is mandatory field']);
  });

  test('keeps the kind of schedule of a scheduled campaign, and accepts every other change', async () => {
    const id = await make(at('2026-06-01T09:00:00'));
    const city = { filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' };
    const change = {
      segmentation_details: {
        is_all_user_campaign: null,
        included_filters: { filter_operator: 'and', filters: [city] },
      },
      scheduling_details: { start_time: '2026-06-02T10:00:00' },
      campaign_content: { content: { push: { android: { basic_details: { title: 'New' } } } } },
    };
    expectStatus(await patch(id, change), 204);
    expect((await bundle.get(id)).updated_by).toBe('grace@example.com');
    const row = await bundle.row(id);
    expect([row.next_at.toISOString(), row.content.ANDROID.title, row.audience]).toEqual([
      '2026-06-02T10:00:00.000Z',
      'New',
      'SEGMENT',
    ]);
    // Changed again, the filters it had before are gone.
    expectStatus(
      await patch(id, { segmentation_details: { included_filters: null, is_all_user_campaign: true } }),
      204,
    );
    expect((await bundle.row(id)).segment_id).toBe(null);
    expect([...(await bundle.database`select id from segments where campaign_id = ${id}`)]).toEqual([]);
    const asap = await patch(id, { scheduling_details: { delivery_type: 'ASAP', start_time: null } });
    expect(faultsOf(asap)).toEqual([
      'scheduling_details.delivery_type cannot be changed once the campaign is published',
    ]);
  });

  test('keeps audience, goals and start of a live campaign, and accepts other content and another end', async () => {
    const id = await make(daily('2026-06-03T09:00:00'));
    bundle.clock.anchor(new Date('2026-06-05T12:00:00Z'));
    await bundle.fire();
    await bundle.deliver();
    const refused = await patch(id, {
      segmentation_details: { is_all_user_campaign: false },
      conversion_goal_details: { goals: [{ goal_name: 'g', goal_event_name: 'e' }] },
      advanced: { app_ids: ['default'] },
    });
    expect(faultsOf(refused)).toEqual([
      'segmentation_details cannot be changed once the campaign is published',
      'advanced.app_ids cannot be changed once the campaign is published',
      'conversion_goal_details cannot be changed once the campaign is published',
    ]);
    const moved = await patch(id, { scheduling_details: { start_time: '2026-06-04T09:00:00' } });
    expect(faultsOf(moved)).toEqual(['scheduling_details.start_time cannot be changed once it is live']);
    const change = {
      campaign_content: { content: { push: { android: { basic_details: { message: 'Later' } } } } },
      scheduling_details: { start_time: '2026-06-03T09:00:00', expiry_time: '2026-06-06T09:00:00' },
    };
    expectStatus(await patch(id, change), 204);
    const row = await bundle.row(id);
    expect([row.status, row.next_at.toISOString(), row.timing.endDate]).toEqual([
      'ACTIVE',
      '2026-06-06T09:00:00.000Z',
      '2026-06-06',
    ]);
  });

  test('accepts only another name while a run is under way and after it has ended', async () => {
    const id = await make(daily('2026-06-07T09:00:00'));
    bundle.clock.anchor(new Date('2026-06-07T09:00:00Z'));
    await bundle.fire();
    const change = { campaign_content: { content: { push: { android: { basic_details: { title: 'X' } } } } } };
    const busy = await patch(id, change);
    expect([busy.statusCode, busy.json().error.message]).toEqual([
      409,
      'The campaign cannot be changed: a run of it is under way.',
    ]);
    expectStatus(await patch(id, { basic_details: { name: 'Renamed', tags: ['new'] } }), 204);
    expect((await bundle.get(id)).basic_details).toMatchObject({ name: 'Renamed', tags: ['new'] });
    await bundle.deliver();
    expectStatus(await patch(id, change), 204);
    const over = await make();
    await bundle.deliver();
    const sent = await patch(over, change);
    expect([sent.statusCode, sent.json().error.message]).toEqual([409, 'The campaign cannot be changed: it is SENT.']);
  });

  test('sends an occurrence that is due but not fired yet with the new data, and does not lose it', async () => {
    const id = await make(daily('2026-07-01T09:00:00'));
    bundle.clock.anchor(new Date('2026-07-01T09:00:00Z'));
    expectStatus(
      await patch(id, { campaign_content: { content: { push: { android: { basic_details: { title: 'X' } } } } } }),
      204,
    );
    expect((await bundle.row(id)).next_at.toISOString()).toBe('2026-07-01T09:00:00.000Z');
    await bundle.fire();
    expect(await bundle.runs(id)).toHaveLength(1);
    await bundle.deliver();
  });

  test('applies to campaigns of the campaign API only, and requires request_id and updated_by', async () => {
    const pushed = await bundle.push({ campaignName: 'Of the push API' });
    expect((await patch(pushed, {})).json().error.message).toBe(
      'The campaign cannot be changed: it was not made through the campaign API.',
    );
    const bare = await bundle.call('PATCH', `/v1/campaigns/${pushed}`, {});
    expect(faultsOf(bare)).toEqual(['request_id key is mandatory field', 'updated_by key is mandatory field']);
    expect((await patch('f'.repeat(24), {})).json().error).toMatchObject({ code: '404 Not Found', target: 'id' });
    await bundle.deliver();
  });
});

describe('actions', () => {
  test('applies to all of up to ten campaigns, or to none', async () => {
    const [first, second] = [await make(daily('2027-01-01T09:00:00')), await make(daily('2027-01-01T09:00:00'))];
    const done = await act('PAUSE', [first, second]);
    expect([done.statusCode, done.json()]).toEqual([200, {}]);
    const status = async () => [(await bundle.get(first)).status, (await bundle.get(second)).status];
    expect(await status()).toEqual(['PAUSED', 'PAUSED']);
    expectStatus(await act('RESUME', [second]), 200);
    const mixed = await act('RESUME', [first, second]);
    expect([mixed.statusCode, mixed.json().error]).toMatchObject([
      422,
      {
        code: '422 Unprocessable Entity',
        message: 'Action RESUME is not valid for a PERIODIC campaign that is ACTIVE.',
      },
    ]);
    expect(await status()).toEqual(['PAUSED', 'ACTIVE']);
    expect((await act('RESUME', [first, 'f'.repeat(24)])).statusCode).toBe(404);
    expect(await status()).toEqual(['PAUSED', 'ACTIVE']);
  });

  test('stops one-time campaigns only before they start', async () => {
    const waiting = await make(at('2027-01-01T09:00:00'));
    expectStatus(await act('STOP', [waiting]), 200);
    const sending = await make();
    expect((await act('STOP', [sending])).statusCode).toBe(422);
    await bundle.deliver();
    expect((await act('PUBLISH', [sending])).json().error.target).toBe('action');
    expect(
      (
        await act(
          'STOP',
          Array.from({ length: 11 }, (_, index) => `id-${index}`),
        )
      ).statusCode,
    ).toBe(400);
  });
});

test('sends a test and returns the light list in the shapes of V1', async () => {
  const body = {
    request_id: 'test-1',
    channel: 'PUSH',
    basic_details: { name: 'Try', platforms: ['ANDROID'] },
    campaign_content: { content: { push: { android } } },
    test_campaign_meta: { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: ['user-3'] },
  };
  const answer = await bundle.call('POST', '/v1/campaigns/test', body);
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    { data: { 'user-3': { status: 'success' } }, message: 'Test campaign created successfully' },
  ]);
  expect(await bundle.deliver()).toEqual(['user-3']);
  expect((await bundle.call('POST', '/core-services/v1/campaigns/test', body)).statusCode).toBe(409);
  const id = await make();
  const list = await bundle.call('POST', '/v1/campaigns/meta', {
    request_id: 'r',
    limit: 5,
    page: 1,
    campaign_fields: { id, delivery_type: ['ONE_TIME'] },
  });
  expect(list.json()).toMatchObject([{ campaign_id: id, campaign_status: 'SENDING' }]);
  await bundle.deliver();
});
