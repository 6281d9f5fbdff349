import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeContinueMendedRuns } from '../../../src/engine/governor/provider-evidence.ts';
import type { DeviceResult } from '../../../src/engine/fan-out/settle-outcome.ts';
import { makeEndRuns, makeReleaseRuns } from '../../../src/engine/fan-out/runs.ts';
import { keepWaiting, pauseOrShowRefusals } from '../../../src/engine/fan-out/settle-outcome.ts';
import { withdrawUnsent } from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import type { Logger } from '../../../src/log.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { makeFanOutBundle, start } from './fan-out-bundle.ts';
import type { AcceptOptions, FanOutBundle } from './fan-out-bundle.ts';
import { refusal } from './known-refusal.ts';

const later = (seconds: number): Date => new Date(start.getTime() + seconds * 1000);

let bundle: FanOutBundle;
beforeAll(async () => {
  bundle = await makeFanOutBundle();
  await bundle.addDevices(6);
});
afterAll(() => bundle.drop());
beforeEach(async () => {
  lines.length = 0;
  woken = 0;
  bundle.clock.anchor(start);
  const tables = [
    'triggers',
    'chunks',
    'run_refusals',
    'run_counts',
    'deliveries',
    'push_requests',
    'user_messages',
    'runs',
  ];
  await bundle.database.unsafe(
    [...tables, 'campaign_names', 'campaigns'].map((table) => `delete from ${table}`).join('; '),
  );
  await bundle.database`update workspaces set devices_per_minute = null, control_group_percent = null`;
});

type Line = { level: string; message: string } & Record<string, unknown>;
const lines: Line[] = [];
let woken = 0;
const note = (level: string) => (fields: object, message: string) => void lines.push({ level, message, ...fields });
const log = { info: note('info'), warn: note('warn'), error: note('error') } as unknown as Logger;

const release = () =>
  makeReleaseRuns({ database: bundle.database, log, wakeWorkers: () => void (woken += 1) }).runOnce(bundle.clock.now());
const end = () => makeEndRuns({ database: bundle.database, clock: bundle.clock, log }).runOnce(bundle.clock.now());

async function readRun() {
  const [row] = await bundle.database`
    select status, status_reason as reason, audience_devices::int as devices, audience_users::int as users, locales,
      learns_by as "learnsBy", devices_per_minute as "devicesPerMinute", global_control_percent as "controlPercent",
      started_at as "startedAt", ended_at as "endedAt" from runs`;
  return row!;
}

async function readChunks() {
  return [
    ...(await bundle.database`
      select bucket_from as from, bucket_to as to, lane, not_before as "notBefore", winners from chunks order by 1`),
  ];
}

describe('a queued run', () => {
  test('starts with its audience, is told of, and wakes the workers', async () => {
    const { campaignId, runId } = await bundle.accept();
    expect(await release()).toBe(1);
    expect(await readRun()).toMatchObject({
      ...{ status: 'SENDING', devices: 6, users: 6, locales: null, learnsBy: null, startedAt: start },
    });
    expect(await readChunks()).toEqual([{ from: 0, to: 255, lane: 1, notBefore: start, winners: null }]);
    const workspace = bundle.workspaceId;
    expect(lines).toEqual([{ level: 'info', message: 'run started', runId, campaignId, workspace, devices: 6 }]);
    expect(woken).toBe(1);
    expect(await release()).toBe(0);
    expect(woken).toBe(1);
  });

  test('without devices has no chunk', async () => {
    await bundle.accept({ platforms: ['WEB'], settings: { appIds: ['another'] } });
    await release();
    expect(await readRun()).toMatchObject({ status: 'SENDING', devices: 0 });
    expect(await readChunks()).toEqual([]);
  });

  test('whose segment is not there fails with the reason, is told of, and no worker is kept from the next', async () => {
    const { campaignId, runId } = await bundle.accept({ segmentId: 'f'.repeat(24) });
    expect(await release()).toBe(1);
    const reason = 'the segment no longer exists';
    expect(await readRun()).toMatchObject({ status: 'FAILED', reason });
    const workspace = bundle.workspaceId;
    expect(lines).toEqual([{ level: 'warn', message: 'run failed', runId, campaignId, workspace, reason }]);
  });

  test('takes its pace from its campaign, spread over its audience, or from the workspace', async () => {
    const paceOf = async (settings: AcceptOptions['settings']) => {
      await bundle.database.unsafe('delete from chunks; delete from push_requests; delete from runs');
      await bundle.accept({ settings: settings! });
      await release();
      return (await readRun()).devicesPerMinute as number | null;
    };
    expect(await paceOf({})).toBeNull();
    expect(await paceOf({ devicesPerMinute: 30 })).toBe(30);
    expect(await paceOf({ spreadMinutes: 3 })).toBe(2);
    await bundle.database`update workspaces set devices_per_minute = 9`;
    expect(await paceOf({})).toBe(9);
  });

  test('of a campaign in languages notes them, one that learns by what, and the share that it leaves out', async () => {
    const content = { ANDROID: {} };
    const variants = {
      ...{ locales: ['default', 'de'], percents: [50, 50], learning: { by: 'GOAL', floorPercent: 10 } },
      contents: [
        [content, content],
        [content, content],
      ],
    };
    await bundle.accept({ settings: { leavesOutGlobalControlGroup: true } });
    await bundle.database`update campaigns set variants = ${bundle.database.json(variants)}`;
    await bundle.database`update workspaces set control_group_percent = 12`;
    await release();
    expect(await readRun()).toMatchObject({ locales: ['default', 'de'], learnsBy: 'GOAL', controlPercent: 12 });
  });

  test('of a campaign with a winner is the winner’s in all its chunks', async () => {
    const variants = { locales: [], percents: [50, 50], contents: [[{ ANDROID: {} }], [{ ANDROID: {} }]] };
    await bundle.accept();
    await bundle.database`update campaigns set variants = ${bundle.database.json(variants)}, winner = 2, winner_named_at = ${start},
      winner_named_by = 'test'`;
    await release();
    expect(await readChunks()).toMatchObject([{ winners: [{ after: -1, variation: 2 }] }]);
  });

  test('that users’ events started goes before campaigns', async () => {
    await bundle.accept();
    await bundle.database`update campaigns set delivery_type = 'EVENT_TRIGGERED', status = 'ACTIVE'`;
    const [run] = await bundle.database`select id from runs`;
    const [user] = await bundle.database`select id, bucket from users limit 1`;
    await bundle.database`
      insert into triggers (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes,
        due_at, state, run_id, ended_at)
      values (${bundle.workspaceId}, ${user!.bucket}, ${user!.id}, 'c', 'Left', ${start}, ${start}, '{}', ${start}, 'SENT',
        ${run!.id}, ${start})`;
    await release();
    expect(await readChunks()).toMatchObject([{ notBefore: new Date(0) }]);
  });
});

describe('a run with nothing left to send', () => {
  const finish = (state = 'DONE') => bundle.database`
    update chunks set state = ${state}, owner = null, lease_until = null, ended_at = ${start}`;

  test('ends, with its campaign, and is told of with its counts', async () => {
    const { campaignId, runId } = await bundle.accept();
    await release();
    expect(await end()).toBe(0);
    await finish();
    await bundle.database`
      insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
      values (${runId}, ${bundle.workspaceId}, 1, 'IOS', 'ACCEPTED', 4)`;
    lines.length = 0;
    bundle.clock.anchor(later(9));
    expect(await end()).toBe(1);
    expect(await bundle.states(campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
    const [counts] = [[{ platform: 'IOS', outcome: 'ACCEPTED', devices: 4 }]];
    const workspace = bundle.workspaceId;
    expect(lines).toEqual([{ level: 'info', message: 'run ended', runId, campaignId, workspace, counts }]);
    expect(await readRun()).toMatchObject({ endedAt: later(9) });
    expect(await end()).toBe(0);
  });

  test('is told to have failed where a chunk was set aside', async () => {
    const { campaignId } = await bundle.accept();
    await release();
    await finish('QUARANTINED');
    lines.length = 0;
    await end();
    expect((await bundle.states(campaignId)).run).toBe('FAILED');
    expect(lines).toMatchObject([
      { level: 'warn', message: 'run failed', reason: 'a chunk ended its worker repeatedly and was set aside' },
    ]);
  });

  test('to named users has the line of its call alone', async () => {
    await bundle.accept({ targetUsers: [await bundle.userOf('user-0')], audience: { kind: 'user' } as never });
    await finish();
    lines.length = 0;
    expect(await end()).toBe(1);
    expect(lines).toEqual([]);
  });
});

const delivery = { ...{ bucket: 1, userId: 'u', outcome: 'WAITING', code: 'SENDER_ID' }, retryAt: later(3600) };
const waiting = (id: string, refused?: Partial<NonNullable<DeviceResult['refused']>>): DeviceResult =>
  ({
    delivery: { ...delivery, deviceId: id, platform: 'ANDROID' },
    ...(refused && { refused: { refusal, by: 'the provider', reaches: 'others', ...refused } }),
  }) as unknown as DeviceResult;

describe('a refused credential', () => {
  let run: RunToSend;
  beforeEach(async () => {
    const { runId } = await bundle.accept();
    await release();
    run = await bundle.run(runId);
  });
  const keep = (results: DeviceResult[]) =>
    inTransaction(bundle.database, (tx) => keepWaiting(tx, { run, results, at: start }));
  const tell = (results: DeviceResult[]) =>
    inTransaction(bundle.database, (tx) => pauseOrShowRefusals(tx, { run, results }));
  const refusals = async () => (await bundle.run(run.id)).refusals;

  test('is noted in its provider’s words, once, and the results stay as they are', async () => {
    const results = [waiting('a', {}), waiting('b')];
    expect(await keep(results)).toBe(results);
    expect(await keep(results)).toBe(results);
    expect(await refusals()).toEqual([refusal]);
  });

  test('that was known and is forgotten meanwhile makes its devices due at once, and no other', async () => {
    await keep([waiting('a', {})]);
    const known = [waiting('a', { by: 'what is known' }), waiting('b')];
    expect(await keep(known)).toEqual(known);
    for (const other of [
      { version: 'v2' },
      { appId: 'other' },
      { provider: 'hms' },
      { platform: 'ANDROID' },
    ] as const) {
      const asked = waiting('c', { by: 'what is known', refusal: { ...refusal, ...other } });
      expect(await keep([...known, asked])).toEqual([
        ...known,
        { delivery: { ...delivery, deviceId: 'c', platform: 'ANDROID', retryAt: start } },
      ]);
    }
  });

  test('by which nobody is reached pauses the run in its words; by which others are, shows them on the run', async () => {
    await keep([waiting('a', {})]);
    await tell([waiting('a', { by: 'what is known' })]);
    expect(await readRun()).toMatchObject({ status: 'SENDING', reason: null });
    await tell([waiting('b'), waiting('a', {})]);
    const shown = { status: 'SENDING', reason: 'refused, so these devices wait: SENDER_ID: wrong' };
    expect(await readRun()).toMatchObject(shown);
    await tell([waiting('b'), waiting('a', { reaches: 'nobody' })]);
    expect(await readRun()).toMatchObject({ status: 'PAUSED', reason: 'SENDER_ID: wrong' });
  });

  test('that is another now is told of, and not looked at again at once', async () => {
    let continued = 0;
    const { database, clock } = bundle;
    const job = makeContinueMendedRuns({ database, clock, onContinued: () => void (continued += 1) });
    expect([await job.runOnce(start), continued]).toEqual([0, 0]);
    await keep([waiting('a', {})]);
    expect([await job.runOnce(start), continued]).toEqual([0, 1]);
    expect(await refusals()).toEqual([]);
  });
});

describe('a message that counts against caps', () => {
  const settings = { ownDelayHours: 1 };
  const user = { bucket: 3, userId: 'a'.repeat(24) };
  const result = (outcome: string): DeviceResult =>
    ({ delivery: { ...user, outcome, deviceId: 'b'.repeat(24) } }) as unknown as DeviceResult;

  async function withdraw(outcome: string, more: Partial<RunToSend> = {}): Promise<number> {
    const { runId } = await bundle.accept({ settings });
    await release();
    const run = { ...(await bundle.run(runId)), ...more };
    await bundle.database`
      insert into user_messages (workspace_id, bucket, user_id, revision, run_ids, campaign_ids, sent_at, is_counted)
      values (${bundle.workspaceId}, ${user.bucket}, ${user.userId}, 1, ${[runId]}, '{c}', ${[start]}, '{true}')`;
    await inTransaction(bundle.database, (tx) =>
      withdrawUnsent(tx, { run, chunk: 'HELD', results: [result(outcome)] }),
    );
    const [row] = await bundle.database`select cardinality(run_ids) as messages from user_messages`;
    await bundle.database`delete from user_messages`;
    return (row?.messages ?? 0) as number;
  }

  test('does so no longer when no device took it, and in a run that writes none down nothing is looked for', async () => {
    for (const outcome of ['GONE', 'REJECTED', 'EXPIRED', 'FAILED']) expect(await withdraw(outcome), outcome).toBe(0);
    for (const outcome of ['ACCEPTED', 'WAITING', 'WITHHELD']) expect(await withdraw(outcome), outcome).toBe(1);
    expect(await withdraw('FAILED', { settings: {} })).toBe(1);
  });
});
