import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { campaignsOf, makeCampaignBundle, namesOf, versions } from './campaign-bundle.ts';
import type { CampaignBundle, Version } from './campaign-bundle.ts';
import { anyText } from '../any-text.ts';

let bundle: CampaignBundle;
beforeAll(async () => {
  bundle = await makeCampaignBundle();
});
afterAll(() => bundle.end());

const typesKey = { V1: 'delivery_type', V5: 'campaign_delivery_type' } as const;

describe('filters, in both versions', () => {
  const recurring = { delivery_type: 'PERIODIC', status: 'ACTIVE' };
  beforeAll(async () => {
    await bundle.insert({ name: 'Old sale', created_at: new Date('2024-02-29T23:59:59.999Z'), tags: ['sale', 'old'] });
    await bundle.insert({ name: 'Mail', channel: 'EMAIL', created_by: 'Key mail' });
    await bundle.insert({ name: 'Message', channel: 'SMS' });
    await bundle.insert({ name: 'Weekly 100% digest', ...recurring, tags: ['digest'] });
    await bundle.insert({ name: 'Äpfel und Straße', status: 'STOPPED', created_by: 'grace@example.com' });
    await bundle.insert({ name: 'Gone', status: 'ARCHIVED' });
    await bundle.insert({ name: 'Idea', status: 'DRAFT', tags: ['sale'] });
    await bundle.insert({ name: 'Trigger', delivery_type: 'EVENT_TRIGGERED', status: 'PAUSED' });
  });
  const newestFirst = ['Trigger', 'Idea', 'Äpfel und Straße', 'Weekly 100% digest', 'Message', 'Mail', 'Old sale'];
  const find = (version: Version, filters: object, more: object = {}) =>
    bundle.names(version, { ...filters }, { ...more });
  const found = async (filters: object) => ({ V1: await find('V1', filters), V5: await find('V5', filters) });

  test('returns the newest first by default: drafts only in V1, no SMS, nothing archived', async () => {
    const common = newestFirst.filter((name) => name !== 'Message');
    expect(await found({})).toEqual({ V1: common, V5: common.filter((name) => name !== 'Idea') });
  });

  test.each([
    ['channels', { channels: ['EMAIL'] }, ['Mail']],
    [
      'several channels',
      { channels: ['EMAIL', 'PUSH'], created_by: ['Key mail', 'grace@example.com'] },
      ['Äpfel und Straße', 'Mail'],
    ],
    ['created_by', { created_by: ['grace@example.com'] }, ['Äpfel und Straße']],
    ['created_by nobody', { created_by: ['GRACE@example.com'] }, []],
    [
      'created_date as days, both ends inside',
      { created_date: { from_date: '2024-02-29', to_date: '2024-02-29' } },
      ['Old sale'],
    ],
    [
      'created_date as instants',
      { created_date: { from_date: '2024-02-29T23:59:59', to_date: '2024-03-01T00:00:00' } },
      ['Old sale'],
    ],
    ['created_date with an offset', { created_date: { to_date: '2024-03-01T01:00:00+01:00' } }, ['Old sale']],
    ['created_date open at one end', { created_date: { to_date: '2025-01-01' } }, ['Old sale']],
    ['created_date before all', { created_date: { to_date: '2024-02-28' } }, []],
    ['name, any part, ignoring case', { name: 'DIGest' }, ['Weekly 100% digest']],
    ['name, other scripts too', { name: 'äPFEL UND strASSE'.replace('ASSE', 'Aße') }, ['Äpfel und Straße']],
    ['name, one character', { name: 'W' }, ['Weekly 100% digest']],
    ['name, two characters', { name: 'LY' }, ['Weekly 100% digest']],
    ['name, two characters of another script', { name: 'äP' }, ['Äpfel und Straße']],
    ['name, its last characters', { name: 'ST' }, ['Äpfel und Straße', 'Weekly 100% digest']],
    ['name, two characters with a wildcard', { name: '%_' }, []],
    ['name, two characters that stand apart', { name: 'wk' }, []],
    ['name with a wildcard means the character', { name: '0% d' }, ['Weekly 100% digest']],
    ['name with an underscore', { name: '_' }, []],
    ['name with a backslash', { name: '\\' }, []],
    ['status', { status: ['STOPPED'] }, ['Äpfel und Straße']],
    ['several statuses', { status: ['STOPPED', 'ACTIVE'] }, ['Äpfel und Straße', 'Weekly 100% digest']],
    ['DRAFT when it is asked for', { status: ['DRAFT'] }, ['Idea']],
    ['ARCHIVED needs its flag', { status: ['ARCHIVED'] }, []],
    ['tags, any of them', { tags: ['old', 'digest'] }, ['Weekly 100% digest', 'Old sale']],
    ['tags whole', { tags: ['sal'] }, []],
    [
      'all at once',
      { name: 'sale', tags: ['sale'], status: ['SENT'], channels: ['PUSH'], created_by: ['ada@example.com'] },
      ['Old sale'],
    ],
  ])('%s', async (_name, filters, names) => {
    expect(await found(filters)).toEqual({ V1: names, V5: names });
  });

  test.each(versions)('selects delivery types in %s by the key of the version', async (version) => {
    expect(await find(version, { [typesKey[version]]: ['PERIODIC'] })).toEqual(['Weekly 100% digest']);
    expect(await find(version, { [typesKey[version]]: ['EVENT_TRIGGERED', 'PERIODIC'] })).toEqual([
      'Trigger',
      'Weekly 100% digest',
    ]);
    expect(await find(version, { [typesKey[version]]: ['LOCATION_TRIGGERED'] })).toEqual([]);
  });

  test.each(versions)('includes archived campaigns in %s if the request asks for them', async (version) => {
    const archived = { include_archive_campaigns: true };
    expect(await find(version, {}, archived)).toContain('Gone');
    expect(await find(version, { status: ['ARCHIVED'] }, archived)).toEqual(['Gone']);
  });

  test.each(versions)('selects by id in %s, ignoring all other filters', async (version) => {
    const id = await bundle.insert({ name: 'Target' });
    const key = version === 'V1' ? { id } : { ids: [id, 'f'.repeat(24)] };
    expect(await find(version, key)).toEqual(['Target']);
    expect(await find(version, { ...key, status: ['STOPPED'] })).toEqual([]);
    expect(await find(version, version === 'V1' ? { id: 'none' } : { ids: ['none'] })).toEqual([]);
    await bundle.database`delete from campaigns where id = ${id}`;
  });

  test.each(versions)(
    'returns successive pages in %s up to the last, each campaign once, with ties ordered by id',
    async (version) => {
      const at = new Date('2025-05-05T05:05:05Z');
      for (let index = 0; index < 7; index += 1) await bundle.insert({ name: `Tie ${version}`, created_at: at });
      const seen: string[] = [];
      const sizes: number[] = [];
      for (let page = 1; page <= 4; page += 1) {
        const answer = await bundle.search(version, { limit: 3, page, campaign_fields: { name: `tie ${version}` } });
        const ids = campaignsOf(answer).map((campaign) => campaign.campaign_id as string);
        seen.push(...ids);
        sizes.push(ids.length);
      }
      expect(sizes).toEqual([3, 3, 1, 0]);
      expect(seen).toEqual([...new Set(seen)].sort().reverse());
      const beyond = await bundle.search(version, { page: 1_000_000_000 });
      expect([beyond.statusCode, campaignsOf(beyond)]).toEqual([200, []]);
    },
  );
});

describe('the nine differences (interface 9)', () => {
  let diff: CampaignBundle;
  let draft: string;
  beforeAll(async () => {
    diff = await makeCampaignBundle();
    await diff.insert({ name: 'First' });
    await diff.insert({ name: 'Text', channel: 'SMS' });
    draft = await diff.insert({ name: 'Plan', status: 'DRAFT' });
    for (let index = 0; index < 20; index += 1) await diff.insert({ name: `Row ${index}` });
  });
  afterAll(() => diff.end());

  test('1: finds one campaign or many with one V1 route; V5 has a route for each', async () => {
    const [one] = campaignsOf(await diff.search('V1', { campaign_fields: { id: draft } }));
    expect(one.campaign_id).toBe(draft);
    const got = await diff.call('GET', `/v5/campaigns/${draft}`);
    expect([got.statusCode, got.json()]).toEqual([
      200,
      {
        response_id: expect.stringMatching(/^[a-z]{8}$/),
        type: 'campaign',
        data: expect.objectContaining({ id: draft }),
      },
    ]);
    // The address takes changes alone.
    expect((await diff.call('GET', `/v1/campaigns/${draft}`)).statusCode).toBe(405);
    expect((await diff.call('GET', '/v5/campaigns/search')).statusCode).toBe(405);
  });

  test.each([
    ['id', 'V1', { id: 'f'.repeat(24) }],
    ['delivery_type', 'V1', { delivery_type: ['PERIODIC'] }],
    ['ids', 'V5', { ids: ['f'.repeat(24)] }],
    ['campaign_delivery_type', 'V5', { campaign_delivery_type: ['PERIODIC'] }],
  ] as const)(
    '2: applies %s as a filter in %s; the other version warns about it and ignores it (decision D42)',
    async (key, version, filters) => {
      const other = version === 'V1' ? 'V5' : 'V1';
      const known = await diff.search(version, { campaign_fields: filters });
      expect([known.headers['x-svc-warning'], namesOf(known)]).toEqual([undefined, []]);
      const unknown = await diff.search(other, { campaign_fields: filters });
      expect([unknown.statusCode, unknown.headers['x-svc-warning']]).toEqual([
        200,
        `unknown field "campaign_fields.${key}"`,
      ]);
      expect(namesOf(unknown)).toHaveLength(15);
    },
  );

  test('3: requires request_id in V1, where it is optional in V5', async () => {
    for (const request_id of [undefined, null, '']) {
      const v1 = await diff.search('V1', { request_id });
      expect([v1.statusCode, v1.json().error]).toEqual([
        400,
        {
          code: '400 Bad Request',
          message: 'request_id key is mandatory field',
          target: 'request_id',
          details: [{ target: 'request_id', message: 'request_id key is mandatory field' }],
          request_id: '',
        },
      ]);
      expect((await diff.search('V5', { request_id })).statusCode).toBe(200);
    }
    expect((await diff.executions('V1', draft, { request_id: undefined })).statusCode).toBe(400);
    expect((await diff.executions('V5', draft, { request_id: undefined })).statusCode).toBe(422);
  });

  test('4: names a campaign campaign_id in V1 and id in V5', async () => {
    const filters = { name: 'first' };
    const [v1] = campaignsOf(await diff.search('V1', { campaign_fields: filters }));
    const [v5] = campaignsOf(await diff.search('V5', { campaign_fields: filters }));
    expect(v1.id).toBeUndefined();
    expect([v5.id, v5.campaign_id]).toEqual([v1.campaign_id, v1.campaign_id]);
  });

  test('5: finds drafts in V1 always, in V5 only when the request asks for DRAFT', async () => {
    const filters = { name: 'plan' };
    expect(await diff.names('V1', filters)).toEqual(['Plan']);
    expect(await diff.names('V5', filters)).toEqual([]);
    expect(await diff.names('V5', { ...filters, status: ['SENT', 'DRAFT'] })).toEqual(['Plan']);
  });

  test('7: returns up to 15 per page without a total in V5, up to 100 with the total in V1', async () => {
    const v5 = await diff.search('V5', { limit: 16 });
    expect([v5.statusCode, v5.json().error.details]).toEqual([
      400,
      [{ target: 'limit', message: 'limit must be a whole number from 1 to 15.' }],
    ]);
    const page = (await diff.search('V5')).json();
    expect(Object.keys(page)).toEqual(['response_id', 'type', 'data']);
    expect([Object.keys(page.data), page.data.campaigns.length]).toEqual([['campaigns'], 15]);
    const last = campaignsOf(await diff.search('V5', { page: 2 }));
    expect(last).toHaveLength(6);
    const v1 = await diff.search('V1', { limit: 100 });
    expect([v1.headers['x-total-count'], v1.json().length]).toEqual(['22', 22]);
    for (const [number, length] of [
      [1, 15],
      [2, 7],
      [3, 0],
    ]) {
      const each = await diff.search('V1', { page: number });
      expect([each.headers['x-total-count'], each.json().length]).toEqual(['22', length]);
    }
    expect((await diff.search('V1', { limit: 101 })).statusCode).toBe(400);
  });

  test('7: returns the object of V1 with total_count to a workspace that chose it (decision D41)', async () => {
    const { workspaceId } = diff.own;
    await diff.database`update workspaces set v1_search_bare_array = false where id = ${workspaceId}`;
    const answer = (await diff.search('V1', { limit: 2 })).json();
    expect([Object.keys(answer), answer.total_count, answer.campaigns.length]).toEqual([
      ['total_count', 'campaigns'],
      22,
      2,
    ]);
    expect(Object.keys((await diff.search('V5')).json())).toContain('data');
    await diff.database`update workspaces set v1_search_bare_array = true where id = ${workspaceId}`;
  });

  test('8: finds SMS campaigns in V5 when the request asks for SMS, and never in V1', async () => {
    expect(await diff.names('V5', { channels: ['SMS'] })).toEqual(['Text']);
    expect(await diff.names('V5', { channels: ['SMS', 'PUSH'], name: 't' })).toEqual(['Text', 'First']);
    expect(await diff.names('V5', { name: 't' })).toEqual(['First']);
    expect(await diff.names('V1', { channels: ['SMS'] })).toEqual([]);
    expect(await diff.names('V1', { channels: ['SMS', 'PUSH'], name: 'text' })).toEqual([]);
  });

  test('6: finds each version as a document in V5 with versioning, and the campaign once under its own id in V1', async () => {
    const revised = { delivery_type: 'PERIODIC', name: 'Revised' };
    const first = await diff.insert({ ...revised, status: 'RETIRED', version_number: 1 });
    const second = await diff.insert({ ...revised, status: 'ACTIVE', version_number: 2, version_of: first });
    const numbers = async (version: Version, filters: object = {}) =>
      campaignsOf(await diff.search(version, { campaign_fields: { name: 'revised', ...filters } })).map(
        ({ id, campaign_id, version_number, status }) => [id, campaign_id, version_number, status],
      );
    expect(await numbers('V5')).toEqual([[second, first, undefined, 'ACTIVE']]);
    await diff.setVersioning('on');
    expect(await numbers('V5')).toEqual([
      [second, first, 2, 'ACTIVE'],
      [first, first, 1, 'RETIRED'],
    ]);
    expect(await numbers('V5', { version_number: 1 })).toEqual([[first, first, 1, 'RETIRED']]);
    expect(await numbers('V5', { version_number: 2 })).toEqual([[second, first, 2, 'ACTIVE']]);
    expect(await numbers('V5', { version_number: 3 })).toEqual([]);
    expect(await numbers('V5', { ids: [first, second] })).toHaveLength(2);
    expect(await numbers('V1')).toEqual([[undefined, first, undefined, 'ACTIVE']]);
    expect(await numbers('V1', { id: first })).toHaveLength(1);
    expect((await diff.call('GET', `/v5/campaigns/${second}`)).json().data).toMatchObject({
      id: second,
      version_number: 2,
    });
    // One that was never revised is its own first version.
    expect(
      campaignsOf(await diff.search('V5', { campaign_fields: { name: 'first', version_number: 1 } })),
    ).toMatchObject([{ version_number: 1 }]);
    const v1 = await diff.search('V1', { campaign_fields: { version_number: 2 } });
    expect(v1.headers['x-svc-warning']).toBe('unknown field "campaign_fields.version_number"');
    await diff.setVersioning('off');
    const off = await diff.search('V5', { campaign_fields: { version_number: 2, name: 'first' } });
    expect([off.headers['x-svc-warning'], namesOf(off)]).toEqual([
      'unknown field "campaign_fields.version_number"',
      ['First'],
    ]);
    expect(campaignsOf(off)[0]).not.toHaveProperty('version_number');
  });

  test('9: has a path for executions in each version, in V1 also with its prefix (decision D3)', async () => {
    const parent = await diff.insert({ delivery_type: 'PERIODIC', status: 'ACTIVE' });
    expect((await diff.executions('V1', parent)).json()).toEqual({ executions: [], total_instances: 0 });
    expect((await diff.executions('V5', parent)).json().data).toEqual({ executions: [], total_instances: 0 });
    const body = { request_id: 'r', limit: 1, page: 1 };
    for (const path of ['search', `${parent}/executions`]) {
      expect((await diff.call('POST', `/core-services/v1/campaigns/${path}`, { body })).statusCode).toBe(200);
      expect((await diff.call('POST', `/core-services/v5/campaigns/${path}`, { body })).statusCode).toBe(404);
    }
  });

  test('announces the deprecation of V1 and the guide, on rejected requests too, and not in V5', async () => {
    const answer = await diff.search('V1');
    expect([answer.headers.deprecation, answer.headers.sunset]).toEqual(['@1767225600', undefined]);
    const guide = /^<([^>]+)>; rel="deprecation"; type="text\/markdown"$/.exec(String(answer.headers.link))![1]!;
    const page = await diff.call('GET', guide, { headers: { authorization: undefined } });
    expect([page.statusCode, page.body.slice(0, 2)]).toEqual([200, '# ']);
    expect((await diff.search('V1', {}, { authorization: 'Basic x' })).headers.deprecation).toBe('@1767225600');
    expect((await diff.search('V5')).headers.deprecation).toBeUndefined();
  });
});

describe('records', () => {
  test('includes a campaign of the push API immediately, with the requested data (decision D40)', async () => {
    const id = await bundle.push({
      campaignName: 'Pushed campaign',
      campaignTags: ['spring'],
      conversionGoals: [{ name: 'Bought', eventName: 'purchase' }],
    });
    const [v1] = campaignsOf(await bundle.search('V1', { campaign_fields: { name: 'pushed campaign' } }));
    const time = expect.stringMatching(/^2026-03-01 \d\d:\d\d:\d\d\.\d{3}000$/);
    const common = {
      status: 'SENDING',
      channel: 'PUSH',
      campaign_delivery_type: 'ONE_TIME',
      created_by: 'Key push',
      created_at: time,
      updated_at: time,
      basic_details: { name: 'Pushed campaign', platforms: ['ANDROID'], tags: ['spring'] },
      campaign_content: {
        content: {
          push: {
            android: {
              template_type: 'BASIC',
              basic_details: { title: 'Title', message: 'Text' },
              buttons: [],
              advanced: {},
            },
          },
        },
      },
      segmentation_details: { is_all_user_campaign: true },
      scheduling_details: { delivery_type: 'ASAP' },
      advanced: {
        expiration_settings: { expire_notification_after_value: 36, expire_notification_after_type: 'HOUR' },
        platform_level_priority: {
          android_specific_priority: { send_with_priority: 'HIGH' },
          ios_specific_priority: { apns_priority: '10' },
        },
      },
      conversion_goal_details: { goals: [{ goal_name: 'Bought', goal_event_name: 'purchase' }] },
    };
    expect(v1).toEqual({ campaign_id: id, ...common });
    const got = (await bundle.call('GET', `/v5/campaigns/${id}`)).json().data;
    expect(got).toEqual({ id, campaign_id: id, ...common });
  });

  test('shows schedules in UTC in V1, normalised and in their own zone in V5 (fact 4.3)', async () => {
    const zone = { time: '09:30', timeZone: 'Asia/Kolkata' };
    const timing = { kind: 'periodic', firstDate: '2026-03-02', endDate: '2026-03-30', repeatAfterDays: 7, ...zone };
    await bundle.insert({
      name: 'Scheduled one',
      delivery_type: 'PERIODIC',
      status: 'ACTIVE',
      timing: bundle.database.json(timing),
    });
    const later = { kind: 'later', at: '2026-04-01T04:00:00.000Z', date: '2026-04-01', ...zone };
    const scheduled = { status: 'SCHEDULED', next_at: new Date('2026-04-01T04:00:00Z') };
    await bundle.insert({ name: 'Scheduled two', ...scheduled, timing: bundle.database.json(later) });
    const details = async (version: Version) =>
      campaignsOf(await bundle.search(version, { campaign_fields: { name: 'scheduled' } })).map(
        (row) => row.scheduling_details,
      );
    expect(await details('V1')).toEqual([
      { delivery_type: 'AT_FIXED_TIME', start_time: '2026-04-01T04:00:00' },
      {
        delivery_type: 'AT_FIXED_TIME',
        start_time: '2026-03-02T04:00:00',
        expiry_time: '2026-03-30T04:00:00',
        periodic_details: { sending_frequency: 'DAILY', repeat_frequency: 7 },
      },
    ]);
    expect(await details('V5')).toEqual([
      { delivery_type: 'SCHEDULED', schedule_time: '2026-04-01T09:30:00', time_zone: 'Asia/Kolkata' },
      {
        delivery_type: 'PERIODIC',
        schedule_time: '2026-03-02T09:30:00',
        expiry_time: '2026-03-30T09:30:00',
        time_zone: 'Asia/Kolkata',
        frequency: { sending_frequency: 'DAILY', repeat_frequency: 7 },
      },
    ]);
  });

  test.each(versions)(
    'includes children of recurring campaigns in %s when the request asks for them',
    async (version) => {
      const name = `Parent ${version}`;
      const parent = await bundle.insert({ name, delivery_type: 'PERIODIC', status: 'ACTIVE' });
      const once = await bundle.insert({ name });
      await bundle.insertRun(once);
      const sent = await bundle.insertRun(parent);
      const queued = await bundle.insertRun(parent, { status: 'QUEUED', started_at: null, ended_at: null });
      const search = async (more: object, filters: object = {}) =>
        campaignsOf(await bundle.search(version, { ...more, campaign_fields: { name, ...filters } })).map((row) => [
          version === 'V1' ? row.campaign_id : row.id,
          row.status,
          row.parent_id,
        ]);
      expect(await search({})).toHaveLength(2);
      const children = [
        [queued, 'SCHEDULED', parent],
        [sent, 'SENT', parent],
      ];
      const all = [...children, [once, 'SENT', undefined], [parent, 'ACTIVE', undefined]];
      expect(await search({ include_child_campaigns: true })).toEqual(all);
      expect(await search({ include_child_campaigns: true, limit: 1, page: 2 })).toEqual([all[1]]);
      expect(await search({ include_child_campaigns: true }, { status: ['SCHEDULED'] })).toEqual([children[0]]);
      const [record] = campaignsOf(
        await bundle.search(version, { include_child_campaigns: true, campaign_fields: { name, status: ['SENT'] } }),
      );
      expect(record.sent_time).toMatch(/^2026-03-01 /);
    },
  );

  test('shows a draft whatever it lacks', async () => {
    const json = bundle.database.json;
    await bundle.insert({
      name: 'Bare',
      status: 'DRAFT',
      platforms: [],
      content: json({ ANDROID: {}, IOS: {}, WEB: {} }),
    });
    await bundle.insert({
      name: 'Bare mail',
      channel: 'EMAIL',
      content: json({ subject: 'Hi' }),
      conversion_goals: json({}),
    });
    const found = campaignsOf(
      await bundle.search('V5', { campaign_fields: { name: 'bare', status: ['DRAFT', 'SENT'] } }),
    );
    expect(found.map((row) => row.campaign_content.content)).toMatchObject([{ subject: 'Hi' }, { push: { web: {} } }]);
  });
});

describe('workspaces of campaigns', () => {
  test.each(versions)(
    'excludes campaigns of another workspace in %s, by search, id or filter (reliability R10)',
    async (version) => {
      const other = await bundle.makeWorkspace();
      const id = await bundle.insert({ name: 'Secret plan', tags: ['secret'] });
      const headers = bundle.headersOf(other);
      const key = version === 'V1' ? { id } : { ids: [id] };
      for (const filters of [{}, key, { name: 'secret' }, { tags: ['secret'] }]) {
        expect(campaignsOf(await bundle.search(version, { campaign_fields: filters }, headers))).toEqual([]);
      }
      expect((await bundle.call('GET', `/v5/campaigns/${id}`, { headers })).statusCode).toBe(404);
      expect(await bundle.names(version, { name: 'secret plan' })).toHaveLength(version === 'V1' ? 1 : 2);
    },
  );

  test.each(versions)('accepts Bearer with scope campaign in %s, too (decision D45)', async (version) => {
    const headers = { authorization: `Bearer ${await bundle.token()}` };
    expect((await bundle.search(version, {}, headers)).statusCode).toBe(200);
    const bad = await bundle.search(version, {}, { authorization: 'Bearer none' });
    expect([bad.statusCode, bad.json().code]).toEqual([401, 'ER001']);
  });
});

describe('rejected requests (fact 4.5)', () => {
  // Every code of V1 begins with its status.
  const v1 = (code: string, message: string, target: string) => [
    Number(code.slice(0, 3)),
    { error: { code, message, target, details: expect.any(Array), request_id: expect.any(String) } },
  ];
  const v5 = (status: number, code: string, message: string) => [
    status,
    {
      response_id: expect.stringMatching(/^[a-z]{8}$/),
      error: expect.objectContaining({ code, message, details: expect.any(Array) }),
    },
  ];

  test.each(['limit', 'page'])('names the required field %s', async (field) => {
    const first = await bundle.search('V1', { [field]: undefined, request_id: 'abc' });
    expect([first.statusCode, first.json()]).toEqual(v1('400 Bad Request', `${field} key is mandatory field`, field));
    expect(first.json().error.request_id).toBe('abc');
    const fifth = await bundle.search('V5', { [field]: undefined, request_id: 'abc' });
    expect([fifth.statusCode, fifth.json()]).toEqual(
      v5(400, 'VALIDATION_FAILED', 'One or more fields failed validation.'),
    );
    expect(fifth.json().error).toMatchObject({
      target: field,
      details: [{ target: field, message: `${field} is required.` }],
      request_id: 'abc',
    });
  });

  test('reports all errors together', async () => {
    const body = { request_id: undefined, limit: 0, page: 1.5, campaign_fields: { status: ['Active'], tags: [] } };
    const targets = (answer: any) => answer.json().error.details.map((detail: any) => detail.target);
    const wrong = ['limit', 'page', 'campaign_fields.status', 'campaign_fields.tags'];
    expect(targets(await bundle.search('V1', body))).toEqual(['request_id', ...wrong]);
    expect(targets(await bundle.search('V5', body))).toEqual(wrong);
  });

  test.each([
    ['limit', { limit: '5' }],
    ['page', { page: 0 }],
    ['page', { page: 1e10 }],
    ['request_id', { request_id: 5 }],
    ['include_child_campaigns', { include_child_campaigns: 'true' }],
    ['include_archive_campaigns', { include_archive_campaigns: 1 }],
    ['campaign_fields', { campaign_fields: [] }],
    ['campaign_fields.channels', { campaign_fields: { channels: ['FAX'] } }],
    ['campaign_fields.channels', { campaign_fields: { channels: 'PUSH' } }],
    ['campaign_fields.created_by', { campaign_fields: { created_by: [7] } }],
    ['campaign_fields.created_date', { campaign_fields: { created_date: '2024-01-01' } }],
    [
      'campaign_fields.created_date',
      { campaign_fields: { created_date: { from_date: '2024-02-01', to_date: '2024-01-31' } } },
    ],
    ['campaign_fields.created_date.from_date', { campaign_fields: { created_date: { from_date: '2023-02-29' } } }],
    ['campaign_fields.created_date.to_date', { campaign_fields: { created_date: { to_date: '9999-12-31' } } }],
    ['campaign_fields.name', { campaign_fields: { name: 'x'.repeat(257) } }],
    ['campaign_fields.name', { campaign_fields: { name: '\ud800' } }],
    ['campaign_fields.status', { campaign_fields: { status: ['MISSED'] } }],
    ['campaign_fields.tags', { campaign_fields: { tags: Array.from({ length: 101 }, (_, n) => `t${n}`) } }],
  ])('rejects %s with a wrong value and names it', async (field, more) => {
    for (const version of versions) {
      const answer = await bundle.search(version, more);
      expect([version, answer.statusCode, answer.json().error.target]).toEqual([version, 400, field]);
    }
  });

  test.each([
    ['id', 'V1', { id: 5 }],
    ['delivery_type', 'V1', { delivery_type: ['WEEKLY'] }],
    ['ids', 'V5', { ids: 'a' }],
    ['campaign_delivery_type', 'V5', { campaign_delivery_type: 'PERIODIC' }],
  ] as const)('rejects %s with a wrong value in %s', async (field, version, filters) => {
    const answer = await bundle.search(version, { campaign_fields: filters });
    expect([answer.statusCode, answer.json().error.target]).toEqual([400, `campaign_fields.${field}`]);
  });

  test('rejects missing and wrong credentials, and those of another kind', async () => {
    const ask = async (version: Version, authorization: string | undefined) => {
      const answer = await bundle.search(version, {}, { authorization });
      return [answer.statusCode, answer.json()];
    };
    const { workspaceId } = bundle.own;
    const dataKey = bundle.headersOf({ workspaceId, key: await bundle.makeKey('data', workspaceId) }).authorization;
    const wrong = bundle.headersOf({ workspaceId, key: 'wrong' }).authorization;
    const required = v1('401 Authentication error', 'Authentication required', 'APP_SECRET_KEY');
    expect([await ask('V1', undefined), await ask('V1', wrong), await ask('V1', dataKey)]).toEqual([
      required,
      required,
      required,
    ]);
    const detail = (await ask('V1', wrong))[1].error.details;
    expect(detail).toEqual([
      { code: 'InvalidValue', target: 'APP_SECRET_KEY', message: 'Invalid APP_SECRET_KEY is provided.' },
    ]);
    expect((await ask('V1', undefined))[1].error.details[0].code).toBe('MissingValue');
    const invalid = v5(401, 'UNAUTHORIZED', 'Invalid or missing credentials.');
    expect([await ask('V5', undefined), await ask('V5', wrong)]).toEqual([invalid, invalid]);
    expect(await ask('V5', dataKey)).toEqual(
      v5(403, 'FORBIDDEN', 'Caller does not have permission to perform this operation.'),
    );
  });

  test('requires SVC-APPKEY in V1 and not in V5, always for the workspace of the credentials (fact 4.1)', async () => {
    const none = { 'svc-appkey': undefined };
    const missing = await bundle.search('V1', {}, none);
    expect([missing.statusCode, missing.json()]).toEqual(
      v1('400 Bad Request', 'SVC-APPKEY key is mandatory field', 'SVC-APPKEY'),
    );
    expect((await bundle.search('V5', {}, none)).statusCode).toBe(200);
    const foreign = { 'svc-appkey': (await bundle.makeWorkspace()).workspaceId };
    const first = await bundle.search('V1', {}, foreign);
    expect([first.statusCode, first.json()]).toEqual(
      v1('401 Authentication error', 'Authentication required', 'APP_ID'),
    );
    expect((await bundle.search('V5', {}, foreign)).statusCode).toBe(401);
  });

  test('reads the request id of V5 from a header as well, and requires both to match', async () => {
    const header = { 'x-svc-request-id': 'from-header' };
    expect((await bundle.search('V5', { request_id: undefined }, header)).statusCode).toBe(200);
    expect((await bundle.search('V5', { request_id: 'from-header' }, header)).statusCode).toBe(200);
    const answer = await bundle.search('V5', { request_id: 'other' }, header);
    expect([answer.statusCode, answer.json().error.target]).toEqual([400, 'request_id']);
  });

  test('rejects a missing body, a body that is not a JSON object, another media type, a large body and another method', async () => {
    for (const version of versions) {
      const url = `/${version.toLowerCase()}/campaigns/search`;
      const send = async (body: string, type = 'application/json') =>
        (await bundle.call('POST', url, { body, headers: { 'content-type': type } })).statusCode;
      expect(await Promise.all(['', '{', '[]', '"x"', 'null'].map((body) => send(body)))).toEqual([
        400, 400, 400, 400, 400,
      ]);
      expect([await send('a', 'text/csv'), await send(`"${'x'.repeat(1024 * 1024)}"`)]).toEqual([415, 413]);
      const got = await bundle.call('GET', url);
      expect([got.statusCode, got.headers.allow, typeof got.json().error.code]).toEqual([405, 'POST', 'string']);
    }
    const shape = await bundle.call('POST', '/v5/campaigns/search', { body: '{' });
    expect([shape.statusCode, shape.json()]).toEqual(v5(400, 'BAD_REQUEST', 'The request body could not be decoded.'));
  });

  test('returns 500 in the shape of the version for an internal fault, without internal details', async () => {
    const broken = await makeCampaignBundle();
    await broken.database`alter table campaigns rename to gone`;
    const first = await broken.search('V1');
    expect([first.statusCode, first.json()]).toEqual(
      v1('500 Internal Server Error', 'Something went wrong. Please contact Carillon team', ''),
    );
    const fifth = await broken.search('V5');
    expect([fifth.statusCode, fifth.json()]).toEqual(v5(500, 'INTERNAL_ERROR', 'Internal server error.'));
    expect(first.body + fifth.body).not.toMatch(/relation|campaigns/);
    await broken.end();
  });

  test('returns 404 in the documented words for an unknown campaign', async () => {
    for (const id of ['f'.repeat(24), 'x', '%00', '\u00e9']) {
      const answer = await bundle.call('GET', `/v5/campaigns/${encodeURIComponent(id)}`);
      expect([answer.statusCode, answer.json()]).toEqual(v5(404, 'NOT_FOUND', 'Campaign not found.'));
    }
  });
});

describe('limits (decision D44)', () => {
  test('allows 10 requests per second for both versions together, per workspace, without counting rejected ones', async () => {
    const limited = await makeCampaignBundle();
    const ask = (version: Version) => {
      limited.clock.advance(-1000);
      return limited.search(version);
    };
    const answers = [];
    for (let index = 0; index < 11; index += 1) answers.push(await ask(index % 2 === 0 ? 'V1' : 'V5'));
    expect(answers.map((answer) => answer.statusCode)).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect(answers[0]!.headers).toMatchObject({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': '60',
    });
    const first = answers[10]!;
    expect([first.headers['retry-after'], first.json().error]).toMatchObject([
      '1',
      {
        code: '429 conflict',
        message: 'rate_limit',
        details: [{ message: 'Rate limiting breached' }],
      },
    ]);
    const fifth = await ask('V5');
    expect([fifth.statusCode, fifth.headers['retry-after'], fifth.json().error]).toMatchObject([
      429,
      '1',
      {
        code: 'RATE_LIMITED',
        message: 'Rate limit exceeded for app key.',
      },
    ]);
    const other = limited.headersOf(await limited.makeWorkspace());
    limited.clock.advance(-1000);
    expect((await limited.search('V5', {}, other)).statusCode).toBe(200);
    limited.clock.advance(1000);
    expect((await ask('V5')).statusCode).toBe(200);
    await limited.end();
  });

  test('allows 100 requests per minute, and so 6,000 per hour', async () => {
    const limited = await makeCampaignBundle();
    // 100 calls at 5 a second, then the minute is full until the first leaves it.
    const ask = async () => {
      limited.clock.advance(-800);
      return (await limited.call('GET', `/v5/campaigns/${'f'.repeat(24)}`)).statusCode;
    };
    const statuses: number[] = [];
    for (let index = 0; index < 101; index += 1) statuses.push(await ask());
    expect(statuses).toEqual([...Array.from({ length: 100 }, () => 404), 429]);
    const refused = await limited.call('GET', `/v5/campaigns/${'f'.repeat(24)}`);
    const wait = Number(refused.headers['retry-after']);
    expect([wait > 30, refused.headers['x-ratelimit-remaining']]).toEqual([true, '0']);
    limited.clock.advance((wait - 2) * 1000);
    expect((await limited.call('GET', `/v5/campaigns/${'f'.repeat(24)}`)).statusCode).toBe(429);
    expect((await limited.call('GET', `/v5/campaigns/${'f'.repeat(24)}`)).statusCode).toBe(404);
    await limited.end();
  });
});

test('responds to any input in the documented shape and never with an internal fault (reliability R11)', async () => {
  const anything = fc.anything({ maxDepth: 3, withNullPrototype: false });
  const list = (...words: string[]) => fc.oneof(fc.array(fc.oneof(fc.constantFrom(...words), fc.string())), anything);
  const date = fc.oneof(
    fc.constantFrom('2024-01-01', '2024-02-30', '0001-01-01', '9998-12-31T23:59:59-14:00'),
    anything,
  );
  const fields = fc.record(
    {
      id: fc.oneof(fc.string(), anything),
      ids: list('a'),
      channels: list('PUSH', 'SMS'),
      created_by: list('a'),
      created_date: fc.oneof(fc.record({ from_date: date, to_date: date }, { requiredKeys: [] }), anything),
      delivery_type: list('PERIODIC'),
      campaign_delivery_type: list('PERIODIC', 'API_TRIGGERED'),
      name: fc.oneof(fc.string(), anyText(), anything),
      status: list('DRAFT', 'SENT'),
      tags: list('a'),
      version_number: fc.oneof(fc.integer(), anything),
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    { weight: 1, arbitrary: anything },
    {
      weight: 6,
      arbitrary: fc.record(
        {
          request_id: fc.oneof(fc.constant('r'), anything),
          limit: fc.oneof(fc.integer({ min: 0, max: 20 }), anything),
          page: fc.oneof(fc.integer({ min: 0, max: 2 ** 40 }), fc.integer({ min: 1, max: 3 })),
          include_child_campaigns: fc.oneof(fc.boolean(), anything),
          include_archive_campaigns: fc.oneof(fc.boolean(), anything),
          campaign_fields: fields,
        },
        { requiredKeys: ['request_id', 'limit', 'page'] },
      ),
    },
  );
  const id = await bundle.insert({ delivery_type: 'PERIODIC', status: 'ACTIVE' });
  const route = fc.constantFrom(
    '/v1/campaigns/search',
    '/v5/campaigns/search',
    `/v1/campaigns/${id}/executions`,
    `/v5/campaigns/${id}/executions`,
  );
  const seen = new Map<number, number>();
  await bundle.setVersioning('on');
  await fc.assert(
    fc.asyncProperty(route, body, async (url, sent) => {
      const text = JSON.stringify(sent, (_key, value) => (typeof value === 'bigint' ? String(value) : value)) ?? '';
      const answer = await bundle.call('POST', url, { body: text, headers: { 'content-type': 'application/json' } });
      seen.set(answer.statusCode, (seen.get(answer.statusCode) ?? 0) + 1);
      expect(answer.statusCode).toBeLessThan(500);
      const shapes = url.startsWith('/v1')
        ? ['error', 'list', 'executions,total_instances']
        : ['response_id,error', 'response_id,type,data'];
      const said = answer.json();
      expect(shapes).toContain(Array.isArray(said) ? 'list' : Object.keys(said).join());
    }),
    { numRuns: 400 },
  );
  expect([...seen.keys()].sort()).toEqual([200, 400]);
});
