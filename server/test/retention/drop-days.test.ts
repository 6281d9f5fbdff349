import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCampaignReport } from '../../src/app/campaigns/campaign-report.ts';
import { makeConsoleDeliveries } from '../../src/app/deliveries.ts';
import { explainDelivery } from '../../src/app/explain.ts';
import { exportRows } from '../../src/app/export.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { dropDay } from '../../src/storage/day-partitions.ts';
import { start } from '../stats/stats-bundle.ts';
import { dayMilliseconds, dayOf, daysAfter, makeRetentionBundle } from './retention-bundle.ts';
import type { RetentionBundle } from './retention-bundle.ts';

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
      await Promise.all(Array.from({ length: 8 }, () => across`select make_day_partition('deliveries', ${day}::date)`));
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
    await expect(bundle.application.forWorkspace(bundle.workspaceId)`drop function drop_day_partition`).rejects.toThrow(
      'must be owner',
    );
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
    await bundle.addRun(campaignId, [{ customerId: 'c3', outcome: 'REJECTED', code: 'BadDeviceToken' }], daysAfter(1));
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
