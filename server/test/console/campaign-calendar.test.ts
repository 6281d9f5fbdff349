import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { daysFrom, turnCalendar } from '../../../console/src/campaigns/calendar-search.ts';
import { readCalendar } from '../../src/app/campaigns/calendar.ts';
import { makeManualClock } from '../../src/clock.ts';
import { calendarSpan } from '../../src/domain/timing/calendar.ts';
import type { Timing } from '../../src/domain/timing/timing.ts';
import { listOpenSends, listUpcomingCampaigns } from '../../src/storage/runs/campaign-runs.ts';
import { selectListedFigures } from '../../src/storage/campaigns/campaign-search.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { collectPlans } from '../collect-plans.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

describe('the days of a calendar', () => {
  test('are whole weeks from a Monday on, with every day of the month', () => {
    expect(calendarSpan({ view: 'month', date: '2026-11-23' })).toEqual({
      date: '2026-11-23',
      from: '2026-10-26',
      days: 42,
    });
    // It begins on a Monday and has four weeks.
    expect(calendarSpan({ view: 'month', date: '2027-02-10' })).toEqual({
      date: '2027-02-10',
      from: '2027-02-01',
      days: 28,
    });
    expect(calendarSpan({ view: 'week', date: '2026-11-29' })).toEqual({
      date: '2026-11-29',
      from: '2026-11-23',
      days: 7,
    });
    expect(calendarSpan({ view: 'month', date: '2026-02-31' }).date).toBe('2026-02-28');
  });

  test('are turned by weeks and by months', () => {
    expect(turnCalendar('2026-12-31', { view: 'week', by: 1 })).toBe('2027-01-07');
    expect(turnCalendar('2026-01-31', { view: 'month', by: 1 })).toBe('2026-02-01');
    expect(turnCalendar('2026-01-31', { view: 'month', by: -1 })).toBe('2025-12-01');
    expect(daysFrom('2026-10-24', 3)).toEqual(['2026-10-24', '2026-10-25', '2026-10-26']);
  });
});

describe('what is planned', () => {
  const now = new Date('2026-03-20T11:00:00Z');
  const timeZone = 'Europe/Berlin';
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
    const { database } = bundle;
    await database`
      insert into workspaces (id, db_name, name, time_zone, created_at)
      values ('W', 'w', 'W', ${timeZone}, '2026-01-01'), ('X', 'x', 'X', 'UTC', '2026-01-01')`;
    const insert = (
      id: string,
      changes: { workspaceId?: string; status?: string; type?: string; nextAt: string; timing?: Timing },
    ) =>
      database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
          next_at, created_by, created_at, updated_at)
        values (${id}, ${changes.workspaceId ?? 'W'}, ${`Campaign ${id}`}, 'PUSH_API', ${changes.type ?? 'ONE_TIME'}, 'ALL_USERS',
          '{ANDROID}', '{}', ${database.json(changes.timing ?? { kind: 'soon' })}, ${changes.status ?? 'SCHEDULED'},
          ${changes.nextAt}, 'test', '2026-01-01', '2026-01-01')`;
    await insert('once', { nextAt: '2026-03-31T22:30:00Z' });
    await insert('of another', { nextAt: '2026-03-25T10:00:00Z', workspaceId: 'X' });
    await insert('next month', { nextAt: '2026-05-01T10:00:00Z' });
    await insert('paused', { nextAt: '2026-03-25T10:00:00Z', status: 'PAUSED' });
    await insert('every four days', {
      ...{ nextAt: '2026-03-21T08:00:00Z', type: 'PERIODIC', status: 'ACTIVE' },
      timing: {
        ...{ kind: 'periodic', repeatAfterDays: 4, firstDate: '2026-03-01', endDate: '2026-04-02' },
        ...{ time: '09:00', timeZone },
      },
    });
    // Of the list's plans and the queues: many campaigns of another workspace, and their runs.
    await database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        next_at, created_by, created_at, updated_at)
      select 'x' || number, 'X', 'X ' || number, 'PUSH_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}', '{}',
        case when number % 2 = 0 then 'SCHEDULED' else 'SENT' end, case when number % 2 = 0 then '2026-03-25'::timestamptz end,
        'test', '2026-01-01', '2026-01-01'
      from generate_series(1, 20000) as number`;
    await database`
      insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
      select 'x' || number, 'X', 'x' || number, 1, case when number % 4 = 1 then 'SENDING' else 'SENT' end, '2026-03-01', '2026-03-01',
        '2026-03-01', '2026-03-01', case when number % 4 = 1 then null else '2026-03-01'::timestamptz end
      from generate_series(1, 20000) as number`;
    await database`
      insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
      select 'x' || number, 'X', 0, 'ANDROID', 'ACCEPTED', 1 from generate_series(1, 20000) as number`;
    await database`
      insert into run_interactions (run_id, workspace_id, bucket, platform, kind, total, messages)
      select 'x' || number, 'X', 0, 'ANDROID', 'CLICK', 1, 1 from generate_series(1, 20000) as number`;
    await database`
      insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at)
      values ('queued', 'W', 'once', 1, 'QUEUED', '2026-03-20', '2026-03-21', '2026-03-20T10:59:00Z')`;
    await vacuumWhole(database, ['campaigns', 'runs', 'run_counts', 'run_interactions']);
  });
  afterAll(() => bundle.drop());

  const read = (date?: string, view: 'month' | 'week' = 'month') =>
    readCalendar({ database: bundle.database, clock: makeManualClock(now) }, { workspaceId: 'W', view, date });

  test('is each occurrence of a month, in the zone of the workspace over a change of the clock, and what is queued', async () => {
    const calendar = await read();
    expect(calendar).toMatchObject({
      timeZone,
      offset: '+01:00',
      today: '2026-03-20',
      from: '2026-02-23',
      days: 42,
      hasMore: false,
    });
    expect(calendar.entries.map(({ name, status, local }) => [name, status, local.date, local.time])).toEqual([
      ['Campaign once', 'QUEUED', '2026-03-20', '11:59'],
      ['Campaign every four days', 'ACTIVE', '2026-03-21', '09:00'],
      ['Campaign every four days', 'ACTIVE', '2026-03-25', '09:00'],
      // From the 29th on Berlin is two hours ahead of UTC.
      ['Campaign every four days', 'ACTIVE', '2026-03-29', '09:00'],
      ['Campaign once', 'SCHEDULED', '2026-04-01', '00:30'],
      ['Campaign every four days', 'ACTIVE', '2026-04-02', '09:00'],
    ]);
  });

  test('of a later month begins with its first occurrence, not with the next of all', async () => {
    expect((await read('2026-04-15')).entries.map(({ name, local }) => [name, local.date])).toEqual([
      ['Campaign once', '2026-04-01'],
      ['Campaign every four days', '2026-04-02'],
      ['Campaign next month', '2026-05-01'],
    ]);
    expect((await read('2026-03-31', 'week')).entries.map(({ local }) => local.date)).toEqual([
      '2026-04-01',
      '2026-04-02',
    ]);
    expect((await read('2026-06-01')).entries).toEqual([]);
  });

  test('of a month far ahead has every occurrence, however many are before it', async () => {
    await bundle.database`
      insert into workspaces (id, db_name, name, time_zone, created_at) values ('Y', 'y', 'Y', 'UTC', '2026-01-01')`;
    const daily = {
      kind: 'periodic',
      repeatAfterDays: 1,
      firstDate: '2026-03-01',
      endDate: '2026-12-31',
      time: '09:00',
      timeZone: 'UTC',
    };
    await bundle.database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        next_at, created_by, created_at, updated_at)
      values ('daily', 'Y', 'Daily', 'PUSH_API', 'PERIODIC', 'ALL_USERS', '{ANDROID}', '{}', ${bundle.database.json(daily)}, 'ACTIVE',
        '2026-03-21T09:00:00Z', 'test', '2026-01-01', '2026-01-01')`;
    const asked = { workspaceId: 'Y', view: 'month', date: '2026-10-15' } as const;
    const { entries, days } = await readCalendar({ database: bundle.database, clock: makeManualClock(now) }, asked);
    expect(entries).toHaveLength(days);
  });

  test.each<[string, (tx: Queryable) => Promise<unknown>, string[]]>([
    [
      'campaigns that wait',
      (tx) => listUpcomingCampaigns(tx, { workspaceId: 'W', before: now, limit: 9 }),
      ['campaigns_next'],
    ],
    ['what is being sent', (tx) => listOpenSends(tx, { workspaceId: 'W', limit: 9 }), ['runs_sending']],
    [
      'the figures of a page of campaigns',
      async (tx) =>
        selectListedFigures(tx, [
          ...Array.from({ length: 14 }, (_, number) => ({ kind: 'CAMPAIGN' as const, id: `x${number + 1}` })),
          { kind: 'EXECUTION', id: 'x99' },
        ]),
      ['runs_campaign', 'runs_pkey', 'run_counts_pkey', 'run_interactions_pkey'],
    ],
  ])('%s: read through indexes, however much there is of others', async (_name, statement, indexes) => {
    const plans: string[] = [];
    await statement(collectPlans(bundle.application.acrossWorkspaces(), plans));
    expect(plans).toHaveLength(1);
    expect(plans[0]).not.toMatch(/Seq Scan on (runs|campaigns|run_counts|run_interactions)/);
    for (const index of indexes) expect(plans[0]).toContain(index);
  });
});
