import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  listDeliveriesToExplain,
  listDevicesToExplain,
  listMembersToExplain,
  listRunsToExplain,
} from '../../src/storage/ledger/run-explanations.ts';
import type { RunToExplain } from '../../src/storage/ledger/run-explanations.ts';
import type { Queryable } from '../../src/storage/database.ts';
import {
  findUsersForEligibility,
  moveUserMessages,
  reserveUserMessages,
  withdrawUserMessages,
  findOpenHours,
} from '../../src/storage/users/user-messages.ts';
import { deleteSeats, findSeatOutcomes, findSeats, listSeats } from '../../src/storage/runs/audience-seats.ts';
import { collectPlans, collectPlansOfSent } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

const isOnCluster = inject('workerUrls') !== null;
const userCount = 40_000;
const workspaceId = 'W';
let bundle: TestDatabase;

beforeAll(async () => {
  bundle = await createTestDatabase();
  const { database } = bundle;
  await database`insert into workspaces (id, db_name, name, created_at) values ('W', 'w', 'W', '2026-01-01')`;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      created_by, created_at, updated_at)
    select 'c' || number, 'W', 'C', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}', 'SENT', 'test',
      '2026-03-01', '2026-03-01' from generate_series(1, 100) as number`;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
    select 'r' || number, 'W', 'c' || number % 100 + 1, 1, 'SENT', '2026-03-01', '2026-03-02', '2026-03-01', '2026-03-01',
      '2026-03-01' from generate_series(1, 5000) as number`;
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select 'W', number % 256, lpad(to_hex(number), 24, '0'), 'person-' || number, '{"time_zone": "Asia/Tokyo"}', '2026-03-01', '2026-03-01'
    from generate_series(1, ${userCount}) as number`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
      created_at, updated_at)
    select 'W', number % 256, 'd' || number, lpad(to_hex(number), 24, '0'), 'phone', 'ANDROID', 'p' || number, 'ACTIVE', '2026-03-01',
      '2026-03-01', '2026-03-01' from generate_series(1, ${userCount}) as number`;
  await database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select 'W', number % 256, 's', lpad(to_hex(number), 24, '0'), 1 from generate_series(1, ${userCount}) as number`;
  await database`select make_day_partition('deliveries', '2026-03-01')`;
  await database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
      attempts, sent_at)
    select '2026-03-01', (select workspaces.number from workspaces), number % 256, run, decode('d' || lpad(to_hex(number), 23, '0'), 'hex'),
      decode(lpad(to_hex(number), 24, '0'), 'hex'), 'A',
      (case when number % 10 = 0 then 'G' else 'A' end)::"char", 1, '2026-03-01'
    from generate_series(1, ${userCount}) as number, generate_series(1, 3) as run`;
  await database`analyze`;
  // As in a campaign under a cap that was set a minute ago: the table has grown, and the planner has not heard of it.
  await database`
    insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
    select 'W', number % 256, lpad(to_hex(number), 24, '0'), 1, '{r1}', '{c1}', array[timestamptz '2026-03-01'], '{true}'
    from generate_series(1, ${userCount}) as number`;
  await database`
    insert into audience_seats (limit_id, run_id, bucket, user_id, workspace_id)
    select 'l', 'r1', number % 256, lpad(to_hex(number), 24, '0'), 'W' from generate_series(1, ${userCount}) as number`;
  await database`
    insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, report_digests,
      count, first_at)
    select 'W', number % 256, 'c1', 'd' || number, 'CLICK', 'r' || run, 'ANDROID', '{}', 0, '2026-03-01'
    from generate_series(1, ${userCount}) as number, generate_series(1, 2) as run`;
});
afterAll(() => bundle.drop());

const idOf = (number: number): string => number.toString(16).padStart(24, '0');

// A window is of one bucket; who asks about several users may name any.
const window = Array.from({ length: 40 }, (_, number) => ({ bucket: 7, userId: idOf(number * 256 + 7) }));
const users = Array.from({ length: 250 }, (_, number) => ({
  bucket: (number * 150 + 1) % 256,
  userId: idOf(number * 150 + 1),
}));
const run = { id: 'r2', number: 2, day: '2026-03-01', segmentId: 's', version: 1 } as RunToExplain;
const asked = { workspaceId, run, users };

test.each<[string, (tx: Queryable) => Promise<unknown>, string[]]>([
  [
    'a window at the gate',
    (tx) =>
      findUsersForEligibility(tx, { workspaceId, users: window, zoneAttribute: 'time_zone', withMessages: 'yes' }),
    ['users_pkey', 'user_messages_pkey'],
  ],
  [
    'a window at its best time',
    (tx) =>
      findOpenHours(tx, { workspaceId, users: window, since: new Date('2026-01-01'), start: new Date('2026-03-02') }),
    ['devices_workspace_id_bucket_user_id_device_id', 'device_interactions_device'],
  ],
  [
    'a window that takes seats',
    (tx) => findSeats(tx, { limitId: 'l', runId: 'r1', users: window }),
    ['audience_seats_pkey'],
  ],
  [
    'a window that ends seats',
    (tx) => deleteSeats(tx, { limitId: 'l', runId: 'r1', users: window }),
    ['audience_seats_pkey'],
  ],
  [
    'what became of seats',
    (tx) => findSeatOutcomes(tx, { day: '2026-03-01', runNumber: 1, users: window }),
    ['deliveries_20260301'],
  ],
  [
    'the seats of a limit',
    (tx) => listSeats(tx, { limitId: 'l', after: undefined, limit: 5_000 }),
    ['audience_seats_pkey'],
  ],
  [
    'a window written down',
    (tx) =>
      reserveUserMessages(tx, {
        ...{ workspaceId, runId: 'r9', campaignId: 'c9', at: new Date('2026-03-02'), isCounted: 'yes' },
        users: window.map((user) => ({ ...user, revision: 1 })),
      }),
    ['user_messages_pkey'],
  ],
  [
    'a window taken back',
    (tx) =>
      withdrawUserMessages(tx, {
        ...{ workspaceId, runId: 'r1', runNumber: 1, day: '2026-03-01', chunk: 'HELD', users: window },
      }),
    ['user_messages_pkey', 'deliveries_20260301'],
  ],
  [
    'a small audience at the gate',
    (tx) => findUsersForEligibility(tx, { workspaceId, users, zoneAttribute: 'time_zone', withMessages: 'yes' }),
    ['users_pkey', 'user_messages_pkey'],
  ],
  [
    'a small audience taken back',
    (tx) =>
      withdrawUserMessages(tx, {
        ...{ workspaceId, runId: 'r1', runNumber: 1, day: '2026-03-01', chunk: 'HELD', users },
      }),
    ['user_messages_pkey', 'deliveries_20260301'],
  ],
  ['a merge', (tx) => moveUserMessages(tx, { workspaceId, from: users[0]!, to: users[1]! }), ['user_messages_pkey']],
  [
    'runs to explain',
    (tx) => listRunsToExplain(tx, { campaignId: 'c3', runIds: undefined, limit: 20 }),
    ['runs_campaign'],
  ],
  ['devices to explain', (tx) => listDevicesToExplain(tx, asked), ['devices_workspace_id_bucket_user_id_device_id']],
  [
    'deliveries to explain',
    (tx) => listDeliveriesToExplain(tx, { ...asked, users: users.slice(0, 1) }),
    ['deliveries_20260301'],
  ],
  ['members to explain', (tx) => listMembersToExplain(tx, asked), ['segment_members_pkey']],
])('%s: read through indexes, however many people there are', async (name, statement, indexes) => {
  const plans: string[] = [];
  await statement(collectPlansOfSent(bundle.application.forWorkspace('W'), plans));
  const all = plans.join('\n');
  const read = ['users', 'user_messages', 'devices', 'deliveries', 'segment_members'];
  for (const table of [...read, 'audience_seats', 'device_interactions'])
    expect(all).not.toMatch(new RegExp(`Seq Scan on ${table}`));
  // Of rows that are given to a cluster to insert the plan ends where they are told to their shards.
  const isGiven = isOnCluster && name === 'a window written down';
  if (isGiven) expect(all).toContain('INSERT/SELECT method: pull to coordinator');
  for (const index of isGiven ? [] : indexes) expect(all).toContain(index);
  // What is joined in memory would have all of the bucket or the workspace read.
  expect(all).not.toMatch(/Hash Join|Merge Join/);
});

test.each([
  ['of one bucket', window],
  ['of many buckets', users],
])(
  'a window %s is a statement for the zones, one for the messages, and one to write them down',
  async (_name, given) => {
    const plans: string[] = [];
    const tx = collectPlans(bundle.application.forWorkspace('W'), plans);
    await findUsersForEligibility(tx, { workspaceId, users: given, zoneAttribute: 'time_zone', withMessages: 'yes' });
    await reserveUserMessages(tx, {
      ...{ workspaceId, runId: 'r9', campaignId: 'c9', at: new Date('2026-03-02'), isCounted: 'yes' },
      users: given.map((user) => ({ ...user, revision: 1 })),
    });
    expect(plans).toHaveLength(3);
  },
);
