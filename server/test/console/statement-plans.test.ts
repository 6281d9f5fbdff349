import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveryOutcomes, makeConsoleDeliveries } from '../../src/app/deliveries.ts';
import type { DeliveryCursor, DeliveryQuery } from '../../src/app/deliveries.ts';
import { makeManualClock } from '../../src/clock.ts';
import { platforms } from '../../src/domain/content/content.ts';
import { makeId } from '../../src/domain/ids.ts';
import { parseSegmentFilter } from '../../src/domain/segments/filter-reader.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { countAudienceDevices, countAudienceUsers } from '../../src/storage/campaigns/audience.ts';
import type { CountedAudience } from '../../src/storage/campaigns/audience.ts';
import { groupFailures, listRunDays, readTimeline } from '../../src/storage/campaigns/campaign-failures.ts';
import type { RunDay } from '../../src/storage/campaigns/campaign-failures.ts';
import { withinTime } from '../../src/storage/database.ts';
import { listUncountedRuns } from '../../src/storage/runs/audience-passes.ts';
import type { Queryable } from '../../src/storage/database.ts';
import {
  findRecoveredDevices,
  findUserOfSuspect,
  keepSuspectedDevice,
  listSuspectedDevices,
} from '../../src/storage/devices/suspected-devices.ts';
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
import { findLoggedDelivery, listLoggedDeliveries } from '../../src/storage/ledger/delivery-log.ts';
import type { LogFilters } from '../../src/storage/ledger/delivery-log.ts';
import { findAccountLimits } from '../../src/storage/limits/governor.ts';
import { readCounted } from '../../src/storage/limits/push-rate-limit.ts';
import {
  countFilterUsersIn,
  countUsersIn,
  findNamingValues,
  listSomeFilterUsers,
  listTextsBeginning,
} from '../../src/storage/segments/filter-samples.ts';
import { listAttributeNames } from '../../src/storage/users/identifiers.ts';
import {
  findCustomerIds,
  findUserRecord,
  findUsersByAnyIdentifier,
  listFoundUsers,
  listTestUsers,
  listTimelineEntries,
  listUserDevices,
  listUserMessages,
  listUserSegments,
} from '../../src/storage/users/user-records.ts';
import { collectPlans, collectPlansOfSent } from '../collect-plans.ts';
import { ledgerRun } from '../ledger-run.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const users = 20_000;
const workspaceId = 'W';

describe('plans of an audience', () => {
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

  describe('an audience count', () => {
    test('counts every user once, by the best state of their devices', async () => {
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

    test('counts a segment at its version, without users who left it', async () => {
      // Nobody whose number ends in 0 has a device; 2 is blocked, 3 and 4 have a phone.
      expect(await count(ofSegment, ['ANDROID'])).toEqual({ REACHED: 2, BLOCKED: 1, NO_DEVICE: 100 });
      expect(await count({ ...ofSegment, version: 1 } as CountedAudience, ['ANDROID'])).toMatchObject({ OPTED_OUT: 1 });
      expect(await countAudienceDevices(bundle.database, { workspaceId, audience: ofSegment })).toEqual([
        { platform: 'ANDROID', state: 'ACTIVE', devices: 2 },
        { platform: 'ANDROID', state: 'BLOCKED', devices: 1 },
        { platform: 'WEB', state: 'GONE', devices: 1 },
      ]);
    });

    test('evaluates filters as at the start of a run', async () => {
      expect(await count(ofVips(), ['ANDROID'])).toEqual({ NO_DEVICE: 20 });
      expect(await countAudienceDevices(bundle.database, { workspaceId, audience: ofVips() })).toEqual([]);
    });

    test.each<[string, (tx: Queryable) => Promise<unknown>]>([
      ['people', (tx) => countAudienceUsers(tx, { workspaceId, audience: ofSegment, platforms: ['ANDROID'] })],
      ['devices', (tx) => countAudienceDevices(tx, { workspaceId, audience: ofSegment })],
    ])('reads the %s of a small segment through indexes, however many there are', async (_name, statement) => {
      const plans: string[] = [];
      await statement(collectPlans(bundle.application.forWorkspace(workspaceId), plans));
      expect(plans).toHaveLength(1);
      expect(plans[0]).not.toMatch(/Seq Scan on (users|devices|segment_members)/);
      for (const index of ['segment_members_pkey', 'devices_workspace_id_bucket_user_id_device_id'])
        expect(plans[0]).toContain(index);
    });

    test('ends after its time limit, and keeps the connection usable', async () => {
      const { database } = bundle;
      const work = (tx: Queryable) => tx`select count(*) from generate_series(1, 1000000000)`;
      expect(await withinTime(database, { milliseconds: 50, work })).toBe('too slow');
      expect(await withinTime(database, { milliseconds: 5_000, work: async () => 'done' })).toEqual({ result: 'done' });
    });
  });

  test('lists names of text and number attributes, and of other types that users have, but not of devices', async () => {
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
      'texts with a given beginning',
      (tx) => listTextsBeginning(tx, { workspaceId, attribute: 'city', prefix: 'ci', limit: 20 }),
      'identifiers_pkey',
    ],
    [
      'values that match a user',
      (tx) =>
        findNamingValues(tx, {
          workspaceId,
          meaning: { kind: 'attribute', attribute: 'u_em', type: 'string' },
          values: ['u_em1', 'nobody'],
        }),
      'identifiers_pkey',
    ],
    [
      'customer ids that match a user',
      (tx) => findNamingValues(tx, { workspaceId, meaning: { kind: 'customer-id' }, values: ['person-1', 'nobody'] }),
      'users_workspace_id_bucket_customer_id',
    ],
  ])('%s are looked up through an index, however many users there are', async (_name, statement, index) => {
    const plans: string[] = [];
    await statement(collectPlans(bundle.application.forWorkspace(workspaceId), plans));
    expect(plans[0]).toContain(index);
    expect(plans[0]).not.toMatch(/Seq Scan on (users|identifiers)/);
  });

  test('counts some buckets separately, and ends the search after a few users', async () => {
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
});

describe('plans of the overview', () => {
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
    [
      'what is being sent',
      (tx) => listRunningSends(tx, { workspaceId, limit: 20 }),
      ['runs_sending', 'run_counts_pkey'],
    ],
    ['what is paused', (tx) => groupPausedSends(tx, workspaceId), ['runs_paused']],
    ['what failed', (tx) => listFailedRuns(tx, { workspaceId, since, limit: 20 }), ['runs_failed']],
    ['what cannot be counted', (tx) => listUncountedRuns(tx, { workspaceId, limit: 20 }), ['runs_passes']],
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
  ])('%s: reads through indexes, however many rows there are', async (_name, statement, indexes) => {
    const plans: string[] = [];
    await statement(collectPlans(bundle.application.acrossWorkspaces(), plans));
    expect(plans).toHaveLength(1);
    expect(plans[0]).not.toMatch(
      /Seq Scan on (runs|campaigns|deliveries|run_counts|limit_marks|limit_counters|send_budgets)/,
    );
    for (const index of indexes) expect(plans[0]).toContain(index);
  });

  test('counts the queues through indexes', async () => {
    const plans: string[] = [];
    await readQueues(collectPlansOfSent(bundle.application.acrossWorkspaces(), plans), at);
    expect(plans.join('\n')).not.toMatch(/Seq Scan on (runs|deliveries_20260301)/);
    const [days, retries, others] = plans;
    for (const index of ['runs_open', 'runs_paused']) expect(days).toContain(index);
    expect(retries).toContain('deliveries_20260301_retry_at');
    expect(others).toContain('runs_open');
  });

  test('counts the last hour by provider, outcome and code, for one workspace', async () => {
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

  test('lists running, paused, failed and scheduled sends of one workspace', async () => {
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

  test('counts the push requests of the last minute from the mark at its edge', async () => {
    // Marks every five seconds until 11:59:10; the one at 11:59:00 is number 48.
    expect(await readCounted(bundle.database, { operation: 'push', workspaceId, windowSeconds: 60, at })).toBe(2);
    expect(await readCounted(bundle.database, { operation: 'push', workspaceId: 'none', windowSeconds: 60, at })).toBe(
      0,
    );
  });
});

describe('plans of users', () => {
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
      'users in a search result',
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
    ['test users', (tx) => listTestUsers(tx, { workspaceId, limit: 100 }), ['users_test']],
    [
      'the timeline',
      (tx) => listTimelineEntries(tx, { ...user, after: undefined, limit: 51 }),
      ['device_interactions_device', 'audit_log_object', 'events_20260301', 'deliveries_20260301'],
    ],
    [
      'its second page',
      (tx) =>
        listTimelineEntries(tx, { ...user, after: { place: '2026-03-01T01:00:00.000000Z', key: 'm' }, limit: 51 }),
      ['device_interactions_device', 'audit_log_object', 'events_20260301', 'deliveries_20260301'],
    ],
    ['messages', (tx) => listUserMessages(tx, { ...user, limit: 50 }), ['deliveries_20260301']],
  ])('%s: reads through indexes, however many users there are', async (_name, statement, indexes) => {
    const plans: string[] = [];
    await statement(collectPlansOfSent(bundle.application.forWorkspace('W'), plans));
    const all = plans.join('\n');
    expect(all).not.toMatch(
      /Seq Scan on (users|devices|identifiers|deliveries|segment_members|events|device_int|audit)/,
    );
    for (const index of indexes) expect(all).toContain(index);
  });

  test('finds a value under every attribute that has it, and names the attribute', async () => {
    expect(await byValue(bundle.database, 'city7')).toEqual([{ bucket: 7, userId: idOf(7), attribute: 'city' }]);
    expect(await byValue(bundle.database, 'device:push_id8')).toEqual([
      { bucket: 8, userId: idOf(8), attribute: 'device:push_id' },
    ]);
    expect(await byValue(bundle.database, 'ana')).toEqual([]);
  });

  test('lists the current segments of a user, and all messages newest first, whatever their outcome', async () => {
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
});

describe('plans of the delivery log', () => {
  const devices = 20_000;
  const start = new Date('2026-03-02T12:00:00Z');
  const [campaignId, otherCampaignId, runId, otherRunId] = [1, 2, 3, 4].map((more) =>
    makeId(new Date(start.getTime() + more)),
  ) as [string, string, string, string];
  const bucket = bucketOf('ana');
  const user = { bucket, userId: `${'0'.repeat(23)}1` };
  let bundle: TestDatabase;

  // Two runs, a day each; every tenth is gone, every thousandth is of a browser.
  beforeAll(async () => {
    bundle = await createTestDatabase();
    const { database } = bundle;
    await database`insert into workspaces (id, db_name, name, created_at) values ('W', 'w', 'W', '2026-01-01')`;
    for (const [id, run, day] of [
      [campaignId, runId, '2026-03-01'],
      [otherCampaignId, otherRunId, '2026-03-02'],
    ] as const) {
      await database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
          created_by, created_at, updated_at)
        values (${id}, 'W', ${`Of ${day}`}, 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}',
          '{"ANDROID": {"title": "Hello"}}', '{}', 'SENT', 'test', ${day}, ${day})`;
      await database`
        insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
        values (${run}, 'W', ${id}, 1, 'SENT', ${day}, ${day}, ${day}, ${day}, ${day})`;
      await database`select make_day_partition('deliveries', ${day}::date)`;
      const { runNumber, workspaceNumber } = await ledgerRun(database, run);
      await database`
        insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
          code, attempts, sent_at)
        select ${day}, ${workspaceNumber}, case when number = 1 then ${bucket} else number % 256 end, ${runNumber},
          decode(lpad(to_hex(number), 24, '0'), 'hex'), decode(lpad(to_hex(number), 24, '0'), 'hex'),
          (case when number % 1000 = 0 then 'W' else 'A' end)::"char",
          (case when number % 10 = 0 then 'G' else 'A' end)::"char",
          case when number % 5000 = 0 then '410' when number % 10 = 0 then 'UNREGISTERED' end, 1,
          ${day}::timestamptz + number * interval '1 second'
        from generate_series(1, ${devices}) as number`;
    }
    await database`
      insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      values ('W', ${bucket}, ${user.userId}, 'ana', '2026-03-01', '2026-03-01')`;
    await vacuumWhole(database, ['deliveries']);
  });
  afterAll(() => bundle.drop());

  const everything: LogFilters = {
    workspaceId,
    day: '2026-03-01',
    campaignId: undefined,
    user: undefined,
    platforms,
    outcomes: deliveryOutcomes,
    code: undefined,
    after: { sentAt: new Date('2026-03-01T03:00:00Z'), runNumber: 1, deviceId: '0'.repeat(24) },
    limit: 51,
  };

  const filters: [string, Partial<LogFilters>, string][] = [
    ['nothing', {}, 'deliveries_20260301_workspace_number_platform'],
    ['a rare platform', { platforms: ['WEB'] }, 'deliveries_20260301_workspace_number_platform'],
    ['a rare outcome', { outcomes: ['FAILED'] }, 'deliveries_20260301_workspace_number_outcome'],
    ['a code', { code: 'UNREGISTERED' }, 'deliveries_20260301_workspace_number_code'],
    ['a code that is not there', { code: 'Nothing' }, 'deliveries_20260301_workspace_number_code'],
    ['a campaign', { campaignId }, 'deliveries_20260301_workspace_number_platform'],
    [
      'a campaign and a rare platform',
      { campaignId, platforms: ['WEB'] },
      'deliveries_20260301_workspace_number_platform',
    ],
    ['a campaign and a code', { campaignId, code: '410' }, 'deliveries_20260301_run_number_platform_outcome_code'],
    ['a user', { user }, 'deliveries_20260301_pkey'],
  ];

  test.each(filters)('%s: reads an index once, and no more rows than it shows', async (_name, more, index) => {
    const plans: string[] = [];
    const tx = collectPlansOfSent(bundle.application.forWorkspace('W'), plans);
    await listLoggedDeliveries(tx, { ...everything, ...more });
    const [plan, ...others] = plans.filter((one) => one.includes('deliveries_2026'));
    expect(others).toEqual([]);
    expect(plan).toContain(index);
    expect(plan).not.toMatch(/Seq Scan on deliveries|Bitmap Heap Scan on deliveries/);
    expect(plan).not.toContain('deliveries_20260302');
  });

  test('counts failure reasons through an index, and reads the newest row of each', async () => {
    const { database } = bundle;
    const days = await listRunDays(database, campaignId);
    expect(days).toContainEqual({
      day: '2026-03-01',
      workspaceNumber: expect.any(Number),
      runNumbers: [expect.any(Number)],
    });
    const [day] = days as [RunDay];
    const plans: string[] = [];
    await groupFailures(collectPlansOfSent(bundle.application.forWorkspace('W'), plans), day);
    expect(plans.join('\n')).not.toContain('Seq Scan on deliveries');
    // Any of those that hold only what was not accepted; with one run in the day they are worth the same.
    const indexes = /deliveries_20260301_(run_number_platform_outcome_code|workspace_number_(code|outcome))/;
    for (const plan of plans) expect(plan).toMatch(indexes);
    const groups = await groupFailures(database, day);
    expect(groups.find(({ code }) => code === '410')!.devices).toBe(devices / 5000);
    const midnight = new Date('2026-03-01T00:00:00Z');
    const steps = await readTimeline(database, { ...day, origin: midnight, since: midnight, stepSeconds: 3600 });
    expect(steps.reduce((sum, { notDelivered }) => sum + notDelivered, 0)).toBe(
      groups.reduce((sum, group) => sum + group.devices, 0),
    );
  });

  test('reads one row by its key', async () => {
    const plans: string[] = [];
    const key = { workspaceId, day: '2026-03-01', ...user, runId, deviceRowId: user.userId };
    await findLoggedDelivery(collectPlansOfSent(bundle.application.forWorkspace('W'), plans), key);
    expect(plans.at(-1)).toContain('deliveries_20260301_pkey');
    expect(await findLoggedDelivery(bundle.database, key)).toMatchObject({
      customerId: 'ana',
      deviceId: null,
      content: { ANDROID: { title: 'Hello' } },
    });
    expect(await findLoggedDelivery(bundle.database, { ...key, workspaceId: 'V' })).toBeUndefined();
  });

  test('exports the filtered rows of the log, each once, newest first, up to the limit', async () => {
    const log = makeConsoleDeliveries({ database: bundle.database, clock: makeManualClock(start) });
    const walk = async (query: Omit<DeliveryQuery, 'workspaceId' | 'after'>) => {
      const seen: string[] = [];
      for await (const rows of log.export({ ...query, workspaceId }))
        seen.push(...rows.map(({ at, runId: run, deviceRowId }) => `${at.toISOString()} ${run} ${deviceRowId}`));
      expect(seen).toEqual([...new Set(seen)].toSorted().toReversed());
      return seen.length;
    };
    expect(await walk({ platform: 'WEB' })).toBe((2 * devices) / 1000);
    expect(await walk({ customerId: 'nobody' })).toBe(0);
    expect(await walk({})).toBe(Math.min(10_000, 2 * devices));
    await expect(log.export({ workspaceId: 'nowhere' }).next()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('pages over days without a gap or a duplicate, newest first', async () => {
    const log = makeConsoleDeliveries({ database: bundle.database, clock: makeManualClock(start) });
    const walk = async (query: Omit<DeliveryQuery, 'workspaceId'>) => {
      const seen: string[] = [];
      for (let after: DeliveryCursor | undefined, page = 0; page === 0 || after; page += 1) {
        const { deliveries, next } = await log.list({ ...query, workspaceId, ...(after ? { after } : {}) });
        seen.push(...deliveries.map(({ at, runId: run, deviceRowId }) => `${at.toISOString()} ${run} ${deviceRowId}`));
        after = next;
      }
      expect(seen).toEqual([...new Set(seen)].toSorted().toReversed());
      return seen.length;
    };
    expect(await walk({ code: 'UNREGISTERED' })).toBe(2 * (devices / 10 - devices / 5000));
    expect(await walk({ code: '410', campaignId })).toBe(devices / 5000);
    expect(await walk({ platform: 'WEB' })).toBe((2 * devices) / 1000);
    expect(await walk({ campaignId, platform: 'WEB', outcome: 'GONE' })).toBe(devices / 1000);
    expect(await walk({ customerId: 'ana' })).toBe(2);
    expect(await walk({ customerId: 'ana', campaignId, outcome: 'GONE' })).toBe(0);
    expect(await walk({ customerId: 'nobody' })).toBe(0);
  });
});
