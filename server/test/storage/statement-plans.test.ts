import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { findAllUsersPage, findSegmentPage, findTargetUsersPage } from '../../src/storage/campaigns/audience.ts';
import type { AudiencePage, PagedDevice } from '../../src/storage/campaigns/audience.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database, Queryable } from '../../src/storage/database.ts';
import { ensureDeliveriesPartition } from '../../src/storage/ledger/deliveries.ts';
import { claimDueDeliveries, listDueBuckets, settleDeliveries } from '../../src/storage/ledger/due-deliveries.ts';
import type { SettledDelivery } from '../../src/storage/ledger/due-deliveries.ts';
import {
  listDeliveriesToExplain,
  listDevicesToExplain,
  listMembersToExplain,
  listRunsToExplain,
} from '../../src/storage/ledger/run-explanations.ts';
import type { RunToExplain } from '../../src/storage/ledger/run-explanations.ts';
import { claimDueEmails, listMessages } from '../../src/storage/outbox/outbox.ts';
import { claimCallbacks, listDueCallbackReceivers } from '../../src/storage/outbox/receivers.ts';
import { deleteSeats, findSeatOutcomes, findSeats, listSeats } from '../../src/storage/runs/audience-seats.ts';
import type { Cursor } from '../../src/storage/runs/chunks.ts';
import { addMembersByCustomerId, deleteRemovedMembers } from '../../src/storage/segments/segment-members.ts';
import { listAttributeNames } from '../../src/storage/users/identifiers.ts';
import { countUnread, findInboxPage, listInboxToExplain } from '../../src/storage/inbox.ts';
import { findTopicChoices } from '../../src/storage/users/topic-choices.ts';
import {
  findOpenHours,
  findUsersForEligibility,
  moveUserMessages,
  reserveUserMessages,
  withdrawUserMessages,
} from '../../src/storage/users/user-messages.ts';
import { collectPlans, collectPlansOfSent } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

type Reading = { buckets: number[]; after?: Cursor; limit?: number };

describe('pages of an audience', () => {
  let bundle: Awaited<ReturnType<typeof createTestDatabase>>;
  let workspaceId: string;
  const at = new Date('2026-03-01T12:00:00Z');
  const segmentId = '5'.repeat(24);
  /** Twenty users in buckets 3, 4, 127 and 200, with two devices each. */
  const buckets = [3, 4, 127, 200];
  let users: { bucket: number; id: string }[];

  beforeAll(async () => {
    bundle = await createTestDatabase();
    const { database } = bundle;
    workspaceId = await insertTestWorkspace(database, at);
    users = await database<{ bucket: number; id: string }[]>`
      insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      select ${workspaceId}, (${buckets}::int[])[1 + number % 4], lpad(number::text, 24, 'c'), 'c' || number, ${at}, ${at}
      from generate_series(1, 20) as number
      returning bucket, id`;
    await database`
      insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
        created_at, updated_at)
      select workspace_id, bucket, md5(id || number)::char(24), id, 'phone ' || number, 'ANDROID', id || number, 'ACTIVE',
        ${at}, ${at}, ${at}
      from users, generate_series(1, 2) as number where workspace_id = ${workspaceId}`;
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
        created_at, updated_at)
      values (${segmentId}, ${workspaceId}, 'All', 'FILE', 'READY', 'API', 'uid', 'string', 'test', ${at}, ${at})`;
    await database`
      insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
      select workspace_id, bucket, ${segmentId}, id, 1 from users where workspace_id = ${workspaceId}`;
  });
  afterAll(() => bundle.drop());

  const audiences: Record<string, (reading: Reading) => Promise<PagedDevice[]>> = {
    'all users': (reading) => findAllUsersPage(bundle.database, pageOf(reading)),
    'named users': (reading) => {
      const targetUsers = users.map(({ bucket, id }): [number, string] => [bucket, id]);
      return findTargetUsersPage(bundle.database, { ...pageOf(reading), targetUsers });
    },
    'a segment': (reading) => findSegmentPage(bundle.database, { ...pageOf(reading), segmentId, version: 1 }),
  };

  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);

  test.each(Object.keys(audiences))('%s: contain the devices of their buckets and no others', async (audience) => {
    const read = async (asked: number[]) =>
      new Set((await audiences[audience]!({ buckets: asked })).map(({ bucket }) => bucket));
    expect(await read([3])).toEqual(new Set([3]));
    expect(await read([5])).toEqual(new Set());
    expect(await read([3, 4, 5])).toEqual(new Set([3, 4]));
    expect(await read(range(100, 255))).toEqual(new Set([127, 200]));
  });

  test.each(Object.keys(audiences))('%s: contain each device once, in one order', async (audience) => {
    for (const groups of [[[3], [4], [127], [200]], [[3, 4], range(120, 200)], [range(0, 255)]]) {
      const met: PagedDevice[] = [];
      for (const asked of groups) {
        let after: Cursor = { bucket: asked[0]!, position: '' };
        for (;;) {
          const page = await audiences[audience]!({ buckets: asked, after, limit: 3 });
          met.push(...page);
          if (page.length < 3) break;
          after = page.at(-1)!;
        }
      }
      const places = met.map(({ bucket, position }) => `${String(bucket).padStart(3, '0')} ${position}`);
      expect(new Set(met.map(({ id }) => id)).size).toBe(40);
      expect(places).toEqual([...places].sort());
      expect(places).toHaveLength(40);
    }
  });

  function pageOf({ buckets, after = { bucket: buckets[0]!, position: '' }, limit = 100 }: Reading): AudiencePage {
    const reached = { platforms: ['ANDROID' as const], iosProvisional: null, bound: 'g'.repeat(24) };
    return { workspaceId, ...reached, buckets, after, limit };
  }
});

describe('plans of due deliveries', () => {
  const days = ['2026-03-04', '2026-03-11'];
  const at = new Date('2026-03-11T12:00:00Z');
  const lease = { leasedAt: at, leaseUntil: new Date('2026-03-11T12:01:00Z') };

  const delivery: Omit<SettledDelivery, 'day'> = {
    ...{ runNumber: 5, bucket: 1, deviceId: 'd'.repeat(24), userId: 'e'.repeat(24) },
    ...{ platform: 'ANDROID', outcome: 'ACCEPTED', code: null, providerMessageId: null, retryAt: null },
    ...{ attempts: 2, claimedAttempts: 2 },
  };

  /** On a cluster one bucket a claim. */
  const of = { buckets: inject('workerUrls') === null ? [7, 8] : [7], runNumbers: [5] };

  const statements: Record<string, (tx: Queryable) => Promise<unknown>> = {
    'the buckets of a claim': (tx) => listDueBuckets(tx, { days, at, limit: 500, kind: 'fresh', ...lease }),
    'a claim': (tx) => claimDueDeliveries(tx, { days, at, limit: 500, kind: 'fresh', ...of, ...lease }),
    'a claim of lost ones': (tx) => claimDueDeliveries(tx, { days, at, limit: 50, kind: 'lost', ...of, ...lease }),
    'a claim of a suspect': (tx) => claimDueDeliveries(tx, { days, at, limit: 1, kind: 'suspect', ...of, ...lease }),
    'the outcomes': (tx) => settleDeliveries(tx, { sentAt: at, deliveries: days.map((day) => ({ ...delivery, day })) }),
  };

  // Planned over every day that is kept, a look each second took a tenth of a second after 150 days.
  test('read and store only the partitions of the days', async () => {
    const { database, application, drop } = await createTestDatabase();
    for (let day = 1; day <= 20; day += 1)
      await ensureDeliveriesPartition(database, `2026-03-${String(day).padStart(2, '0')}`);
    for (const [what, statement] of Object.entries(statements)) {
      const plans: string[] = [];
      await statement(collectPlans(application.acrossWorkspaces(), plans));
      const partitions = new Set(plans.join('\n').match(/deliveries_\d{8}\b(?!_)/g));
      expect([...partitions].sort(), what).toEqual(['deliveries_20260304', 'deliveries_20260311']);
    }
    await drop();
  });
});

describe('plans of members', () => {
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

  test('read attribute names from indexes, however many users there are', async () => {
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

  test('add a removed user again, but not a member', async () => {
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

  test('delete removed members once no used version has them, except those of a running operation', async () => {
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
});

describe('plans of the outbox', () => {
  let database: Database;
  let drop: () => Promise<void>;
  beforeAll(async () => ({ database, drop } = await createTestDatabase()));
  afterAll(() => drop());

  test('find due emails and failed messages by their partial indexes', async () => {
    const plans: string[] = [];
    await inTransaction(database, async (tx) => {
      await tx`set local enable_seqscan = off`;
      const planned = collectPlans(tx, plans);
      for (const channel of ['callbacks', 'emails'] as const)
        await listMessages(planned, { channel, workspaceId: 'w', isFailed: true, limit: 10 });
      const at = new Date();
      await claimDueEmails(planned as Database, { at, leasedAt: at, leaseUntil: at, limit: 10 });
    });
    expect(plans[0]).toContain('callbacks_given_up_newest');
    expect(plans[1]).toContain('mails_failed_newest');
    expect(plans[2]).toContain('mails_due');
  });

  test('find a receiver with due callbacks in one step, however many wait for the previous one', async () => {
    const noisy = await addDueCallbacks({ host: 'silent.example', count: 20_000 });
    const quiet = await addDueCallbacks({ host: 'healthy.example', count: 1 });
    await database`analyze callbacks`;
    const at = new Date();
    const plans: string[] = [];
    const page = { at, leasedAt: at, after: undefined, limit: 500 };
    const found = await inTransaction(database, (tx) =>
      listDueCallbackReceivers(collectPlansOfSent(tx, plans) as Database, page),
    );
    expect(found.map(({ workspaceId, key }) => ({ workspaceId, key }))).toEqual(
      [
        { workspaceId: noisy, key: 'https://silent.example' },
        { workspaceId: quiet, key: 'https://healthy.example' },
      ].toSorted((one, other) => (one.workspaceId < other.workspaceId ? -1 : 1)),
    );
    expect(plans[0]!.match(/Index Scan using callbacks_receivers/g)).toHaveLength(2);
    expect(plans[0]).not.toContain('Seq Scan on callbacks');
    const turns = found.map(({ workspaceId, key }) => ({ workspaceId, key, count: 3 }));
    const claim = { turns, at, leasedAt: at, leaseUntil: new Date(at.getTime() + 60_000), probeUntil: at };
    const claimed = await inTransaction(database, (tx) =>
      claimCallbacks(collectPlansOfSent(tx, plans) as Database, claim),
    );
    expect(claimed.map(({ origin }) => origin).toSorted()).toEqual([
      'https://healthy.example',
      ...Array.from({ length: 3 }, () => 'https://silent.example'),
    ]);
    expect(plans[1]).toContain('callbacks_receivers');
  });

  test('take the origin of an address from scheme, host and port, in lower case with bounded length', async () => {
    const at = new Date();
    const workspaceId = await insertTestWorkspace(database, at);
    const urls = [
      'HTTPS://Hooks.Example:8443/a?b#c',
      'https://hooks.example?b',
      'http:hooks.example/a',
      `https://${'a'.repeat(3_000)}/`,
      '',
    ];
    const rows = await database<{ origin: string }[]>`
      insert into callbacks (id, workspace_id, url, body, state, next_at, created_at)
      select 'address ' || place, ${workspaceId}, url, '{}', 'PENDING', ${at}, ${at}
      from unnest(${urls}::text[]) with ordinality as given (url, place)
      returning origin`;
    expect(rows.map(({ origin }) => origin)).toEqual([
      'https://hooks.example:8443',
      'https://hooks.example',
      '',
      `https://${'a'.repeat(292)}`,
      '',
    ]);
  });

  test('find messages about the files of one segment by their operations, however many newer ones of others there are', async () => {
    const at = new Date();
    const workspaceId = await insertTestWorkspace(database, at);
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
        created_at, updated_at)
      select 'segment ' || number, ${workspaceId}, 'Segment ' || number, 'FILE', 'READY', 'API', 'u_em', 'string', 'test',
        ${at}, ${at}
      from generate_series(1, 300) as number`;
    await database`
      insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, status, counted_users,
        not_before, requested_by, created_at, ended_at)
      select 'operation ' || number, ${workspaceId}, 'segment ' || number, 1, 'CREATE', lpad(number::text, 32, '0'),
        'SUCCEEDED', 201, 1, ${at}, 'test', ${at}, ${at}
      from generate_series(1, 300) as number`;
    await database`
      insert into callbacks (id, workspace_id, operation_id, url, body, state, created_at, ended_at)
      select 'callback ' || number, ${workspaceId}, 'operation ' || (number % 300 + 1), 'https://example.com/', '{}',
        'DELIVERED', ${at}::timestamptz + number * interval '1 second', ${at}
      from generate_series(0, 5999) as number`;
    await database`
      insert into mails (id, workspace_id, operation_id, recipients, subject, body, state, created_at, ended_at)
      select 'mail ' || number, ${workspaceId}, 'operation ' || (number % 300 + 1), '{a@example.com}', 'S', 'B', 'SENT',
        ${at}::timestamptz + number * interval '1 second', ${at}
      from generate_series(0, 5999) as number`;
    await database`analyze segment_operations, callbacks, mails`;
    const plans: string[] = [];
    const found = await inTransaction(database, async (tx) => {
      const planned = collectPlansOfSent(tx, plans);
      const asked = { workspaceId, segmentId: 'segment 1', limit: 100 };
      const callbacks = await listMessages(planned, { channel: 'callbacks', ...asked });
      const emails = await listMessages(planned, { channel: 'emails', ...asked });
      return [...callbacks, ...emails].map(({ id }) => id);
    });
    const own = Array.from({ length: 20 }, (_, index) => 5700 - index * 300);
    expect(found).toEqual([...own.map((number) => `callback ${number}`), ...own.map((number) => `mail ${number}`)]);
    expect(plans[0]).toContain('segment_operations_segment_id_number_key');
    expect(plans[0]).toContain('callbacks_operation');
    expect(plans[1]).toContain('mails_operation');
  });

  /** Callbacks of one workspace to one host, all of them due. */
  async function addDueCallbacks({ host, count }: { host: string; count: number }): Promise<string> {
    const at = new Date();
    const workspaceId = await insertTestWorkspace(database, at);
    await database`
      insert into callbacks (id, workspace_id, url, body, state, next_at, created_at)
      select ${host} || number, ${workspaceId}, ${`https://${host}/`} || number, '{}', 'PENDING', ${at}, ${at}
      from generate_series(1, ${count}::int) as number`;
    return workspaceId;
  }
});

describe('plans of a user’s messages', () => {
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
      insert into topic_choices (workspace_id, bucket, user_id, topic_id, is_in, source, chosen_at)
      select 'W', number % 256, lpad(to_hex(number), 24, '0'), topic, true, 'APP', '2026-03-01'
      from generate_series(1, ${userCount}) as number, unnest('{t1,t2,t3}'::text[]) as topic`;
    await database`
      insert into inbox_messages (workspace_id, bucket, user_id, run_id, campaign_id, content_id, kept_at, expires_at, changed_at)
      select 'W', number % 256, lpad(to_hex(number), 24, '0'), 'r2', 'c1', 'x', '2026-03-01', '2026-04-01', '2026-03-01'
      from generate_series(1, ${userCount}) as number`;
    await database`
      insert into inbox_contents (workspace_id, run_id, id, content, expires_at)
      select 'W', 'r' || number, content, '{}', '2026-04-01'
      from generate_series(1, 2000) as number, unnest('{x,y,z}'::text[]) as content`;
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
      'a window of a campaign with a topic',
      (tx) => findTopicChoices(tx, { workspaceId, topicId: 't2', users: window }),
      ['topic_choices_pkey'],
    ],
    [
      'a small audience of a campaign with a topic',
      (tx) => findTopicChoices(tx, { workspaceId, topicId: 't2', users }),
      ['topic_choices_pkey'],
    ],
    [
      'a window of a campaign with an inbox',
      (tx) => listInboxToExplain(tx, { workspaceId, runId: 'r2', users: window }),
      ['inbox_messages_pkey'],
    ],
    [
      'the first page of an inbox',
      (tx) =>
        findInboxPage(tx, {
          ...{ workspaceId, ...window[0]!, at: new Date('2026-03-02'), limit: 26 },
          ...{ after: undefined, tag: undefined, archived: 'none' },
        }),
      ['inbox_contents_pkey', 'inbox_messages_pkey'],
    ],
    [
      'the unread messages of a user',
      (tx) => countUnread(tx, { workspaceId, ...window[0]!, at: new Date('2026-03-02') }),
      ['inbox_messages_pkey'],
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
  ])('%s: read through indexes, however many users there are', async (name, statement, indexes) => {
    const plans: string[] = [];
    await statement(collectPlansOfSent(bundle.application.forWorkspace('W'), plans));
    const all = plans.join('\n');
    const read = ['users', 'user_messages', 'devices', 'deliveries', 'segment_members'];
    for (const table of [...read, 'audience_seats', 'device_interactions', 'topic_choices', 'inbox_messages'])
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
  ])('use one statement for zones, one for messages and one to record them for a window %s', async (_name, given) => {
    const plans: string[] = [];
    const tx = collectPlans(bundle.application.forWorkspace('W'), plans);
    await findUsersForEligibility(tx, { workspaceId, users: given, zoneAttribute: 'time_zone', withMessages: 'yes' });
    await reserveUserMessages(tx, {
      ...{ workspaceId, runId: 'r9', campaignId: 'c9', at: new Date('2026-03-02'), isCounted: 'yes' },
      users: given.map((user) => ({ ...user, revision: 1 })),
    });
    expect(plans).toHaveLength(3);
  });
});
