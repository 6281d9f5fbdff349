import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import { android, campaign, expectStatus, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import { campaignsOf } from './campaign-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

describe('previews', () => {
  let bundle: AuthoringBundle;
  beforeAll(async () => {
    bundle = await makeAuthoringBundle();
    await bundle.addDevices(3);
    await bundle.setAttribute('user-0', { u_fn: 'Ada', badge: 'B-0' });
    await bundle.setAttribute('user-1', { badge: 'B-1' });
    await bundle.database`
      insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
      select workspace_id, bucket, id, 'badge', 'string', attributes ->> 'badge' from users
      where customer_id in ('user-0', 'user-1')`;
    await bundle.database`
      insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
      select workspace_id, bucket, id, 'team', 'string', 'red' from users`;
  });
  afterAll(() => bundle.close());

  const title = "Hello {{ UserAttribute['First Name'] }}";
  const details = {
    title,
    message: 'M',
    default_click_action: 'DEEPLINKING',
    default_click_action_value: 'shop://{{ UserAttribute.badge }}',
  };
  const content = (more: object = {}) => ({ content: { push: { android: { basic_details: details, ...more } } } });
  const ask = (body: object, more: object = {}) =>
    bundle.call('POST', '/v5/campaigns/preview', {
      identifier: 'USER_ATTRIBUTE_UNIQUE_ID',
      identifier_value: 'user-0',
      ...body,
      ...more,
    });
  const inline = (more: object = {}) => ({ channel: 'PUSH', campaign_content: content(), ...more });

  describe('a preview', () => {
    test("shows the rendered message with the attributes of the user's record, and stores and sends nothing", async () => {
      const answer = await ask(inline());
      expect([answer.statusCode, answer.json()]).toEqual([
        200,
        {
          response_id: expect.any(String),
          type: 'campaign',
          data: {
            customer_id: 'user-0',
            platforms: {
              android: {
                outcome: 'RENDERED',
                content: expect.objectContaining({
                  basic_details: {
                    title: 'Hello Ada',
                    message: 'M',
                    default_click_action: 'DEEPLINKING',
                    default_click_action_value: 'shop://B-0',
                    key_value_pairs: [],
                  },
                }),
              },
            },
          },
        },
      ]);
      const [row] = await bundle.database`
        select (select count(*) from campaigns) as campaigns, (select count(*) from runs) as runs`;
      expect(row).toEqual({ campaigns: 0, runs: 0 });
      expect(await bundle.deliver()).toEqual([]);
    });

    test('names the user, the failure and its reason if content fails, and shows the backup', async () => {
      const failure = {
        field: 'title',
        cause: 'USER_ATTRIBUTE',
        reason: "UserAttribute['First Name'] has no value",
      };
      const named = { identifier: 'badge', identifier_value: 'B-1' };
      const failed = (await ask(inline(), named)).json().data;
      expect(failed).toEqual({ customer_id: 'user-1', platforms: { android: { outcome: 'FAILED', failure } } });
      const backup = { template_backup: { basic_details: { title: 'Hello', message: 'M' } } };
      const shown = (await ask(inline({ campaign_content: content(backup) }), named)).json().data.platforms.android;
      expect([shown.outcome, shown.failure, shown.content.basic_details.title, shown.content.template_backup]).toEqual([
        'FALLBACK',
        failure,
        'Hello',
        undefined,
      ]);
    });

    test('accepts a draft, one platform of a draft, and the data of a business event', async () => {
      const push = {
        android: { ...android, basic_details: { title: '{{ BusinessEventAttribute.team }} won', message: 'M' } },
        ios: { basic_details: { title: 'Same for all', message: 'M' } },
      };
      const draft_id = await bundle.draft({
        basic_details: { name: 'Two platforms', platforms: ['ANDROID', 'IOS'] },
        campaign_content: { content: { push } },
      });
      const both = (await ask({ draft_id, event_attributes: { team: 'Reds' } })).json().data.platforms;
      expect([both.android.content.basic_details.title, both.ios.content.basic_details.title]).toEqual([
        'Reds won',
        'Same for all',
      ]);
      expect(Object.keys((await ask({ draft_id, platform: 'IOS' })).json().data.platforms)).toEqual(['ios']);
      expect((await ask({ draft_id })).json().data.platforms.android.failure.cause).toBe('BUSINESS_EVENT_ATTRIBUTE');
    });

    test('returns a text without templates unchanged', async () => {
      const plain = { content: { push: { android } } };
      const shown = (await ask(inline({ campaign_content: plain }))).json().data.platforms.android;
      expect([shown.outcome, shown.content.basic_details.title]).toEqual(['RENDERED', 'Title']);
    });

    test.each<[string, object, string[]]>([
      [
        'no one named',
        { identifier: '', identifier_value: undefined },
        ['identifier is required.', 'identifier_value is required.'],
      ],
      ['a person nobody knows', { identifier_value: 'nobody' }, ['identifier_value matches no user.']],
      [
        'a value of several',
        { identifier: 'team', identifier_value: 'red' },
        ['identifier_value matches more than one user.'],
      ],
      ['a platform it is not for', { platform: 'WEB' }, ['platform is not among basic_details.platforms.']],
      ['values that are no object', { event_attributes: [] }, ['event_attributes must be an object.']],
      [
        'content that is no template',
        { campaign_content: { content: { push: { android: { basic_details: { title: '{{', message: 'M' } } } } } },
        ['campaign_content.content.push.android.basic_details.title is not a valid template: "}}" is missing.'],
      ],
      [
        'content and a draft',
        { draft_id: '0123456789abcdef01234567' },
        ['draft_id cannot be combined with campaign_content.'],
      ],
    ])('is rejected: %s', async (_name, more, faults) => {
      const answer = await ask(inline(), more);
      expectStatus(answer, 400);
      expect(faultsOf(answer)).toEqual(faults);
    });

    test('returns not found for a draft that does not exist', async () => {
      expectStatus(await ask({ draft_id: '0123456789abcdef01234567' }), 404);
    });

    test('stops a hostile template at its limit', async () => {
      const loops = '{% for a in range(999) %}{% for b in range(999) %}x{% endfor %}{% endfor %}';
      const body = { content: { push: { android: { basic_details: { title: loops, message: 'M' } } } } };
      const shown = (await ask(inline({ campaign_content: body }))).json().data.platforms.android;
      expect(shown).toMatchObject({ outcome: 'FAILED', failure: { cause: 'LIMIT' } });
    });
  });

  test('previews in the console for a signed-in user only, with the same body and errors', async () => {
    const node = await startCarillonBundle();
    try {
      const path = `/console/api/preview?workspaceId=${node.workspaceId}`;
      const body = { ...inline(), identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_value: 'ada' };
      expect((await node.call('POST', path, { body })).status).toBe(401);
      const code = node.block.console.split('#sign-in=')[1]!;
      const signed = await node.call('POST', '/console/api/session', { body: { code } });
      const headers = { cookie: signed.headers.get('set-cookie')!.split(';')[0]! };
      const shown = (await node.call('POST', path, { headers, body })).json().data.platforms.android;
      // The demo's Ada has a name and no badge.
      expect(shown.failure.reason).toBe("UserAttribute['badge'] has no value");
      const wrong = await node.call('POST', path, { headers, body: { ...body, identifier_value: 'nobody' } });
      expect([wrong.status, wrong.json().error.details]).toEqual([
        400,
        [{ target: 'identifier_value', message: 'identifier_value matches no user.' }],
      ]);
      const foreign = { ...headers, 'sec-fetch-site': 'cross-site' };
      expect((await node.call('POST', path, { headers: foreign, body })).status).toBe(403);
      expect((await node.call('POST', '/console/api/preview', { headers, body })).status).toBe(400);
    } finally {
      await node.stop();
    }
  });
});

describe('test sends', () => {
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
    test('is sent for real, through a run of named users that is marked as a test', async () => {
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

    test('does not appear in any search, look-up or list', async () => {
      const [row] = await bundle.database`select id, status from campaigns where is_test`;
      expect(row!.status).toBe('SENT');
      for (const [version, path] of [
        ['v1', 'search'],
        ['v5', 'search'],
        ['v5', 'meta'],
      ]) {
        const body = { request_id: 'r', limit: 15, page: 1, include_archive_campaigns: true };
        expect(campaignsOf(await bundle.call('POST', `/${version}/campaigns/${path}`, body))).toEqual([]);
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

    test('reaches only one platform if the request names it', async () => {
      const ios = { basic_details: { title: 'T', message: 'M' } };
      const body = inline({
        campaign_content: { content: { push: { android, ios } } },
        test_campaign_meta: meta({ identifier_values: ['user-0', 'user-1'], platform: 'IOS' }),
      });
      expect((await send(body)).statusCode).toBe(200);
      expect(await bundle.deliver()).toEqual(['user-1']);
    });

    test('sends once if a request is repeated under one Idempotency-Key, and rejects another body with 409', async () => {
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
    ])('is rejected: %s, and nothing is sent', async (_name, body, fault) => {
      const answer = await send(body);
      expect([answer.statusCode, faultsOf(answer)[0]]).toEqual([400, fault]);
      expect(await bundle.deliver()).toEqual([]);
    });

    test('returns 404 for an unknown draft, and rejects a live campaign, which is not a draft', async () => {
      const unknown = await send({ draft_id: 'f'.repeat(24), test_campaign_meta: meta() });
      expect(unknown.statusCode).toBe(404);
      const id = await bundle.live({
        scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: '2027-01-01T00:00:00' },
      });
      expect((await send({ draft_id: id, test_campaign_meta: meta() })).json().error.target).toBe('draft_id');
    });
  });

  describe('the light list (fact 4.7)', () => {
    test('describes each campaign briefly, with the figures of its runs', async () => {
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

  test('rejects a body that is not a campaign with the error shape of the version', async () => {
    const answer = await bundle.call('POST', '/v5/campaigns', [campaign()]);
    expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'BAD_REQUEST']);
  });
});
