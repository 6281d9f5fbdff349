import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { daysFrom, turnCalendar } from '../../../console/src/campaigns/calendar-search.ts';
import { describeSchedule } from '../../../console/src/campaigns/report/describe-schedule.ts';
import { sentMessages } from '../../../console/src/campaigns/report/sent-messages.ts';
import { compareCampaigns } from '../../../console/src/campaigns/report/summary/compare-campaigns.ts';
import { readCalendar } from '../../src/app/campaigns/calendar.ts';
import { readCampaignFigures } from '../../src/app/campaigns/campaign-figures.ts';
import { makeManualClock } from '../../src/clock.ts';
import { attachmentOf } from '../../src/http/console/csv.ts';
import { calendarSpan } from '../../src/domain/timing/calendar.ts';
import type { Timing } from '../../src/domain/timing/timing.ts';
import { presentFigureFile } from '../../src/http/console/campaign-figure-file.ts';
import { selectListedFigures } from '../../src/storage/campaigns/campaign-search.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { listOpenSends, listUpcomingCampaigns } from '../../src/storage/runs/campaign-runs.ts';
import { collectPlans } from '../collect-plans.ts';
import { contentIn, makeVariationBundle, shares } from '../experiments/variation-bundle.ts';
import type { VariationBundle } from '../experiments/variation-bundle.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

describe('a campaign of two variations, two locales and a control group', () => {
  let bundle: VariationBundle;
  let id: string;
  let titles: Map<string, string>;
  const ofVariation = (number: number) =>
    [...titles].flatMap(([customer, title]) => (title.endsWith(String(number)) ? [customer] : []));
  const figures = (attribution: 'TOTAL_CONVERSIONS' | 'CLICK_THROUGH' = 'TOTAL_CONVERSIONS') =>
    readCampaignFigures(bundle, { workspaceId: bundle.workspaceId, id, attribution });

  beforeAll(async () => {
    bundle = await makeVariationBundle();
    await bundle.addPhones(300);
    await bundle.database`
      update users set attributes = '{"locale": "de"}' where (substring(customer_id from 6))::int % 3 = 0`;
    bundle.answer(() => ({ kind: 'accepted' }));
    id = await bundle.live({
      campaign_content: {
        ...{ locales: ['default', 'de'], variation_details: shares(50, 50) },
        content: contentIn(['default', 'de'], 2),
      },
      control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 30 },
      conversion_goal_details: {
        attribution_window_in_hours: 24,
        goals: [{ goal_name: 'Bought', goal_event_name: 'Bought', is_primary_goal: true }],
      },
    });
    await bundle.deliver();
    titles = bundle.titles();
  });
  afterAll(() => bundle.close());

  test('has the figures of the statistics for each content, the total and the control group', async () => {
    const [first, second] = [ofVariation(1), ofVariation(2)];
    await bundle.report([...first.slice(0, 20), ...second.slice(0, 60)], 'impression');
    await bundle.report([...first.slice(0, 2), ...second.slice(0, 50)], 'click');
    // Some of those who were kept out buy as well.
    const kept = (
      await bundle.database<{ customer: string }[]>`
        select customer_id as customer from users order by customer_id`
    )
      .map(({ customer }) => customer)
      .filter((customer) => !titles.has(customer));
    await bundle.track([...first.slice(0, 8), ...second.slice(0, 30), ...kept.slice(0, 5)], 'Bought');
    await bundle.attribute();

    const found = await figures();
    expect(found).toMatchObject({ windowHours: 24, runs: 1, attribution: 'TOTAL_CONVERSIONS' });
    expect(found.all).toMatchObject({ accepted: titles.size, shown: 80, clicked: 52 });
    const { all_locale: _spelling, ...stats } = await bundle.locales(id);
    const all = stats.all_locales.variations.all_variations;
    const [android] = found.platforms;
    expect(android!.all.goals[0]).toMatchObject({
      name: 'Bought',
      total: all.conversion_goal_stats.Bought.total,
      rate: {
        percent: all.conversion_goal_stats.Bought.cvr,
        low: all.conversion_goal_stats.Bought.cvr_low,
        high: all.conversion_goal_stats.Bought.cvr_high,
      },
    });
    const { uplift, uplift_low: low, uplift_high: high } = all.conversion_goal_stats.Bought;
    expect(uplift).toEqual(expect.any(Number));
    expect(android!.uplifts).toEqual([{ name: 'Bought', percent: uplift, low, high }]);
    expect(android!.groups.map(({ group, users, goals }) => [group, users, goals[0]!.users])).toEqual([
      [null, titles.size, 38],
      ['CAMPAIGN_CONTROL_GROUP', kept.length, 5],
    ]);
    for (const [locale, variations] of Object.entries<any>(stats))
      for (const [name, shown] of Object.entries<any>(variations.variations)) {
        if (!/^(all_variations|variation_\d)$/.test(name) || (locale === 'all_locales' && name === 'all_variations'))
          continue;
        const place = {
          locale: locale === 'all_locales' ? null : locale,
          variation: name === 'all_variations' ? null : Number(name.slice(-1)),
        };
        const { performance_stats: performance } = shown;
        const expected = {
          ...place,
          accepted: performance.sent,
          clicked: performance.click,
          shown: performance.delivered,
          clickedRate: {
            percent: performance.clicked_rate,
            low: performance.clicked_rate_low,
            high: performance.clicked_rate_high,
          },
        };
        expect(android!.contents).toContainEqual(expect.objectContaining(expected));
        // One platform: all of them are the same.
        expect(found.contents).toContainEqual(expect.objectContaining(expected));
      }
    expect(found.contents).toHaveLength(8);
  });

  test('names the best variation at 95 %, and none while no message was clicked', async () => {
    const { leaders, winner } = await figures();
    expect(leaders.map(({ measure, variation, isBest }) => [measure, variation, isBest])).toEqual([
      ['CLICKS', 2, true],
      ['GOAL', 2, true],
    ]);
    expect(winner).toEqual({ variation: null, namedAt: null, namedBy: null, isLearned: false });
    const unread = await bundle.live({
      campaign_content: { variation_details: shares(50, 50), content: contentIn(['default'], 2) },
    });
    const other = await readCampaignFigures(bundle, {
      workspaceId: bundle.workspaceId,
      id: unread,
      attribution: 'TOTAL_CONVERSIONS',
    });
    expect(other.leaders).toMatchObject([{ measure: 'CLICKS', isBest: false }]);
  });

  test('counts conversions by the requested attribution', async () => {
    const { all, attribution } = await figures('CLICK_THROUGH');
    // 2 and 30 of those who bought had clicked.
    expect([attribution, all.goals[0]!.users]).toEqual(['CLICK_THROUGH', 32]);
  });

  test('is exported with a line for each content and control group, with the same numbers', async () => {
    const found = await figures();
    const [header, ...lines] = presentFigureFile(found)
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    const rows = lines.map((line) => Object.fromEntries(header!.map((name, place) => [name, line[place]])));
    expect(rows).toHaveLength(1 + 8 + 1 + 8);
    expect(rows[0]).toMatchObject({
      platform: 'ANDROID',
      variation: '',
      accepted: String(titles.size),
      clicked: '52',
      'Bought: people': '38',
    });
    const kept = rows.find((row) => row['control group'] === 'CAMPAIGN_CONTROL_GROUP')!;
    expect([kept['people'], kept['Bought: people'], kept['accepted']]).toEqual([String(300 - titles.size), '5', '']);
    expect(
      rows.filter((row) => row.platform === 'ALL' && row.variation === 'variation_2' && row.locale === ''),
    ).toHaveLength(1);
  });

  test('is not found in another workspace', async () => {
    await expect(
      readCampaignFigures(bundle, { workspaceId: 'none', id, attribution: 'TOTAL_CONVERSIONS' }),
    ).rejects.toMatchObject({
      code: 'CAMPAIGN_NOT_FOUND',
    });
  });
});

describe('the name of a file', () => {
  test('is that of its campaign and its part, in every letter, and in plain letters for other clients', () => {
    expect(attachmentOf(['Verão: "50 %"', 'click-through'])).toBe(
      'attachment; filename="Verao-50-click-through.csv"; filename*=UTF-8\'\'Ver%C3%A3o-50-%25-click-through.csv',
    );
    expect(attachmentOf(['Spring', 'a'])).not.toBe(attachmentOf(['Spring', 'b']));
  });
});

describe('the days of a calendar', () => {
  test('are whole weeks from a Monday, with every day of the month', () => {
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

  test('advance by weeks and by months', () => {
    expect(turnCalendar('2026-12-31', { view: 'week', by: 1 })).toBe('2027-01-07');
    expect(turnCalendar('2026-01-31', { view: 'month', by: 1 })).toBe('2026-02-01');
    expect(turnCalendar('2026-01-31', { view: 'month', by: -1 })).toBe('2025-12-01');
    expect(daysFrom('2026-10-24', 3)).toEqual(['2026-10-24', '2026-10-25', '2026-10-26']);
  });
});

describe('the calendar of planned sends', () => {
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
    await database`
      insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, started_at, ended_at)
      values ('past', 'W', 'next month', 1, 'SENT', '2026-03-05', '2026-03-06', '2026-03-05', '2026-03-05T22:45:00Z',
        '2026-03-05T23:00:00Z'), ('to named users', 'W', 'next month', 0, 'SENT', '2026-03-05', '2026-03-06', '2026-03-05',
        '2026-03-05T22:45:00Z', '2026-03-05T23:00:00Z')`;
    await vacuumWhole(database, ['campaigns', 'runs', 'run_counts', 'run_interactions']);
  });
  afterAll(() => bundle.drop());

  const read = (date?: string, view: 'month' | 'week' = 'month') =>
    readCalendar({ database: bundle.database, clock: makeManualClock(now) }, { workspaceId: 'W', view, date });

  test('has each occurrence of a month in the zone of the workspace over a clock change, and queued runs', async () => {
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
      ['Campaign next month', 'SENT', '2026-03-05', '23:45'],
      ['Campaign once', 'QUEUED', '2026-03-20', '11:59'],
      ['Campaign every four days', 'ACTIVE', '2026-03-21', '09:00'],
      ['Campaign every four days', 'ACTIVE', '2026-03-25', '09:00'],
      // From the 29th on Berlin is two hours ahead of UTC.
      ['Campaign every four days', 'ACTIVE', '2026-03-29', '09:00'],
      ['Campaign once', 'SCHEDULED', '2026-04-01', '00:30'],
      ['Campaign every four days', 'ACTIVE', '2026-04-02', '09:00'],
    ]);
  });

  test('begins with the first occurrence of a later month, not with the next of all', async () => {
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

  test('has a send at the local time of each user on the day and at the time that everyone reads on a clock', async () => {
    await bundle.database`
      insert into workspaces (id, db_name, name, time_zone, created_at) values ('Z', 'z', 'Z', 'UTC', '2026-01-01')`;
    const timing = { kind: 'later', at: '2026-06-01T09:00:00Z', date: '2026-06-01', time: '09:00', timeZone: 'UTC' };
    await bundle.database`
      insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
        next_at, created_by, created_at, updated_at)
      values ('everywhere', 'Z', 'Everywhere', 'CAMPAIGN_API', 'ONE_TIME', 'ALL_USERS', '{ANDROID}', '{}',
        ${bundle.database.json({ ...timing, inUserZone: 'SKIP' })}, 'SCHEDULED', '2026-05-31T19:00:00Z', 'test', '2026-01-01',
        '2026-01-01')`;
    const deps = { database: bundle.database, clock: makeManualClock(now) };
    const { entries } = await readCalendar(deps, { workspaceId: 'Z', view: 'week', date: '2026-06-03' });
    expect(entries).toMatchObject([{ local: { date: '2026-06-01', time: '09:00' }, inEveryZone: true }]);
  });

  test('has every occurrence of a month far ahead, however many precede it', async () => {
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
  ])('%s: reads through indexes, however many rows others have', async (_name, statement, indexes) => {
    const plans: string[] = [];
    await statement(collectPlans(bundle.application.acrossWorkspaces(), plans));
    expect(plans).toHaveLength(1);
    expect(plans[0]).not.toMatch(/Seq Scan on (runs|campaigns|run_counts|run_interactions)/);
    for (const index of indexes) expect(plans[0]).toContain(index);
  });
});

describe('the comparison of campaigns', () => {
  const rate = (percent: number, low: number, high: number) => ({ percent, low, high });

  test('states the difference of the shares in points, and whether it may be chance', () => {
    const rows = compareCampaigns({
      one: side({
        accepted: 90,
        reachable: 100,
        clicked: rate(3, 2.5, 3.5),
        goals: [{ name: 'Bought', users: 4, rate: rate(4, 2, 6) }],
      }),
      other: side({ accepted: 1600, reachable: 2000, clicked: rate(2, 1.8, 2.2) }),
    });
    const named = Object.fromEntries(rows.map(({ name, ...row }) => [name, row]));
    expect(named['Reachable devices']).toMatchObject({ difference: '−1,900' });
    expect(named['Accepted']).toMatchObject({
      one: { count: '90', rate: '90 % of reachable' },
      other: { count: '1,600', rate: '80 % of reachable' },
      difference: '+10.0 points',
    });
    expect(named['Clicked']).toMatchObject({ difference: '+1.0 points', verdict: 'more than chance' });
    expect(named['Shown']).toMatchObject({ difference: undefined, verdict: undefined });
    // Only one of them has this goal.
    expect(named['Converted: Bought']).toMatchObject({
      one: { count: '4' },
      other: { count: '–' },
      difference: undefined,
    });
    expect(named['Not delivered']).toMatchObject({ difference: '−10.0 points' });
    const near = compareCampaigns({
      one: side({ accepted: 1, reachable: 1, clicked: rate(3, 2.1, 4) }),
      other: side({ accepted: 1, reachable: 1, clicked: rate(2, 1.8, 2.2) }),
    });
    expect(near.find(({ name }) => name === 'Clicked')!.verdict).toBe('may be chance');
  });

  test('reads the sent message from one content, the languages of a push, and locales and variations', () => {
    const android = (title: string) => ({ android: { basic_details: { title, message: 'M' } } });
    const record = (content: object) => ({ campaign_content: { content } });
    const titles = (content: object) =>
      sentMessages(record(content)).map(({ locale, variation, platforms }) => [
        ...[locale, variation],
        ...platforms.map((platform) => (platform.content.basic_details as { title: string }).title),
      ]);
    expect(titles({ push: android('Hello') })).toEqual([[null, null, 'Hello']]);
    expect(titles({ push: { ...android('Hello'), locales: { de: { android: { title: 'Hallo' } } } } })).toEqual([
      ['default', null, 'Hello'],
      ['de', null, 'Hallo'],
    ]);
    const ofLocale = (word: string) => ({
      variation_1: { push: android(`${word} 1`) },
      variation_2: { push: android(`${word} 2`) },
    });
    expect(titles({ default: ofLocale('Hello'), de: ofLocale('Hallo') })).toEqual([
      ['default', 1, 'Hello 1'],
      ['default', 2, 'Hello 2'],
      ['de', 1, 'Hallo 1'],
      ['de', 2, 'Hallo 2'],
    ]);
    // What is the same for all is not told by names.
    expect(titles({ default: { variation_1: { push: android('One') } } })).toEqual([[null, null, 'One']]);
    expect(sentMessages({})).toEqual([]);
  });

  test('describes a schedule in words', () => {
    const schedule = (type: string, details: object) =>
      describeSchedule({ campaign_delivery_type: type, scheduling_details: details });
    const start = { delivery_type: 'AT_FIXED_TIME', start_time: '2026-12-01T10:00:00', timezone: 'Asia/Kolkata' };
    expect(schedule('ONE_TIME', { delivery_type: 'ASAP' })).toBe('At once, when it is published');
    expect(schedule('ONE_TIME', start)).toBe('Once, on 1 Dec 2026 at 10:00 (Asia/Kolkata)');
    expect(schedule('ONE_TIME', { ...start, delivery_type: 'SEND_IN_USER_TIMEZONE' })).toBe(
      'Once, on 1 Dec 2026 at 10:00 (Asia/Kolkata), at that time in everyone’s own zone',
    );
    const period = (details: object) =>
      schedule('PERIODIC', { ...start, expiry_time: '2027-01-01T10:00:00', periodic_details: details });
    expect(period({ sending_frequency: 'DAILY', repeat_frequency: 2 })).toBe(
      'Every 2 days at 10:00 (Asia/Kolkata), from 1 Dec 2026 until 1 Jan 2027',
    );
    expect(period({ sending_frequency: 'WEEKLY', repeat_on_days_of_week: ['MONDAY', 'THURSDAY'] })).toContain(
      'Every week on Monday, Thursday at 10:00',
    );
    const first = [{ week_granularity: 'FIRST', repeat_on_days_of_week: ['MONDAY'] }];
    expect(period({ sending_frequency: 'MONTHLY', repeat_on_days_of_week_for_month: first })).toContain(
      'Every month on the first Monday at 10:00',
    );
  });

  function side(changes: { accepted: number; reachable: number; clicked: ReturnType<typeof rate>; goals?: object[] }) {
    const { accepted, reachable, clicked, goals = [] } = changes;
    const outcomes = [
      { platform: 'ANDROID', outcome: 'ACCEPTED', devices: accepted },
      { platform: 'IOS', outcome: 'GONE', devices: reachable - accepted },
    ];
    const all = { shown: 0, shownRate: null, clicked: 7, clickedRate: clicked, goals };
    return { progress: { reachableDevices: reachable, outcomes }, figures: { all } } as never;
  }
});
