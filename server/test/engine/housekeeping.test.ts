import { hostname } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeClock, makeManualClock } from '../../src/clock.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeId } from '../../src/domain/ids.ts';
import { makeFollowDatabaseClock } from '../../src/engine/housekeeping/database-clock.ts';
import { makeDropOldDays, makePrepareDays } from '../../src/engine/housekeeping/days.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import {
  makeArchiveEndedKeys,
  makeDropSegmentLeftovers,
  makeExpireSegments,
} from '../../src/engine/housekeeping/expiry.ts';
import {
  makeDropOldReceipts,
  makeDropOldRecords,
  makeTrimOldRecords,
} from '../../src/engine/housekeeping/old-records.ts';
import { makeJobBook } from '../../src/engine/jobs/job.ts';
import { makeReportNode } from '../../src/engine/monitoring/report-node.ts';
import { checkMasterKey } from '../../src/start/database/open-installation.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { setClockOffset } from '../../src/storage/installation/installation.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');

describe('the database clock', () => {
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    await bundle.database`
      insert into installation (created_at, master_key_check) values ('2026-03-01', '\\x00') on conflict do nothing`;
  });
  afterAll(() => bundle.drop());

  test('is followed when another node moves it, and does not undo a move of this node during the check', async () => {
    const { database } = bundle;
    const clock = makeClock();
    let moves = 0;
    const follow = makeFollowDatabaseClock({ database, clock, onMoved: () => (moves += 1) });
    await setClockOffset(database, 60_000);
    await follow.runOnce(clock.now());
    expect([clock.offsetMilliseconds(), moves]).toEqual([60_000, 1]);

    let looked: Promise<unknown> | undefined;
    await inTransaction(database, async (tx) => {
      await tx`lock table installation in access exclusive mode`;
      looked = follow.runOnce(clock.now());
      await expect.poll(() => isAnybodyWaiting(database)).toBe(true);
      clock.setOffset(86_400_000);
    });
    await looked;
    expect([clock.offsetMilliseconds(), moves]).toEqual([86_400_000, 1]);
  });
});

type Segment = { state?: string; archivedAt?: Date | null; expiresAt?: Date | null; version?: number };

describe('housekeeping jobs', () => {
  const hour = 3_600_000;
  const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);

  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    // Deleted, not truncated: of small tables that takes a tenth of the time.
    const tables = [
      ...[
        'access_tokens',
        'refresh_tokens',
        'token_revocations',
        'api_keys',
        'idempotency_keys',
        'send_budgets',
        'provider_tokens',
      ],
      ...['campaign_request_ids', 'report_files', 'live_activities', 'limit_windows', 'sandbox_messages'],
      ...['segment_members', 'segments', 'runs', 'campaigns', 'nodes', 'transaction_receipts', 'installation'],
    ];
    await testDatabase.database.unsafe(tables.map((table) => `delete from ${table}`).join('; '));
  });

  test('archive a key as of the end of its overlap after a rotation, and no other', async () => {
    const { database } = testDatabase;
    await addKey('ended', before(5_000));
    await addKey('ends now', now);
    await addKey('ends later', before(-1));
    await addKey('has no end');
    const job = makeArchiveEndedKeys({ database });
    expect(await job.runOnce(now)).toBe(2);
    expect([...(await database`select id, archived_at as at from api_keys order by id`)]).toEqual([
      { id: 'ended', at: before(5_000) },
      { id: 'ends later', at: null },
      { id: 'ends now', at: now },
      { id: 'has no end', at: null },
    ]);
    expect(await job.runOnce(now)).toBe(0);
  });

  test('archive a segment when it expires (interface 3.1)', async () => {
    const { database } = testDatabase;
    await addSegment('expired', { expiresAt: now });
    await addSegment('expires', { expiresAt: before(-1) });
    await addSegment('stays');
    expect(await makeExpireSegments({ database }).runOnce(now)).toBe(1);
    const rows = await database`select id from segments where state = 'ARCHIVED'`;
    expect([...rows]).toEqual([{ id: 'expired' }]);
  });

  describe('segment data that no reader can see any more', () => {
    const tidy = () => makeDropSegmentLeftovers({ database: testDatabase.database }).runOnce(now);
    const members = async (): Promise<string[]> => {
      const rows = await testDatabase.database<{ name: string }[]>`
        select segment_id || ' ' || user_id as name from segment_members order by 1`;
      return rows.map(({ name }) => name);
    };

    test('is deleted: removed members, those of segments archived for 30 days, and of ended runs', async () => {
      const { database } = testDatabase;
      await addSegment('live', { version: 3 });
      await addMember('live', 'removed', 3);
      await addMember('live', 'removed too', 2);
      await addMember('live', 'there');
      await addSegment('archived', { state: 'ARCHIVED', archivedAt: before(30 * 24 * hour) });
      await addMember('archived', 'a');
      await addSegment('archived since', { state: 'ARCHIVED', archivedAt: before(30 * 24 * hour - 1) });
      await addMember('archived since', 'b');
      await addMember('run', 'c');
      await addMember('run', 'd');
      await insertSentRun(database, { workspaceId, id: 'run', at: now });
      await database`update runs set audience_segment_id = id, audience_version = 1`;
      // A segment and a run that are done with count beside their members.
      expect(await tidy()).toBe(2 + (1 + 1) + (2 + 1));
      expect(await members()).toEqual(['archived since b', 'live there']);
      expect([...(await database`select id, members_deleted_at as at from segments order by id`)]).toEqual([
        { id: 'archived', at: now },
        { id: 'archived since', at: null },
        { id: 'live', at: null },
      ]);
      expect([...(await database`select audience_dropped_at as at from runs`)]).toEqual([{ at: now }]);
      expect(await tidy()).toBe(0);
    });

    test('is deleted: tables of attempts whose worker died', async () => {
      const { database } = testDatabase;
      const key = `${'a'.repeat(24)}_1`;
      await database`select make_segment_staging(${`segment_matches_${key}`})`;
      const tables = () => database`select 1 from pg_class where relname = ${`segment_matches_${key}`}`;
      expect(await tables()).toHaveLength(1);
      expect(await tidy()).toBe(0);
      expect(await tables()).toHaveLength(0);
    });
  });

  describe('outdated records', () => {
    const drop = (inboxMessages = 100, at = now) =>
      makeDropOldRecords({ database: testDatabase.database, clock: makeManualClock(now), inboxMessages }).runOnce(at);
    const day = 24 * hour;

    /** Two rows of each table: of one the time is over, of the other not yet. */
    async function addPairs(): Promise<void> {
      const { database } = testDatabase;
      await addKey('key');
      for (const [name, at] of [['old', before(day + 1)] as const, ['young', before(day)] as const]) {
        const hash = database`sha256(${name}::bytea)`;
        await database`
          insert into access_tokens (token_hash, workspace_id, key_id, key_generation, refresh_token_hash, issued_at, expires_at)
          values (${hash}, ${workspaceId}, 'key', 1, ${hash}, ${at}, ${at})`;
        await database`
          insert into refresh_tokens (token_hash, workspace_id, key_id, key_generation, issued_at, expires_at)
          values (${hash}, ${workspaceId}, 'key', 1, ${at}, ${at})`;
        await database`
          insert into token_revocations (key_id, subject, workspace_id, revoked_at, access_until, expires_at)
          values ('key', substring(${hash} from 1 for 16), ${workspaceId}, ${at}, ${at}, ${at})`;
        await database`
          insert into idempotency_keys (workspace_id, operation, key_hash, body_hash, created_at)
          values (${workspaceId}, 'a', ${hash}, ${hash}, ${at})`;
        await database`
          insert into send_budgets (key, tokens, refilled_at, busy_since) values (${name}, 0, ${at}, ${at})`;
        await database`insert into provider_tokens (key, sealed, issued_at) values (${name}, 'a', ${at})`;
        await database`
          insert into campaign_request_ids (workspace_id, operation, request_id, used_at)
          values (${workspaceId}, 'a', ${name}, ${at})`;
        await database`
          insert into live_activities (workspace_id, app_id, activity_id, last_timestamp, changed_at)
          values (${workspaceId}, 'a', ${name}, 0, ${at})`;
        await database`
          insert into report_files (id, workspace_id, name, request, signature_hash, next_at, created_at, expires_at)
          values (${name}, ${workspaceId}, ${name}, '{}', ${hash}, ${at}, ${at}, ${name === 'old' ? now : before(-1)})`;
      }
    }

    const pairs = [
      ...[
        'access_tokens',
        'refresh_tokens',
        'token_revocations',
        'idempotency_keys',
        'send_budgets',
        'provider_tokens',
      ],
      ...['campaign_request_ids', 'live_activities', 'report_files'],
    ];

    test('are removed a day after their time, report files at theirs, and younger ones stay (decision D13)', async () => {
      await addPairs();
      expect(await drop()).toBe(0);
      const left = await Promise.all(pairs.map(async (table) => [table, await count(table)]));
      expect(left).toEqual(pairs.map((table) => [table, 1]));
      expect([...(await testDatabase.database`select name from report_files`)]).toEqual([{ name: 'young' }]);
      expect([...(await testDatabase.database`select key from send_budgets`)]).toEqual([{ key: 'young' }]);
    });

    test('include messages of the inbox above its capacity', async () => {
      await testDatabase.database`
        insert into sandbox_messages (id, workspace_id, platform, device_token, title, body, collapse_id, message_id, payload,
          received_at)
        select lpad(number::text, 24, '0'), ${workspaceId}, 'IOS', 't', 't', 'b', 'c', 'm', '{}', ${now}
        from generate_series(1, 5) as number`;
      await drop(3);
      const rows = await testDatabase.database<{ id: string }[]>`select id from sandbox_messages order by id`;
      expect(rows.map(({ id }) => Number(id))).toEqual([3, 4, 5]);
    });

    test('include rate limits of subjects that were idle for ten minutes', async () => {
      await testDatabase.database`
        insert into limit_windows (operation, subject, events, last_event_at)
        values ('token', sha256('a'), '{}', ${before(600_001)}), ('token', sha256('b'), '{}', ${before(600_000)})`;
      await drop();
      expect(await count('limit_windows')).toBe(1);
    });

    test('include sign-in attempts after ten minutes of real time, whatever the clock of the sandbox', async () => {
      await testDatabase.database`
        insert into limit_windows (operation, subject, events, last_event_at)
        values ('sign-in-address', sha256('a'), '{}', ${before(600_000)})`;
      await drop(100, new Date(now.getTime() + 30 * day));
      expect(await count('limit_windows')).toBe(1);
    });

    test('are looked for again immediately after a full batch', async () => {
      await testDatabase.database`
        insert into campaign_request_ids (workspace_id, operation, request_id, used_at)
        select ${workspaceId}, 'a', number::text, ${before(day + 1)} from generate_series(1, 10001) as number`;
      expect(await drop()).toBe(1);
      expect(await count('campaign_request_ids')).toBe(1);
      expect(await drop()).toBe(0);
    });
  });

  test('remove receipts ten minutes after their transaction was found to have ended', async () => {
    const { database } = testDatabase;
    const clock = makeManualClock(now);
    const { runOnce } = makeDropOldReceipts({ database, clock });
    const addReceipts = (receipts: number, id: string) => database`
      insert into transaction_receipts (pool_id, number, is_stored, made_in)
      select gen_random_uuid(), number, true, ${id}::xid8 from generate_series(1, ${receipts}::int) as number`;
    await addReceipts(10_001, '1');
    expect(await runOnce(now)).toBe(0);
    clock.advance(10 * 60_000 - 1);
    // The sandbox's clock does not count.
    clock.setOffset(hour);
    expect(await runOnce(now)).toBe(0);
    expect(await count('transaction_receipts')).toBe(10_001);
    clock.advance(1);
    expect(await runOnce(now)).toBe(1);
    expect(await count('transaction_receipts')).toBe(1);
    expect(await runOnce(now)).toBe(0);
    expect(await count('transaction_receipts')).toBe(0);
  });

  test('create the days of today and tomorrow for the ledger and the events, once, and log each', async () => {
    const { database } = testDatabase;
    const told: unknown[] = [];
    const log = { info: (line: unknown, message: string) => void told.push([line, message]) } as never;
    const at = new Date('2031-12-31T23:30:00Z');
    await database`drop table if exists deliveries_20311231, deliveries_20320101, events_20311231, events_20320101`;
    const job = makePrepareDays({ database, log });
    expect(await job.runOnce(at)).toBe(0);
    const days = ['2031-12-31', '2032-01-01'];
    const rows = await database<{ name: string }[]>`
      select relname as name from pg_class where relname ~ '^(deliveries|events)_203[12]....$' order by 1`;
    expect(rows.map(({ name }) => name)).toEqual([
      ...['deliveries_20311231', 'deliveries_20320101', 'events_20311231', 'events_20320101'],
    ]);
    expect(told).toHaveLength(4);
    expect(told).toEqual(
      expect.arrayContaining(
        days.flatMap((day) => ['deliveries', 'events'].map((table) => [{ table, day }, 'day made'])),
      ),
    );
    await job.runOnce(at);
    expect(told).toHaveLength(4);
  });

  describe('the report of a node', () => {
    const masterKey = Buffer.alloc(32, 1);
    const node = { id: 'node', role: 'worker', version: '1.2.3', simulators: null, connections: 10 } as const;

    async function makeJob({ encryption = makeEncryption(masterKey), url = 'https://node.example' } = {}) {
      const { database } = testDatabase;
      await checkMasterKey(database, { masterKey, nextMasterKey: undefined, at: now });
      const book = makeJobBook();
      book.note('end-runs', { at: now, done: 3 });
      const clock = makeManualClock(now);
      clock.setOffset(hour);
      const findCertificateEnd = () => before(-hour);
      const findUrl = () => url || undefined;
      return makeReportNode({ database, clock, encryption, node, book, findUrl, findCertificateEnd });
    }

    test('states what the node is, by real time, and what its jobs did, and is removed when the node stops', async () => {
      const { database } = testDatabase;
      const encryption = makeEncryption(masterKey);
      const job = await makeJob({ encryption });
      expect(await job.runOnce(now)).toBe(0);
      const [row] = await database`
        select id, host, process_id as "processId", role, version, started_at as "startedAt", seen_at as "seenAt",
          memory_bytes as "memoryBytes", duties as jobs, master_key_ids as "masterKeyIds", url, connections,
          certificate_ends_at as "certificateEndsAt" from nodes`;
      expect(row).toMatchObject({
        ...{ id: 'node', host: hostname(), processId: process.pid, role: 'worker', version: '1.2.3', connections: 10 },
        ...{ seenAt: now, url: 'https://node.example', certificateEndsAt: before(-hour) },
        jobs: [expect.objectContaining({ name: 'end-runs', done: 3 })],
        masterKeyIds: encryption.masterKeyIds(),
      });
      expect(row!.memoryBytes).toBeGreaterThan(1_000_000);
      const uptimeSeconds = (now.getTime() - row!.startedAt.getTime()) / 1000;
      expect(Math.abs(uptimeSeconds - process.uptime())).toBeLessThan(10);
      await job.leave();
      expect(await count('nodes')).toBe(0);
    });

    test('omits an unknown address', async () => {
      await (await makeJob({ url: '' })).runOnce(now);
      expect([...(await testDatabase.database`select url from nodes`)]).toEqual([{ url: null }]);
    });

    test('removes nodes that were silent for a day', async () => {
      const job = await makeJob();
      for (const [id, silence] of [['gone', 24 * hour + 1] as const, ['silent', 24 * hour] as const])
        await testDatabase.database`
          insert into nodes (id, host, process_id, role, version, started_at, seen_at, memory_bytes, connections)
          values (${id}, 'h', 1, 'all', '1', ${now}, ${before(silence)}, 1, 1)`;
      await job.runOnce(now);
      const rows = await testDatabase.database<{ id: string }[]>`select id from nodes order by id`;
      expect(rows.map(({ id }) => id)).toEqual(['node', 'silent']);
    });

    test('is stored even by a node without the master key, and its job names the missing key', async () => {
      const encryption = makeEncryption(Buffer.alloc(32, 2));
      const job = await makeJob({ encryption });
      const [keyId] = makeEncryption(masterKey).masterKeyIds();
      await expect(job.runOnce(now)).rejects.toThrow(`The master key ${keyId},`);
      expect(await count('nodes')).toBe(1);
    });

    test('follows a rotation: the node then encrypts under the key of the installation', async () => {
      const encryption = makeEncryption(Buffer.alloc(32, 2), masterKey);
      await (await makeJob({ encryption })).runOnce(now);
      expect(encryption.masterKeyIds()).toEqual(makeEncryption(masterKey, Buffer.alloc(32, 2)).masterKeyIds());
      const [row] = await testDatabase.database`select master_key_ids as ids from nodes`;
      expect(row!.ids).toEqual(encryption.masterKeyIds());
    });
  });

  async function count(table: string): Promise<number> {
    const { database } = testDatabase;
    const [row] = await database<{ rows: number }[]>`select count(*)::int as rows from ${database(table)}`;
    return row!.rows;
  }

  async function addKey(id: string, endsAt: Date | null = null): Promise<void> {
    await testDatabase.database`
      insert into api_keys (id, workspace_id, kind, name, scopes, secret_hash, secret_hint, created_at, ends_at)
      values (${id}, ${workspaceId}, 'data', ${id}, '{}', sha256(${id}::bytea), 'a', ${now}, ${endsAt})`;
  }

  async function addSegment(id: string, { state = 'READY', ...more }: Segment = {}): Promise<void> {
    const { archivedAt = null, expiresAt = null, version = 1 } = more;
    await testDatabase.database`
      insert into segments (id, workspace_id, name, kind, state, archived_at, expires_at, expiry_days, source, attribute_name,
        attribute_type, version, created_by, created_at, updated_at)
      values (${id}, ${workspaceId}, ${id}, 'FILE', ${state}, ${archivedAt}, ${expiresAt}, ${expiresAt && 1}, 'API', 'ID',
        'string', ${version}, 'test', ${now}, ${now})`;
  }

  async function addMember(segmentId: string, userId: string, removedIn: number | null = null): Promise<void> {
    await testDatabase.database`
      insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in, removed_in)
      values (${workspaceId}, 1, ${segmentId}, ${userId}, 1, ${removedIn})`;
  }
});

describe('old records and erased users', () => {
  const day = 86_400_000;
  const after = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);
  const dayAt = (days: number): string =>
    after(days * day)
      .toISOString()
      .slice(0, 10);

  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
  });
  afterAll(() => testDatabase.drop());

  const lines: unknown[] = [];
  /** Takes back that rows cannot be deleted, also where the test that said so did not come to its end. */
  const accept = () => testDatabase.database.unsafe('drop function if exists refuse() cascade');
  const log = { info: (...line: unknown[]) => void lines.push(line) } as never;
  beforeEach(async () => {
    lines.length = 0;
    await accept();
    const tables = [
      'erasures',
      'identifiers',
      'merged_users',
      'user_messages',
      'users',
      'runs',
      'campaigns',
      'triggers',
    ];
    await testDatabase.database.unsafe(
      [...tables, 'unattributed_events', 'audit_log', 'api_log', 'alerts', 'imports']
        .map((table) => `delete from ${table}`)
        .join('; '),
    );
  });

  describe('a user due for deletion', () => {
    const id = 'a'.repeat(24);
    const merged = 'b'.repeat(24);

    async function addUser(userId: string, bucket: number): Promise<void> {
      const { database } = testDatabase;
      await database`
        insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
        values (${workspaceId}, ${bucket}, ${userId}, ${userId}, ${now}, ${now})`;
      await database`
        insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
        values (${workspaceId}, ${bucket}, ${userId}, 'shop', 'string', ${userId})`;
    }

    const erase = (at: Date) => makeEraseDueUsers(testDatabase).runOnce(at);
    async function readErasure() {
      const [row] = await testDatabase.database`
        select state, user_ids as users, due_at as "dueAt", counts from erasures`;
      return row!;
    }

    beforeEach(async () => {
      const { database } = testDatabase;
      await addUser(id, 1);
      await addUser('c'.repeat(24), 1);
      await database`
        insert into merged_users (workspace_id, bucket, customer_id, user_id, retained_bucket, retained_user_id, merged_at)
        values (${workspaceId}, 2, 'old', ${merged}, 1, ${id}, ${now})`;
      await database`
        insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
        values (${workspaceId}, 2, ${merged}, 'shop', 'string', 'old')`;
      await database`
        insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
        values (${workspaceId}, 1, ${id}, 1, '{}', '{}', '{}', '{}')`;
      await database`
        insert into erasures (id, workspace_id, customer_digest, state, bucket, user_ids, requested_at, due_at)
        values ('erasure', ${workspaceId}, sha256('a'), 'PENDING', 1, ${JSON.stringify([[1, id]])}::text::jsonb, ${now}, ${now})`;
    });

    const none = Object.fromEntries(
      [
        ...[
          'users',
          'merged_users',
          'identifiers',
          'devices',
          'installations',
          'push_addresses',
          'events',
          'triggers',
          'journey_positions',
          'segment_members',
        ],
        ...[
          'device_interactions',
          'conversions',
          'deliveries',
          'user_messages',
          'topic_choices',
          'inbox_messages',
          'audience_seats',
          'runs',
        ],
        ...['event_stream_batches', 'sandbox_messages', 'audit_log', 'target_selectors', 'filters'],
      ].map((table) => [table, 0]),
    );

    test('is erased with the users merged into it, and the counts of each table are kept', async () => {
      expect(await erase(after(-1))).toBe(0);
      expect(await erase(now)).toBe(1);
      const counts = { ...none, users: 1, merged_users: 1, identifiers: 2, user_messages: 1 };
      expect(await readErasure()).toEqual({
        ...{ state: 'REMOVED', dueAt: after(3_600_000), counts },
        users: [
          [1, id],
          [2, merged],
        ],
      });
      const left = await testDatabase.database`select user_id as "userId" from identifiers`;
      expect([...left]).toEqual([{ userId: 'c'.repeat(24) }]);
    });

    test('is checked again an hour later for rows of work in progress, and then its ids are removed', async () => {
      await erase(now);
      expect(await erase(after(3_599_999))).toBe(0);
      const { database } = testDatabase;
      for (const [bucket, userId] of [[1, id] as const, [2, merged] as const])
        await database`
          insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
          values (${workspaceId}, ${bucket}, ${userId}, 'shop', 'string', 'late')`;
      expect(await erase(after(3_600_000))).toBe(1);
      const counts = { ...none, users: 1, merged_users: 1, identifiers: 4, user_messages: 1 };
      expect(await readErasure()).toEqual({ state: 'DONE', dueAt: after(3_600_000), counts, users: null });
      expect(await erase(after(day))).toBe(0);
    });
  });

  describe('days of the ledger and of the events', () => {
    const retention = { ledger: 90, events: 400 };
    const clock = makeManualClock(now);
    const makeJob = () => makeDropOldDays({ database: testDatabase.database, clock, log, retention });
    const makeDay = (table: string, days: number) =>
      testDatabase.database`select make_day_partition(${table}, ${dayAt(days)}::date)`;
    async function listDays(): Promise<string[]> {
      const rows = await testDatabase.database<{ name: string }[]>`
        select relname as name from pg_class where relkind = 'r' and relname ~ '^(deliveries|events)_[0-9]{8}$' order by 1`;
      return rows.map(({ name }) => name);
    }

    beforeEach(async () => {
      clock.anchor(now);
      for (const name of await listDays()) await testDatabase.database.unsafe(`drop table ${name}`);
    });

    test('are dropped after their retention, the oldest first, one of each per run', async () => {
      for (const days of [90, 91, 92]) await makeDay('deliveries', -days);
      for (const days of [400, 401]) await makeDay('events', -days);
      const job = makeJob();
      expect(await job.runOnce(now)).toBe(2);
      expect(lines).toEqual([
        [{ table: 'deliveries', day: dayAt(-92), keptDays: 90 }, 'day dropped'],
        [{ table: 'events', day: dayAt(-401), keptDays: 400 }, 'day dropped'],
      ]);
      expect(await job.runOnce(now)).toBe(1);
      expect(await job.runOnce(now)).toBe(0);
      expect(await listDays()).toHaveLength(2);
    });

    test('stay while a run of a ledger day has not ended', async () => {
      await makeDay('deliveries', -100);
      await insertSentRun(testDatabase.database, { workspaceId, id: 'run', at: now });
      await testDatabase.database`
        update runs set status = 'PAUSED', status_reason = 'r', ended_at = null, day = ${dayAt(-100)}`;
      const job = makeJob();
      expect(await job.runOnce(now)).toBe(0);
      expect(await listDays()).toHaveLength(1);
      await testDatabase.database`update runs set status = 'SENT', status_reason = null, ended_at = ${now}`;
      expect(await job.runOnce(now)).toBe(1);
    });

    test('stay while an event waits for attribution, which is checked once a day', async () => {
      await makeDay('events', -500);
      await testDatabase.database`
        insert into unattributed_events (workspace_id, bucket, event_id, day, received_at)
        values (${workspaceId}, 1, 'e', ${dayAt(-500)}, ${now})`;
      const job = makeJob();
      expect(await job.runOnce(now)).toBe(0);
      await testDatabase.database`delete from unattributed_events`;
      clock.advance(day - 1);
      expect(await job.runOnce(now)).toBe(0);
      expect(await listDays()).toHaveLength(1);
      clock.advance(1);
      expect(await job.runOnce(now)).toBe(1);
      expect(await listDays()).toEqual([]);
    });

    test('are aged by the earlier of the two clocks, so that the sandbox clock drops nothing', async () => {
      await makeDay('deliveries', -50);
      expect(await makeJob().runOnce(after(100 * day))).toBe(0);
      clock.anchor(after(100 * day));
      expect(await makeJob().runOnce(now)).toBe(0);
      expect(await makeJob().runOnce(after(100 * day))).toBe(1);
    });
  });

  describe('records past their retention', () => {
    const retention = {
      ...{ runs: 400, interactions: 400, pushRequests: 90, messages: 90, operations: 400, audit: 1_825, apiLog: 7 },
    };
    const clock = makeManualClock(now);
    beforeEach(() => clock.anchor(now));
    const trim = (at = now) =>
      makeTrimOldRecords({ database: testDatabase.database, clock, log, retention }).runOnce(at);

    async function addAuditLines(at: Date, count: number): Promise<void> {
      const ids = Array.from({ length: count }, () => makeId(at));
      await testDatabase.database`
        insert into audit_log (id, workspace_id, at, actor_name, action, object_kind)
        select id, ${workspaceId}, ${at}, 'a', 'b', 'c' from unnest(${ids}::text[]) as id`;
    }
    async function addApiLines(at: Date, count: number): Promise<void> {
      const ids = Array.from({ length: count }, () => makeId(at));
      await testDatabase.database`
        insert into api_log (id, workspace_id, received_at, method, path, route, status, duration_ms)
        select id, ${workspaceId}, ${at}, 'GET', '/', '/', 200, 1 from unnest(${ids}::text[]) as id`;
    }
    async function count(table: string): Promise<number> {
      return (await testDatabase.database`select 1 from ${testDatabase.database(table)}`).length;
    }

    test('are removed by kind after its days, and the log states how many', async () => {
      await addAuditLines(after(-1_825 * day - 1), 2);
      await addAuditLines(after(-1_825 * day + 1_000), 1);
      await addApiLines(after(-7 * day - 1), 3);
      await addApiLines(after(-7 * day + 1_000), 1);
      expect(await trim()).toBe(5);
      expect([await count('audit_log'), await count('api_log')]).toEqual([1, 1]);
      expect(lines).toEqual([[{ removed: { audit_log: 2, api_log: 3 } }, 'old records removed']]);
      lines.length = 0;
      expect(await trim()).toBe(0);
      expect(lines).toEqual([]);
    });

    test('are aged by the earlier of the two clocks', async () => {
      await addApiLines(now, 1);
      expect(await trim(after(8 * day))).toBe(0);
      clock.anchor(after(8 * day));
      expect(await trim(now)).toBe(0);
      expect(await trim(after(8 * day))).toBe(1);
    });

    test('are removed from other tables if one cannot be trimmed, and the fault is reported', async () => {
      const { database } = testDatabase;
      await addAuditLines(after(-2_000 * day), 1);
      await addApiLines(after(-8 * day), 1);
      await database.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse before delete on audit_log for each row execute function refuse()`);
      await expect(trim()).rejects.toThrow('no');
      await accept();
      expect([await count('audit_log'), await count('api_log')]).toEqual([1, 0]);
      expect(lines).toEqual([[{ removed: { api_log: 1 } }, 'old records removed']]);
      expect(await trim()).toBe(1);
    });

    test('are skipped batch by batch if they must stay, and checked again from the first', async () => {
      const { database } = testDatabase;
      await insertSentRun(database, { workspaceId, id: makeId(after(-500 * day)), at: after(-500 * day) });
      const ids = Array.from({ length: 250 }, () => makeId(after(-600 * day)));
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, day, send_until, created_at)
        select given.id, ${workspaceId}, campaigns.id, 1, 'PAUSED', 'r', ${dayAt(-600)}, ${now}, ${now}
        from unnest(${ids}::text[]) as given (id), campaigns`;
      const job = makeTrimOldRecords({ database, clock, log, retention });
      expect(await job.runOnce(now)).toBe(1);
      expect(await count('runs')).toBe(250);
      await database`update runs set status = 'SENT', status_reason = null, started_at = ${now}, ended_at = ${after(-500 * day)}`;
      expect(await job.runOnce(now)).toBe(100);
      expect(await job.runOnce(now)).toBe(100);
      expect(await job.runOnce(now)).toBe(50);
      expect(await job.runOnce(now)).toBe(0);
    });
  });
});
