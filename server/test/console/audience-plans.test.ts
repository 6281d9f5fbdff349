import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSegmentFilter } from '../../src/domain/segments/filter-reader.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { countAudienceDevices, countAudienceUsers } from '../../src/storage/campaigns/audience.ts';
import type { CountedAudience } from '../../src/storage/campaigns/audience.ts';
import {
  countFilterUsersIn,
  countUsersIn,
  listSomeFilterUsers,
  listTextsBeginning,
  findNamingValues,
} from '../../src/storage/segments/filter-samples.ts';
import { listAttributeNames } from '../../src/storage/users/identifiers.ts';
import { withinTime } from '../../src/storage/database.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const users = 20_000;
const workspaceId = 'W';
let bundle: TestDatabase;

/*
 * Every tenth has no device, every twentieth opted out, one in forty is blocked; all others have an Android phone, every
 * fourth of them a browser beside it that is gone. Segment s1 holds each two-hundredth, and one who left.
 */
beforeAll(async () => {
  bundle = await createTestDatabase();
  const { database } = bundle;
  await database`
    insert into workspaces (id, db_name, name, created_at)
    values ('W', 'w', 'W', '2026-01-01'), ('V', 'v', 'V', '2026-01-01')`;
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
      created_by, created_at, updated_at)
    select 's' || number, 'W', 'Segment ' || number, 'FILE', 'READY', 'API', 'uid', 'string', 2, 'test', '2026-01-01',
      '2026-01-01' from generate_series(1, 2) as number`;
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select 'W', number % 256, 'u' || number, 'person-' || number,
      jsonb_build_object('city', 'c' || number % 100, 'vip', number % 1000 = 0), '2026-03-01', '2026-03-01'
    from generate_series(1, ${users}) as number`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
      created_at, updated_at, blocked_state, blocked_at)
    select 'W', number % 256, 'd' || number, 'u' || number, 'phone', 'ANDROID', 'p' || number,
      case when number % 20 = 1 then 'OPTED_OUT' when number % 40 = 2 then 'BLOCKED' else 'ACTIVE' end, '2026-03-01',
      '2026-03-01', '2026-03-01', case when number % 40 = 2 then 'ACTIVE' end,
      case when number % 40 = 2 then '2026-03-01'::timestamptz end
    from generate_series(1, ${users}) as number where number % 10 <> 0`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
      created_at, updated_at, gone_at)
    select 'W', number % 256, 'w' || number, 'u' || number, 'browser', 'WEB', 'w' || number, 'GONE', '2026-03-01',
      '2026-03-01', '2026-03-01', '2026-03-02' from generate_series(1, ${users}) as number where number % 4 = 3`;
  await database`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select 'W', number % 256, 'u' || number, attribute, 'string', attribute || number
    from generate_series(1, ${users}) as number, unnest('{city,u_em,device:push_id}'::text[]) as attribute`;
  await database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in, removed_in)
    select 'W', number % 256, 's1', 'u' || number, 1, case when number = 1 then 2 end
    from generate_series(1, ${users}) as number where number % 200 = 0 or number <= 4
    union all
    select 'W', number % 256, 's2', 'u' || number, 1, null from generate_series(1, ${users}) as number`;
  await vacuumWhole(database);
});
afterAll(() => bundle.drop());

const ofSegment: CountedAudience = { kind: 'segment', id: 's1', version: 2 };
const ofVips = (): CountedAudience => {
  const parsed = parseSegmentFilter({
    filter_operator: 'and',
    filters: [{ filter_type: 'user_attributes', name: 'vip', data_type: 'bool', operator: 'is', value: true }],
  });
  if ('fault' in parsed) throw new Error(parsed.fault.reason);
  return { kind: 'filter', included: parsed.filter, excluded: undefined, at: new Date('2026-03-01T00:00:00Z') };
};
const count = async (audience: CountedAudience, platforms: ('ANDROID' | 'IOS' | 'WEB')[]) => {
  const found = await countAudienceUsers(bundle.database, { workspaceId, audience, platforms });
  return Object.fromEntries(found.map(({ reach, users: number }) => [reach, number]));
};

describe('counting an audience', () => {
  test('everybody stands once, by what is best of their devices', async () => {
    expect(await count({ kind: 'all' }, ['ANDROID'])).toEqual({
      REACHED: users - 2_000 - 1_000 - 500,
      OPTED_OUT: 1_000,
      BLOCKED: 500,
      NO_DEVICE: 2_000,
    });
    // Their phones take pushes, though no browser does.
    expect(await count({ kind: 'all' }, ['WEB'])).toMatchObject({ OTHER_PLATFORM: 16_500, OPTED_OUT: 1_000 });
    const all = await countAudienceDevices(bundle.database, { workspaceId, audience: { kind: 'all' } });
    expect(all).toEqual([
      { platform: 'ANDROID', state: 'ACTIVE', devices: 16_500 },
      { platform: 'ANDROID', state: 'BLOCKED', devices: 500 },
      { platform: 'ANDROID', state: 'OPTED_OUT', devices: 1_000 },
      { platform: 'WEB', state: 'GONE', devices: 5_000 },
    ]);
    const other = { workspaceId: 'V', audience: { kind: 'all' } as const };
    expect(await countAudienceUsers(bundle.database, { ...other, platforms: ['ANDROID'] })).toEqual([]);
  });

  test('a segment is counted at its version: who left it is not in it', async () => {
    // Nobody whose number ends in 0 has a device; 2 is blocked, 3 and 4 have a phone.
    expect(await count(ofSegment, ['ANDROID'])).toEqual({ REACHED: 2, BLOCKED: 1, NO_DEVICE: 100 });
    expect(await count({ ...ofSegment, version: 1 } as CountedAudience, ['ANDROID'])).toMatchObject({ OPTED_OUT: 1 });
    expect(await countAudienceDevices(bundle.database, { workspaceId, audience: ofSegment })).toEqual([
      { platform: 'ANDROID', state: 'ACTIVE', devices: 2 },
      { platform: 'ANDROID', state: 'BLOCKED', devices: 1 },
      { platform: 'WEB', state: 'GONE', devices: 1 },
    ]);
  });

  test('filters are evaluated as they are when a run begins', async () => {
    expect(await count(ofVips(), ['ANDROID'])).toEqual({ NO_DEVICE: 20 });
    expect(await countAudienceDevices(bundle.database, { workspaceId, audience: ofVips() })).toEqual([]);
  });

  test.each<[string, (tx: Queryable) => Promise<unknown>]>([
    ['people', (tx) => countAudienceUsers(tx, { workspaceId, audience: ofSegment, platforms: ['ANDROID'] })],
    ['devices', (tx) => countAudienceDevices(tx, { workspaceId, audience: ofSegment })],
  ])('the %s of a small segment are read through indexes, however many there are', async (_name, statement) => {
    const plans: string[] = [];
    await statement(collectPlans(bundle.application.forWorkspace(workspaceId), plans));
    expect(plans).toHaveLength(1);
    expect(plans[0]).not.toMatch(/Seq Scan on (users|devices|segment_members)/);
    for (const index of ['segment_members_pkey', 'devices_workspace_id_bucket_user_id_device_id'])
      expect(plans[0]).toContain(index);
  });

  test('what takes longer than it may ends, and the connection goes on', async () => {
    const { database } = bundle;
    const work = (tx: Queryable) => tx`select count(*) from generate_series(1, 1000000000)`;
    expect(await withinTime(database, { milliseconds: 50, work })).toBe('too slow');
    expect(await withinTime(database, { milliseconds: 5_000, work: async () => 'done' })).toEqual({ result: 'done' });
  });
});

test('names of attributes are those of texts and numbers, and of other types that people have; not those of devices', async () => {
  const ask = (limit: number) => listAttributeNames(bundle.database, { workspaceId, perBucket: 2, limit });
  expect(await ask(500)).toEqual(['city', 'u_em', 'vip']);
  expect(await ask(1)).toEqual(['city']);
  const plans: string[] = [];
  await listAttributeNames(collectPlans(bundle.application.forWorkspace(workspaceId), plans), {
    workspaceId,
    perBucket: 2,
    limit: 500,
  });
  expect(plans[0]).not.toMatch(/Seq Scan on (users|identifiers)/);
});

test.each<[string, (tx: Queryable) => Promise<unknown>, string]>([
  [
    'texts that begin so',
    (tx) => listTextsBeginning(tx, { workspaceId, attribute: 'city', prefix: 'ci', limit: 20 }),
    'identifiers_pkey',
  ],
  [
    'values that name somebody',
    (tx) =>
      findNamingValues(tx, {
        workspaceId,
        meaning: { kind: 'attribute', attribute: 'u_em', type: 'string' },
        values: ['u_em1', 'nobody'],
      }),
    'identifiers_pkey',
  ],
  [
    'customer ids that name somebody',
    (tx) => findNamingValues(tx, { workspaceId, meaning: { kind: 'customer-id' }, values: ['person-1', 'nobody'] }),
    'users_workspace_id_bucket_customer_id',
  ],
])('%s are looked up in an index, however many users there are', async (_name, statement, index) => {
  const plans: string[] = [];
  await statement(collectPlans(bundle.application.forWorkspace(workspaceId), plans));
  expect(plans[0]).toContain(index);
  expect(plans[0]).not.toMatch(/Seq Scan on (users|identifiers)/);
});

test('some buckets are counted alone, and a few users end the search for them', async () => {
  const audience = { workspaceId, ...ofVips(), buckets: [232, 208] };
  const of = (bucket: number) =>
    Array.from({ length: users }, (_, index) => index + 1).filter((n) => n % 256 === bucket);
  expect(await countUsersIn(bundle.database, { workspaceId, buckets: [232, 208] })).toBe(
    of(232).length + of(208).length,
  );
  const vips = [...of(232), ...of(208)].filter((number) => number % 1000 === 0).length;
  expect(vips).toBeGreaterThan(0);
  expect(await countFilterUsersIn(bundle.database, audience as never)).toBe(vips);
  const found = await listSomeFilterUsers(bundle.database, { ...audience, limit: 3 } as never);
  expect(found).toHaveLength(3);
  expect(found.every(({ customerId }) => customerId.endsWith('000'))).toBe(true);
});
