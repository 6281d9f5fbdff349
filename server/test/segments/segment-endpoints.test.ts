import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeSegmentBundle, start } from './segment-bundle.ts';
import type { SegmentBundle } from './segment-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

let bundle: SegmentBundle;
beforeAll(async () => {
  bundle = await makeSegmentBundle();
});
afterAll(() => bundle.end());

let names = 0;
const fresh = () => `Segment ${(names += 1)}`;
const countSegments = async () => (await bundle.database`select count(*) as n from segments`)[0]!.n as number;

describe('rejected v2 requests (fact 2.1)', () => {
  test.each(['name', 'attribute_name', 'attribute_type', 'file_url', 'expiry_time'])(
    'return 400 with the name of the missing field %s',
    async (field) => {
      const before = await countSegments();
      for (const missing of [undefined, null, '']) {
        const answer = await bundle.create({ name: fresh(), [field]: missing });
        expect([answer.statusCode, answer.json()]).toEqual([
          400,
          { title: 'Invalid Request', description: `Mandatory field missing in the request: ${field}` },
        ]);
      }
      expect(await countSegments()).toBe(before);
    },
  );

  test.each([
    ['name', 7],
    ['name', '   '],
    ['name', '<b>x</b>'],
    ['name', 'x'.repeat(257)],
    ['name', 'a\nb'],
    ['name', '\ud800'],
    ['attribute_name', {}],
    ['attribute_type', 'integer'],
    ['attribute_type', 'STRING'],
    ['file_url', 'not a url'],
    ['file_url', 'ftp://example.com/a.csv'],
    ['file_url', 'file:///etc/passwd'],
    ['file_url', 'https://user:secret@example.com/a.csv'],
    ['callback_url', 'javascript:alert(1)'],
    ['callback_url', 5],
    ['emails', 'a@example.com'],
    ['emails', ['not an address']],
    ['emails', ['a@example.com\r\nBcc: b@example.com']],
    ['emails', Array.from({ length: 21 }, (_, n) => `a${n}@example.com`)],
    ['expiry_time', 0],
    ['expiry_time', 3651],
    ['expiry_time', 1.5],
    ['expiry_time', '30'],
  ])('return 400 with the name of the field for %s %j, and store nothing', async (field, value) => {
    const before = await countSegments();
    const answer = await bundle.create({ name: fresh(), [field]: value });
    expect([answer.statusCode, answer.json().title]).toEqual([400, 'Invalid Request']);
    expect(answer.json().description).toContain(field);
    expect(await countSegments()).toBe(before);
  });

  test.each([null, ''])('do not include an optional field of %j, which counts as absent', async (nothing) => {
    const name = fresh();
    const created = await bundle.create({ name, callback_url: nothing, emails: nothing });
    expect([created.statusCode, created.headers['x-svc-warning']]).toEqual([202, undefined]);
    const { cs_id } = created.json();
    const changed = await bundle.change('add-users', { name, cs_id: nothing, callback_url: nothing, emails: nothing });
    expect(changed.statusCode).toBe(202);
    const [stored] = await bundle.database`
      select callback_url, emails from segment_operations where segment_id = ${cs_id} and number = 2`;
    expect(stored).toEqual({ callback_url: null, emails: [] });
    const archive = (body: object) => bundle.call('PATCH', '/v2/custom-segments/archive', { body });
    expect((await archive({ name: nothing, cs_id })).statusCode).toBe(200);
    expect((await archive({ name: nothing, cs_id: nothing })).json().description).toBe(
      'Mandatory field missing in the request: name',
    );
  });

  test('return 400 in the same shape for a malformed body', async () => {
    for (const body of ['', '{', '[]', '"x"', '{"name":"a","name":"b"}']) {
      const answer = await bundle.call('POST', '/v2/custom-segments/file-segment', {
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect([answer.statusCode, Object.keys(answer.json())]).toEqual([400, ['title', 'description']]);
    }
  });

  test('return 415 for another media type, and 413 for a body over 1 MiB', async () => {
    const xml = await bundle.call('POST', '/v2/custom-segments/file-segment', {
      headers: { 'content-type': 'text/csv' },
      body: 'a,b',
    });
    expect([xml.statusCode, xml.json().title]).toEqual([415, 'Unsupported Media Type']);
    const large = await bundle.create({ name: 'x'.repeat(1024 * 1024) });
    expect(large.statusCode).toBe(413);
  });

  test('do not include an unknown field, which is ignored with a warning (decision D5)', async () => {
    const answer = await bundle.create({ name: fresh(), team: 'Default' });
    expect([answer.statusCode, answer.headers['x-svc-warning']]).toEqual([202, 'unknown field "team"']);
  });

  test.each(['GET', 'PUT', 'DELETE'] as const)(
    'return 405 with Allow: POST for %s on the create path',
    async (method) => {
      const answer = await bundle.call(method, '/v2/custom-segments/file-segment');
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST']);
    },
  );

  test.each([
    ['none', undefined],
    ['no Basic', 'Digest x'],
    ['a wrong key', 'Basic d3Jvbmc6d3Jvbmc='],
  ])('return 401 with the documented text for credentials: %s', async (_name, authorization) => {
    const answer = await bundle.create({ name: fresh() }, { headers: { authorization } });
    expect([answer.statusCode, answer.json()]).toEqual([
      401,
      {
        title: 'Authentication required',
        description: 'Invalid Workspace ID or API key used in the Authorization header',
      },
    ]);
  });

  test('return 403 for a key of another kind (decision D20)', async () => {
    const authorization = bundle.basic(await bundle.makeKey('push'));
    const answer = await bundle.create({ name: fresh() }, { headers: { authorization } });
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([403, ['title', 'description']]);
  });

  test('return 400 without SVC-DBNAME, or if it is not the workspace of the key', async () => {
    const none = await bundle.create({ name: fresh() }, { headers: { 'svc-dbname': undefined } });
    expect([none.statusCode, none.json().description]).toEqual([
      400,
      'Mandatory header missing in the request: SVC-DBNAME',
    ]);
    const other = await insertTestWorkspace(bundle.database, new Date(start.getTime() + 5000));
    const foreign = await bundle.create({ name: fresh() }, { headers: { 'svc-dbname': `db_${other.toLowerCase()}` } });
    expect(foreign.statusCode).toBe(400);
  });

  test('return 404 for a segment of another workspace, by name and by id (reliability R10)', async () => {
    const name = fresh();
    const { cs_id } = (await bundle.create({ name })).json();
    const other = await insertTestWorkspace(bundle.database, new Date(start.getTime() + 9000));
    const headers = {
      authorization: bundle.basic(await bundle.makeKey('data', other), other),
      'svc-dbname': `db_${other.toLowerCase()}`,
      'svc-appkey': other,
    };
    for (const body of [{ name }, { name: 'x', cs_id }]) {
      expect((await bundle.call('PATCH', '/v2/custom-segments/archive', { headers, body })).statusCode).toBe(404);
    }
    expect((await bundle.call('GET', `/v3/custom-segments/${cs_id}`, { headers })).statusCode).toBe(404);
    expect((await bundle.call('GET', '/v3/custom-segments', { headers })).json().data).toEqual([]);
    expect((await bundle.segment(name)).state).toBe('FILLING');
  });
});

describe('the v3 segment API (fact 2.3)', () => {
  const isAdult = {
    filter_operator: 'and',
    filters: [{ filter_type: 'user_attributes', name: 'age', data_type: 'double', operator: 'greaterThan', value: 17 }],
  };
  const ageOver = (value: number) => ({ ...isAdult, filters: [{ ...isAdult.filters[0], value }] });
  const headers = () => ({ 'svc-appkey': bundle.workspaceId, 'svc-dbname': undefined });
  const post = (body: unknown) => bundle.call('POST', '/v3/custom-segments', { headers: headers(), body });
  const patch = (id: string, body: unknown) =>
    bundle.call('PATCH', `/v3/custom-segments/${id}`, { headers: headers(), body });
  const get = (path = '') => bundle.call('GET', `/v3/custom-segments${path}`, { headers: headers() });
  let values = 100;
  const create = async (more: object = {}) =>
    (await post({ name: fresh(), included_filters: ageOver((values += 1)), ...more })).json();

  test('creates a filter segment with 201 in the documented envelope', async () => {
    const name = fresh();
    const answer = await post({ name, included_filters: isAdult });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toEqual({
      response_id: expect.stringMatching(/^[a-z]{8}$/),
      type: 'custom_segment',
      data: {
        name,
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        created_time: '2026-03-01T12:00:00.000000',
        updated_time: '2026-03-01T12:00:00.000000',
        type: 'ELASTIC_SEARCH',
        source: 'API',
        description: expect.stringContaining('age'),
        included_filters: isAdult,
        excluded_filters: null,
        status: 'READY',
        user_count: null,
      },
    });
  });

  test('returns a segment by id or exact name, lists segments newest first, and changes them', async () => {
    const { data } = await create();
    expect((await get(`/${data.id}`)).json().data).toEqual(data);
    const found = (await get(`?name=${encodeURIComponent(data.name)}`)).json().data;
    expect(found).toEqual([
      { name: data.name, id: data.id, created_time: data.created_time, type: 'ELASTIC_SEARCH', source: 'API' },
    ]);
    expect((await get('?name=none')).json().data).toEqual([]);
    const changed = await patch(data.id, { included_filters: ageOver(999), updated_by: 'ada@example.com' });
    expect(changed.json().data).toMatchObject({ id: data.id, name: data.name, included_filters: ageOver(999) });
    const [row] = await bundle.database`select updated_by from segments where id = ${data.id}`;
    expect(row!.updated_by).toBe('ada@example.com');
  });

  test('keeps a field that is null in a change', async () => {
    const { data } = await create();
    const changed = await patch(data.id, { name: null, included_filters: ageOver(998), updated_by: null });
    expect([changed.statusCode, changed.json().data?.name]).toEqual([200, data.name]);
  });

  test('shows a file segment as FILE, and rejects its change (decision D28)', async () => {
    const { cs_id } = (await bundle.create({ name: fresh() })).json();
    expect((await get(`/${cs_id}`)).json().data).toMatchObject({ type: 'FILE', source: 'API', user_count: 0 });
    const refused = await patch(cs_id, { name: 'Other' });
    expect([refused.statusCode, refused.json().error.code]).toEqual([403, 'Forbidden operation']);
  });

  test('rejects the same name and the same filters, and names the other segment for the latter', async () => {
    const { data } = await create();
    const name = await post({ name: data.name, included_filters: ageOver(12_345) });
    expect([name.statusCode, name.json().error.code]).toEqual([409, 'Resource not created']);
    const filters = await post({ name: fresh(), included_filters: data.included_filters });
    expect([filters.statusCode, filters.json().error]).toEqual([
      409,
      expect.objectContaining({ existing_cs_name: data.name, existing_cs_id: data.id }),
    ]);
  });

  test('returns 412 for segments that refer to each other in a cycle', async () => {
    const one = (await create()).data;
    const refer = (id: string) => ({
      filter_operator: 'or',
      filters: [{ filter_type: 'custom_segments', id, name: 'label' }],
    });
    const two = (await post({ name: fresh(), included_filters: refer(one.id) })).json().data;
    for (const id of [two.id, one.id]) {
      const answer = await patch(one.id, { included_filters: refer(id) });
      expect([answer.statusCode, answer.json().error.code]).toEqual([412, 'Cyclic Entity']);
    }
  });

  test('returns 413 for references that expand beyond 1,000 filters, before any evaluation', async () => {
    let id = (await create()).data.id;
    const refer = (ids: string[]) => ({
      filter_operator: 'or',
      filters: ids.map((each) => ({ filter_type: 'custom_segments', id: each })),
    });
    const statuses: number[] = [];
    for (let level = 0; level < 4; level += 1) {
      const answer = await post({ name: fresh(), included_filters: refer(Array.from({ length: 10 }, () => id)) });
      statuses.push(answer.statusCode);
      if (answer.statusCode !== 201) break;
      id = answer.json().data.id;
    }
    expect(statuses).toEqual([201, 201, 413]);
  });

  test.each([
    ['no filters', { name: 'Valid' }, 400, 'Invalid request'],
    ['no name', { included_filters: {} }, 400, 'Invalid Request'],
    ['a name of blanks', { name: '  ', included_filters: ageOver(5_001) }, 400, 'Invalid Request'],
    ['a name with markup', { name: '<i>', included_filters: ageOver(5_002) }, 400, 'Invalid Request'],
    [
      'an unknown operator',
      {
        name: 'V',
        included_filters: {
          filter_operator: 'and',
          filters: [{ filter_type: 'user_attributes', name: 'a', data_type: 'double', operator: 'near', value: 1 }],
        },
      },
      400,
      'Invalid Request',
    ],
    [
      'a kind that is not available',
      { name: 'V', included_filters: { filter_operator: 'and', filters: [{ filter_type: 'actions' }] } },
      400,
      'Invalid Request',
    ],
    [
      'a segment that does not exist',
      {
        name: 'V',
        included_filters: { filter_operator: 'and', filters: [{ filter_type: 'custom_segments', id: 'f'.repeat(24) }] },
      },
      400,
      'Invalid Request',
    ],
  ] as [string, unknown, number, string][])('rejects a body with %s', async (_name, body, ...expected) => {
    const answer = await post(body);
    expect([answer.statusCode, answer.json().error.code]).toEqual(expected);
  });

  test('returns 413 for a tree that is too deep', async () => {
    let tree: object = ageOver(1);
    for (let level = 0; level < 12; level += 1)
      tree = { filter_operator: 'and', filters: [{ filter_type: 'nested_filters', ...tree }] };
    const answer = await post({ name: fresh(), included_filters: tree });
    expect([answer.statusCode, answer.json().error.code]).toEqual([413, 'Query has too many nesting levels']);
  });

  test('returns 400 for a malformed id, and 404 for an unknown one', async () => {
    const bad = await get('/xyz');
    expect([bad.statusCode, bad.json().error]).toMatchObject([
      400,
      { message: 'Invalid bson object-id passed in the request' },
    ]);
    const none = await get(`/${'e'.repeat(24)}`);
    expect([none.statusCode, none.json().error.message]).toEqual([
      404,
      `Custom segment not found with the given id: ${'e'.repeat(24)}`,
    ]);
  });

  test('requires SVC-APPKEY or SVC-DBNAME of the workspace', async () => {
    for (const wrong of [{ 'svc-dbname': undefined }, { 'svc-dbname': 'other' }, { 'svc-appkey': 'OTHER' }]) {
      const answer = await bundle.call('GET', '/v3/custom-segments', { headers: wrong });
      expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'Request Error']);
    }
    expect((await bundle.call('GET', '/v3/custom-segments')).statusCode).toBe(200);
  });

  test('warns of unknown members at any depth (decision D5)', async () => {
    const tree = ageOver(7_777) as { filters: object[] };
    tree.filters[0] = { ...tree.filters[0], colour: 'red' };
    const answer = await post({ name: fresh(), included_filters: tree, extra: 1 });
    expect(answer.statusCode).toBe(201);
    expect(answer.headers['x-svc-warning']).toBe(
      'unknown field "extra", unknown field "included_filters.filters[0].colour"',
    );
  });

  test('allows 100 reads a minute, separately from other operations', async () => {
    const limited = await makeSegmentBundle();
    try {
      const look = () => limited.call('GET', `/v3/custom-segments/${'a'.repeat(24)}`);
      const answers = [];
      for (let index = 0; index < 101; index += 1) answers.push((await look()).statusCode);
      expect(answers).toEqual([...Array.from({ length: 100 }, () => 404), 429]);
      const refused = await look();
      expect(refused.json().error.message).toBe(
        'API rate limit breached. Current limit: 100/1 mins, 1000/60 mins, 4000/1440 mins',
      );
      expect(refused.headers['retry-after']).toBe('60');
      expect((await limited.call('GET', '/v3/custom-segments')).statusCode).toBe(200);
    } finally {
      await limited.end();
    }
  });
});

describe('the cohort sync (fact 2.4)', () => {
  test.each([null, ''])('treats a description of %j as absent', async (cohort_description) => {
    expect((await sync({ cohort_name: 'Described', cohort_id: 'described', cohort_description })).statusCode).toBe(200);
  });

  const url = '/v1/integrations/cohortsync';
  const sync = (parameters: object, more: object = {}, headers: Record<string, string | undefined> = {}) =>
    bundle.call('POST', url, {
      headers: { 'svc-appkey': bundle.workspaceId, ...headers },
      body: {
        action: 'add_members',
        partner: 'Partner',
        parameters: { cohort_name: 'High value', cohort_id: 'c1', members: [], ...parameters },
        ...more,
      },
    });

  test('creates the segment, adds existing users, removes them again, and never creates a user', async () => {
    await bundle.addUsers(['one', 'two'], 'cohort');
    const ids = ['user-cohort-0-one', 'user-cohort-1-two', 'stranger'].map((uid) => ({ uid }));
    const added = await sync({ members: ids });
    expect([added.statusCode, added.json()]).toEqual([
      200,
      {
        status: 'success',
        message: 'Your request has been accepted and will be processed soon.',
        request_id: expect.any(String),
      },
    ]);
    expect(await bundle.members('High value')).toEqual(['one', 'two']);
    await sync({ members: ids });
    expect((await bundle.segment('High value')).user_count).toBe(2);
    await sync({ members: ids.slice(0, 1) }, { action: 'remove_members' });
    expect(await bundle.members('High value')).toEqual(['two']);
    expect((await bundle.database`select count(*) as n from users where customer_id = 'stranger'`)[0]!.n).toBe(0);
  });

  test('creates one segment for concurrent first requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        sync({ cohort_name: 'Race', cohort_id: 'race', members: [{ uid: 'user-cohort-0-one' }] }),
      ),
    );
    expect(answers.map((answer) => answer.statusCode)).toEqual(Array.from({ length: 8 }, () => 200));
    expect((await bundle.segment('Race')).user_count).toBe(1);
  });

  test('rejects a name of another segment, so that file segments are not changed this way', async () => {
    const name = fresh();
    await bundle.create({ name });
    expect((await sync({ cohort_name: name, cohort_id: 'other' })).statusCode).toBe(409);
  });

  test.each([
    ['action', { action: 'add' }, {}],
    ['partner', { partner: undefined }, {}],
    ['parameters', { parameters: [] }, {}],
    ['cohort_name', {}, { cohort_name: '.hidden' }],
    ['cohort_name', {}, { cohort_name: 'a|b' }],
    ['cohort_id', {}, { cohort_id: '' }],
    ['members', {}, { members: {} }],
    ['members', {}, { members: [{ uid: 5.5 }] }],
  ])('rejects %s in the shape of the data API', async (field, more, parameters) => {
    const answer = await sync(parameters, more);
    expect([answer.statusCode, answer.json().status]).toEqual([400, 'fail']);
    expect(answer.json().error.attribute).toBe(field);
  });

  test('requires SVC-APPKEY of the workspace', async () => {
    expect((await sync({}, {}, { 'svc-appkey': undefined })).statusCode).toBe(400);
    expect((await sync({}, {}, { 'svc-appkey': 'OTHER' })).statusCode).toBe(400);
  });
});

test('answers any request in the documented shape, and never with an internal error (reliability R11)', async () => {
  const fuzzed = await makeSegmentBundle({ limits: { cohortRequestsPerMinute: 100_000 } });
  try {
    const anything = fc.anything({ maxDepth: 3, withNullPrototype: false });
    const body = fc.oneof(
      anything,
      fc.record(
        {
          name: fc.oneof(fc.string(), anything),
          attribute_name: fc.oneof(fc.string(), anything),
          attribute_type: fc.oneof(fc.constantFrom('string', 'double'), anything),
          file_url: fc.oneof(fc.webUrl(), anything),
          callback_url: fc.oneof(fc.webUrl(), anything),
          emails: anything,
          expiry_time: fc.oneof(fc.integer(), anything),
          cs_id: anything,
          included_filters: anything,
          action: fc.oneof(fc.constantFrom('add_members', 'remove_members'), anything),
          partner: anything,
          parameters: anything,
        },
        { requiredKeys: [] },
      ),
    );
    const route = fc.constantFrom(
      ['POST', '/v2/custom-segments/file-segment'] as const,
      ['PUT', '/v2/custom-segments/file-segment/add-users'] as const,
      ['PATCH', '/v2/custom-segments/archive'] as const,
      ['PATCH', '/v2/custom-segments/unarchive'] as const,
      ['POST', '/v3/custom-segments'] as const,
      ['PATCH', `/v3/custom-segments/${'a'.repeat(24)}`] as const,
      ['POST', '/v1/integrations/cohortsync'] as const,
    );
    await fc.assert(
      fc.asyncProperty(route, body, async ([method, url], sent) => {
        const text = JSON.stringify(sent, (_key, value) => (typeof value === 'bigint' ? String(value) : value)) ?? '';
        const headers = { 'svc-appkey': fuzzed.workspaceId, 'content-type': 'application/json' };
        const answer = await fuzzed.call(method, url, { headers, body: text });
        expect(answer.statusCode).toBeLessThan(500);
        const shape = Object.keys(answer.json()).sort().join();
        expect([
          'description,title',
          'error,response_id,type',
          'error,status',
          'cs_id,cs_name,message,success',
          'data,response_id,type',
          'message,request_id,status',
        ]).toContain(shape);
      }),
      { numRuns: propertyRuns(300) },
    );
  } finally {
    await fuzzed.end();
  }
});
