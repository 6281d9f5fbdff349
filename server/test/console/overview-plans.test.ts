import { afterAll, beforeAll, expect, test } from 'vitest';
import { platforms } from '../../src/domain/content/content.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { readCounted } from '../../src/storage/limits/push-rate-limit.ts';
import {
  countRecentDeliveries,
  groupPausedSends,
  groupRecentFailures,
  groupWaiting,
  listFailedRuns,
  listRunningSends,
  listScheduledSends,
} from '../../src/storage/installation/overview.ts';
import { readQueues } from '../../src/storage/installation/queues.ts';
import { findAccountLimits } from '../../src/storage/limits/governor.ts';
import { collectPlans, collectPlansOfSent } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const workspaceId = 'W';
const at = new Date('2026-03-01T12:00:00Z');
const since = new Date('2026-03-01T11:00:00Z');
const recent = { platforms, workspaceNumber: 0, days: ['2026-03-01'], since, most: 10_000 };
let bundle: TestDatabase;

// 20,000 runs of as many campaigns, nearly all sent; 60,000 deliveries of a day, of two workspaces.
beforeAll(async () => {
  bundle = await createTestDatabase();
  const { database } = bundle;
  await database`
    insert into workspaces (id, db_name, name, created_at)
    values ('W', 'w', 'W', '2026-01-01'), ('X', 'x', 'X', '2026-01-01')`;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
      next_at, created_by, created_at, updated_at)
    select 'c' || number, case when number % 1000 = 0 then 'W' else 'X' end, 'Campaign ' || number, 'PUSH_API', 'ONE_TIME',
      'ALL_USERS', '{ANDROID}', '{}', '{}', case when number % 1000 = 0 or number % 10 = 1 then 'SCHEDULED' else 'SENT' end,
      case when number % 1000 = 0 or number % 10 = 1 then '2026-03-02'::timestamptz + number * interval '1 second' end, 'test',
      '2026-02-01', '2026-02-01'
    from generate_series(1, 20000) as number`;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, paused_platform, day, send_until,
      created_at, started_at, ended_at, audience_devices)
    select 'r' || number, case when number % 2 = 0 then 'W' else 'X' end, 'c' || number, 1, state.name,
      case when state.name in ('PAUSED', 'FAILED', 'MISSED') then 'the reason' end,
      case when state.name = 'PAUSED' then 'ANDROID' end, '2026-03-01', '2026-03-03',
      '2026-02-01'::timestamptz + number * interval '1 minute', '2026-03-01',
      case when state.name in ('SENT', 'FAILED', 'MISSED') then '2026-03-01 11:30Z'::timestamptz end, 100
    from generate_series(1, 20000) as number, lateral (
      select case number % 500 when 0 then 'SENDING' when 1 then 'SENDING' when 2 then 'PAUSED' when 3 then 'PAUSED'
        when 4 then 'FAILED' when 5 then 'MISSED' else 'SENT' end as name
    ) as state`;
  await database`
    insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
    select 'r' || number, 'W', 0, 'ANDROID', 'ACCEPTED', 40 from generate_series(1, 20000) as number`;
  await database`select make_day_partition('deliveries', '2026-03-01')`;
  const rows = await database<{ id: string; number: number }[]>`select id, number from workspaces`;
  const numbers = Object.fromEntries(rows.map(({ id, number }) => [id, number]));
  recent.workspaceNumber = numbers.W!;
  await database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, code,
      attempts, sent_at)
    select '2026-03-01', case when number % 2 = 0 then ${numbers.W!}::integer else ${numbers.X!}::integer end, number % 256, number,
      decode('d' || lpad(to_hex(number), 23, '0'), 'hex'), decode('e' || lpad(to_hex(number), 23, '0'), 'hex'), 'A',
      (case number % 20 when 2 then 'G' when 4 then 'R' else 'A' end)::"char",
      case number % 20 when 2 then 'UNREGISTERED' when 4 then 'INVALID_ARGUMENT' end, 1,
      '2026-03-01T00:00:00Z'::timestamptz + number * interval '1 second'
    from generate_series(1, 40000) as number`;
  // Nearly all that wait are another workspace's: reading all that wait, of every workspace, would be the dear way.
  await database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, code,
      attempts, sent_at, retry_at)
    select '2026-03-01', case when number % 200 = 0 then ${numbers.W!}::integer else ${numbers.X!}::integer end, number % 256, number,
      decode('f' || lpad(to_hex(number), 23, '0'), 'hex'), decode('e' || lpad(to_hex(number), 23, '0'), 'hex'), 'A', 'W', 'UNAVAILABLE', 1,
      '2026-03-01T00:00:00Z'::timestamptz + number * interval '1 second', '2026-03-01T13:00:00Z'
    from generate_series(1, 20000) as number`;
  await database`
    insert into limit_counters (operation, workspace_id, counted)
    select 'push', 'W' || number, number from generate_series(1, 2000) as number
    union all select 'push', 'W', 50`;
  await database`
    insert into limit_marks (operation, workspace_id, counted, at)
    select 'push', 'W', number, '2026-03-01T11:55:00Z'::timestamptz + number * interval '5 seconds'
    from generate_series(1, 50) as number`;
  await database`
    insert into limit_marks (operation, workspace_id, counted, at)
    select 'push', 'W' || number, number, ${at} from generate_series(1, 2000) as number`;
  await database`
    insert into send_budgets (key, tokens, refilled_at, busy_since, silent_until, silent_reason)
    select 'webpush:site' || number, 0, ${at}, ${at}, case when number % 1000 = 0 then '2026-03-02'::timestamptz end,
      case when number % 1000 = 0 then '429' end
    from generate_series(1, 5000) as number`;
  await vacuumWhole(database);
});
afterAll(() => bundle.drop());

test.each<[string, (tx: Queryable) => Promise<unknown>, string[]]>([
  ['what is being sent', (tx) => listRunningSends(tx, { workspaceId, limit: 20 }), ['runs_sending', 'run_counts_pkey']],
  ['what is paused', (tx) => groupPausedSends(tx, workspaceId), ['runs_paused']],
  ['what failed', (tx) => listFailedRuns(tx, { workspaceId, since, limit: 20 }), ['runs_failed']],
  ['what comes next', (tx) => listScheduledSends(tx, { workspaceId, limit: 5 }), ['campaigns_next']],
  [
    'deliveries of the last hour',
    (tx) => countRecentDeliveries(tx, recent),
    ['deliveries_20260301_workspace_number_platform', 'deliveries_20260301_workspace_number_outcome'],
  ],
  [
    'failures of the last hour',
    (tx) => groupRecentFailures(tx, recent),
    ['deliveries_20260301_workspace_number_outcome'],
  ],
  [
    'what waits for another attempt',
    (tx) => groupWaiting(tx, { ...recent, platform: 'ANDROID' }),
    ['deliveries_20260301_workspace_number_outcome'],
  ],
  [
    'push requests of a minute',
    (tx) => readCounted(tx, { operation: 'push', workspaceId, windowSeconds: 60, at }),
    ['limit_counters_pkey', 'limit_marks_time'],
  ],
  [
    'accounts that are left alone',
    (tx) => findAccountLimits(tx, { keys: ['fcm:p'], prefix: 'webpush:site5000', at }),
    ['send_budgets_pkey'],
  ],
])('%s: read through indexes, however much there was', async (_name, statement, indexes) => {
  const plans: string[] = [];
  await statement(collectPlans(bundle.application.acrossWorkspaces(), plans));
  expect(plans).toHaveLength(1);
  expect(plans[0]).not.toMatch(
    /Seq Scan on (runs|campaigns|deliveries|run_counts|limit_marks|limit_counters|send_budgets)/,
  );
  for (const index of indexes) expect(plans[0]).toContain(index);
});

test('the queues are counted through indexes', async () => {
  const plans: string[] = [];
  await readQueues(collectPlansOfSent(bundle.application.acrossWorkspaces(), plans), at);
  expect(plans.join('\n')).not.toMatch(/Seq Scan on (runs|deliveries_20260301)/);
  const [days, retries, others] = plans;
  for (const index of ['runs_open', 'runs_paused']) expect(days).toContain(index);
  expect(retries).toContain('deliveries_20260301_retry_at');
  expect(others).toContain('runs_open');
});

test('the last hour is counted by provider, outcome and code, of one workspace', async () => {
  const { database } = bundle;
  // Every second delivery, one a second: 1,800 of an hour from 11:00:00 (39,600 s) to the last at 40,000 s.
  expect(await countRecentDeliveries(database, recent)).toEqual([
    { platform: 'ANDROID', outcome: 'ACCEPTED', devices: 160 },
    { platform: 'ANDROID', outcome: 'GONE', devices: 20 },
    { platform: 'ANDROID', outcome: 'REJECTED', devices: 20 },
  ]);
  expect(await groupRecentFailures(database, recent)).toMatchObject([
    { platform: 'ANDROID', outcome: 'GONE', code: 'UNREGISTERED', devices: 20 },
    { platform: 'ANDROID', outcome: 'REJECTED', code: 'INVALID_ARGUMENT', devices: 20 },
  ]);
  expect(await groupRecentFailures(database, { ...recent, most: 5 })).toMatchObject([{ devices: 5 }, { devices: 5 }]);
});

test('what is sent, paused, failed and next is that of one workspace', async () => {
  const { database } = bundle;
  const running = await listRunningSends(database, { workspaceId, limit: 20 });
  expect(running).toHaveLength(20);
  expect(running[0]).toMatchObject({ status: 'SENDING', audienceDevices: 100, accepted: 40, notDelivered: 0 });
  const times = running.map(({ createdAt }) => createdAt.getTime());
  expect(times).toEqual(times.toSorted((one, other) => other - one));
  expect(await groupPausedSends(database, workspaceId)).toMatchObject([
    { platform: 'ANDROID', reason: 'the reason', runs: 40 },
  ]);
  expect(
    (await listFailedRuns(database, { workspaceId, since, limit: 50 })).every(({ status }) => status === 'FAILED'),
  ).toBe(true);
  expect(await listFailedRuns(database, { workspaceId, since: at, limit: 50 })).toEqual([]);
  const next = await listScheduledSends(database, { workspaceId, limit: 2 });
  expect(next.map(({ campaignId }) => campaignId)).toEqual(['c1000', 'c2000']);
});

test('the push requests of the last minute are those since the mark at its edge', async () => {
  // Marks every five seconds until 11:59:10; the one at 11:59:00 is number 48.
  expect(await readCounted(bundle.database, { operation: 'push', workspaceId, windowSeconds: 60, at })).toBe(2);
  expect(await readCounted(bundle.database, { operation: 'push', workspaceId: 'none', windowSeconds: 60, at })).toBe(0);
});
