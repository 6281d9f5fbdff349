import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import { makeReleaseDueTriggers } from '../../src/engine/triggers.ts';
import type { Logger } from '../../src/log.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { tryHoldRelease } from '../../src/storage/triggers.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const now = new Date('2026-03-09T12:00:00Z');
const minutesAgo = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);

let testDatabase: TestDatabase;
let workspaceId: string;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  workspaceId = await insertTestWorkspace(testDatabase.database, now);
  await testDatabase.database`select make_day_partition('events', '2026-03-09')`;
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  // Deleted, not truncated: of small tables that takes a tenth of the time.
  const tables = [
    'triggers',
    'trigger_conditions',
    'runs',
    'campaigns',
    'events',
    'segment_members',
    'segments',
    'users',
  ];
  await testDatabase.database.unsafe(tables.map((table) => `delete from ${table}`).join('; '));
});

const did = (action_name: string, more: object = {}) => ({ filter_type: 'actions', action_name, ...more });
const later = { trigger_delay_type: 'DELAY', trigger_delay_value: 1, trigger_delay_granularity: 'HOURS' };
const left = { included_filters: { filter_operator: 'or', filters: [did('Left')] }, trigger_delay_type: 'ASAP' };
/** Who left and did not buy within the hour. */
const notBought = {
  ...{ ...left, ...later },
  secondary_included_filters: {
    filter_operator: 'and',
    filters: [did('Bought', { executed: false, execution: { type: 'exactly', count: 0 } })],
  },
};

type Campaign = { status?: string; condition?: object; segmentId?: string | null; settings?: object };

/** A live campaign that events start, in a version of its own. */
async function addCampaign(id: string, { condition = left, segmentId = null, ...more }: Campaign = {}): Promise<void> {
  const { database } = testDatabase;
  const { status = 'ACTIVE', settings = {} } = more;
  await database`
    insert into campaigns (id, workspace_id, name, source, delivery_type, audience, segment_id, platforms, content, timing,
      settings, status, created_by, created_at, updated_at)
    values (${`version of ${id}`}, ${workspaceId}, ${id}, 'CAMPAIGN_API', 'EVENT_TRIGGERED',
      ${segmentId === null ? 'ALL_USERS' : 'SEGMENT'}, ${segmentId}, '{ANDROID}', '{}', '{"kind":"soon"}',
      ${database.json(settings)}, ${status}, 'test', ${now}, ${now})`;
  await database`
    insert into trigger_conditions (campaign_id, workspace_id, version_id, event_names, condition, live_since)
    values (${id}, ${workspaceId}, ${`version of ${id}`}, '{Left}', ${database.json(condition)}, ${minutesAgo(600)})`;
}

type Trigger = { occurredAt?: Date; dueAt?: Date; bucket?: number };

async function addTrigger(campaignId: string, userId: string, more: Trigger = {}): Promise<void> {
  const { occurredAt = minutesAgo(60), dueAt = now, bucket = 1 } = more;
  await testDatabase.database`
    insert into triggers (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes,
      due_at, state)
    values (${workspaceId}, ${bucket}, ${userId}, ${campaignId}, 'Left', ${occurredAt}, ${occurredAt}, '{}', ${dueAt},
      'WAITING')`;
}

async function addEvent(userId: string, name: string, occurredAt: Date): Promise<void> {
  await testDatabase.database`
    insert into events (day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at)
    values ('2026-03-09', ${workspaceId}, 1, ${makeId(now)}, ${userId}, ${name}, '{}', ${occurredAt}, ${occurredAt})`;
}

let told: number;
const logged: Record<string, unknown>[] = [];
function makeJob() {
  told = 0;
  logged.length = 0;
  const note = (line: Record<string, unknown>) => void logged.push(line);
  return makeReleaseDueTriggers({
    database: testDatabase.database,
    log: { error: note, warn: note } as unknown as Logger,
    lateSendMinutes: 60,
    onReleased: () => void (told += 1),
  });
}
const release = () => makeJob().runOnce(now);

/** Each trigger by its user, with what it became; one that is sent is in the run of that number. */
async function readTriggers(): Promise<string[]> {
  const rows = await testDatabase.database<{ userId: string; state: string; reason: string; runId: string }[]>`
    select user_id as "userId", state, reason, run_id as "runId" from triggers order by user_id, occurred_at`;
  const runIds = [...new Set(rows.flatMap(({ runId }) => runId ?? []))].sort();
  return rows.map(({ userId, state, reason, runId }) =>
    [userId, state, ...(reason ? [reason] : []), ...(runId ? [`in run ${runIds.indexOf(runId)}`] : [])].join(' '),
  );
}

async function readRuns() {
  return [
    ...(await testDatabase.database`
      select id, campaign_id as "campaignId", status, send_until as "sendUntil" from runs order by campaign_id, id`),
  ];
}

test('combines the due triggers of a campaign into one run, whose lifetime begins now, and wakes the workers', async () => {
  const settings = { ttlMinutes: { ANDROID: 120, IOS: 5, WEB: 5 } };
  await addCampaign('one', { settings });
  await addCampaign('two');
  await addTrigger('one', 'a');
  await addTrigger('one', 'b', { dueAt: minutesAgo(59) });
  await addTrigger('one', 'c', { dueAt: new Date(now.getTime() + 1) });
  await addTrigger('two', 'd');
  expect(await release()).toBe(0);
  expect(told).toBe(1);
  const runs = await readRuns();
  expect(runs).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      ...{ campaignId: 'version of one', status: 'QUEUED', sendUntil: new Date(now.getTime() + 7_200_000) },
    },
    expect.objectContaining({ campaignId: 'version of two' }),
  ]);
  const states = await readTriggers();
  expect(states[0]).toBe(states[1]!.replace('b', 'a'));
  expect(states[2]).toBe('c WAITING');
  expect(states[3]).not.toBe(states[0]!.replace('a', 'd'));
  expect(states[3]).toMatch(/^d SENT/);
});

test('wakes no worker while nothing is due', async () => {
  await addCampaign('one');
  await addTrigger('one', 'a', { dueAt: new Date(now.getTime() + 1) });
  expect(await release()).toBe(0);
  expect(told).toBe(0);
  expect(await readRuns()).toEqual([]);
});

test('sends a trigger that is an hour late, and drops a later one (decision D37)', async () => {
  await addCampaign('one');
  await addTrigger('one', 'a', { dueAt: minutesAgo(60) });
  await addTrigger('one', 'b', { dueAt: new Date(minutesAgo(60).getTime() - 1) });
  await release();
  expect(await readTriggers()).toEqual(['a SENT in run 0', 'b DROPPED LATE']);
  expect(await readRuns()).toHaveLength(1);
});

test('creates no run and wakes no worker if every trigger is dropped', async () => {
  await addCampaign('one');
  await addTrigger('one', 'b', { dueAt: minutesAgo(61) });
  await release();
  expect(await readTriggers()).toEqual(['b DROPPED LATE']);
  expect(await readRuns()).toEqual([]);
  expect(told).toBe(0);
});

test('holds the triggers of a paused campaign, and drops those of an ended one', async () => {
  await addCampaign('paused', { status: 'PAUSED' });
  await addCampaign('stopped', { status: 'STOPPED' });
  await addTrigger('paused', 'a');
  await addTrigger('stopped', 'b');
  await release();
  expect(await readTriggers()).toEqual(['a HELD', 'b DROPPED CAMPAIGN_OVER']);
  expect(await readRuns()).toEqual([]);
});

test('sends the first of two triggers of a user, and keeps the second due', async () => {
  await addCampaign('one');
  await addTrigger('one', 'a', { occurredAt: minutesAgo(2), dueAt: minutesAgo(2) });
  await addTrigger('one', 'a', { occurredAt: minutesAgo(1), dueAt: minutesAgo(1) });
  await addTrigger('one', 'b');
  await release();
  expect(await readTriggers()).toEqual(['a SENT in run 0', 'a WAITING', 'b SENT in run 0']);
  await release();
  expect(await readTriggers()).toMatchObject([
    expect.any(String),
    expect.stringMatching(/^a SENT/),
    expect.any(String),
  ]);
  expect(await readRuns()).toHaveLength(2);
});

test('checks events after the triggering one until the due time, and none before or after', async () => {
  await addCampaign('one', { condition: notBought });
  const times = {
    before: minutesAgo(61),
    'at the event': minutesAgo(60),
    'just after': new Date(minutesAgo(60).getTime() + 1),
    'at the due time': minutesAgo(5),
    afterwards: new Date(minutesAgo(5).getTime() + 1),
  };
  for (const [userId, boughtAt] of Object.entries(times)) {
    await addTrigger('one', userId, { dueAt: minutesAgo(5) });
    await addEvent(userId, 'Bought', boughtAt);
    // An earlier event of the same user, which was due earlier, has its own time.
    await addTrigger('one', userId, { occurredAt: minutesAgo(300), dueAt: minutesAgo(50) });
  }
  await addTrigger('one', 'nothing', { dueAt: minutesAgo(5) });
  await addEvent('nothing', 'Looked', minutesAgo(30));
  await release();
  expect(await readTriggers()).toEqual([
    ...['afterwards SENT in run 0', 'afterwards WAITING'],
    ...['at the due time SENT in run 0', 'at the due time DROPPED CONDITION'],
    ...['at the event DROPPED CONDITION', 'at the event SENT in run 0'],
    ...['before DROPPED CONDITION', 'before SENT in run 0'],
    ...['just after DROPPED CONDITION', 'just after DROPPED CONDITION'],
    'nothing SENT in run 0',
  ]);
});

async function addSegment(id: string, state: string, members: string[] = []): Promise<void> {
  const { database } = testDatabase;
  await database`
    insert into segments (id, workspace_id, name, kind, state, state_reason, archived_at, source, attribute_name,
      attribute_type, version, created_by, created_at, updated_at)
    values (${id}, ${workspaceId}, ${id}, 'FILE', ${state}, ${state === 'FAILED' ? 'no file' : null},
      ${state === 'ARCHIVED' ? now : null}, 'API', 'ID', 'string', 1, 'test', ${now}, ${now})`;
  for (const userId of members)
    await database`
      insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
      values (${workspaceId}, 1, ${id}, ${userId}, 1)`;
}

async function addUsers(...ids: string[]): Promise<void> {
  for (const id of ids)
    await testDatabase.database`
      insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
      values (${workspaceId}, 1, ${id}, ${id}, ${now}, ${now})`;
}

test('sends only to users who are in the audience now', async () => {
  await addUsers('a', 'b');
  await addSegment('segment', 'READY', ['a']);
  await addCampaign('one', { segmentId: 'segment' });
  await addTrigger('one', 'a');
  await addTrigger('one', 'b');
  await addTrigger('one', 'c', { dueAt: minutesAgo(120) });
  await release();
  expect(await readTriggers()).toEqual(['a SENT in run 0', 'b DROPPED AUDIENCE', 'c DROPPED LATE']);
});

test('sends to no user of a segment that is archived or failed', async () => {
  await addUsers('a');
  for (const state of ['ARCHIVED', 'FAILED']) {
    await addSegment(state, state, ['a']);
    await addCampaign(state, { segmentId: state });
    await addTrigger(state, 'a');
  }
  await release();
  expect(await readTriggers()).toEqual(['a DROPPED AUDIENCE', 'a DROPPED AUDIENCE']);
});

test('releases nothing while another node releases triggers', async () => {
  await addCampaign('one');
  await addTrigger('one', 'a');
  await inTransaction(testDatabase.database, async (tx) => {
    expect(await tryHoldRelease(tx)).toBe(true);
    expect(await release()).toBe(0);
    expect(await readTriggers()).toEqual(['a WAITING']);
  });
  await release();
  expect(await readTriggers()).toEqual(['a SENT in run 0']);
});

test('delays a campaign whose triggers cannot be released, at growing intervals, without blocking others', async () => {
  const { database } = testDatabase;
  await addCampaign('broken', { condition: {} });
  await addCampaign('whole');
  await addTrigger('broken', 'a', { dueAt: minutesAgo(10) });
  await addTrigger('whole', 'b');
  const job = makeJob();
  await job.runOnce(now);
  expect(await readTriggers()).toEqual(['a WAITING', 'b SENT in run 0']);
  expect(told).toBe(1);
  expect(logged).toMatchObject([{ campaignId: 'broken' }]);
  // It is not looked at again before its time.
  await database`
    update trigger_conditions set condition = ${database.json(left)} where campaign_id = 'broken'`;
  await job.runOnce(now);
  expect(await readTriggers()).toEqual(['a WAITING', 'b SENT in run 0']);
  await job.runOnce(new Date(now.getTime() + 60_000));
  expect((await readTriggers())[0]).toMatch(/^a SENT/);
  expect(logged).toHaveLength(1);
});
