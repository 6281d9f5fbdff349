import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeFireDueCampaigns } from '../../../src/engine/scheduler.ts';
import { makeLog } from '../../../src/log.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

const now = new Date('2026-03-02T12:00:00Z');
const hoursAfter = (hours: number): Date => new Date(now.getTime() + hours * 3_600_000);

let testDatabase: TestDatabase;
let workspaceId: string;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  workspaceId = await insertTestWorkspace(testDatabase.database, now);
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  // Deleted, not truncated: of small tables that takes a tenth of the time.
  const tables = ['chunks', 'runs', 'campaigns', 'identifiers'];
  await testDatabase.database.unsafe(tables.map((table) => `delete from ${table}`).join('; '));
});

const identifier = (value: string) => ({ attribute: 'shop', isCustom: true, values: [value] });
const laterAt = (at: Date) => {
  const text = at.toISOString();
  return { kind: 'later', at: text, date: text.slice(0, 10), time: text.slice(11, 19), timeZone: 'UTC' };
};
const daily = {
  ...{ kind: 'periodic', repeatAfterDays: 1, firstDate: '2026-03-02', endDate: '2026-12-31' },
  ...{ time: '12:00', timeZone: 'UTC' },
};

type Campaign = {
  deliveryType?: string;
  timing?: object;
  settings?: object;
  selector?: object;
  nextAt?: Date;
  status?: string;
};

async function addCampaign(id: string, { deliveryType = 'ONE_TIME', ...more }: Campaign = {}): Promise<void> {
  const { database } = testDatabase;
  const { settings = {}, selector, nextAt = now, timing = {} } = more;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, settings,
      status, next_at, target_selector, created_by, created_at, updated_at)
    values (${id}, ${workspaceId}, ${id}, 'PUSH_API', ${deliveryType}, ${selector ? 'USER' : 'ALL_USERS'}, '{ANDROID}',
      '{}', ${database.json({ ...laterAt(nextAt), ...timing })}, ${database.json(settings)},
      ${more.status ?? (deliveryType === 'ONE_TIME' ? 'SCHEDULED' : 'ACTIVE')}, ${more.status === undefined ? nextAt : null},
      ${selector ? database.json(selector) : null}, 'test', ${now}, ${now})`;
}

/** A run of a request that joined a scheduled campaign. */
async function addJoinedRun(id: string, { selector, dueAt = now }: { selector: object; dueAt?: Date }): Promise<void> {
  const { database } = testDatabase;
  await database`
    insert into runs (id, workspace_id, campaign_id, lane, status, day, send_until, created_at, target_selector, due_at)
    values (${id}, ${workspaceId}, ${`campaign of ${id}`}, 0, 'QUEUED', '2026-03-02', ${now}, ${now},
      ${database.json(selector)}, ${dueAt})`;
}

async function addIdentifier(value: string, users: number): Promise<void> {
  await testDatabase.database`
    insert into identifiers (workspace_id, bucket, attribute, type, value, user_id)
    select ${workspaceId}, number % 256, 'shop', 'string', ${value}, 'user ' || number from generate_series(1, ${users}) as number`;
}

let told: number;
/** @returns how much the job did */
async function fire(at = now): Promise<number> {
  told = 0;
  const log = makeLog({ level: 'silent', pretty: false });
  const onFired = (): void => void (told += 1);
  return makeFireDueCampaigns({ database: testDatabase.database, log, lateSendMinutes: 60, onFired }).runOnce(at);
}

async function readCampaign(id: string) {
  const [row] = await testDatabase.database`
    select status, status_reason as reason, next_at as "nextAt" from campaigns where id = ${id}`;
  return row;
}

async function readRuns() {
  const rows = await testDatabase.database`
    select campaign_id as "campaignId", status, status_reason as reason, send_until as "sendUntil",
      jsonb_array_length(target_users) as users from runs order by campaign_id, moment`;
  return [...rows];
}

test('what was fired and what was started counts together, and is told once', async () => {
  expect(await fire()).toBe(0);
  expect(told).toBe(0);
  await addCampaign('campaign');
  await addCampaign('campaign of run', { status: 'SENDING' });
  await addJoinedRun('run', { selector: identifier('nobody') });
  expect(await fire()).toBe(2);
  expect(told).toBe(1);
});

test('workers are woken by a run to an audience and by one to named users', async () => {
  await addCampaign('audience');
  await fire();
  expect(told).toBe(1);
  await addIdentifier('one', 1);
  await addCampaign('named', { selector: identifier('one') });
  await fire();
  expect(told).toBe(1);
});

test.each(['BUSINESS_EVENT_TRIGGERED', 'EVENT_TRIGGERED'])(
  'a campaign of %s waits for its expiry alone: it ends, and nothing is sent',
  async (deliveryType) => {
    await addCampaign('campaign', { deliveryType });
    expect(await fire()).toBe(1);
    expect(await readCampaign('campaign')).toEqual({ status: 'RETIRED', reason: null, nextAt: null });
    expect(await readRuns()).toEqual([]);
  },
);

test('a message lives from its firing, and as much longer as its zones and best times take', async () => {
  const settings = { ttlMinutes: { ANDROID: 120, IOS: 60, WEB: 60 } };
  const livesUntil = async (timing: object): Promise<Date> => {
    await testDatabase.database.unsafe('delete from runs; delete from campaigns');
    await addCampaign('campaign', { settings, timing });
    await fire();
    return (await readRuns())[0]!.sendUntil as Date;
  };
  const bestTime = { windowHours: 5, ifUnknown: 'SEND_AT_START', ifOutside: 'SEND_AT_END' };
  expect(await livesUntil({})).toEqual(hoursAfter(2));
  expect(await livesUntil({ bestTime })).toEqual(hoursAfter(7));
  // From UTC+14 to UTC-12.
  expect(await livesUntil({ inUserZone: 'SEND' })).toEqual(hoursAfter(28));
});

test('what is sent zone by zone is not late before it is late in the last zone', async () => {
  const dueAt = hoursAfter(-27);
  const timing = { inUserZone: 'SEND' };
  await addCampaign('in time', { timing, nextAt: dueAt });
  await addCampaign('too late', { timing, nextAt: new Date(dueAt.getTime() - 1) });
  await addCampaign('in one zone', { nextAt: dueAt });
  await fire();
  expect((await readRuns()).map(({ campaignId, status }) => [campaignId, status])).toEqual([
    ['in one zone', 'MISSED'],
    ['in time', 'QUEUED'],
    ['too late', 'MISSED'],
  ]);
});

test('named users are a hundred at most, as when the request was accepted (decision D32)', async () => {
  await addIdentifier('hundred', 100);
  await addIdentifier('more', 101);
  for (const value of ['hundred', 'more', 'nobody']) await addCampaign(value, { selector: identifier(value) });
  await addCampaign('unknown', { selector: { attribute: 'no such', isCustom: false, values: ['a'] } });
  await fire();
  expect(await readRuns()).toMatchObject([
    { campaignId: 'hundred', status: 'SENDING', reason: null, users: 100 },
    {
      ...{ campaignId: 'more', status: 'FAILED', users: null },
      reason: 'targetUserAttributes: matches more than 100 users',
    },
    { campaignId: 'nobody', status: 'SENT', reason: null, users: 0 },
    { campaignId: 'unknown', status: 'FAILED', reason: 'targetUserAttributes.attribute is unknown' },
  ]);
  expect(await readCampaign('hundred')).toMatchObject({ status: 'SENDING', reason: null });
  expect(await readCampaign('nobody')).toMatchObject({ status: 'SENT', reason: null });
  expect(await readCampaign('more')).toEqual({
    ...{ status: 'FAILED', nextAt: null },
    reason: 'targetUserAttributes: matches more than 100 users',
  });
  const [row] = await testDatabase.database`select target_users as users from runs where campaign_id = 'hundred'`;
  expect(row!.users).toContainEqual([100, 'user 100']);
});

test('a periodic campaign goes on after a run that failed, at its next occurrence', async () => {
  const selector = { attribute: 'no such', isCustom: false, values: ['a'] };
  await addCampaign('campaign', { deliveryType: 'PERIODIC', timing: daily, selector });
  await fire();
  expect(await readRuns()).toMatchObject([{ status: 'FAILED' }]);
  expect(await readCampaign('campaign')).toEqual({ status: 'ACTIVE', reason: null, nextAt: hoursAfter(24) });
});

test('a one-time campaign that was missed fails, and says why (decision D37)', async () => {
  await addCampaign('campaign', { nextAt: hoursAfter(-2) });
  await fire();
  expect(await readCampaign('campaign')).toEqual({
    ...{ status: 'FAILED', nextAt: null },
    reason: 'MISSED: 120 minutes late; at most 60 are allowed (CARILLON_LATE_SEND_MINUTES)',
  });
});

test('a request that joined a campaign is sent under the same rules: users of now, an hour late, else missed', async () => {
  await addIdentifier('one', 1);
  await addIdentifier('more', 101);
  const due: [id: string, value: string, dueAt: Date][] = [
    ['a', 'one', hoursAfter(-1)],
    ['b', 'one', new Date(hoursAfter(-1).getTime() - 1)],
    ['c', 'more', now],
    ['d', 'nobody', now],
    ['e', 'one', hoursAfter(1)],
  ];
  for (const [id, value, dueAt] of due) {
    await addCampaign(`campaign of ${id}`, {
      status: 'SENDING',
      settings: { ttlMinutes: { ANDROID: 180, IOS: 1, WEB: 1 } },
    });
    await addJoinedRun(id, { selector: identifier(value), dueAt });
  }
  expect(await fire()).toBe(4);
  expect(told).toBe(1);
  expect(await readRuns()).toMatchObject([
    { status: 'SENDING', reason: null, users: 1, sendUntil: hoursAfter(3) },
    { status: 'MISSED', reason: '60 minutes late; at most 60 are allowed (CARILLON_LATE_SEND_MINUTES)' },
    { status: 'FAILED', reason: 'targetUserAttributes: matches more than 100 users' },
    { status: 'SENT', users: 0 },
    { status: 'QUEUED', users: null },
  ]);
  const statuses = await Promise.all(
    due.map(async ([id]) => (await readCampaign(`campaign of ${id}`))!.status as string),
  );
  expect(statuses).toEqual(['SENDING', 'SENT', 'FAILED', 'SENT', 'SENDING']);
});
