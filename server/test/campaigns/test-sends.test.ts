import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { android, campaign, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

let bundle: AuthoringBundle;
beforeAll(async () => {
  bundle = await makeAuthoringBundle();
  await bundle.addDevices(6);
  await bundle.setAttribute('user-3', { badge: 'B-3' });
  await bundle.database`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select workspace_id, bucket, id, 'badge', 'string', 'B-3' from users where customer_id = 'user-3'`;
});
afterAll(() => bundle.close());

const content = { content: { push: { android } } };
const meta = (more: object = {}) => ({
  identifier: 'USER_ATTRIBUTE_UNIQUE_ID',
  identifier_values: ['user-0'],
  ...more,
});
const send = (body: object, headers: Record<string, string> = {}) =>
  bundle.call('POST', '/v5/campaigns/test', body, { headers });
const inline = (more: object = {}) => ({
  channel: 'PUSH',
  campaign_content: content,
  test_campaign_meta: meta(),
  ...more,
});

describe('a test of a campaign (fact 6.1)', () => {
  test('is really sent, through a run of named users that is marked as a test', async () => {
    const answer = await send(inline({ test_campaign_meta: meta({ identifier_values: ['user-0', 'nobody'] }) }));
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      {
        response_id: expect.any(String),
        type: 'campaign',
        data: { 'user-0': { status: 'success' }, nobody: { status: 'failed', failure_reason: 'User not found' } },
      },
    ]);
    const runs = await bundle.database`select id, lane, is_test, target_users is not null as named, status from runs`;
    expect([...runs]).toEqual([{ id: expect.any(String), lane: 0, is_test: true, named: true, status: 'SENDING' }]);
    expect(await bundle.deliver()).toEqual(['user-0']);
    expect((await bundle.ledger(runs[0]!.id))[0]).toEqual({ outcome: 'ACCEPTED', devices: 1 });
  });

  test('is found by no search, no look-up and no list', async () => {
    const [row] = await bundle.database`select id, status from campaigns where is_test`;
    expect(row!.status).toBe('SENT');
    for (const [version, path] of [
      ['v1', 'search'],
      ['v5', 'search'],
      ['v5', 'meta'],
    ]) {
      const body = { request_id: 'r', limit: 15, page: 1, include_archive_campaigns: true };
      const answer = (await bundle.call('POST', `/${version}/campaigns/${path}`, body)).json();
      expect((answer.data ?? answer).campaigns).toEqual([]);
    }
    expect((await bundle.call('GET', `/v5/campaigns/${row!.id}`)).statusCode).toBe(404);
    expect((await bundle.act(row!.id, 'STOP')).statusCode).toBe(404);
  });

  test('shows a draft, which stays a draft', async () => {
    const id = await bundle.draft({ segmentation_details: null, scheduling_details: null });
    const answer = await send({
      draft_id: id,
      test_campaign_meta: meta({ identifier: 'badge', identifier_values: ['B-3'] }),
    });
    expect(answer.json().data).toEqual({ 'B-3': { status: 'success' } });
    expect(await bundle.deliver()).toEqual(['user-3']);
    expect((await bundle.get(id)).status).toBe('DRAFT');
    expect(await bundle.runs(id)).toEqual([]);
  });

  test('reaches one platform when it is asked to', async () => {
    const ios = { basic_details: { title: 'T', message: 'M' } };
    const body = inline({
      campaign_content: { content: { push: { android, ios } } },
      test_campaign_meta: meta({ identifier_values: ['user-0', 'user-1'], platform: 'IOS' }),
    });
    expect((await send(body)).statusCode).toBe(200);
    expect(await bundle.deliver()).toEqual(['user-1']);
  });

  test('a repeat under one Idempotency-Key sends once; another body is 409', async () => {
    const key = { 'idempotency-key': 'a5b1f3f0-4c7d-4f7b-8a57-4d5c1c1f0a11' };
    const [first, second] = [await send(inline(), key), await send(inline(), key)];
    expect(second.json().data).toEqual(first.json().data);
    expect(await bundle.deliver()).toEqual(['user-0']);
    const other = await send(inline({ channel: 'PUSH', basic_details: { name: 'Other' } }), key);
    expect([other.statusCode, other.json().error.message]).toEqual([
      409,
      'Idempotency-Key reused with a different request body.',
    ]);
  });

  test.each<[string, object, string]>([
    ['no content and no draft', { test_campaign_meta: meta() }, 'channel is required.'],
    ['nobody named', { channel: 'PUSH', campaign_content: content }, 'test_campaign_meta is required.'],
    [
      'eleven identifiers',
      inline({
        test_campaign_meta: meta({ identifier_values: Array.from({ length: 11 }, (_, index) => `u${index}`) }),
      }),
      'test_campaign_meta.identifier_values must be a list of 1 to 10 texts.',
    ],
    [
      'another locale',
      inline({ test_campaign_meta: meta({ locale_name: 'de' }) }),
      'test_campaign_meta.locale_name is not among the locales of campaign_content.',
    ],
    [
      'a platform that has no content',
      inline({ test_campaign_meta: meta({ platform: 'WEB' }) }),
      'test_campaign_meta.platform is not among basic_details.platforms.',
    ],
    [
      'values to personalise with',
      inline({ personalization_details: { a: 1 } }),
      'personalization_details is not available in this version.',
    ],
  ])('%s is refused and nothing is sent', async (_name, body, fault) => {
    const answer = await send(body);
    expect([answer.statusCode, faultsOf(answer)[0]]).toEqual([400, fault]);
    expect(await bundle.deliver()).toEqual([]);
  });

  test('404 for a draft that is not there; a live campaign is no draft', async () => {
    const unknown = await send({ draft_id: 'f'.repeat(24), test_campaign_meta: meta() });
    expect(unknown.statusCode).toBe(404);
    const id = await bundle.live({
      scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2027-01-01T00:00:00' },
    });
    expect((await send({ draft_id: id, test_campaign_meta: meta() })).json().error.target).toBe('draft_id');
  });
});

describe('the light list (fact 4.7)', () => {
  test('names each campaign in short, with figures of its runs', async () => {
    const id = await bundle.live({
      basic_details: { name: 'Listed', platforms: ['ANDROID'], tags: ['t'] },
    });
    await bundle.deliver();
    const list = async (version: string, fields: object) => {
      const body = { request_id: 'r', limit: 15, page: 1, campaign_fields: fields };
      const answer = (await bundle.call('POST', `/${version}/campaigns/meta`, body)).json();
      return answer.data?.campaigns ?? answer;
    };
    const row = {
      campaign_id: id,
      channel: 'PUSH',
      platform: ['ANDROID'],
      created_by: 'ada@example.com',
      campaign_delivery_type: 'ONE_TIME',
      campaign_name: 'Listed',
      campaign_team: 'Default Team',
      campaign_tags: ['t'],
      campaign_status: 'SENT',
      campaign_start_time: expect.stringMatching(/^2026-03-01T12:\d\d:\d\d$/),
      total_child_campaigns: 0,
      reachability_details: { count: 2, last_updated_time: expect.stringMatching(/^2026-03-01 12:.*000$/) },
    };
    expect(await list('v5', { id })).toEqual([row]);
    expect(await list('v5', { name: 'listed', delivery_type: 'ONE_TIME' })).toEqual([row]);
    expect(await list('v5', { id, delivery_type: 'PERIODIC' })).toEqual([]);
    await bundle.database`update workspaces set campaign_versioning = true`;
    expect(await list('v5', { id })).toEqual([{ ...row, version_number: 1 }]);
    await bundle.database`update workspaces set campaign_versioning = false`;
  });

  test('counts the children of a recurring campaign', async () => {
    const id = await bundle.live({
      campaign_delivery_type: 'PERIODIC',
      scheduling_details: {
        delivery_type: 'AT_FIXED_TIME',
        start_time: '2026-03-02T09:00:00',
        periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 3 },
      },
    });
    for (const day of ['02', '03']) {
      bundle.clock.anchor(new Date(`2026-03-${day}T09:00:00Z`));
      await bundle.fire();
    }
    const body = { limit: 15, page: 1, campaign_fields: { id } };
    const [row] = (await bundle.call('POST', '/v5/campaigns/meta', body)).json().data.campaigns;
    expect([row.total_child_campaigns, row.campaign_start_time]).toEqual([2, '2026-03-02T09:00:00']);
    const anything = { ...body, campaign_fields: { id: null, delivery_type: null } };
    expect((await bundle.call('POST', '/v5/campaigns/meta', anything)).statusCode).toBe(200);
  });
});

test('a body that is no campaign is refused by the shape of the version', async () => {
  const answer = await bundle.call('POST', '/v5/campaigns', [campaign()]);
  expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'BAD_REQUEST']);
});
