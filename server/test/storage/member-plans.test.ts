import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { inTransaction } from '../../src/storage/database.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { addMembersByCustomerId, deleteRemovedMembers } from '../../src/storage/segments/segment-members.ts';
import { listAttributeNames } from '../../src/storage/users/identifiers.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const isOnCluster = inject('workerUrls') !== null;
const members = 20_000;
const segments = 40;
const workspaceId = 'W';
let bundle: TestDatabase;

/* Segment s1 is at version 3. A thousand of its members were removed in each version; nobody was of any other segment. */
beforeAll(async () => {
  bundle = await createTestDatabase();
  const { database } = bundle;
  await database`insert into workspaces (id, db_name, name, created_at) values ('W', 'w', 'W', '2026-01-01')`;
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
      created_by, created_at, updated_at)
    select 's' || number, 'W', 'Segment ' || number, 'FILE', 'READY', 'API', 'uid', 'string', 3, 'test', '2026-01-01',
      '2026-01-01' from generate_series(1, ${segments}) as number`;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      created_by, created_at, updated_at)
    values ('c', 'W', 'Spring', 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}', 'SENT', 'test',
      '2026-03-01', '2026-03-01')`;
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select 'W', number % 256, 'u' || number, 'user-' || number, '{"vip": true}', '2026-03-01', '2026-03-01'
    from generate_series(1, ${members}) as number`;
  await database`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select 'W', number % 256, 'u' || number, attribute, 'string', attribute || number
    from generate_series(1, ${members}) as number, unnest('{city,u_em,device:push_id}'::text[]) as attribute`;
  await database`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in, removed_in)
    select 'W', number % 256, 's' || segment, 'u' || number, 0, case
      when segment = 1 and number <= 4000 then (number - 1) / 1000 + 1 end
    from generate_series(1, ${members}) as number, generate_series(1, 2) as segment`;
  await vacuumWhole(database);
});
afterAll(() => bundle.drop());

const removedIn = async () => {
  const rows = await bundle.database`
    select removed_in, count(*)::int as members from segment_members where removed_in is not null
    group by removed_in order by removed_in`;
  return Object.fromEntries(rows.map((row) => [row.removed_in, row.members]));
};
const insertRun = (status: 'SENT' | 'QUEUED' | 'SENDING', audienceVersion: number) => bundle.database`
  insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, audience_segment_id,
    audience_version, started_at, ended_at)
  values (${`r${audienceVersion}`}, 'W', 'c', 1, ${status}, '2026-03-01', '2026-03-02', '2026-03-01', 's1',
    ${audienceVersion}, '2026-03-01', ${status === 'SENT' ? '2026-03-01' : null})`;

test.for<[string, (tx: Queryable) => Promise<unknown>, string]>([
  ['removed members', (tx) => deleteRemovedMembers(tx, { limit: 100 }), 'segment_members_removed'],
  [
    'members of a cohort',
    (tx) =>
      addMembersByCustomerId(tx, {
        ...{ workspaceId, segmentId: 's1', version: 4 },
        users: Array.from({ length: 100 }, (_, index) => ({ bucket: index, userId: `u${index}` })),
      }),
    'segment_members_pkey',
  ],
])('%s are found through an index, however many members there are', async ([name, statement, index], { skip }) => {
  skip(isOnCluster && name === 'members of a cohort', 'Citus makes no plan to show of an insert that has parameters');
  const plans: string[] = [];
  await statement(collectPlans(bundle.application.acrossWorkspaces(), plans));
  expect(plans).toHaveLength(1);
  expect(plans[0]).not.toContain('Seq Scan on segment_members');
  expect(plans[0]).toContain(index);
});

test('names of attributes are read from indexes, however many users there are', async () => {
  const read = await inTransaction(bundle.database, async (tx) => {
    expect(await listAttributeNames(tx, { workspaceId, perBucket: 2, limit: 500 })).toEqual(['city', 'u_em', 'vip']);
    return tx`
      select relname, seq_scan, idx_tup_fetch, pg_stat_get_xact_tuples_returned(indexrelid)::int as entries
      from pg_stat_xact_user_tables join pg_index on indrelid = relid
      where relname in ('users', 'identifiers') and indisprimary order by relname`;
  });
  expect(read.map((row) => [row.relname, row.seq_scan])).toEqual([
    ['identifiers', 0],
    ['users', 0],
  ]);
  // An entry a name, and two a bucket.
  expect(read[0]!.entries).toBeLessThanOrEqual(4);
  expect(read[1]!.entries).toBeLessThanOrEqual(512);
});

test('a user who was removed is added again, one who is a member is not', async () => {
  const users = ['u1', 'u5000', 'u20001'].map((userId) => ({ bucket: Number(userId.slice(1)) % 256, userId }));
  const change = { workspaceId, segmentId: 's1', version: 4, users };
  expect(await addMembersByCustomerId(bundle.database, change)).toBe(2);
  expect(await addMembersByCustomerId(bundle.database, { ...change, version: 5 })).toBe(0);
  const rows = await bundle.database`
    select user_id, bucket::int from segment_members where segment_id = 's1' and added_in = 4 order by user_id`;
  expect(rows.map((row) => [row.user_id, row.bucket])).toEqual([
    ['u1', 1],
    ['u20001', 20_001 % 256],
  ]);
});

test('removed members go once no version in use has them; those of an operation under way stay', async () => {
  await insertRun('SENT', 0);
  await insertRun('QUEUED', 1);
  await insertRun('SENDING', 2);
  expect(await deleteRemovedMembers(bundle.database, { limit: 300 })).toBe(300);
  expect(await deleteRemovedMembers(bundle.database, { limit: 10_000 })).toBe(700);
  expect(await removedIn()).toEqual({ 2: 1000, 3: 1000, 4: 1000 });
  await bundle.database`delete from runs`;
  expect(await deleteRemovedMembers(bundle.database, { limit: 10_000 })).toBe(2000);
  expect(await removedIn()).toEqual({ 4: 1000 });
  expect(await deleteRemovedMembers(bundle.database, { limit: 10_000 })).toBe(0);
});
