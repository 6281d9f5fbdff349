import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Queryable } from '../../src/storage/database.ts';
import {
  findUserOfSuspect,
  keepSuspectedDevice,
  listSuspectedDevices,
  findRecoveredDevices,
} from '../../src/storage/devices/suspected-devices.ts';
import {
  findCustomerIds,
  findUserRecord,
  findUsersByAnyIdentifier,
  listFoundUsers,
  listUserDevices,
  listUserMessages,
  listUserSegments,
  listTestUsers,
  listTimelineEntries,
} from '../../src/storage/users/user-records.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { collectPlansOfSent } from '../collect-plans.ts';

const users = 20_000;
const workspaceId = 'W';
const idOf = (number: number): string => number.toString(16).padStart(24, '0');
const deviceId = `d${idOf(7).slice(1)}`;
const user = { workspaceId, bucket: 7, userId: idOf(7) };
let bundle: TestDatabase;

beforeAll(async () => {
  bundle = await createTestDatabase();
  const { database } = bundle;
  await database`insert into workspaces (id, db_name, name, created_at) values ('W', 'w', 'W', '2026-01-01')`;
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
      created_by, created_at, updated_at)
    select 's' || number, 'W', 'Segment ' || number, 'FILE', 'READY', 'API', 'uid', 'string', 1, 'test', '2026-01-01',
      '2026-01-01' from generate_series(1, 3) as number`;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      created_by, created_at, updated_at)
    values ('c', 'W', 'Spring', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}', 'SENT', 'test',
      '2026-03-01', '2026-03-01')`;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
    select 'r' || number, 'W', 'c', 1, 'SENT', '2026-03-01', '2026-03-02', '2026-03-01', '2026-03-01', '2026-03-01'
    from generate_series(1, 3) as number`;
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select 'W', number % 256, lpad(to_hex(number), 24, '0'), 'person-' || number, '{}', '2026-03-01', '2026-03-01'
    from generate_series(1, ${users}) as number`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
      created_at, updated_at)
    select 'W', number % 256, 'd' || lpad(to_hex(number), 23, '0'), lpad(to_hex(number), 24, '0'), 'phone', 'ANDROID', 'p' || number, 'ACTIVE', '2026-03-01',
      '2026-03-01', '2026-03-01' from generate_series(1, ${users}) as number`;
  await database`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select 'W', number % 256, lpad(to_hex(number), 24, '0'), attribute, 'string', attribute || number
    from generate_series(1, ${users}) as number, unnest('{city,u_em,device:push_id}'::text[]) as attribute`;
  await database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in, removed_in)
    select 'W', number % 256, 's' || segment, lpad(to_hex(number), 24, '0'), 1, case when segment = 2 then 2 end
    from generate_series(1, ${users}) as number, generate_series(1, 2) as segment`;
  await database`select make_day_partition('deliveries', '2026-03-01')`;
  await database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
      attempts, sent_at)
    select '2026-03-01', (select workspaces.number from workspaces), number % 256,
      (select runs.number from runs where runs.id = 'r' || run), decode('d' || lpad(to_hex(number), 23, '0'), 'hex'),
      decode(lpad(to_hex(number), 24, '0'), 'hex'), 'A',
      (case when run = 1 then 'G' else 'A' end)::"char", 1, '2026-03-01T00:00:00Z'::timestamptz + run * interval '1 hour'
    from generate_series(1, ${users}) as number, generate_series(1, 3) as run`;
  await database`select make_day_partition('events', '2026-03-01')`;
  await database`
    insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at)
    select '2026-03-01', 'W', number % 256, 'e' || number || '-' || place, lpad(to_hex(number), 24, '0'), 'seen', '{}', '2026-03-01',
      '2026-03-02' from generate_series(1, ${users}) as number, generate_series(1, 3) as place`;
  await database`
    insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform,
      report_digests, count, first_at)
    select 'W', number % 256, 'c', 'd' || lpad(to_hex(number), 23, '0'), 'CLICK', 'r2', 'ANDROID', '{"\\x01"}', 1, '2026-03-01'
    from generate_series(1, ${users}) as number`;
  await database`
    insert into audit_log (id, workspace_id, at, actor_name, action, object_kind, object_id)
    select lpad(number::text, 24, '0'), 'W', '2026-03-01', 'test', 'person.attributes', 'person', lpad(to_hex(number), 24, '0')
    from generate_series(1, ${users}) as number`;
  await database`update users set is_test = true where id in (${idOf(7)}, ${idOf(8)})`;
  await database`
    update devices set suspected_code = '404', suspected_sends = 1, suspected_since = '2026-03-01', suspected_at = '2026-03-01'
    where id in (${deviceId}, ${`d${idOf(8).slice(1)}`})`;
  await database`analyze`;
});
afterAll(() => bundle.drop());

const byValue = (tx: Queryable, value: string) =>
  findUsersByAnyIdentifier(tx, { workspaceId, values: [value], maxAttributes: 1000, limit: 25 });

test.each<[string, (tx: Queryable) => Promise<unknown>, string[]]>([
  ['a value under any name', (tx) => byValue(tx, 'u_em7'), ['identifiers_pkey']],
  [
    'people who were found',
    (tx) => listFoundUsers(tx, { workspaceId, users: [user] }),
    ['users_pkey', 'devices_workspace_id_bucket_user_id_device_id'],
  ],
  ['one of them', (tx) => findUserRecord(tx, { workspaceId, id: idOf(7) }), ['users_pkey']],
  ['devices', (tx) => listUserDevices(tx, user), ['devices_workspace_id_bucket_user_id_device_id']],
  ['customer ids of users', (tx) => findCustomerIds(tx, { workspaceId, users: [user] }), ['users_pkey']],
  [
    'suspected devices',
    (tx) => listSuspectedDevices(tx, { workspaceId, after: { lastAt: new Date(), id: 'd' }, limit: 51 }),
    ['devices_suspected'],
  ],
  ['the user of one', (tx) => findUserOfSuspect(tx, { workspaceId, id: deviceId }), ['devices_suspected']],
  [
    'keeping one',
    (tx) => keepSuspectedDevice(tx, { workspaceId, bucket: 7, id: deviceId, at: new Date() }),
    ['devices_suspected'],
  ],
  [
    'those of them that recovered',
    (tx) => findRecoveredDevices(tx, [{ ...user, id: deviceId, lastAt: new Date('2026-03-01') }]),
    ['deliveries_20260301_pkey'],
  ],
  ['segments', (tx) => listUserSegments(tx, user), ['segment_members_pkey']],
  ['test people', (tx) => listTestUsers(tx, { workspaceId, limit: 100 }), ['users_test']],
  [
    'the timeline',
    (tx) => listTimelineEntries(tx, { ...user, after: undefined, limit: 51 }),
    ['device_interactions_device', 'audit_log_object', 'events_20260301', 'deliveries_20260301'],
  ],
  [
    'its second page',
    (tx) => listTimelineEntries(tx, { ...user, after: { place: '2026-03-01T01:00:00.000000Z', key: 'm' }, limit: 51 }),
    ['device_interactions_device', 'audit_log_object', 'events_20260301', 'deliveries_20260301'],
  ],
  ['messages', (tx) => listUserMessages(tx, { ...user, limit: 50 }), ['deliveries_20260301']],
])('%s: read through indexes, however many people there are', async (_name, statement, indexes) => {
  const plans: string[] = [];
  await statement(collectPlansOfSent(bundle.application.forWorkspace('W'), plans));
  const all = plans.join('\n');
  expect(all).not.toMatch(/Seq Scan on (users|devices|identifiers|deliveries|segment_members|events|device_int|audit)/);
  for (const index of indexes) expect(all).toContain(index);
});

test('a value is found under every attribute that has it, and names its attribute', async () => {
  expect(await byValue(bundle.database, 'city7')).toEqual([{ bucket: 7, userId: idOf(7), attribute: 'city' }]);
  expect(await byValue(bundle.database, 'device:push_id8')).toEqual([
    { bucket: 8, userId: idOf(8), attribute: 'device:push_id' },
  ]);
  expect(await byValue(bundle.database, 'ana')).toEqual([]);
});

test('a person is in the segments of now, and messages come newest first, whatever became of them', async () => {
  const segments = await listUserSegments(bundle.database, user);
  expect(segments.map(({ id }) => id)).toEqual(['s1', 's2']);
  await bundle.database`update segments set version = 2 where id = 's2'`;
  expect((await listUserSegments(bundle.database, user)).map(({ id }) => id)).toEqual(['s1']);
  const messages = await listUserMessages(bundle.database, { ...user, limit: 2 });
  expect(messages.map(({ runId, outcome, campaignName }) => [runId, outcome, campaignName])).toEqual([
    ['r3', 'ACCEPTED', 'Spring'],
    ['r2', 'ACCEPTED', 'Spring'],
  ]);
  expect((await listUserMessages(bundle.database, { ...user, limit: 50 })).at(-1)).toMatchObject({
    runId: 'r1',
    outcome: 'GONE',
    deviceId: 'phone',
  });
});
