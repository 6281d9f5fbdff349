import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bucketOf } from '../../src/domain/users/users.ts';
import { makeId } from '../../src/domain/ids.ts';
import { countFilterUsers, freezeFilterAudience } from '../../src/storage/segments/segment-filters.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { evaluateSegmentFilter } from './evaluate-segment-filter.ts';
import type { FilterUser } from './evaluate-segment-filter.ts';
import { at, attribute, filterOf, group, parsed, segmentIds, stored, words } from './filter-arbitraries.ts';
import type { Filter } from './filter-arbitraries.ts';
import { propertyRuns } from '../property-runs.ts';

let bundle: TestDatabase;

beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

/** Stores users in a workspace of their own; values of attributes are given as JSON or as its text. */
async function storeUsers(users: { customerId: string; attributes: unknown }[]): Promise<string> {
  const workspaceId = await insertTestWorkspace(bundle.database, at);
  await bundle.database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select ${workspaceId}, bucket, customer_id, customer_id, attributes::jsonb, ${at}, ${at}
    from unnest(
      ${users.map(({ customerId }) => bucketOf(customerId))}::smallint[],
      ${users.map(({ customerId }) => customerId)}::text[],
      ${users.map(({ attributes }) => (typeof attributes === 'string' ? attributes : JSON.stringify(attributes)))}::text[]
    ) as given (bucket, customer_id, attributes)`;
  return workspaceId;
}

type Trees = { included: unknown; excluded?: unknown };

/** The customer ids that both statements find, in order. */
async function findUsers(workspaceId: string, { included, excluded }: Trees): Promise<string[]> {
  const audience = {
    workspaceId,
    included: parsed(included),
    excluded: excluded === undefined ? undefined : parsed(excluded),
    at,
  };
  const segmentId = makeId(at);
  const frozen = await freezeFilterAudience(bundle.database, { ...audience, segmentId });
  const rows = await bundle.database<{ user_id: string; bucket: number; added_in: number; removed_in: null }[]>`
    select user_id, bucket, added_in, removed_in from segment_members
    where workspace_id = ${workspaceId} and segment_id = ${segmentId} order by user_id`;
  expect(
    rows.every((row) => row.added_in === 0 && row.removed_in === null && row.bucket === bucketOf(row.user_id)),
  ).toBe(true);
  expect([frozen, await countFilterUsers(bundle.database, audience)]).toEqual([rows.length, rows.length]);
  return rows.map((row) => row.user_id);
}

/** The values of attribute `x` that pass a filter; negated it must hold for exactly the others, and for nobody's lack. */
async function passing(filter: Filter, values: unknown[]): Promise<unknown[]> {
  const users = values.map((x, index) => ({ customerId: `user-${index}`, attributes: { x } }));
  const workspaceId = await storeUsers([...users, { customerId: 'without', attributes: {} }]);
  const found = await findUsers(workspaceId, { included: group(attribute(filter)) });
  const others = await findUsers(workspaceId, { included: group(attribute({ ...filter, negate: true })) });
  expect([...found, ...others].sort()).toEqual([...users.map(({ customerId }) => customerId), 'without'].sort());
  expect(found).not.toContain('without');
  return values.filter((_, index) => found.includes(`user-${index}`));
}

const strange = [null, '', ' ', 0, 1, true, false, [], {}, ['a'], [1], [null], { x: 'a' }, 'a', '1', 'true', '[]'];

describe('an operator, which matches these values only; negated, it matches the rest and users without the attribute', () => {
  const texts = [
    'Köln',
    'KÖLN',
    'Ko\u0308ln',
    'Bonn',
    'Kölner',
    'bei Köln',
    '50%',
    '5_0',
    'a\\b',
    'Straße',
    'ΟΔΟΣ',
    '',
  ];
  test.each<[string, Filter, unknown[]]>([
    ['is ignores case and form', { operator: 'is', value: 'köln' }, ['Köln', 'KÖLN', 'Ko\u0308ln']],
    ['is, case-sensitive', { operator: 'is', value: 'Ko\u0308ln', case_sensitive: true }, ['Köln', 'Ko\u0308ln']],
    ['is, the empty text', { operator: 'is', value: '' }, ['']],
    ['in', { operator: 'in', value: ['bonn', 'STRASSE', 'nowhere'] }, ['Bonn', 'Straße']],
    ['contains', { operator: 'contains', value: 'öln' }, ['Köln', 'KÖLN', 'Ko\u0308ln', 'Kölner', 'bei Köln']],
    ['contains, case-sensitive', { operator: 'contains', value: 'ÖLN', case_sensitive: true }, ['KÖLN']],
    ['contains, a final sigma', { operator: 'contains', value: 'οδος' }, ['ΟΔΟΣ']],
    ['contains, no pattern: %', { operator: 'contains', value: '%' }, ['50%']],
    ['contains, no pattern: _', { operator: 'contains', value: '_' }, ['5_0']],
    ['contains, no pattern: \\', { operator: 'contains', value: '\\' }, ['a\\b']],
    ['containsInTheFollowing', { operator: 'containsInTheFollowing', value: ['bon', 'ner'] }, ['Bonn', 'Kölner']],
    [
      'startsWithInTheFollowing',
      { operator: 'startsWithInTheFollowing', value: ['BE', '5'] },
      ['bei Köln', '50%', '5_0'],
    ],
    ['startWithInTheFollowing', { operator: 'startWithInTheFollowing', value: ['kölne'] }, ['Kölner']],
    ['endsWithInTheFollowing', { operator: 'endsWithInTheFollowing', value: ['nn', 'ER'] }, ['Bonn', 'Kölner']],
    ['exists', { operator: 'exists' }, texts],
  ])('matches string %s', async (_what, filter, found) => {
    expect(await passing({ data_type: 'string', ...filter }, [...texts, 7, true, null, ['Köln'], {}])).toEqual(found);
  });

  const numbers = [-1, -0.5, 0, 0.1, 0.30000000000000004, 1, 2, 9007199254740991, 1e300, 5e-324];
  test.each<[string, Filter, unknown[]]>([
    ['in', { operator: 'in', value: [1, 0.3, -1] }, [-1, 1]],
    ['in, one number to the last digit', { operator: 'in', value: 0.1 + 0.2 }, [0.30000000000000004]],
    ['in, zero', { operator: 'in', value: [-0] }, [0]],
    ['lessThan', { operator: 'lessThan', value: 0.1 }, [-1, -0.5, 0, 5e-324]],
    ['greaterThan', { operator: 'greaterThan', value: 2 }, [9007199254740991, 1e300]],
    ['between, both included', { operator: 'between', value: -0.5, value1: 0.1 }, [-0.5, 0, 0.1, 5e-324]],
    ['exists', { operator: 'exists' }, numbers],
  ])('matches double %s', async (_what, filter, found) => {
    expect(await passing({ data_type: 'double', ...filter }, [...numbers, '1', true, null, [1], {}])).toEqual(found);
  });

  test.each<[string, Filter, unknown[]]>([
    ['is true', { operator: 'is', value: true }, [true]],
    ['is false', { operator: 'is', value: false }, [false]],
    ['exists', { operator: 'exists' }, [true, false]],
  ])('matches bool %s', async (_what, filter, found) => {
    expect(await passing({ data_type: 'bool', ...filter }, strange)).toEqual(found);
  });

  const times = {
    old: '1999-12-31',
    weekAgo: '2026-03-03T15:30:00.250Z',
    justBeforeWeekAgo: '2026-03-03T15:30:00.249Z',
    yesterday: '2026-03-09T23:59:59.999999',
    midnight: '2026-03-10 00:00',
    todayWithOffset: '2026-03-11T01:00:00+0530',
    now: Date.UTC(2026, 2, 10, 15, 30, 0, 250) / 1000,
    tomorrow: '2026-03-11',
    inAWeek: '2026-03-17T15:30:00.250Z',
    afterAWeek: '2026-03-17T15:30:00.251Z',
  };
  type TimeName = keyof typeof times;
  const all = Object.keys(times) as TimeName[];
  const past = { value_type: 'relative_past' };
  test.each<[string, Filter, TimeName[]]>([
    ['on a day', { operator: 'on', value: '2026-03-09' }, ['yesterday']],
    [
      'on the day of an instant',
      { operator: 'on', value: '2026-03-11T00:10:00+01:00' },
      ['midnight', 'todayWithOffset', 'now'],
    ],
    ['on a relative day', { operator: 'on', value: 1, ...past }, ['yesterday']],
    ['before a day', { operator: 'before', value: '2026-03-03' }, ['old']],
    ['before an instant', { operator: 'before', value: '2026-03-03T15:30:00.250Z' }, ['old', 'justBeforeWeekAgo']],
    ['before a relative day', { operator: 'before', value: 7, ...past }, ['old']],
    ['after a day is after all of it', { operator: 'after', value: '2026-03-11' }, ['inAWeek', 'afterAWeek']],
    ['after an instant', { operator: 'after', value: '2026-03-17T15:30:00.250' }, ['afterAWeek']],
    ['after a relative day', { operator: 'after', value: 1, value_type: 'relative_future' }, ['inAWeek', 'afterAWeek']],
    [
      'between days, the last one whole',
      { operator: 'between', value: '2026-03-09', value1: '2026-03-10' },
      ['yesterday', 'midnight', 'todayWithOffset', 'now'],
    ],
    [
      'between instants, both included',
      { operator: 'between', value: '2026-03-03T15:30:00.250Z', value1: '2026-03-10T00:00:00.000Z' },
      ['weekAgo', 'yesterday', 'midnight'],
    ],
    [
      'between relative days, in either order',
      { operator: 'between', value: 1, value1: 7, ...past },
      ['weekAgo', 'justBeforeWeekAgo', 'yesterday'],
    ],
    [
      'inTheLast days, to the millisecond',
      { operator: 'inTheLast', value: 7, ...past },
      ['weekAgo', 'yesterday', 'midnight', 'now'],
    ],
    [
      'inTheNext days, to the millisecond',
      { operator: 'inTheNext', value: 7 },
      ['todayWithOffset', 'now', 'tomorrow', 'inAWeek'],
    ],
    ['today', { operator: 'today' }, ['midnight', 'todayWithOffset', 'now']],
    ['is an instant, to the millisecond', { operator: 'is', value: '2026-03-09T23:59:59.999Z' }, ['yesterday']],
    ['in days and instants', { operator: 'in', value: ['1999-12-31', '2026-03-11T00:00Z'] }, ['old', 'tomorrow']],
    ['exists', { operator: 'exists' }, all],
  ])('matches datetime %s', async (_what, filter, found) => {
    const noTimes = [
      '2026-02-29',
      '2026-03-10T24:00',
      'now',
      'infinity',
      '',
      253_402_300_800,
      -1e300,
      true,
      null,
      ['2026-03-10'],
      {},
    ];
    const expected = found.map((name) => times[name]);
    expect(await passing({ data_type: 'datetime', ...filter }, [...Object.values(times), ...noTimes])).toEqual(
      Object.values(times).filter((time) => expected.includes(time)),
    );
  });

  test('rounds seconds to a millisecond', async () => {
    const now = at.getTime() / 1000;
    const filter = { data_type: 'datetime', operator: 'is', value: at.toISOString() };
    expect(await passing(filter, [now, now + 0.0004, now - 0.0004, now + 0.0006])).toEqual([
      now,
      now + 0.0004,
      now - 0.0004,
    ]);
  });

  const lists = { ab: ['Apple', 'banana'], aa: ['apple', 'APPLE'], mixed: ['apple', 1], empty: [], none: ['cherry'] };
  test.each<[string, Filter, (keyof typeof lists)[]]>([
    ['in', { operator: 'in', value: ['apple', 'fig'] }, ['ab', 'aa', 'mixed']],
    ['in, all_of', { operator: 'in', value: ['apple', 'fig'], array_filter_type: 'all_of' }, ['aa']],
    ['is, case-sensitive', { operator: 'is', value: 'Apple', case_sensitive: true }, ['ab']],
    ['contains', { operator: 'contains', value: 'AN' }, ['ab']],
    ['contains, all_of', { operator: 'contains', value: ['an', 'pp'], array_filter_type: 'all_of' }, ['ab', 'aa']],
    ['startsWith', { operator: 'startsWith', value: 'ch' }, ['none']],
    ['endsWith, any_of', { operator: 'endsWith', value: 'a', array_filter_type: 'any_of' }, ['ab']],
    ['exists', { operator: 'exists' }, ['ab', 'aa', 'mixed', 'none']],
  ])('matches array_string %s', async (_what, filter, found) => {
    expect(
      await passing({ data_type: 'array_string', ...filter }, [...Object.values(lists), 'apple', 1, null, {}]),
    ).toEqual(found.map((name) => lists[name]));
  });

  test.each<[string, Filter, unknown[]]>([
    ['in', { operator: 'in', value: [2, 9] }, [[1, 2], [2, 'x'], [2]]],
    ['lessThan', { operator: 'lessThan', value: 2 }, [[1, 2]]],
    ['greaterThan, all_of', { operator: 'greaterThan', value: 1, array_filter_type: 'all_of' }, [[2]]],
    ['between, all_of', { operator: 'between', value: 1, value1: 2, array_filter_type: 'all_of' }, [[1, 2], [2]]],
    ['exists', { operator: 'exists' }, [[1, 2], [2, 'x'], [2]]],
  ])('matches array_double %s', async (_what, filter, found) => {
    expect(
      await passing({ data_type: 'array_double', ...filter }, [[1, 2], [2, 'x'], [2], [], ['2'], 2, null, {}]),
    ).toEqual(found);
  });
});

describe('an audience', () => {
  test('uses the customer id for uid, whatever an attribute of that name says', async () => {
    const workspaceId = await storeUsers([
      { customerId: 'ada', attributes: { uid: 'tim' } },
      { customerId: 'tim', attributes: {} },
    ]);
    const tree = group(attribute({ name: 'uid', data_type: 'string', operator: 'is', value: 'ada' }));
    expect(await findUsers(workspaceId, { included: tree })).toEqual(['ada']);
  });

  test('excludes users, except those that the excluded filter matches only for lack of a value', async () => {
    const workspaceId = await storeUsers([
      { customerId: 'ada', attributes: { town: 'Bonn', level: 3 } },
      { customerId: 'tim', attributes: { town: 'Bonn' } },
      { customerId: 'eve', attributes: { level: 1 } },
    ]);
    const included = group(attribute({ name: 'town', data_type: 'string', operator: 'exists' }));
    const excluded = group(attribute({ name: 'level', data_type: 'double', operator: 'greaterThan', value: 2 }));
    expect(await findUsers(workspaceId, { included, excluded })).toEqual(['tim']);
  });

  test('contains no users of another workspace', async () => {
    const [own, other] = [
      await storeUsers([{ customerId: 'ada', attributes: { x: 1 } }]),
      await storeUsers([{ customerId: 'tim', attributes: { x: 1 } }]),
    ];
    const tree = group(attribute({ data_type: 'double', operator: 'exists' }));
    expect([await findUsers(own, { included: tree }), await findUsers(other, { included: tree })]).toEqual([
      ['ada'],
      ['tim'],
    ]);
  });

  test('is frozen once, and fails the second time', async () => {
    const workspaceId = await storeUsers([{ customerId: 'ada', attributes: { x: 1 } }]);
    const included = parsed(group(attribute({ data_type: 'double', operator: 'exists' })));
    const freeze = () =>
      freezeFilterAudience(bundle.database, { workspaceId, included, at, segmentId: 'd'.repeat(24) });
    expect(await freeze()).toBe(1);
    await expect(freeze()).rejects.toThrow(/duplicate key/);
  });

  test('contains the members of a segment’s visible version in this workspace, of a file or a cohort', async () => {
    const customers = ['member', 'removed', 'being-added', 'being-removed', 'again', 'stranger'];
    const workspaceId = await storeUsers(customers.map((customerId) => ({ customerId, attributes: {} })));
    const otherId = await storeUsers(customers.map((customerId) => ({ customerId, attributes: {} })));
    const segment = makeId(at);
    const foreign = makeId(at);
    await insertSegment({ id: segment, workspaceId, version: 3 });
    await insertSegment({ id: foreign, workspaceId: otherId, version: 3 });
    const history: [string, number, number | null][] = [
      ['member', 1, null],
      ['removed', 1, 3],
      ['being-added', 4, null],
      ['being-removed', 1, 4],
      ['again', 1, 2],
      ['again', 3, null],
    ];
    for (const [customerId, addedIn, removedIn] of history) {
      for (const id of [segment, foreign]) {
        await bundle.database`
          insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in, removed_in)
          values (${workspaceId}, ${bucketOf(customerId)}, ${id}, ${customerId}, ${addedIn}, ${removedIn})`;
      }
    }
    const reference = (id: string, negate = false) =>
      group({ filter_type: 'custom_segments', id, name: 'label', negate });
    expect(await findUsers(workspaceId, { included: reference(segment) })).toEqual([
      'again',
      'being-removed',
      'member',
    ]);
    expect(await findUsers(workspaceId, { included: reference(segment, true) })).toEqual([
      'being-added',
      'removed',
      'stranger',
    ]);
    expect(await findUsers(workspaceId, { included: reference(foreign) })).toEqual([]);
    expect(await findUsers(otherId, { included: reference(segment) })).toEqual([]);
    expect(await findUsers(workspaceId, { included: reference(makeId(at)) })).toEqual([]);
  });

  test('is empty for a reference to a filter segment that was not expanded', async () => {
    const workspaceId = await storeUsers([{ customerId: 'ada', attributes: {} }]);
    const id = makeId(at);
    await bundle.database`
      insert into segments (id, workspace_id, name, kind, state, source, included_filters, filters_digest, created_by,
        created_at, updated_at)
      values (${id}, ${workspaceId}, ${id}, 'FILTER', 'READY', 'API', '{}', ${Buffer.alloc(32)}, 'test', ${at}, ${at})`;
    await bundle.database`
      insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
      values (${workspaceId}, ${bucketOf('ada')}, ${id}, 'ada', 0)`;
    expect(await findUsers(workspaceId, { included: group({ filter_type: 'custom_segments', id }) })).toEqual([]);
  });

  test('causes no error with any operator and any stored value', async () => {
    const huge = '9'.repeat(400);
    const values = [
      ...strange.map((value) => JSON.stringify(value)),
      ...[huge, `-${huge}`, '1e400', '-1e400', '1e-400', '253402300799.9999', '-62135596800.1', '1e15'],
      ...[
        '"\\ud83d\\ude00"',
        `"${'ß'.repeat(5000)}"`,
        '"0000-01-01"',
        '"0001-01-01T00:00:00+14:59"',
        '"9999-12-31T23:59:59-14:59"',
      ],
      ...[
        '"2026-02-30"',
        '"2026-03-10T10:00:60Z"',
        '"2026-03-10T10:00+15:00"',
        '"2026-03-10T10:00:00.1234567890Z"',
        '"2026-03-10Z"',
      ],
      ...[
        '"2026-03-10\\n"',
        '"epoch"',
        '"infinity"',
        '"٢٠٢٦-٠٣-١٠"',
        `[${huge}, "a", [[]], null, {"a": 1}, "2026-03-10"]`,
      ],
    ];
    const workspaceId = await storeUsers(
      values.map((value, index) => ({ customerId: `user-${index}`, attributes: `{"x": ${value}}` })),
    );
    for (const filter of fc.sample(filterOf('x'), { numRuns: propertyRuns(300), seed: 7 }))
      await findUsers(workspaceId, { included: group(filter) });
  });
});

async function insertSegment({ id, workspaceId, version }: { id: string; workspaceId: string; version: number }) {
  await bundle.database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version, user_count,
      created_by, created_at, updated_at)
    values (${id}, ${workspaceId}, ${id}, 'FILE', 'READY', 'API', 'uid', 'string', ${version}, 0, 'test', ${at}, ${at})`;
}

describe('the SQL evaluation', () => {
  const names = ['x', 'y', 'uid', "o'neil; --", 'constructor'];
  const { tree } = fc.letrec<{ tree: Filter; node: Filter }>((tie) => ({
    tree: fc.record(
      {
        filter_type: fc.constant('nested_filters'),
        filter_operator: fc.constantFrom('and', 'or'),
        negate: fc.boolean(),
        filters: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      },
      { requiredKeys: ['filter_type', 'filter_operator', 'filters'] },
    ),
    node: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'filter' },
      { weight: 6, arbitrary: filterOf(...names) },
      {
        weight: 1,
        arbitrary: fc.record({
          filter_type: fc.constant('custom_segments'),
          id: fc.constantFrom(...segmentIds),
          negate: fc.boolean(),
        }),
      },
      { weight: 2, arbitrary: tie('tree') },
    ),
  }));
  const user = fc.record({
    attributes: fc.dictionary(fc.constantFrom(...names), stored, { maxKeys: 5 }),
    segments: fc.subarray(segmentIds),
  });

  /** One segment per workspace and letter: ids are global. */
  const localise = (filter: any, ids: Map<string, string>): any =>
    filter.filters
      ? { ...filter, filters: filter.filters.map((inner: any) => localise(inner, ids)) }
      : filter.filter_type === 'custom_segments'
        ? { ...filter, id: ids.get(filter.id) }
        : filter;

  async function storeFilterUsers(users: FilterUser[]): Promise<{ workspaceId: string; ids: Map<string, string> }> {
    const workspaceId = await storeUsers(users);
    const ids = new Map(segmentIds.map((id) => [id, makeId(at)]));
    for (const id of ids.values()) await insertSegment({ id, workspaceId, version: 1 });
    const members = users.flatMap(({ customerId, segments }) =>
      segments.map((id) => [customerId, ids.get(id)!] as const),
    );
    if (members.length > 0) {
      await bundle.database`
        insert into segment_members ${bundle.database(
          members.map(([customerId, id]) => ({
            workspace_id: workspaceId,
            bucket: bucketOf(customerId),
            segment_id: id,
            user_id: customerId,
            added_in: 1,
          })),
        )}`;
    }
    return { workspaceId, ids };
  }

  test('agrees with a plain evaluator on random users, trees and exclusions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(user, { minLength: 1, maxLength: 12 }),
        fc.array(fc.tuple(tree, fc.option(tree, { nil: undefined })), { minLength: 1, maxLength: 6 }),
        async (given, audiences) => {
          // The customer ids hold the texts that filters look for.
          const users = given.map((one, index) => ({ ...one, customerId: `${words[index % words.length]}-${index}` }));
          const { workspaceId, ids } = await storeFilterUsers(users);
          for (const [included, excluded] of audiences) {
            const expected = users
              .filter((one) => evaluateSegmentFilter(included, one, at))
              .filter((one) => excluded === undefined || !evaluateSegmentFilter(excluded, one, at))
              .map(({ customerId }) => customerId);
            const found = await findUsers(workspaceId, {
              included: localise(included, ids),
              excluded: excluded && localise(excluded, ids),
            });
            expect([...found].sort()).toEqual(expected.sort());
          }
        },
      ),
      { numRuns: propertyRuns(250) },
    );
  }, 120_000);

  test('agrees with a plain evaluator on each kind of filter, with values close to its condition', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stored, { minLength: 20, maxLength: 40 }),
        fc.array(filterOf('x'), { minLength: 10, maxLength: 10 }),
        async (values, filters) => {
          const users = values.map((x, index) => ({ customerId: `user-${index}`, attributes: { x }, segments: [] }));
          const workspaceId = await storeUsers(users);
          for (const filter of filters) {
            const expected = users
              .filter((one) => evaluateSegmentFilter(filter, one, at))
              .map(({ customerId }) => customerId);
            expect([...(await findUsers(workspaceId, { included: group(filter) }))].sort()).toEqual(expected.sort());
          }
        },
      ),
      { numRuns: propertyRuns(150) },
    );
  }, 120_000);
});
