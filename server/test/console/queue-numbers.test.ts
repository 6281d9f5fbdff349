import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeReadAlertIssues } from '../../src/app/system/alerts.ts';
import { makeReadDatabaseSamples } from '../../src/engine/monitoring/metric-samples.ts';
import { ensureDeliveriesPartition } from '../../src/storage/ledger/deliveries.ts';
import { queueNames, readQueues } from '../../src/storage/installation/queues.ts';
import { upsertNode } from '../../src/storage/installation/nodes.ts';
import { insertChunks } from '../../src/storage/runs/chunks.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { ledgerRun } from '../ledger-run.ts';
import { makeAccountsBundle, start } from './accounts-bundle.ts';
import type { AccountsBundle } from './accounts-bundle.ts';

const before = (seconds: number): Date => new Date(start.getTime() - seconds * 1000);
const day = start.toISOString().slice(0, 10);
const [sending, fillingRun, readyRun] = ['a', 'b', 'c'].map((letter) => letter.repeat(24)) as [string, string, string];
const [filling, around] = ['d', 'e'].map((letter) => letter.repeat(24)) as [string, string];

/**
 * Work in each place where a cluster keeps it: deliveries in the shards of 40 buckets, runs, chunks and segments on the
 * coordinator. One run waits for a segment that refers to one that is being filled, which only the recursive part finds.
 */
let bundle: AccountsBundle;
let owner: string;
beforeAll(async () => {
  bundle = await makeAccountsBundle();
  owner = await bundle.createOwner();
  const { database, workspaceId } = bundle;
  for (const id of [sending, fillingRun, readyRun]) await insertSentRun(database, { workspaceId, id, at: before(300) });
  await database`update runs set status = 'SENDING', day = ${day}, ended_at = null where id = ${sending}`;
  await database`update runs set status = 'QUEUED', started_at = null, ended_at = null, created_at = ${before(200)}
    where id = any(${[fillingRun, readyRun]})`;
  for (const [id, state, uses] of [
    [filling, 'FILLING', []],
    [around, 'READY', [filling]],
  ] as const)
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, uses_segments,
        created_by, created_at, updated_at)
      values (${id}, ${workspaceId}, ${`Segment ${id}`}, 'FILE', ${state}, 'API', 'ID', 'string', ${[...uses]}, 'API',
        ${start}, ${start})`;
  await database`
    update campaigns set audience = 'SEGMENT', segment_id = ${around} where id = ${fillingRun}`;
  await insertChunks(database, {
    ...{ runId: sending, workspaceId, lane: 0, at: before(100), winner: null },
    ranges: [{ from: 0, to: 255 }],
  });
  await insertDeliveries();
});
afterAll(() => bundle.end());

/** 30 are due for 400 seconds and less, 10 later. */
async function insertDeliveries(): Promise<void> {
  const { database } = bundle;
  await ensureDeliveriesPartition(database, day);
  const { runNumber, workspaceNumber } = await ledgerRun(database, sending);
  await database`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, attempts,
      sent_at, retry_at)
    select ${day}::date, ${workspaceNumber}, bucket, ${runNumber}, substr(sha256(bucket::text::bytea), 1, 12),
      substr(sha256('user'), 1, 12), 'A', 'W', 1, ${start},
      ${start}::timestamptz - make_interval(secs => case when bucket < 30 then 400 - bucket else -60 end)
    from generate_series(0, 39) as bucket`;
}

test('returns what waits, runs and comes later of each kind of work, in the order of their names', async () => {
  const states = await readQueues(bundle.database, start);
  const idle = { waiting: 0, running: 0, later: 0, failed: 0, oldestAt: null };
  const work: Record<string, object> = {
    runs: { ...idle, waiting: 1, running: 1, later: 1, oldestAt: before(200) },
    chunks: { ...idle, waiting: 1, oldestAt: before(100) },
    retries: { ...idle, waiting: 30, later: 10, oldestAt: before(400) },
  };
  expect(states).toEqual(queueNames.map((name) => ({ name, ...idle, ...work[name] })));
});

test('shows them in the metrics', async () => {
  const { database, clock } = bundle;
  const samples = await makeReadDatabaseSamples({ database, clock })();
  expect(samples.carillon_database_read_success).toContainEqual({ labels: { read: 'queues' }, value: 1 });
  const of = (name: string) =>
    (['waiting', 'later', 'age_seconds'] as const).map(
      (figure) => samples[`carillon_queue_${figure}`]!.find(({ labels }) => labels['queue'] === name)!.value,
    );
  expect([of('runs'), of('chunks'), of('retries')]).toEqual([
    [1, 1, 200],
    [1, 0, 100],
    [30, 10, 400],
  ]);
});

test('shows them in the overview', async () => {
  const { status, body } = await bundle.call('GET', `overview?workspaceId=${bundle.workspaceId}`, { cookie: owner });
  expect([status, body.work]).toMatchObject([200, { waiting: 31, later: 10, oldestAt: before(400).toISOString() }]);
});

test('opens the alert of the queue with the age of the oldest', async () => {
  const { database, clock, workspaceId } = bundle;
  // Without a node that sends, that is the alert.
  await upsertNode(database, {
    ...{ id: 'worker', host: 'h', processId: 1, role: 'worker', version: '1', startedAt: start },
    ...{ seenAt: clock.realNow(), memoryBytes: 1, jobs: [], masterKeyIds: [], simulators: null, connections: 1 },
    ...{ url: null, certificateEndsAt: null },
  });
  const issues = await makeReadAlertIssues({ database, clock })({ workspaceId, at: start });
  expect(issues.filter(({ kind }) => kind === 'queue')).toMatchObject([
    { what: expect.stringContaining('7 minutes') as string },
  ]);
});
