import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { makeId } from '../../../src/domain/ids.ts';
import { makeDropOldDays } from '../../../src/engine/housekeeping/days.ts';
import { makeEraseDueUsers } from '../../../src/engine/housekeeping/erase-users.ts';
import { makeTrimOldRecords } from '../../../src/engine/housekeeping/old-records.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');
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
  const tables = ['erasures', 'identifiers', 'merged_users', 'user_messages', 'users', 'runs', 'campaigns', 'triggers'];
  await testDatabase.database.unsafe(
    [...tables, 'unattributed_events', 'audit_log', 'api_log', 'alerts', 'imports']
      .map((table) => `delete from ${table}`)
      .join('; '),
  );
});

describe('a user whose deletion is due', () => {
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
      ...['users', 'merged_users', 'identifiers', 'devices', 'push_addresses', 'events', 'triggers', 'segment_members'],
      ...['device_interactions', 'conversions', 'deliveries', 'user_messages', 'audience_seats', 'runs'],
      ...['event_stream_batches', 'sandbox_messages', 'audit_log'],
    ].map((table) => [table, 0]),
  );

  test('is erased with what was merged into it, and the counts of each table are kept', async () => {
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

  test('is looked at again an hour later, for what work in progress wrote, and then nothing says whose rows they were', async () => {
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

  test('are dropped when they are older than they are kept, the oldest first, one of each a round', async () => {
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

  test('of the ledger stay while a run of theirs is not over', async () => {
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

  test('of events stay while one of them is to be looked at, which is asked once a day', async () => {
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

  test('are old by the earlier of the two clocks: what the sandbox moves drops nothing', async () => {
    await makeDay('deliveries', -50);
    expect(await makeJob().runOnce(after(100 * day))).toBe(0);
    clock.anchor(after(100 * day));
    expect(await makeJob().runOnce(now)).toBe(0);
    expect(await makeJob().runOnce(after(100 * day))).toBe(1);
  });
});

describe('records that are older than they are kept', () => {
  const retention = {
    ...{ runs: 400, interactions: 400, pushRequests: 90, messages: 90, operations: 400, audit: 1_825, apiLog: 7 },
  };
  const clock = makeManualClock(now);
  beforeEach(() => clock.anchor(now));
  const trim = (at = now) => makeTrimOldRecords({ database: testDatabase.database, clock, log, retention }).runOnce(at);

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

  test('are removed, each kind after its own days, and the log says how many of which', async () => {
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

  test('are old by the earlier of the two clocks', async () => {
    await addApiLines(now, 1);
    expect(await trim(after(8 * day))).toBe(0);
    clock.anchor(after(8 * day));
    expect(await trim(now)).toBe(0);
    expect(await trim(after(8 * day))).toBe(1);
  });

  test('of a table that cannot be trimmed keep no other from it, and the fault is told', async () => {
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

  test('that must stay are passed by, batch by batch, and looked at again from the first when all were', async () => {
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
