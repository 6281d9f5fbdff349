import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliveryOutcomes, makeConsoleDeliveries } from '../../src/app/deliveries.ts';
import type { DeliveryCursor, DeliveryQuery } from '../../src/app/deliveries.ts';
import { makeManualClock } from '../../src/clock.ts';
import { platforms } from '../../src/domain/content/content.ts';
import { bucketOf } from '../../src/domain/users/users.ts';
import { makeId } from '../../src/domain/ids.ts';
import { findLoggedDelivery, listLoggedDeliveries } from '../../src/storage/ledger/delivery-log.ts';
import type { LogFilters } from '../../src/storage/ledger/delivery-log.ts';
import { collectPlansOfSent } from '../collect-plans.ts';
import { groupFailures, listRunDays, readTimeline } from '../../src/storage/campaigns/campaign-failures.ts';
import type { RunDay } from '../../src/storage/campaigns/campaign-failures.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { ledgerRun } from '../ledger-run.ts';
import { vacuumWhole } from '../vacuum-whole.ts';

const devices = 20_000;
const workspaceId = 'W';
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

test.each(filters)(
  '%s: each look is one into an index, and reads no more than it shows',
  async (_name, more, index) => {
    const plans: string[] = [];
    const tx = collectPlansOfSent(bundle.application.forWorkspace('W'), plans);
    await listLoggedDeliveries(tx, { ...everything, ...more });
    const [plan, ...others] = plans.filter((one) => one.includes('deliveries_2026'));
    expect(others).toEqual([]);
    expect(plan).toContain(index);
    expect(plan).not.toMatch(/Seq Scan on deliveries|Bitmap Heap Scan on deliveries/);
    expect(plan).not.toContain('deliveries_20260302');
  },
);

test('the report counts reasons by an index, and reads the newest row of each', async () => {
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

test('one row is read by its key', async () => {
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

test('a file of the log has the filtered rows, each once, newest first, and ends at the bound', async () => {
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

test('pages follow each other over days without a gap or a row twice, newest first', async () => {
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
