import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { start } from '../stats/stats-bundle.ts';
import { dayMilliseconds, dayOf, daysAfter, makeRetentionBundle } from './retention-bundle.ts';
import type { RetentionBundle } from './retention-bundle.ts';

let bundle: RetentionBundle;
beforeEach(async () => {
  bundle = await makeRetentionBundle();
});
afterEach(() => bundle.end());

const runTables = ['runs', 'chunks', 'run_counts', 'run_failures', 'conversions'];

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
