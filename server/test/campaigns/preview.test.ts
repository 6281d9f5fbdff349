import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../carillon-bundle.ts';
import { android, expectStatus, faultsOf, makeAuthoringBundle } from './authoring-bundle.ts';
import type { AuthoringBundle } from './authoring-bundle.ts';

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
  test('is what the person would be shown, in the words of records; nothing is stored or sent', async () => {
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

  test('tells of whom the content fails what failed and why, and shows the backup', async () => {
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

  test('takes a draft, one platform of it, and what a business event would say', async () => {
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

  test('of a text without templates is the text', async () => {
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
    ['a person nobody knows', { identifier_value: 'nobody' }, ['identifier_value is that of no user.']],
    [
      'a value of several',
      { identifier: 'team', identifier_value: 'red' },
      ['identifier_value is that of more than one user.'],
    ],
    ['a platform it is not for', { platform: 'WEB' }, ['platform is not among basic_details.platforms.']],
    ['values that are no object', { event_attributes: [] }, ['event_attributes must be an object.']],
    [
      'content that is no template',
      { campaign_content: { content: { push: { android: { basic_details: { title: '{{', message: 'M' } } } } } },
      ['campaign_content.content.push.android.basic_details.title is no template: "}}" is missing.'],
    ],
    [
      'content and a draft',
      { draft_id: '0123456789abcdef01234567' },
      ['draft_id cannot stand beside campaign_content.'],
    ],
  ])('%s is refused', async (_name, more, faults) => {
    const answer = await ask(inline(), more);
    expectStatus(answer, 400);
    expect(faultsOf(answer)).toEqual(faults);
  });

  test('a draft that does not exist is not found', async () => {
    expectStatus(await ask({ draft_id: '0123456789abcdef01234567' }), 404);
  });

  test('a hostile template ends at its limit', async () => {
    const loops = '{% for a in range(999) %}{% for b in range(999) %}x{% endfor %}{% endfor %}';
    const body = { content: { push: { android: { basic_details: { title: loops, message: 'M' } } } } };
    const shown = (await ask(inline({ campaign_content: body }))).json().data.platforms.android;
    expect(shown).toMatchObject({ outcome: 'FAILED', failure: { cause: 'LIMIT' } });
  });
});

test('the console previews for who is signed in, with the same body and errors, and for nobody else', async () => {
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
      [{ target: 'identifier_value', message: 'identifier_value is that of no user.' }],
    ]);
    const foreign = { ...headers, 'sec-fetch-site': 'cross-site' };
    expect((await node.call('POST', path, { headers: foreign, body })).status).toBe(403);
    expect((await node.call('POST', '/console/api/preview', { headers, body })).status).toBe(400);
  } finally {
    await node.stop();
  }
});
