import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CredentialsOfApps } from '../../../src/domain/credentials/credentials.ts';
import { whyUnusable } from '../../../src/engine/fan-out/audience.ts';
import {
  eligibilityRulesOfRun,
  keyOf,
  makeDeliverToEligible,
  withdrawUnsent,
} from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import {
  controlSharesOf,
  deliverVariants,
  globalControlPercentNow,
  makeRunControlGroupOf,
  makeRunVariationOf,
  trialsOf,
} from '../../../src/engine/fan-out/experiments.ts';
import { makeEndRuns } from '../../../src/engine/fan-out/end-runs.ts';
import { cutBuckets, makeReleaseRuns } from '../../../src/engine/fan-out/runs.ts';
import { runLimitOf } from '../../../src/engine/fan-out/seats.ts';
import {
  failRecipient,
  goneDevices,
  keepWaiting,
  markReach,
  pauseOrShowRefusals,
  quarantine,
  waitForCredential,
} from '../../../src/engine/fan-out/settle-outcome.ts';
import type { DeviceResult, DeviceToDeliver } from '../../../src/engine/fan-out/settle-outcome.ts';
import { makeContinueMendedRuns } from '../../../src/engine/governor/provider-evidence.ts';
import { leaseQuota, nextQuota, quotaFor, returnQuota } from '../../../src/engine/governor/send-budgets.ts';
import type { Logger } from '../../../src/log.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import type { Database } from '../../../src/storage/database.ts';
import { pauseCampaignRuns, resumeCampaignRuns, stopCampaignRuns } from '../../../src/storage/runs/campaign-runs.ts';
import { endFinishedRuns } from '../../../src/storage/runs/ended-runs.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { until } from '../../carillon-bundle.ts';
import { makeFanOutBundle, start } from './fan-out-bundle.ts';
import type { AcceptOptions, FanOutBundle } from './fan-out-bundle.ts';
import { refusal } from './known-refusal.ts';

type Line = { level: string; message: string } & Record<string, unknown>;

describe('the start and end of a run', () => {
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
  const lines: Line[] = [];
  let woken = 0;
  const note = (level: string) => (fields: object, message: string) => void lines.push({ level, message, ...fields });
  const log = { info: note('info'), warn: note('warn'), error: note('error') } as unknown as Logger;

  const release = () =>
    makeReleaseRuns({ database: bundle.database, log, wakeWorkers: () => void (woken += 1) }).runOnce(
      bundle.clock.now(),
    );
  const end = () => makeEndRuns({ database: bundle.database, clock: bundle.clock, log }).runOnce(bundle.clock.now());

  describe('a queued run', () => {
    test('starts with its audience, is logged, and wakes the workers', async () => {
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

    test('has no chunk without devices', async () => {
      await bundle.accept({ platforms: ['WEB'], settings: { appIds: ['another'] } });
      await release();
      expect(await readRun()).toMatchObject({ status: 'SENDING', devices: 0 });
      expect(await readChunks()).toEqual([]);
    });

    test('fails with the reason if its segment does not exist, is logged, and does not block the next run', async () => {
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

    test('records the languages, the learning goal and the control group share of its campaign', async () => {
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

    test('uses the winner of its campaign in all chunks', async () => {
      const variants = { locales: [], percents: [50, 50], contents: [[{ ANDROID: {} }], [{ ANDROID: {} }]] };
      await bundle.accept();
      await bundle.database`update campaigns set variants = ${bundle.database.json(variants)}, winner = 2, winner_named_at = ${start},
        winner_named_by = 'test'`;
      await release();
      expect(await readChunks()).toMatchObject([{ winners: [{ after: -1, variation: 2 }] }]);
    });

    test('goes before campaigns if user events started it', async () => {
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

    test('ends with its campaign, and is logged with its counts', async () => {
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

    test('is logged as failed if a chunk was quarantined', async () => {
      const { campaignId } = await bundle.accept();
      await release();
      await finish('QUARANTINED');
      lines.length = 0;
      await end();
      expect((await bundle.states(campaignId)).run).toBe('FAILED');
      expect(lines).toMatchObject([
        { level: 'warn', message: 'run failed', reason: 'a chunk crashed its worker repeatedly and was quarantined' },
      ]);
    });

    test('is not logged if it went to named users', async () => {
      await bundle.accept({ targetUsers: [await bundle.userOf('user-0')], audience: { kind: 'user' } as never });
      await finish();
      lines.length = 0;
      expect(await end()).toBe(1);
      expect(lines).toEqual([]);
    });

    test('reads and ends at most as many runs as it may, and goes past those with a message that waits', async () => {
      const runIds: string[] = [];
      for (let run = 0; run < 7; run += 1) runIds.push((await bundle.accept()).runId);
      const { database } = bundle;
      await database`update runs set status = 'SENDING', started_at = ${start}`;
      runIds.sort();
      for (const runId of runIds.slice(0, 4))
        await database`
          insert into run_counts (run_id, workspace_id, bucket, platform, outcome, devices)
          values (${runId}, ${bundle.workspaceId}, 0, 'ANDROID', 'WAITING', 1)`;
      const read: number[] = [];
      const counting = (async (strings: TemplateStringsArray, ...parts: string[]) => {
        const rows = await database(strings, ...parts);
        read.push(rows.length);
        return rows;
      }) as unknown as typeof database;
      const ended = async () => (await endFinishedRuns(counting, { at: start, limit: 2 })).map(({ id }) => id).sort();
      expect(await ended()).toEqual(runIds.slice(4, 6));
      expect(await ended()).toEqual(runIds.slice(6));
      expect(await ended()).toEqual([]);
      expect(Math.max(...read)).toBe(2);
    });

    test('ends the campaigns that pushes joined a thousand at a time, each in its turn', async () => {
      await bundle.database`
        insert into campaigns (id, workspace_id, name, source, delivery_type, audience, platforms, content, timing, status,
          created_by, created_at, updated_at)
        select lpad(number::text, 24, '0'), ${bundle.workspaceId}, 'code ' || number, 'PUSH_API', 'ONE_TIME', 'USER', '{ANDROID}',
          '{}', '{"kind": "soon"}', 'SENDING', 'test', ${start}, ${start}
        from generate_series(1, 1001) as number`;
      const job = makeEndRuns({ database: bundle.database, clock: bundle.clock, log });
      const left = async () =>
        (await bundle.database<{ id: string }[]>`select id from campaigns where status = 'SENDING'`).map(
          ({ id }) => id,
        );
      await job.runOnce(start);
      expect(await left()).toEqual(['1001'.padStart(24, '0')]);
      await job.runOnce(later(2));
      expect(await left()).toEqual([]);
    });
  });

  const delivery = { ...{ bucket: 1, userId: 'u', outcome: 'WAITING', code: 'SENDER_ID' }, retryAt: later(3600) };
  const waiting = (id: string, refused?: Partial<NonNullable<DeviceResult['refused']>>): DeviceResult =>
    ({
      delivery: { ...delivery, deviceId: id, platform: 'ANDROID' },
      ...(refused && { refused: { refusal, by: 'the provider', reaches: 'others', ...refused } }),
    }) as unknown as DeviceResult;

  describe('a rejected credential', () => {
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

    test('is recorded once with the words of the provider, and the results stay unchanged', async () => {
      const results = [waiting('a', {}), waiting('b')];
      expect(await keep(results)).toBe(results);
      expect(await keep(results)).toBe(results);
      expect(await refusals()).toEqual([refusal]);
    });

    test('makes its devices due immediately if it was known and has been forgotten, and no others', async () => {
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

    test('pauses the run if no device can be reached, and is shown on the run otherwise', async () => {
      await keep([waiting('a', {})]);
      await tell([waiting('a', { by: 'what is known' })]);
      expect(await readRun()).toMatchObject({ status: 'SENDING', reason: null });
      await tell([waiting('b'), waiting('a', {})]);
      const shown = { status: 'SENDING', reason: 'refused, so these devices wait: SENDER_ID: wrong' };
      expect(await readRun()).toMatchObject(shown);
      await tell([waiting('b'), waiting('a', { reaches: 'nobody' })]);
      expect(await readRun()).toMatchObject({ status: 'PAUSED', reason: 'SENDER_ID: wrong' });
    });

    test('wakes the workers when it has been replaced, and is not checked again immediately', async () => {
      let continued = 0;
      const { database, clock } = bundle;
      const job = makeContinueMendedRuns({ database, clock, onContinued: () => void (continued += 1) });
      expect([await job.runOnce(start), continued]).toEqual([0, 0]);
      await keep([waiting('a', {})]);
      expect([await job.runOnce(start), continued]).toEqual([0, 1]);
      expect(await refusals()).toEqual([]);
    });
  });

  describe('a message that counts towards caps', () => {
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

    test('no longer counts if no device accepted it, without a query in a run that records none', async () => {
      for (const outcome of ['GONE', 'REJECTED', 'EXPIRED', 'FAILED']) expect(await withdraw(outcome), outcome).toBe(0);
      for (const outcome of ['ACCEPTED', 'WAITING', 'WITHHELD']) expect(await withdraw(outcome), outcome).toBe(1);
      expect(await withdraw('FAILED', { settings: {} })).toBe(1);
    });
  });

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
});

describe('the log of a run', () => {
  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
  });
  afterAll(() => bundle.drop());

  const linesOf = (runId: string) =>
    bundle.lines.filter((line) => line['runId'] === runId).map(({ time: _time, level: _level, ...line }) => line);

  test('contains the start of a campaign with its devices, and the end with its counts', async () => {
    await bundle.addDevices(3);
    const { campaignId, runId } = await bundle.accept({ platforms: ['ANDROID'] });
    await bundle.release();
    await bundle.work();
    await bundle.end();
    const of = { runId, campaignId, workspace: bundle.workspaceId };
    const { audienceDevices: devices } = await bundle.run(runId);
    const counts = [{ platform: 'ANDROID', outcome: 'ACCEPTED', devices }];
    expect(linesOf(runId)).toEqual([
      { ...of, devices, msg: 'run started' },
      { ...of, counts, msg: 'run ended' },
    ]);
  });

  test('states why a send cannot start, and contains nothing about named users', async () => {
    const { runId } = await bundle.accept({ segmentId: 'f'.repeat(24) });
    await bundle.release();
    expect(linesOf(runId)).toMatchObject([{ reason: 'the segment no longer exists', msg: 'run failed' }]);
    const named = await bundle.accept({ targetUsers: [] });
    await bundle.end();
    expect(linesOf(named.runId)).toEqual([]);
  });
});

describe('rules of a run', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
  /** Whoever asks it fails. */
  const noDatabase = undefined as unknown as Database;
  const controls = {
    ...{ caps: [], minimumDelayMinutes: null, quietHours: null, controlGroupPercent: 10 },
    ...{ zoneAttribute: 'zone', timeZone: 'UTC' },
  };
  const run = {
    ...{ id: 'run', workspaceId: 'WORKSPACE', campaignId: 'version', canonicalCampaignId: 'campaign', settings: {} },
    ...{ sendUntil: later(3600), createdAt: now, isTest: false, deliveryType: 'ONE_TIME', devicesPerMinute: null },
    ...{
      timing: { kind: 'soon' },
      occurrence: null,
      controls,
      globalControlPercent: null,
      winners: [],
      variants: null,
    },
    ...{ platforms: ['ANDROID'], refusals: [], content: { ANDROID: { title: 'T' } } },
  } as unknown as RunToSend;

  const phone = (id: string, bucket = 1): DeviceToDeliver['device'] => ({
    ...{ bucket, id, userId: `user of ${id}`, platform: 'ANDROID', provider: null, pushId: id, pushIdType: null },
    appId: null,
  });
  const row = (id: string, more: object = {}) => ({
    ...{ bucket: 1, deviceId: id, userId: `user of ${id}`, platform: 'ANDROID', outcome: 'ACCEPTED', code: null },
    ...{ providerMessageId: null, attempts: 1, retryAt: null, ...more },
  });
  const accepted = (id: string): DeviceResult => ({ delivery: row(id) as DeviceResult['delivery'] });

  test('divide a small audience into one chunk, a larger one into a power of two of equal ranges, up to one per bucket', () => {
    expect(cutBuckets(0)).toEqual([{ from: 0, to: 255 }]);
    expect(cutBuckets(5_000)).toEqual([{ from: 0, to: 255 }]);
    expect(cutBuckets(5_001)).toEqual([0, 64, 128, 192].map((from) => ({ from, to: from + 63 })));
    expect(cutBuckets(8_000)).toHaveLength(4);
    expect(cutBuckets(8_001)).toHaveLength(8);
    for (const devices of [512_000, 20_000_000])
      expect(cutBuckets(devices)).toEqual(Array.from({ length: 256 }, (_, bucket) => ({ from: bucket, to: bucket })));
  });

  test('reject a segment that is archived or could not be filled, with the reason', () => {
    expect(whyUnusable({ state: 'READY' })).toBeUndefined();
    expect(whyUnusable({ state: 'ARCHIVED' })).toBe('the segment is archived');
    expect(whyUnusable({ state: 'FAILED', stateReason: 'no file' })).toBe('the segment could not be filled: no file');
    expect(whyUnusable({ state: 'FAILED', stateReason: null })).toBe(
      'the segment could not be filled: see the segment',
    );
  });

  test('give a run without a throttle as many devices as it wants, and return none', async () => {
    expect(await leaseQuota(noDatabase, { run, at: now, wanted: 250 })).toBe(250);
    await returnQuota(noDatabase, { run, at: now, devices: 5 });
    await returnQuota(noDatabase, { run: { ...run, devicesPerMinute: 60 }, at: now, devices: 0 });
  });

  test('make a throttled run due when its pace allows, at least a second later', () => {
    const at = (devicesPerMinute: number, devices: number) =>
      quotaFor({ ...run, devicesPerMinute }, { at: now, devices });
    expect(at(60, 1)).toEqual(later(1));
    expect(at(30, 1)).toEqual(later(2));
    expect(at(30, 5)).toEqual(later(10));
    expect(at(6_000, 10)).toEqual(later(1));
    // A part of a millisecond is one.
    expect(at(7, 1)).toEqual(later(8.572));
    expect(nextQuota({ ...run, devicesPerMinute: 20 }, now)).toEqual(later(3));
  });

  test('count an audience limit for the run or for all versions of its campaign, and never for a test', () => {
    const limited = (of: 'RUN' | 'CAMPAIGN', isTest = false) =>
      runLimitOf({ ...run, isTest, settings: { audienceLimit: { users: 40, of } } });
    expect(limited('RUN')).toEqual({ id: 'run', workspaceId: 'WORKSPACE', users: 40 });
    expect(limited('CAMPAIGN')).toEqual({ id: 'campaign', workspaceId: 'WORKSPACE', users: 40 });
    expect(limited('RUN', true)).toBeUndefined();
    expect(runLimitOf(run)).toBeUndefined();
  });

  test('apply the settings of a run and the controls of its workspace, and none to a test', () => {
    const caps = [{ messages: 1, hours: 24 }];
    expect(eligibilityRulesOfRun(run)).toBeUndefined();
    const capped = { ...run, controls: { ...run.controls, caps } };
    expect(eligibilityRulesOfRun(capped)).toMatchObject({ caps, zone: { attribute: 'zone', fallback: 'UTC' } });
    expect(eligibilityRulesOfRun({ ...capped, isTest: true })).toBeUndefined();
    expect(eligibilityRulesOfRun({ ...run, settings: { ownDelayHours: 2 } })).toMatchObject({ ownDelayMinutes: 120 });
    expect(keyOf({ bucket: 7, userId: 'u' })).not.toBe(keyOf({ bucket: 8, userId: 'u' }));
  });

  test('exclude the control group of the workspace if the campaign says so, with the share at the start', () => {
    const leaving = { ...run, settings: { leavesOutGlobalControlGroup: true, controlGroupPercent: 5 } };
    expect(globalControlPercentNow(leaving)).toBe(10);
    expect(globalControlPercentNow(run)).toBeNull();
    const of = { workspaceId: 'WORKSPACE', canonicalCampaignId: 'campaign' };
    expect(controlSharesOf(leaving, 3)).toEqual({ ...of, globalPercent: 3, campaignPercent: 5 });
    expect(controlSharesOf(run, null)).toEqual({ ...of, globalPercent: null, campaignPercent: null });
    expect(makeRunControlGroupOf(run)).toBeUndefined();
    expect(makeRunControlGroupOf({ ...run, globalControlPercent: 100 })!('u')).toBe('GLOBAL_CONTROL_GROUP');
    expect(makeRunControlGroupOf({ ...run, globalControlPercent: 100, isTest: true })).toBeUndefined();
  });

  const learning = { by: 'CLICKS', floorPercent: 10 } as const;
  const twoVariations = {
    locales: [],
    percents: [50, 50],
    contents: [[{ ANDROID: 'A' }], [{ ANDROID: 'B' }]],
  } as never;

  test('record each accepted message of a learning run with its variation', () => {
    const learns = { ...run, variants: { ...(twoVariations as object), learning } } as RunToSend;
    const sent = (outcome: string, variation?: number) =>
      ({ bucket: 4, outcome, ...(variation && { variant: { variation, locale: 0 } }) }) as never;
    const deliveries = [sent('ACCEPTED', 2), sent('REJECTED', 1), sent('ACCEPTED'), sent('ACCEPTED', 1)];
    const trial = { workspaceId: 'WORKSPACE', runId: 'run', bucket: 4, trials: 1, successes: 0 };
    expect(trialsOf(learns, deliveries)).toEqual([
      { ...trial, variation: 2 },
      { ...trial, variation: 1 },
    ]);
    expect(trialsOf({ ...run, variants: twoVariations }, deliveries)).toEqual([]);
    expect(trialsOf(run, deliveries)).toEqual([]);
  });

  test('draw the variation of a user by the shares, unless a winner was chosen for the bucket', async () => {
    const users = Array.from({ length: 200 }, (_, number) => ({ bucket: number, userId: `user ${number}` }));
    const of = (more: Partial<RunToSend>) => makeRunVariationOf(noDatabase, { run: { ...run, ...more }, users });
    expect(await of({})).toBeUndefined();
    expect(await of({ variants: { ...(twoVariations as object), percents: [100] } as never })).toBeUndefined();
    const drawn = (await of({ variants: twoVariations }))!;
    const counts = [1, 2].map((variation) => users.filter((user) => drawn(user) === variation).length);
    expect(counts[0]! + counts[1]!).toBe(200);
    expect(counts[0]).toBeGreaterThan(60);
    expect(counts[1]).toBeGreaterThan(60);
    const winners = [{ bucketFrom: 0, bucketTo: 9, steps: [{ after: 3, variation: 2 }] }];
    const won = (await of({ variants: twoVariations, winners }))!;
    expect(users.slice(4, 10).map(won)).toEqual([2, 2, 2, 2, 2, 2]);
    expect(users.slice(0, 4).map(won)).toEqual(users.slice(0, 4).map(drawn));
    expect(users.slice(10).map(won)).toEqual(users.slice(10).map(drawn));
  });

  const devices = ['one', 'two', 'three'].map((id) => ({ device: phone(id), attempt: 1 }));

  test('send each variation as a run of its content, and keep its number and order in the results', async () => {
    const asked: [content: unknown, variant: unknown, ids: string[]][] = [];
    const results = await deliverVariants({
      database: noDatabase,
      run: { ...run, variants: twoVariations },
      devices,
      variationOf: ({ userId }) => (userId === 'user of two' ? 2 : 1),
      async deliver(part, own) {
        asked.push([part.content, part.variant, own.map(({ device }) => device.id)]);
        expect(part.language).toBeUndefined();
        return own.map(({ device }) => ({ ...accepted(device.id), gone: { code: device.id, goneSince: now } }));
      },
    });
    expect(asked).toEqual([
      [{ ANDROID: 'A' }, { variation: 1, locale: 0 }, ['one', 'three']],
      [{ ANDROID: 'B' }, { variation: 2, locale: 0 }, ['two']],
    ]);
    expect(results).toEqual(
      [1, 2, 1].map((variation, place) => {
        const { id } = devices[place]!.device;
        return { delivery: row(id, { variant: { variation, locale: 0 } }), gone: { code: id, goneSince: now } };
      }),
    );
  });

  test('send a run with one content, or to no device, unchanged', async () => {
    const seen: unknown[] = [];
    const deliver = async (part: RunToSend, own: DeviceToDeliver[]) => {
      seen.push(part);
      return own.map(({ device }) => accepted(device.id));
    };
    const given = { database: noDatabase, variationOf: undefined, deliver };
    expect(await deliverVariants({ ...given, run, devices })).toEqual(['one', 'two', 'three'].map(accepted));
    const varied = { ...run, variants: twoVariations };
    expect(await deliverVariants({ ...given, run: varied, devices: [] })).toEqual([]);
    expect(seen).toEqual([run, varied]);
    // Without a draw, as of a campaign in languages alone, everybody has the variation 0.
    const [first] = await deliverVariants({ ...given, run: varied, devices });
    expect(first!.delivery.variant).toEqual({ variation: 0, locale: 0 });
  });

  test('withhold messages of control groups without an attempt, and send to the others in order', async () => {
    const settings = { controlGroupPercent: 50 };
    const split = { ...run, settings };
    const group = makeRunControlGroupOf(split)!;
    const many = Array.from({ length: 40 }, (_, number) => ({ device: phone(`device ${number}`), attempt: 2 }));
    const sentTo: string[] = [];
    const deliver = makeDeliverToEligible({
      database: noDatabase,
      clock: { now: () => now } as never,
      log: undefined as never,
      personaliseDevices: async (_run, own) => own,
      async deliverToDevices(_run, addressees) {
        sentTo.push(...addressees.map(({ device }) => device.id));
        return addressees.map(({ device, attempt }) => ({ delivery: row(device.id, { attempts: attempt }) as never }));
      },
    });
    const results = await deliver(split, many);
    const isLeftOut = many.map(({ device }) => group(device.userId) !== undefined);
    expect(new Set(isLeftOut)).toEqual(new Set([true, false]));
    expect(sentTo).toEqual(many.filter((_, place) => !isLeftOut[place]).map(({ device }) => device.id));
    expect(results.map(({ delivery }) => delivery)).toEqual(
      many.map(({ device }, place) =>
        isLeftOut[place]
          ? row(device.id, { outcome: 'WITHHELD', code: 'CAMPAIGN_CONTROL_GROUP', attempts: 1 })
          : row(device.id, { attempts: 2 }),
      ),
    );
    // Nor is it counted for the variation that would have come.
    const varied = await deliver({ ...split, variants: twoVariations }, many);
    expect(varied.map(({ delivery }) => delivery.variant !== undefined)).toEqual(isLeftOut.map((isOut) => !isOut));
  });

  test('send nothing to a quarantined device, or to a recipient with an internal fault', () => {
    const nothing = { outcome: 'FAILED', providerMessageId: null, retryAt: null };
    expect(quarantine(phone('one'))).toEqual({ delivery: row('one', { ...nothing, code: 'SET_ASIDE' }) });
    expect(failRecipient(phone('one'), 5)).toEqual({
      delivery: row('one', { ...nothing, code: 'RECIPIENT_FAULT', attempts: 5 }),
    });
  });

  test('sort dead addresses by bucket and then by device', () => {
    const gone = { code: '410', goneSince: now };
    const dead = (id: string, bucket: number): DeviceResult => ({
      delivery: row(id, { bucket }) as never,
      gone,
    });
    const results = [dead('b', 9), dead('c', 2), accepted('alive'), dead('a', 9), dead('d', 2)];
    expect(goneDevices(results)).toEqual(
      [
        { bucket: 2, deviceId: 'c' },
        { bucket: 2, deviceId: 'd' },
        { bucket: 9, deviceId: 'a' },
        { bucket: 9, deviceId: 'b' },
      ].map((one) => ({ ...one, ...gone })),
    );
  });

  test('make a device wait for its credential under the provider’s code, until its message expires', () => {
    const waiting = waitForCredential({ run, device: phone('one'), attempt: 3 }, { refusal, by: 'what is known' });
    expect(waiting).toEqual({
      delivery: row('one', { outcome: 'WAITING', code: 'SENDER_ID', attempts: 2, retryAt: later(3600) }),
      refused: { refusal, by: 'what is known', reaches: 'others' },
    });
  });

  test('report that no device is reachable once every app of the platforms has a rejected credential', () => {
    const waiting = waitForCredential({ run, device: phone('one'), attempt: 1 }, { refusal, by: 'the provider' });
    const results = [accepted('two'), waiting];
    const credentialsOf = (apps: CredentialsOfApps['apps']): CredentialsOfApps => ({
      apps,
      find: ({ provider, appId }) => ({
        credentials: provider === 'fcm' ? { fcm: {} as never } : {},
        name: { provider: provider!, appId: appId ?? 'default', version: 'v1' },
      }),
    });
    const nobody = [accepted('two'), { ...waiting, refused: { ...waiting.refused, reaches: 'nobody' } }];
    const told = (more: Partial<RunToSend>, apps: CredentialsOfApps['apps'] = []) =>
      markReach(results, { run: { ...run, ...more }, credentialsOf: credentialsOf(apps) });
    expect(told({})).toEqual(nobody);
    // Another platform of Firebase is stopped with it; another app has a credential of its own.
    expect(told({ platforms: ['ANDROID', 'WEB'] })).toEqual(nobody);
    const other = { platform: 'ANDROID', appId: 'other' } as const;
    expect(told({}, [other])).toEqual(results);
    expect(told({ settings: { appIds: ['default'] } }, [other])).toEqual(nobody);
    expect(told({ refusals: [{ ...refusal, appId: 'other' }] }, [other])).toEqual(nobody);
    // Two that are refused in one window are two refusals.
    const refusalOfOther = { ...refusal, appId: 'other' };
    const ofOther = waitForCredential(
      { run, device: phone('b'), attempt: 1 },
      { refusal: refusalOfOther, by: 'the provider' },
    );
    const reaches = markReach([waiting, ofOther], { run, credentialsOf: credentialsOf([other]) });
    expect(reaches.map(({ refused }) => refused!.reaches)).toEqual(['nobody', 'nobody']);
    const free = { run, credentialsOf: credentialsOf([]) };
    expect(markReach([accepted('two')], free)).toEqual([accepted('two')]);
  });
});

describe('the start of a run', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
    await bundle.addDevices(20);
  });
  afterEach(() => bundle.drop());

  /** Changes the run as a request does, which waits for nobody. */
  const atOnce = (change: (tx: Parameters<typeof pauseCampaignRuns>[0]) => Promise<void>) =>
    inTransaction(bundle.database, async (tx) => {
      await tx`set local lock_timeout = '1s'`;
      await change(tx);
    });

  const countOf = async (table: 'chunks' | 'segment_members') =>
    (await bundle.database`select 1 from ${bundle.database(table)}`).length;

  describe('while the devices are counted', () => {
    test('can be stopped immediately, and leaves nothing behind, including segment members', async () => {
      const { campaignId } = await bundle.accept({ segmentId: await addFilterSegment() });
      await whileCounting(() => atOnce((tx) => stopCampaignRuns(tx, { campaignId, reason: 'by a test', at: start })));
      expect(await bundle.states(campaignId)).toMatchObject({ run: 'STOPPED', reason: 'by a test' });
      expect([await countOf('chunks'), await countOf('segment_members')]).toEqual([0, 0]);
    });

    test('can be paused immediately, and happens with the whole audience when the run is resumed', async () => {
      const { campaignId, runId } = await bundle.accept();
      await whileCounting(() => atOnce((tx) => pauseCampaignRuns(tx, { campaignId, reason: 'by a test' })));
      expect(await bundle.states(campaignId)).toMatchObject({ run: 'PAUSED' });
      expect([await bundle.release(), await countOf('chunks')]).toEqual([0, 0]);
      await atOnce((tx) => resumeCampaignRuns(tx, campaignId));
      expect(await bundle.release()).toBe(1);
      await bundle.work();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
    });

    test('does not block another node that starts the next run, and happens once', async () => {
      const [first, second] = [await bundle.accept(), await bundle.accept()];
      let others: Promise<number>[] = [];
      expect(
        await whileCounting(async () => {
          others = [bundle.release(), bundle.release()];
        }),
      ).toBe(1);
      expect((await Promise.all(others)).toSorted()).toEqual([0, 1]);
      for (const { campaignId } of [first, second])
        expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENDING' });
      expect(await countOf('chunks')).toBe(2);
    });

    test('leaves nothing half done if the node dies, and happens at the next attempt', async () => {
      const { campaignId, runId } = await bundle.accept({ segmentId: await addFilterSegment() });
      await expect(
        whileCounting(async ({ pid }) => {
          // Its locks end with it. A cluster has a function of this name for numbers of another kind, of type bigint.
          await bundle.database`select pg_terminate_backend(${pid}::int)`;
          await until(
            async () => (await bundle.database`select 1 from pg_stat_activity where pid = ${pid}`).length === 0,
          );
        }),
      ).rejects.toThrow();
      expect(await bundle.states(campaignId)).toMatchObject({ run: 'QUEUED' });
      expect([await countOf('chunks'), await countOf('segment_members')]).toEqual([0, 0]);
      expect(await bundle.release()).toBe(1);
      await bundle.work();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
    });
  });

  describe('a run that cannot start', () => {
    /** Whatever would be stored of the run fails. @returns ends it */
    async function poison(runId: string): Promise<() => Promise<void>> {
      await bundle.database.unsafe(`
      create function poison() returns trigger language plpgsql as
        $$ begin raise exception 'a row that cannot be' using errcode = '22000'; end $$`);
      await bundle.database.unsafe(`
      create trigger poison before insert on chunks for each row when (new.run_id = '${runId}') execute function poison()`);
      return async () => void (await bundle.database.unsafe('drop function poison() cascade'));
    }

    const statusesOf = async (...runs: { campaignId: string }[]) =>
      Promise.all(runs.map(async ({ campaignId }) => (await bundle.states(campaignId)).run));

    test('does not block later runs, and is logged with its id', async () => {
      const first = await bundle.accept();
      bundle.clock.advance(1000);
      const second = await bundle.accept();
      await poison(first.runId);
      while ((await bundle.release()) > 0);
      expect(await statusesOf(first, second)).toEqual(['QUEUED', 'SENDING']);
      expect(bundle.lines).toContainEqual(
        expect.objectContaining({ runId: first.runId, msg: 'run cannot be started; others go before it' }),
      );
    });

    test('is retried after two seconds, then at doubled intervals up to a minute, and starts when possible', async () => {
      const { campaignId, runId } = await bundle.accept();
      const end = await poison(runId);
      for (const seconds of [2, 4, 8, 16, 32, 60, 60]) {
        expect(await bundle.release()).toBe(1);
        bundle.clock.advance(seconds * 1000 - 1);
        expect(await bundle.release()).toBe(0);
        bundle.clock.advance(1);
      }
      await end();
      expect(await bundle.release()).toBe(1);
      expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENDING' });
    });
  });

  /** Starts the next run, and holds it where it counts its devices until the work is done. */
  async function whileCounting(work: (counting: { pid: number }) => Promise<void>): Promise<number> {
    const { database } = bundle;
    return inTransaction(database, async (tx) => {
      await tx`lock table devices in access exclusive mode`;
      const released = bundle.release();
      released.catch(() => {});
      const [counting] = await until(async () => {
        // Not by the transaction, which sees one state of this view.
        const waiting = await database<{ pid: number }[]>`
          select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%devices%'`;
        return waiting.length > 0 && waiting;
      });
      await work(counting!);
      return { released };
    }).then(({ released }) => released);
  }

  async function addFilterSegment(): Promise<string> {
    const id = 'a'.repeat(24);
    const everybody = {
      filter_operator: 'and',
      filters: [
        { filter_type: 'user_attributes', name: 'none', data_type: 'string', operator: 'exists', negate: true },
      ],
    };
    await bundle.database`
      insert into segments (id, workspace_id, name, kind, state, source, included_filters, filters_digest, created_by,
        created_at, updated_at)
      values (${id}, ${bundle.workspaceId}, 'Everybody', 'FILTER', 'READY', 'API', ${bundle.database.json(everybody)},
        ${Buffer.alloc(32)}, 'test', ${start}, ${start})`;
    return id;
  }
});
