import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCampaignReport } from '../../src/app/campaigns/campaign-report.ts';
import { makeConsoleDeliveries } from '../../src/app/deliveries.ts';
import { explainDelivery } from '../../src/app/explain.ts';
import { exportRows } from '../../src/app/export.ts';
import { makeId } from '../../src/domain/ids.ts';
import { keptTables } from '../../src/domain/operations/retention.ts';
import { ConfigError, readConfig } from '../../src/start/config.ts';
import { retentionSettings } from '../../src/start/retention-settings.ts';
import { settings } from '../../src/start/settings-table.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { dropDay } from '../../src/storage/day-partitions.ts';
import { readSchema } from '../dump-schema.ts';
import { start } from '../stats/stats-bundle.ts';
import { dayMilliseconds, dayOf, daysAfter, makeRetentionBundle } from './retention-bundle.ts';
import type { RetentionBundle } from './retention-bundle.ts';

describe('dropped days', () => {
  let bundle: RetentionBundle;
  beforeEach(async () => {
    bundle = await makeRetentionBundle();
  });
  afterEach(() => bundle.end());

  const today = dayOf(start);

  describe('days ahead', () => {
    test('today and tomorrow are made by a login that owns nothing, while a sender holds the table', async () => {
      const { database, across, jobs, clock } = bundle;
      await database`select make_day_partition('deliveries', ${today}::date)`;
      await inTransaction(database, async (sender) => {
        await sender`lock table deliveries, events in row exclusive mode`;
        // Whoever would have to wait for the sender fails.
        await inTransaction(across, async (tx) => {
          await tx`set local lock_timeout = '300ms'`;
          await tx`select make_day_partition('deliveries', '2026-03-09')`;
        });
        await jobs.prepare.runOnce(clock.now());
      });
      expect(await bundle.listDays('events')).toEqual([today, dayOf(daysAfter(1))]);
      expect(await bundle.listDays('deliveries')).toEqual([today, dayOf(daysAfter(1)), '2026-03-09']);
      expect(bundle.lines.map(({ message }) => message)).toEqual(['day made', 'day made', 'day made']);
      await jobs.prepare.runOnce(clock.now());
      expect(bundle.lines).toHaveLength(3);
    });

    test('a day that eight nodes make at the same moment is made once, and none of them fails', async () => {
      const { across } = bundle;
      await Promise.all(Array.from({ length: 8 }, () => across`select 1`));
      const days = Array.from({ length: 5 }, (_, day) => `2027-02-0${day + 1}`);
      for (const day of days)
        await Promise.all(
          Array.from({ length: 8 }, () => across`select make_day_partition('deliveries', ${day}::date)`),
        );
      expect(await bundle.listDays('deliveries')).toEqual(days);
    });

    test('a day that was made ahead has the indexes, constraints and policies of one that was made by the table', async () => {
      const { database } = bundle;
      await database`select make_day_partition('deliveries', '2026-03-09')`;
      await database`
        create table deliveries_20260310 partition of deliveries for values from ('2026-03-10') to ('2026-03-11')`;
      await database`select make_day_partition('deliveries', '2026-03-10')`;
      const describeDay = async (digits: string) => {
        const [row] = await database<{ all: string }[]>`
          select (
            (select jsonb_agg(indexdef order by indexdef) from pg_indexes where tablename = 'deliveries_' || ${digits})
            || (select jsonb_agg(pg_get_constraintdef(oid) order by conname) from pg_constraint
              where conrelid = ('deliveries_' || ${digits})::regclass)
            || (select jsonb_agg(polname order by polname) from pg_policy where polrelid = ('deliveries_' || ${digits})::regclass)
            || (select jsonb_agg(concat(attname, attnotnull, atttypid) order by attnum) from pg_attribute
              where attrelid = ('deliveries_' || ${digits})::regclass and attnum > 0)
          )::text as all`;
        return row!.all.replaceAll(digits, 'DAY');
      };
      expect(await describeDay('20260309')).toBe(await describeDay('20260310'));
    });
  });

  describe('days that are too old', () => {
    test('are dropped, of the ledger and of the events, and no other', async () => {
      const { database, jobs } = bundle;
      for (const [table, kept] of [['deliveries', 90] as const, ['events', 400] as const])
        for (const days of [kept, kept + 1, kept + 2])
          await database`select make_day_partition(${table}, ${dayOf(daysAfter(-days))}::date)`;
      await bundle.runOut(jobs.drop);
      expect(await bundle.listDays('deliveries')).toEqual([dayOf(daysAfter(-90))]);
      expect(await bundle.listDays('events')).toEqual([dayOf(daysAfter(-400))]);
      expect(bundle.lines).toHaveLength(4);
      expect(bundle.lines[0]).toEqual({
        fields: { table: 'deliveries', day: dayOf(daysAfter(-92)), keptDays: 90 },
        message: 'day dropped',
      });
    });

    test('stay while a run of theirs is queued, being sent or paused', async () => {
      const { database, clock, jobs } = bundle;
      await bundle.addUser('c1');
      const campaignId = await bundle.addCampaign([]);
      for (const [days, status] of ['QUEUED', 'SENDING', 'PAUSED', 'STOPPED'].entries()) {
        const waiting = [{ customerId: 'c1', outcome: 'WAITING' } as const];
        const runId = await bundle.addRun(campaignId, waiting, daysAfter(days));
        await database`
          update runs set status = ${status}, status_reason = 'r', ended_at = ${status === 'STOPPED' ? start : null}
          where id = ${runId}`;
      }
      clock.advance(95 * dayMilliseconds);
      await bundle.runOut(jobs.drop);
      expect(await bundle.listDays('deliveries')).toEqual([0, 1, 2].map((days) => dayOf(daysAfter(days))));
      await database`update runs set status = 'SENT', status_reason = null, ended_at = ${clock.now()}`;
      await bundle.runOut(jobs.drop);
      expect(await bundle.listDays('deliveries')).toEqual([]);
    });

    test('stay as long again after their last delivery', async () => {
      const { database, clock, jobs } = bundle;
      await bundle.addUser('c1');
      await bundle.addRun(await bundle.addCampaign([]), [{ customerId: 'c1' }]);
      await database`update deliveries set sent_at = ${daysAfter(30)}`;
      clock.advance(100 * dayMilliseconds);
      await bundle.runOut(jobs.drop);
      expect(await bundle.listDays('deliveries')).toEqual([today]);
      clock.advance(21 * dayMilliseconds);
      await bundle.runOut(jobs.drop);
      expect(await bundle.listDays('deliveries')).toEqual([]);
    });

    test('of events stay while one of them is still to be counted as a conversion', async () => {
      const { database, workspaceId, clock, jobs } = bundle;
      await database`select make_day_partition('events', ${today}::date)`;
      await database`
        insert into unattributed_events (workspace_id, bucket, event_id, day, received_at)
        values (${workspaceId}, 0, 'e', ${today}, ${start})`;
      clock.advance(401 * dayMilliseconds);
      await bundle.runOut(jobs.drop);
      expect(await bundle.listDays('events')).toEqual([today]);
    });

    test('stay when only the clock of the sandbox was moved', async () => {
      const { database, clock, jobs } = bundle;
      await bundle.addUser('c1');
      const runId = await bundle.addRun(await bundle.addCampaign([]), [{ customerId: 'c1' }]);
      await database`select make_day_partition('events', ${today}::date)`;
      clock.setOffset(1_000 * dayMilliseconds);
      await bundle.runOut(jobs.drop);
      await bundle.runOut(jobs.trim);
      expect([await bundle.listDays('deliveries'), await bundle.listDays('events')]).toEqual([[today], [today]]);
      expect(await database`select id from runs`).toMatchObject([{ id: runId }]);
    });
  });

  describe('dropping a day', () => {
    const drop = (day: string, keptDays: number) => dropDay(bundle.across, { table: 'deliveries', day, keptDays });

    test('gives up when it does not get the table, so that a sender behind it goes on, and changes nothing', async () => {
      const { database, across } = bundle;
      await database`select make_day_partition('deliveries', ${today}::date)`;
      await inTransaction(database, async (reader) => {
        await reader`select 1 from readable_deliveries as deliveries limit 1`;
        const dropped = drop(today, 14);
        const isQueued = async () =>
          (await database`select 1 from pg_locks where not granted and relation = 'deliveries'::regclass`).length > 0;
        while (!(await isQueued()));
        // It waits behind the drop, not behind the reader.
        await inTransaction(across, async (sender) => {
          await sender`set local lock_timeout = '5s'`;
          await sender`lock table deliveries in row exclusive mode`;
        });
        expect(await dropped).toBe('busy');
      });
      expect(await bundle.listDays('deliveries')).toEqual([today]);
      expect(await drop(today, 14)).toBe('dropped');
      expect(await drop(today, 14)).toBe('absent');
    });

    test('is refused for a day that is young, for less than two weeks, and for what is no table of days', async () => {
      const { database, across } = bundle;
      const young = dayOf(new Date(Date.now() - 13 * dayMilliseconds));
      await database`select make_day_partition('deliveries', ${young}::date), make_day_partition('deliveries', ${today}::date)`;
      await expect(drop(young, 14)).rejects.toThrow('not old enough');
      await expect(drop(today, 13)).rejects.toThrow('not old enough');
      await expect(drop(today, -5_000)).rejects.toThrow('not old enough');
      await expect(across`select drop_day_partition('users', ${today}::date, 14)`).rejects.toThrow('no table of days');
      await expect(across`drop table ${across(`deliveries_${today.replaceAll('-', '')}`)}`).rejects.toThrow(
        'must be owner',
      );
      await expect(
        bundle.application.forWorkspace(bundle.workspaceId)`drop function drop_day_partition`,
      ).rejects.toThrow('must be owner');
      await database`create table deliveries_20200101 (a text)`;
      expect(await drop('2020-01-01', 14)).toBe('absent');
      expect(await bundle.count('deliveries_20200101')).toBe(0);
      expect(await bundle.listDays('deliveries')).toEqual([today, young]);
    });
  });

  describe('a campaign whose day of the ledger was dropped', () => {
    async function dropLedger() {
      const { clock, jobs } = bundle;
      clock.advance(91 * dayMilliseconds);
      await bundle.runOut(jobs.drop);
      expect(await bundle.listDays('deliveries')).toEqual([]);
    }

    async function addSent() {
      for (const customerId of ['c1', 'c2', 'c3', 'c4']) await bundle.addUser(customerId);
      const campaignId = await bundle.addCampaign([]);
      const failed = { outcome: 'REJECTED', code: 'BadDeviceToken' } as const;
      const first = [
        { customerId: 'c1' },
        { customerId: 'c2', ...failed },
        { customerId: 'c3', outcome: 'EXPIRED' } as const,
      ];
      const runId = await bundle.addRun(campaignId, first);
      await bundle.addRun(campaignId, [{ customerId: 'c2', ...failed }, { customerId: 'c4' }]);
      return { campaignId, runId };
    }

    test('has the same statistics as before, failures by cause among them', async () => {
      const { campaignId } = await addSent();
      const ask = () => bundle.ask({ campaign_ids: [campaignId], start_date: today, end_date: today });
      const before = await ask();
      expect(JSON.stringify(before.body)).toContain('"failure_breakdown":{"BadDeviceToken":2,"EXPIRED":1}');
      await dropLedger();
      expect((await ask()).body).toEqual(before.body);
    });

    test('is counted once where one run is in the ledger and another is not, also when the drop is interrupted', async () => {
      const { campaignId, runId } = await addSent();
      await bundle.addRun(
        campaignId,
        [{ customerId: 'c3', outcome: 'REJECTED', code: 'BadDeviceToken' }],
        daysAfter(1),
      );
      const ask = () => bundle.ask({ campaign_ids: [campaignId], start_date: today, end_date: dayOf(daysAfter(1)) });
      const before = await ask();
      expect(JSON.stringify(before.body)).toContain('"BadDeviceToken":3');
      bundle.clock.advance(91 * dayMilliseconds);
      // Once the failures of two runs are written down, the day is still there.
      await bundle.jobs.drop.runOnce(bundle.clock.now());
      expect(await bundle.count('run_failures')).toBe(3);
      expect((await ask()).body).toEqual(before.body);
      await bundle.runOut(bundle.jobs.drop);
      expect(await bundle.listDays('deliveries')).toEqual([dayOf(daysAfter(1))]);
      expect((await ask()).body).toEqual(before.body);
      expect(runId).toBeDefined();
    });

    test('says so: to explain, in the report of the console, in the delivery log and to an export', async () => {
      const { database, clock, workspaceId } = bundle;
      const { campaignId, runId } = await addSent();
      const report = makeCampaignReport({ database, clock });
      const readReport = async () => {
        const { failures, ...results } = await report.results({ workspaceId, id: campaignId });
        return { ...results, failures: failures.map(({ sampleDeviceId: _sampleDeviceId, ...group }) => group) };
      };
      const before = await readReport();
      await dropLedger();
      expect(before.failures).toHaveLength(2);
      expect(await readReport()).toEqual({ ...before, runsWithoutLedger: 2 });

      const explained = await explainDelivery({ database }, { workspaceId, campaignId, customerId: 'c1', runId });
      expect(explained.runs).toMatchObject([{ step: 'LEDGER_DROPPED', devices: [] }]);

      await database`select make_day_partition('deliveries', ${dayOf(daysAfter(80))}::date)`;
      const page = await makeConsoleDeliveries({ database, clock }).list({ workspaceId });
      expect(page).toEqual({ deliveries: [], next: undefined, keptSince: dayOf(daysAfter(80)) });

      const subject = { kind: 'ledger', campaignId } as const;
      const request = { workspaceId, subject, format: 'ndjson', at: start, write: async () => {} } as const;
      expect(await exportRows(database, request)).toEqual({ rows: 0, runsWithoutLedger: 2 });
    });

    test('that reached nobody is not said to be too old', async () => {
      const { database, workspaceId } = bundle;
      await bundle.addUser('c1');
      const campaignId = await bundle.addCampaign([]);
      const runId = await bundle.addRun(campaignId, []);
      await dropLedger();
      const explained = await explainDelivery({ database }, { workspaceId, campaignId, customerId: 'c1', runId });
      expect(explained.runs).not.toMatchObject([{ step: 'LEDGER_DROPPED' }]);
    });
  });
});

describe('kept tables', () => {
  const server = join(import.meta.dirname, '..', '..');

  test('every table of the schema is in the list of what is kept, once, and every table of the list exists', async () => {
    const tables = await readTables();
    expect(tables.size).toBeGreaterThan(50);
    expect(keptTables.flatMap((entry) => [...entry.tables]).sort()).toEqual([...tables.keys()].sort());
  });

  test('every setting of the list exists, and every setting of what is kept is in the list', () => {
    const named = keptTables.flatMap(({ kept }) => ('setting' in kept ? [kept.setting as string] : []));
    const variables: string[] = Object.values(settings).map(({ variable }) => variable);
    expect(named.filter((variable) => !variables.includes(variable))).toEqual([]);
    for (const { variable } of Object.values(retentionSettings)) expect(named).toContain(variable);
  });

  test('a table that knows its run lives with the runs or has a time of its own, and one that lives with them goes with them', async () => {
    const ofRuns = [...(await readTables())]
      .filter(([, columns]) => columns.includes('run_id') || columns.includes('run_number'))
      .map(([name]) => name);
    const group = keptTables.find(({ tables }) => tables[0] === 'runs')!.tables;
    const ofTheirOwn = [
      'deliveries',
      'device_interactions',
      'event_stream_marks',
      'inbox_contents',
      'inbox_messages',
      'push_requests',
      'run_turns',
      'triggers',
    ];
    expect(ofRuns.filter((name) => !group.includes(name)).sort()).toEqual(ofTheirOwn);
    const statements = await readFile(join(server, 'src', 'storage', 'old-records.ts'), 'utf8');
    for (const name of group) expect(statements).toMatch(new RegExp(`delete from ${name}\\b`));
  });

  test('runs are kept at least as long as the ledger whose rows belong to them', () => {
    const read = (environment: Record<string, string>) => readConfig({ environment, arguments: [] });
    expect(read({})).toMatchObject({ keepLedgerDays: 90, keepRunsDays: 400 });
    expect(() => read({ CARILLON_KEEP_LEDGER_DAYS: '401' })).toThrow(ConfigError);
    expect(read({ CARILLON_KEEP_LEDGER_DAYS: '401', CARILLON_KEEP_RUNS_DAYS: '401' })).toMatchObject({
      keepLedgerDays: 401,
    });
    expect(() => read({ CARILLON_KEEP_LEDGER_DAYS: '13' })).toThrow('from 14 to 36500 (days)');
  });
});

describe('trimmed records', () => {
  let bundle: RetentionBundle;
  beforeEach(async () => {
    bundle = await makeRetentionBundle();
  });
  afterEach(() => bundle.end());

  const runTables = ['runs', 'chunks', 'run_counts', 'run_failures', 'conversions'];

  test('a run goes 400 days after its end, as a whole and with nothing of another run; its campaign stays', async () => {
    const { clock, jobs, database } = bundle;
    await bundle.addUser('c1');
    const campaignId = await bundle.addCampaign([]);
    await addRunWithEverything(campaignId);
    const kept = await addRunWithEverything(campaignId);
    await database`update runs set ended_at = ${daysAfter(1)} where id = ${kept}`;
    clock.advance(400 * dayMilliseconds);
    await bundle.runOut(jobs.drop);
    await bundle.runOut(jobs.trim);
    expect(await countRunTables()).toEqual([2, 2, 4, 2, 2]);
    clock.advance(1_000);
    await bundle.runOut(jobs.trim);
    expect(await countRunTables()).toEqual([1, 1, 2, 1, 1]);
    expect(await database`select id from runs`).toMatchObject([{ id: kept }]);
    expect(await bundle.count('campaigns')).toBe(1);
    expect(bundle.lines.at(-1)).toEqual({ fields: { removed: { runs: 1 } }, message: 'old records removed' });
  });

  test('a trigger goes 90 days after its end, and stays while it waits', async () => {
    const { clock, jobs, database, workspaceId } = bundle;
    await bundle.addUser('c1');
    await database`
      insert into triggers (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes, due_at,
        state, reason, ended_at)
      select ${workspaceId}, 1, 'u', 'c', name, ${start}, ${start}, '{}', ${start},
        case when name = 'waiting' then 'WAITING' else 'DROPPED' end, case when name <> 'waiting' then 'LATE' end,
        case when name <> 'waiting' then ${start}::timestamptz + interval '1 day' * days end
      from unnest('{waiting,older,newer}'::text[], '{0,0,1}'::int[]) as given (name, days)`;
    clock.advance(90 * dayMilliseconds + 1_000);
    await bundle.runOut(jobs.trim);
    expect([...(await database`select event_name as name from triggers order by 1`)]).toEqual([
      { name: 'newer' },
      { name: 'waiting' },
    ]);
  });

  test('a run stays, however old, while it is open, its audience or a chunk is still there, or its day of the ledger', async () => {
    const { clock, jobs, database } = bundle;
    await bundle.addUser('c1');
    const campaignId = await bundle.addCampaign([]);
    const changes = {
      queued: `status = 'QUEUED', ended_at = null`,
      'being sent': `status = 'SENDING', ended_at = null`,
      paused: `status = 'PAUSED', status_reason = 'r', ended_at = null`,
      'with a frozen audience': `audience_segment_id = id, audience_version = 1`,
      'with a chunk that may be held': 'lane = lane',
      'with its day in the ledger': `day = '2026-03-02'`,
    };
    const nameOf = new Map<string, string>();
    for (const name of Object.keys(changes))
      nameOf.set(await addRunWithEverything(campaignId, { isOpen: name.includes('chunk') }), name);
    clock.advance(3_000 * dayMilliseconds);
    await bundle.runOut(jobs.drop);
    await database`select make_day_partition('deliveries', '2026-03-02')`;
    for (const [id, name] of nameOf)
      await database.unsafe(`update runs set ${changes[name as keyof typeof changes]} where id = '${id}'`);
    await bundle.runOut(jobs.trim);
    const left = await database<{ id: string }[]>`select id from runs order by id`;
    expect(left.map(({ id }) => nameOf.get(id))).toEqual([...nameOf.keys()].sort().map((id) => nameOf.get(id)));
    expect(await countRunTables()).toEqual([6, 6, 12, 6, 6]);
  });

  test('what stays does not keep what is behind it from being removed', async () => {
    const { clock, jobs, database, workspaceId } = bundle;
    const campaignId = await bundle.addCampaign([]);
    await database`
      insert into runs (id, workspace_id, campaign_id, lane, status, status_reason, day, send_until, created_at, ended_at)
      select lpad(to_hex((extract(epoch from ${start}::timestamptz) * 1000)::bigint), 12, '0') || lpad(to_hex(n), 12, '0'),
        ${workspaceId}, ${campaignId}, 1, case when n <= 250 then 'PAUSED' else 'STOPPED' end, 'r', ${dayOf(start)},
        ${start}, ${start}, case when n > 250 then ${start}::timestamptz end
      from generate_series(1, 251) as n`;
    clock.advance(401 * dayMilliseconds);
    expect(await jobs.trim.runOnce(clock.now())).toBe(1);
    expect(await database`select distinct status from runs`).toMatchObject([{ status: 'PAUSED' }]);
  });

  test('callbacks and emails go 90 days after their end with their attempts; those still to be delivered stay', async () => {
    const { clock, jobs } = bundle;
    const operationId = await bundle.addOperation(await bundle.addSegment(), 1);
    await bundle.addMessages(operationId, { isPending: false });
    await bundle.addMessages(operationId, { isPending: true });
    const count = () =>
      Promise.all(['callbacks', 'callback_attempts', 'mails', 'mail_attempts'].map((table) => bundle.count(table)));
    clock.advance(90 * dayMilliseconds);
    await bundle.runOut(jobs.trim);
    expect(await count()).toEqual([2, 2, 2, 2]);
    clock.advance(1_000);
    await bundle.runOut(jobs.trim);
    expect(await count()).toEqual([1, 1, 1, 1]);
    expect(await bundle.database`select state from callbacks union all select state from mails`).toMatchObject([
      { state: 'PENDING' },
      { state: 'PENDING' },
    ]);
  });

  test('file operations go with their skipped lines; the newest of a segment stays, and one that a callback belongs to', async () => {
    const { clock, jobs, database } = bundle;
    const segmentId = await bundle.addSegment();
    await bundle.addOperation(segmentId, 1);
    const called = await bundle.addOperation(segmentId, 2);
    const newest = await bundle.addOperation(segmentId, 3);
    await bundle.addMessages(called, { isPending: true });
    clock.advance(400 * dayMilliseconds + 1_000);
    await bundle.runOut(jobs.trim);
    const left = async () =>
      (await database<{ id: string }[]>`select id from segment_operations order by number`).map(({ id }) => id);
    expect(await left()).toEqual([called, newest]);
    expect([await bundle.count('segment_rejects'), await bundle.count('segment_file_pieces')]).toEqual([2, 2]);
    await database`update callbacks set state = 'GIVEN_UP', next_at = null, ended_at = ${start}`;
    await database`update mails set state = 'FAILED', next_at = null, ended_at = ${start}`;
    await bundle.runOut(jobs.trim);
    expect(await left()).toEqual([newest]);
  });

  test('requests, reports, imports, lines of the logs and erasures go by their time, each after its own', async () => {
    const { clock, jobs, database, workspaceId } = bundle;
    const campaignId = await bundle.addCampaign([]);
    for (const at of [start, daysAfter(1)]) {
      const id = makeId(at);
      await database`
        insert into push_requests (response_id, workspace_id, request_id, campaign_id, received_at)
        values (gen_random_uuid(), ${workspaceId}, 'r', ${campaignId}, ${at})`;
      await database`
        insert into device_interactions (workspace_id, bucket, campaign_id, device_id, kind, run_id, platform,
          report_digests, count, first_at)
        values (${workspaceId}, 0, ${campaignId}, ${id}, 'CLICK', ${id}, 'WEB', '{}', 0, ${at})`;
      await database`
        insert into imports (workspace_id, kind, file_digest, started_at, updated_at)
        values (${workspaceId}, 'users', sha256(${id}::bytea), ${at}, ${at})`;
      await database`
        insert into audit_log (id, workspace_id, at, actor_name, action, object_kind)
        values (${id}, ${workspaceId}, ${at}, 'a', 'b', 'c')`;
      await database`
        insert into erasures (id, workspace_id, customer_digest, state, bucket, requested_at, due_at, removed_at)
        values (${id}, ${workspaceId}, sha256('a'), 'DONE', 0, ${at}, ${at}, ${at})`;
      await database`
        insert into api_log (id, workspace_id, received_at, method, path, route, status, duration_ms)
        values (${id}, ${workspaceId}, ${at}, 'GET', '/', '/', 200, 1)`;
    }
    // One that is asked for and not done, however old.
    await database`
      insert into erasures (id, workspace_id, customer_digest, state, bucket, user_ids, requested_at, due_at)
      values (${makeId(start)}, ${workspaceId}, sha256('a'), 'PENDING', 0, '[]', ${start}, ${start})`;
    const tables = {
      api_log: 7,
      push_requests: 90,
      device_interactions: 400,
      imports: 400,
      audit_log: 1_825,
      erasures: 1_825,
    };
    const count = async () =>
      Object.fromEntries(await Promise.all(Object.keys(tables).map(async (name) => [name, await bundle.count(name)])));
    const expected: Record<string, number> = await count();
    let passed = 0;
    for (const days of new Set(Object.values(tables))) {
      clock.advance((days - passed) * dayMilliseconds);
      await bundle.runOut(jobs.trim);
      expect(await count(), `${days} days`).toEqual(expected);
      clock.advance(1_000);
      await bundle.runOut(jobs.trim);
      for (const [name, kept] of Object.entries(tables)) if (kept === days) expected[name]! -= 1;
      expect(await count(), `after ${days} days`).toEqual(expected);
      clock.advance(-1_000);
      passed = days;
      // The second row of shorter ones is due before the next.
      clock.advance(dayMilliseconds + 1_000);
      await bundle.runOut(jobs.trim);
      for (const [name, kept] of Object.entries(tables)) if (kept === days) expected[name]! -= 1;
      clock.advance(-dayMilliseconds - 1_000);
    }
    expect(expected).toMatchObject({ erasures: 1, audit_log: 0 });
  });

  test('a record that somebody holds is left for the next time, and nobody waits for it', async () => {
    const { clock, jobs, database } = bundle;
    await bundle.addUser('c1');
    const campaignId = await bundle.addCampaign([]);
    const held = await addRunWithEverything(campaignId);
    await addRunWithEverything(campaignId);
    await bundle.addMessages(await bundle.addOperation(await bundle.addSegment(), 1), { isPending: false });
    clock.advance(500 * dayMilliseconds);
    await bundle.runOut(jobs.drop);
    await inTransaction(database, async (holder) => {
      await holder`select 1 from runs where id = ${held} for update`;
      await holder`select 1 from callbacks, mails for update`;
      await bundle.runOut(jobs.trim);
      expect(await countRunTables()).toEqual([1, 1, 2, 1, 1]);
      expect([await bundle.count('callbacks'), await bundle.count('mails')]).toEqual([1, 1]);
    });
    await bundle.runOut(jobs.trim);
    expect(await countRunTables()).toEqual([0, 0, 0, 0, 0]);
    expect([await bundle.count('callbacks'), await bundle.count('mails')]).toEqual([0, 0]);
  });

  async function addRunWithEverything(campaignId: string, { isOpen = false } = {}): Promise<string> {
    const { database, workspaceId } = bundle;
    const failed = { outcome: 'REJECTED', code: 'BadDeviceToken' } as const;
    const runId = await bundle.addRun(campaignId, [{ customerId: 'c1' }, { customerId: 'c1', ...failed }]);
    await bundle.addChunk(runId, isOpen ? 'READY' : 'DONE');
    await database`
      insert into conversions (workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, occurred_at)
      values (${workspaceId}, 0, ${campaignId}, 0, ${makeId(start)}, 'u', ${runId}, 'ANDROID', ${start})`;
    return runId;
  }

  async function countRunTables(): Promise<number[]> {
    return Promise.all(runTables.map((table) => bundle.count(table)));
  }
});

/** Every table of the schema with its columns. */
async function readTables(): Promise<Map<string, string[]>> {
  const tables = [...(await readSchema()).matchAll(/^create table (\w+) \(\n([^]*?)\n\)/gm)];
  return new Map(
    tables.map(([, name, body]) => [name!, [...body!.matchAll(/^ {2}(\w+) /gm)].map(([, word]) => word!)]),
  );
}
