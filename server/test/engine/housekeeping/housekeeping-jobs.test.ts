import { hostname } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { makeEncryption } from '../../../src/domain/crypto/encryption.ts';
import {
  makeArchiveEndedKeys,
  makeDropSegmentLeftovers,
  makeExpireSegments,
} from '../../../src/engine/housekeeping/expiry.ts';
import { makeDropOldReceipts, makeDropOldRecords } from '../../../src/engine/housekeeping/old-records.ts';
import { makePrepareDays } from '../../../src/engine/housekeeping/days.ts';
import { makeReportNode } from '../../../src/engine/monitoring/report-node.ts';
import { makeJobBook } from '../../../src/engine/jobs/job.ts';
import { checkMasterKey } from '../../../src/start/database/open-installation.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');
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
    ...['access_tokens', 'refresh_tokens', 'api_keys', 'idempotency_keys', 'send_budgets', 'provider_tokens'],
    ...['campaign_request_ids', 'report_files', 'live_activities', 'limit_windows', 'sandbox_messages'],
    ...['segment_members', 'segments', 'runs', 'campaigns', 'nodes', 'transaction_receipts', 'installation'],
  ];
  await testDatabase.database.unsafe(tables.map((table) => `delete from ${table}`).join('; '));
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

test('a key whose overlap after a rotation has ended is archived as of its end, and no other is', async () => {
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

type Segment = { state?: string; archivedAt?: Date | null; expiresAt?: Date | null; version?: number };

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

test('a segment is archived when it expires (interface 3.1)', async () => {
  const { database } = testDatabase;
  await addSegment('expired', { expiresAt: now });
  await addSegment('expires', { expiresAt: before(-1) });
  await addSegment('stays');
  expect(await makeExpireSegments({ database }).runOnce(now)).toBe(1);
  const rows = await database`select id from segments where state = 'ARCHIVED'`;
  expect([...rows]).toEqual([{ id: 'expired' }]);
});

describe('what no reader of segments can see any more', () => {
  const tidy = () => makeDropSegmentLeftovers({ database: testDatabase.database }).runOnce(now);
  const members = async (): Promise<string[]> => {
    const rows = await testDatabase.database<{ name: string }[]>`
      select segment_id || ' ' || user_id as name from segment_members order by 1`;
    return rows.map(({ name }) => name);
  };

  test('is deleted: members that were removed, of the archived after 30 days, of runs that are over', async () => {
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

describe('records that are of no use any more', () => {
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
    ...['access_tokens', 'refresh_tokens', 'idempotency_keys', 'send_budgets', 'provider_tokens'],
    ...['campaign_request_ids', 'live_activities', 'report_files'],
  ];

  test('go a day after their time, report files at theirs, and younger ones stay (decision D13)', async () => {
    await addPairs();
    expect(await drop()).toBe(0);
    const left = await Promise.all(pairs.map(async (table) => [table, await count(table)]));
    expect(left).toEqual(pairs.map((table) => [table, 1]));
    expect([...(await testDatabase.database`select name from report_files`)]).toEqual([{ name: 'young' }]);
    expect([...(await testDatabase.database`select key from send_budgets`)]).toEqual([{ key: 'young' }]);
  });

  test('in the inbox are the newest messages, as many as it holds', async () => {
    await testDatabase.database`
      insert into sandbox_messages (id, workspace_id, platform, device_token, title, body, collapse_id, message_id, payload,
        received_at)
      select lpad(number::text, 24, '0'), ${workspaceId}, 'IOS', 't', 't', 'b', 'c', 'm', '{}', ${now}
      from generate_series(1, 5) as number`;
    await drop(3);
    const rows = await testDatabase.database<{ id: string }[]>`select id from sandbox_messages order by id`;
    expect(rows.map(({ id }) => Number(id))).toEqual([3, 4, 5]);
  });

  test('of limits are those of whom nothing was heard for ten minutes', async () => {
    await testDatabase.database`
      insert into limit_windows (operation, subject, events, last_event_at)
      values ('token', sha256('a'), '{}', ${before(600_001)}), ('token', sha256('b'), '{}', ${before(600_000)})`;
    await drop();
    expect(await count('limit_windows')).toBe(1);
  });

  test('keeps attempts to sign in for ten minutes of real time, however far ahead the sandbox is', async () => {
    await testDatabase.database`
      insert into limit_windows (operation, subject, events, last_event_at)
      values ('sign-in-address', sha256('a'), '{}', ${before(600_000)})`;
    await drop(100, new Date(now.getTime() + 30 * day));
    expect(await count('limit_windows')).toBe(1);
  });

  test('are looked for again at once after a full batch', async () => {
    await testDatabase.database`
      insert into campaign_request_ids (workspace_id, operation, request_id, used_at)
      select ${workspaceId}, 'a', number::text, ${before(day + 1)} from generate_series(1, 10001) as number`;
    expect(await drop()).toBe(1);
    expect(await count('campaign_request_ids')).toBe(1);
    expect(await drop()).toBe(0);
  });
});

test('receipts are forgotten ten minutes after a look at which their transaction was over', async () => {
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

test('today and tomorrow are made of the ledger and of the events, once, and each is told of', async () => {
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

  test('says what it is, by real time, and what its jobs did; a node that stops takes its report with it', async () => {
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

  test('says nothing of an address that it does not know', async () => {
    await (await makeJob({ url: '' })).runOnce(now);
    expect([...(await testDatabase.database`select url from nodes`)]).toEqual([{ url: null }]);
  });

  test('forgets nodes that were not heard of for a day', async () => {
    const job = await makeJob();
    for (const [id, silence] of [['gone', 24 * hour + 1] as const, ['silent', 24 * hour] as const])
      await testDatabase.database`
        insert into nodes (id, host, process_id, role, version, started_at, seen_at, memory_bytes, connections)
        values (${id}, 'h', 1, 'all', '1', ${now}, ${before(silence)}, 1, 1)`;
    await job.runOnce(now);
    const rows = await testDatabase.database<{ id: string }[]>`select id from nodes order by id`;
    expect(rows.map(({ id }) => id)).toEqual(['node', 'silent']);
  });

  test('is stored by a node that lacks the master key too, and its job says which one', async () => {
    const encryption = makeEncryption(Buffer.alloc(32, 2));
    const job = await makeJob({ encryption });
    const [keyId] = makeEncryption(masterKey).masterKeyIds();
    await expect(job.runOnce(now)).rejects.toThrow(`The master key ${keyId},`);
    expect(await count('nodes')).toBe(1);
  });

  test('follows a rotation: what it encrypts under from then on is the installation’s key', async () => {
    const encryption = makeEncryption(Buffer.alloc(32, 2), masterKey);
    await (await makeJob({ encryption })).runOnce(now);
    expect(encryption.masterKeyIds()).toEqual(makeEncryption(masterKey, Buffer.alloc(32, 2)).masterKeyIds());
    const [row] = await testDatabase.database`select master_key_ids as ids from nodes`;
    expect(row!.ids).toEqual(encryption.masterKeyIds());
  });
});
