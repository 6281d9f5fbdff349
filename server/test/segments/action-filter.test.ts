import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { describeSegmentFilter } from '../../src/domain/segments/preview.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { makeId } from '../../src/domain/ids.ts';
import { countFilterUsersIn, listEventNames, listSomeFilterUsers } from '../../src/storage/segments/filter-samples.ts';
import { countFilterUsers, freezeFilterAudience } from '../../src/storage/segments/segment-filters.ts';
import { ensureEventsPartition } from '../../src/storage/users/events.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { propertyRuns } from '../property-runs.ts';
import { vacuumWhole } from '../vacuum-whole.ts';
import { evaluateSegmentFilter } from './evaluate-segment-filter.ts';
import type { FilterUser } from './evaluate-segment-filter.ts';
import { at, filterOf, group, parsed, stored } from './filter-arbitraries.ts';
import type { Filter } from './filter-arbitraries.ts';

const dayMilliseconds = 86_400_000;
type Event = NonNullable<FilterUser['events']>[number] & { receivedAt: Date };
type Doer = Omit<FilterUser, 'events'> & { events: Event[] };

const ago = (milliseconds: number): Date => new Date(at.getTime() - milliseconds);

describe('filters of what users did', () => {
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    for (let days = 0; days <= 40; days += 1)
      await ensureEventsPartition(
        bundle.database,
        ago(days * dayMilliseconds)
          .toISOString()
          .slice(0, 10),
      );
  });
  afterAll(() => bundle.drop());

  async function store(users: readonly Doer[]): Promise<string> {
    const workspaceId = await insertTestWorkspace(bundle.database, at);
    await bundle.database`
      insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
      select ${workspaceId}, bucket, customer_id, customer_id, attributes::jsonb, ${at}, ${at}
      from unnest(
        ${users.map(({ customerId }) => bucketOf(customerId))}::smallint[],
        ${users.map(({ customerId }) => customerId)}::text[],
        ${users.map(({ attributes }) => JSON.stringify(attributes))}::text[]
      ) as given (bucket, customer_id, attributes)`;
    const events = users.flatMap(({ customerId, events: done }) => done.map((event) => ({ ...event, customerId })));
    await bundle.database`
      insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at)
      select (received_at at time zone 'UTC')::date, ${workspaceId}, bucket, id, user_id, name, attributes::jsonb,
        occurred_at, received_at
      from unnest(
        ${events.map(({ customerId }) => bucketOf(customerId))}::smallint[],
        ${events.map(({ receivedAt }) => makeId(receivedAt))}::text[],
        ${events.map(({ customerId }) => customerId)}::text[], ${events.map(({ name }) => name)}::text[],
        ${events.map(({ attributes }) => JSON.stringify(attributes))}::text[],
        ${events.map(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[],
        ${events.map(({ receivedAt }) => receivedAt.toISOString())}::timestamptz[]
      ) as given (bucket, id, user_id, name, attributes, occurred_at, received_at)`;
    return workspaceId;
  }

  /** The customer ids that the four statements find, in order. */
  async function find(workspaceId: string, included: unknown): Promise<string[]> {
    const audience = { workspaceId, included: parsed(included), at };
    const segmentId = makeId(at);
    await freezeFilterAudience(bundle.database, { ...audience, segmentId });
    const rows = await bundle.database<{ user_id: string }[]>`
      select user_id from segment_members where workspace_id = ${workspaceId} and segment_id = ${segmentId}`;
    const found = rows.map(({ user_id: id }) => id).sort();
    const sample = await listSomeFilterUsers(bundle.database, { ...audience, limit: 1_000 });
    expect(sample.map(({ id }) => id).sort()).toEqual(found);
    const everyBucket = Array.from({ length: 256 }, (_, bucket) => bucket);
    expect([
      await countFilterUsers(bundle.database, audience),
      await countFilterUsersIn(bundle.database, { ...audience, buckets: everyBucket }),
    ]).toEqual([found.length, found.length]);
    return found;
  }

  const ordered = (days: number, attributes: Record<string, unknown> = {}): Event => {
    const occurredAt = ago(days * dayMilliseconds);
    return { name: 'order placed', attributes, occurredAt, receivedAt: occurredAt };
  };
  const doer = (customerId: string, ...events: Event[]): Doer => ({
    customerId,
    attributes: {},
    segments: [],
    events,
  });
  const action = (filter: Filter): Filter =>
    group({ filter_type: 'actions', action_name: 'order placed', executed: true, ...filter });
  const inTheLast = (value: number, period_unit = 'days') => ({
    primary_time_range: { type: 'inTheLast', value, period_unit },
  });
  const dear = { attributes: group({ name: 'total', data_type: 'double', operator: 'greaterThan', value: 50 }) };

  test.each<[string, Filter, string[]]>([
    ['did at any time', {}, ['dear', 'late', 'once', 'thrice']],
    ['did in the last 7 days, both ends included', inTheLast(7), ['dear', 'once', 'thrice']],
    ['did in the last 24 hours', inTheLast(24, 'hours'), ['thrice']],
    ['did in the last 5 weeks', inTheLast(5, 'weeks'), ['dear', 'late', 'once', 'thrice']],
    ['did in the last month, of 30 days', inTheLast(1, 'months'), ['dear', 'late', 'once', 'thrice']],
    ['did not in the last 7 days', { executed: false, ...inTheLast(7) }, ['late', 'never', 'other']],
    [
      'did exactly 0 times in the last 7 days',
      { executed: false, execution: { type: 'exactly', count: 0 }, ...inTheLast(7) },
      ['late', 'never', 'other'],
    ],
    ['did at least twice', { execution: { type: 'atleast', count: 2 } }, ['thrice']],
    ['did exactly once', { execution: { type: 'exactly', count: 1 } }, ['dear', 'late', 'once']],
    ['did at most once', { execution: { type: 'atmost', count: 1 } }, ['dear', 'late', 'never', 'once', 'other']],
    [
      'did at least twice, negated',
      { execution: { type: 'atleast', count: 2 }, negate: true },
      ['dear', 'late', 'never', 'once', 'other'],
    ],
    ['did with an attribute', dear, ['dear']],
    ['did on a day', { primary_time_range: { type: 'on', value: 3, value_type: 'relative_past' } }, ['dear', 'thrice']],
    ['did before a day', { primary_time_range: { type: 'before', value: '2026-03-01' } }, ['late']],
    ['did after a day', { primary_time_range: { type: 'after', value: '2026-03-08' } }, ['thrice']],
    [
      'did between two days',
      { primary_time_range: { type: 'between', value: 7, value1: 2, value_type: 'relative_past' } },
      ['dear', 'once', 'thrice'],
    ],
  ])('finds users who %s', async (_what, filter, expected) => {
    const other: Event = { ...ordered(1), name: 'Order placed' };
    const workspaceId = await store([
      doer('never'),
      doer('once', ordered(7)),
      doer('thrice', ordered(1), ordered(3), ordered(5)),
      doer('late', ordered(20)),
      doer('dear', ordered(3, { total: 59.9 })),
      doer('other', other),
    ]);
    // The same event in another workspace, by a user of the same id.
    await store([doer('never', ordered(1))]);
    expect(await find(workspaceId, action(filter))).toEqual(expected);
  });

  test('agrees with a plain evaluator on random events and filters', async () => {
    const event = fc
      .record({
        name: fc.constantFrom('a', 'b'),
        attributes: fc.dictionary(fc.constantFrom('x', 'uid', "o'neil; --"), stored, { maxKeys: 2 }),
        happened: fc.oneof(
          fc.integer({ min: 0, max: 12 * dayMilliseconds }),
          fc.constantFrom(0, 1, 2, 7).map((days) => days * dayMilliseconds),
        ),
        received: fc.constantFrom(0, 0, 0.5, 1),
      })
      .map(({ name, attributes, happened, received }) => ({
        ...{ name, attributes, occurredAt: ago(happened), receivedAt: ago(happened * (1 - received)) },
      }));
    const ofEvent = filterOf('x', 'uid', "o'neil; --").filter(
      ({ data_type: type }) => !String(type).startsWith('array'),
    );
    const range = fc.oneof(
      fc.record({
        type: fc.constant('inTheLast'),
        value: fc.integer({ min: 1, max: 9 }),
        period_unit: fc.constantFrom('hours', 'days', 'weeks', 'months'),
      }),
      fc.record({
        type: fc.constantFrom('on', 'before', 'after'),
        value: fc.integer({ min: 0, max: 9 }),
        value_type: fc.constant('relative_past'),
      }),
      fc.record({
        type: fc.constantFrom('on', 'before', 'after'),
        value: fc.constantFrom('2026-03-08', '2026-03-09T15:30:00.250Z'),
      }),
    );
    const filter = fc
      .record(
        {
          action_name: fc.constantFrom('a', 'b', 'c'),
          negate: fc.boolean(),
          execution: fc.oneof(
            fc.record({ type: fc.constant('atleast'), count: fc.integer({ min: 1, max: 3 }) }),
            fc.record({ type: fc.constantFrom('exactly', 'atmost'), count: fc.integer({ min: 0, max: 3 }) }),
          ),
          primary_time_range: range,
          attributes: fc.record({
            filter_operator: fc.constantFrom('and', 'or'),
            negate: fc.boolean(),
            filters: fc.array(ofEvent, { minLength: 1, maxLength: 2 }),
          }),
        },
        { requiredKeys: ['action_name'] },
      )
      .map((sent): Filter => ({ filter_type: 'actions', ...sent }));
    const tree = fc.record({
      filter_operator: fc.constantFrom('and', 'or'),
      filters: fc.array(filter, { minLength: 1, maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(event, { maxLength: 5 }), { minLength: 4, maxLength: 12 }),
        fc.array(tree, { minLength: 3, maxLength: 3 }),
        async (histories, trees) => {
          const users = histories.map((events, index) => doer(`user-${index}`, ...events));
          const workspaceId = await store(users);
          for (const one of trees) {
            const expected = users.filter((user) => evaluateSegmentFilter(one, user, at));
            expect(await find(workspaceId, one)).toEqual(expected.map(({ customerId }) => customerId).sort());
          }
        },
      ),
      { numRuns: propertyRuns(40) },
    );
  }, 120_000);

  // The plan of a cluster names no partition.
  test.skipIf(inject('workerUrls') !== null)(
    'reads no user’s events one by one, and no day before the span',
    async () => {
      const { database } = bundle;
      const workspaceId = await store([]);
      await database`
      insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      select ${workspaceId}, number % 256, 'u' || number, 'person-' || number, ${at}, ${at}
      from generate_series(1, 20000) as number`;
      await database`
      insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at)
      select ((${at}::timestamptz - number % 40 * interval '1 day') at time zone 'UTC')::date, ${workspaceId}, number % 256,
        'e' || number, 'u' || number, 'opened', '{}', ${at}::timestamptz - number % 40 * interval '1 day',
        ${at}::timestamptz - number % 40 * interval '1 day'
      from generate_series(1, 20000) as number`;
      await vacuumWhole(database, ['users', 'events']);
      const plans: string[] = [];
      const included = parsed(group({ filter_type: 'actions', action_name: 'opened', ...inTheLast(3) }));
      const application = bundle.application.forWorkspace(workspaceId);
      const audience = { workspaceId, included, at };
      await listSomeFilterUsers(collectPlans(application, plans), { ...audience, limit: 20_000 });
      expect(await countFilterUsers(application, audience)).toBe(4 * 500);
      // Four days hold the last three times 24 hours.
      expect(new Set(plans[0]!.match(/events_2026\d{4}/g)).size).toBe(4);
      expect(plans[0]).toMatch(/Hash|Merge/);
    },
  );

  test('lists the names of events, the most frequent first', async () => {
    const workspaceId = await store([
      doer('ada', ordered(1), ordered(2), { ...ordered(1), name: 'opened' }),
      doer('tim', { ...ordered(39), name: 'long ago' }),
    ]);
    const sinceDay = ago(30 * dayMilliseconds)
      .toISOString()
      .slice(0, 10);
    const names = await listEventNames(bundle.database, { workspaceId, sinceDay, maxEvents: 100, limit: 10 });
    expect(names).toEqual(['order placed', 'opened']);
  });

  test.each<[string, Filter]>([
    ['Users for whom "order placed" happened.', {}],
    ['Users for whom "order placed" did not happen in the last 30 days.', { executed: false, ...inTheLast(30) }],
    [
      'Users for whom "order placed" happened at least 2 times in the last week with (total is greater than 50).',
      { execution: { type: 'atleast', count: 2 }, ...inTheLast(1, 'weeks'), ...dear },
    ],
    [
      'Users for whom "order placed" did not happen exactly once.',
      { execution: { type: 'exactly', count: 1 }, negate: true },
    ],
  ])('are described: %s', (words, filter) => {
    expect(describeSegmentFilter({ included: parsed(action(filter)) })).toBe(words);
  });
});
