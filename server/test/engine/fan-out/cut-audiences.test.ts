import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { explainDelivery } from '../../../src/app/explain.ts';
import { makeCutAudiences, cutRanges } from '../../../src/engine/fan-out/cut-audiences.ts';
import { makeReleaseRuns } from '../../../src/engine/fan-out/runs.ts';
import { sumRuns } from '../../../src/storage/campaigns/campaign-stats.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { pauseCampaignRuns, resumeCampaignRuns, stopCampaignRuns } from '../../../src/storage/runs/campaign-runs.ts';
import { listUncountedRuns } from '../../../src/storage/runs/audience-passes.ts';
import { eraseMemberships } from '../../../src/storage/users/erased-traces.ts';
import { hasDueWork } from '../../../src/storage/installation/queues.ts';
import { makeFanOutBundle, start } from './fan-out-bundle.ts';
import type { AcceptOptions, FanOutBundle } from './fan-out-bundle.ts';

const devices = 600;

describe('a run whose audience is counted while it is sent', () => {
  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
  });
  afterAll(() => bundle.drop());
  beforeEach(async () => {
    bundle.clock.anchor(start);
    bundle.sent.length = 0;
    bundle.lines.length = 0;
    bundle.answer(() => ({ kind: 'accepted' }));
    const tables = [
      ...[
        'chunks',
        'run_turns',
        'workspace_turns',
        'run_cursors',
        'run_counts',
        'deliveries',
        'push_requests',
        'audience_seats',
      ],
      ...['audience_limits', 'user_messages', 'run_refusals', 'runs', 'campaign_names', 'campaigns', 'segment_members'],
      ...['segments', 'devices', 'users'],
    ];
    await bundle.database.unsafe(tables.map((table) => `delete from ${table}`).join('; '));
    await bundle.database`update workspaces set devices_per_minute = null, control_group_percent = null`;
    await bundle.addDevices(devices);
  });

  const cutter = (of: FanOutBundle = bundle) =>
    makeCutAudiences({ database: of.database, clock: of.clock, log: of.log, wakeWorkers: () => {} });
  /** Every audience counts as large. */
  const release = () =>
    makeReleaseRuns({ database: bundle.database, log: bundle.log, wakeWorkers: () => {}, countAtOnce: 0 }).runOnce(
      bundle.clock.now(),
    );
  const step = (job: ReturnType<typeof cutter>) => job.runOnce(bundle.clock.now());
  const countAll = async (job = cutter()) => {
    while ((await step(job)) > 0);
  };
  const begin = async (options?: AcceptOptions) => {
    const accepted = await bundle.accept(options);
    await release();
    return accepted;
  };
  const readRun = async (runId: string) => {
    const [row] = await bundle.database`
      select status, audience_cut as cut, audience_devices as devices, audience_users as users, started_at as "startedAt",
        devices_per_minute as pace, send_until as "sendUntil", group_users as groups, audience_platforms as platforms
      from runs where id = ${runId}`;
    return row!;
  };
  const readChunks = async (runId: string) => {
    const rows = await bundle.database`
      select bucket_from as from, bucket_to as to, state, number from chunks where run_id = ${runId} order by bucket_from`;
    return rows as unknown as { from: number; to: number; state: string; number: number }[];
  };
  const send = async (runId: string, options?: Parameters<FanOutBundle['startWorkers']>[0]) => {
    const workers = bundle.startWorkers(options);
    await bundle.settled(runId, [workers]);
    await workers.stop();
  };
  const sumLedger = async (runId: string) =>
    (await bundle.ledger(runId)).reduce((sum, { devices: of }) => sum + Number(of), 0);
  const coverAll = (chunks: { from: number; to: number }[]) =>
    chunks.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
  const allBuckets = Array.from({ length: 256 }, (_, bucket) => bucket);

  test('sends its first messages before the audience is counted, and has the exact size after it', async () => {
    const { runId, campaignId } = await begin();
    expect(await readRun(runId)).toMatchObject({ status: 'SENDING', cut: 0, devices: null, startedAt: start });
    const job = cutter();
    for (let steps = 0; steps < 3; steps += 1) await step(job);
    await send(runId);
    const first = bundle.sent.length;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(devices / 4);
    expect(await sumRuns(bundle.database, campaignId)).toMatchObject({ reachableDevices: null, audienceUsers: null });
    expect(await hasDueWork(bundle.database, bundle.clock.now())).toBe(true);
    await countAll(job);
    expect(await readRun(runId)).toMatchObject({ cut: null, devices, users: devices });
    expect((await readRun(runId)).platforms).toEqual(
      ['ANDROID', 'IOS', 'WEB'].map((platform) => ({ platform, devices: 200, users: 200, installed: 200 })),
    );
    await send(runId);
    await bundle.end();
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENT', campaign: 'SENT' });
    expect(new Set(bundle.sent.map(({ deviceId }) => deviceId)).size).toBe(devices);
    expect(bundle.sent).toHaveLength(devices);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: devices });
    expect(await sumRuns(bundle.database, campaignId)).toMatchObject({
      reachableDevices: devices,
      audienceUsers: devices,
    });
  });

  test('covers every bucket with exactly one chunk at any time', async () => {
    const { runId } = await begin();
    const job = cutter();
    for (let left = 1; left > 0;) {
      expect(coverAll(await readChunks(runId))).toEqual(allBuckets);
      left = await step(job);
    }
    expect((await readChunks(runId)).every(({ from, number }) => from === number)).toBe(true);
  });

  test('does not end before all its buckets are counted, whatever has been sent', async () => {
    const { runId, campaignId } = await begin();
    const job = cutter();
    await step(job);
    await step(job);
    await send(runId);
    await bundle.end();
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENDING', campaign: 'SENDING' });
    await countAll(job);
    await bundle.end();
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENDING' });
    await send(runId);
    await bundle.end();
    expect(await bundle.states(campaignId)).toMatchObject({ run: 'SENT' });
  });

  test('counts a device that turned out to be gone while others were being counted', async () => {
    bundle.answer((_device, nth) => (nth % 3 === 0 ? { kind: 'gone', code: 'UNREGISTERED' } : { kind: 'accepted' }));
    const { runId } = await begin();
    const job = cutter();
    while ((await step(job)) > 0) await send(runId);
    expect(await readRun(runId)).toMatchObject({ cut: null, devices });
    expect(await sumLedger(runId)).toBe(devices);
    expect((await bundle.counters(runId)).GONE).toBe(devices / 3);
  });

  test('leaves out users and devices that were added while it was counted', async () => {
    const { runId } = await begin();
    const job = cutter();
    await step(job);
    bundle.clock.anchor(new Date(start.getTime() + 1_000));
    await bundle.addDevices(300, 'late');
    await countAll(job);
    await send(runId);
    expect(await readRun(runId)).toMatchObject({ devices, users: devices });
    expect(await sumLedger(runId)).toBe(devices);
  });

  test('is counted exactly if the process that counts dies, and another continues', async () => {
    const { runId } = await begin();
    const doomed = cutter();
    await step(doomed);
    await step(doomed);
    const before = await readRun(runId);
    let release!: () => void;
    const freed = new Promise<void>((resolve) => (release = resolve));
    const held = inTransaction(bundle.database, async (tx) => {
      await tx`select 1 from runs where id = ${runId} for update`;
      await freed;
    });
    const dying = step(doomed).catch((error: unknown) => error);
    // Its buckets are counted, and it waits for the run's row.
    await expect
      .poll(
        async () => {
          const rows = await bundle.database`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock' and query like '%audience_cut%'`;
          return rows.length;
        },
        { interval: 5 },
      )
      .toBe(1);
    await dying;
    release();
    await held;
    expect(await readRun(runId)).toEqual(before);
    await send(runId);
    await countAll(cutter());
    await send(runId);
    expect(await readRun(runId)).toMatchObject({ devices, users: devices });
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: devices });
    expect(bundle.sent).toHaveLength(devices);
  });

  test('is counted once if two nodes count it at the same time', async () => {
    const { runId } = await begin();
    const jobs = [cutter(), cutter()];
    for (let done = 1; done > 0;) {
      const counts = await Promise.all(jobs.map(step));
      done = counts[0]! + counts[1]!;
    }
    expect(await readRun(runId)).toMatchObject({ cut: null, devices, users: devices });
    expect(coverAll(await readChunks(runId))).toEqual(allBuckets);
  });

  test('is retried later if a step fails, while what is counted is sent and other runs are counted', async () => {
    const { runId } = await begin();
    const job = cutter();
    await step(job);
    const other = await begin();
    await bundle.database.unsafe(
      `alter table chunks add constraint fails check (run_id <> '${runId}' or number <> 1) not valid`,
    );
    for (let steps = 0; steps < 20; steps += 1) await step(job);
    expect(await readRun(runId)).toMatchObject({ cut: 1, devices: null });
    expect(await readRun(other.runId)).toMatchObject({ cut: null, devices });
    expect(bundle.lines.filter(({ runId: of, retryAt }) => of === runId && Boolean(retryAt))).toHaveLength(1);
    await bundle.database.unsafe('alter table chunks drop constraint fails');
    expect(await step(job)).toBe(0);
    bundle.clock.anchor(new Date(start.getTime() + 2_001));
    await countAll(job);
    expect(await readRun(runId)).toMatchObject({ cut: null, devices });
  });

  test('is in the overview from the third failure until a step succeeds', async () => {
    const { runId } = await begin();
    const job = cutter();
    await step(job);
    await bundle.database.unsafe(
      `alter table chunks add constraint fails check (run_id <> '${runId}' or number <> 1) not valid`,
    );
    const { database, workspaceId } = bundle;
    const listed = () => listUncountedRuns(database, { workspaceId, limit: 10 });
    const fail = async (seconds: number) => {
      bundle.clock.anchor(new Date(start.getTime() + seconds * 1_000));
      expect(await step(job)).toBe(1);
    };
    await fail(1);
    await fail(10);
    expect(await listed()).toEqual([]);
    await fail(20);
    expect(await listed()).toMatchObject([{ campaignName: expect.any(String) as string }]);
    const [run] = await database`select status, status_reason as reason from runs where id = ${runId}`;
    expect(run).toEqual({
      status: 'SENDING',
      reason: 'the audience cannot be counted; the log of the server says why',
    });
    await database.unsafe('alter table chunks drop constraint fails');
    await fail(60);
    expect(await listed()).toEqual([]);
    const [mended] = await database`select status_reason as reason from runs where id = ${runId}`;
    expect(mended).toEqual({ reason: null });
  });

  test('sends nothing more once its campaign is stopped, and is not counted any more', async () => {
    const { runId, campaignId } = await begin();
    const job = cutter();
    for (let steps = 0; steps < 4; steps += 1) await step(job);
    await send(runId);
    const sent = bundle.sent.length;
    await inTransaction(bundle.database, (tx) =>
      stopCampaignRuns(tx, { campaignId, reason: 'stopped', at: bundle.clock.now() }),
    );
    expect(await step(job)).toBe(0);
    await bundle.end();
    await send(runId);
    expect(bundle.sent).toHaveLength(sent);
    expect(await readRun(runId)).toMatchObject({ status: 'STOPPED', devices: null });
    expect(new Set((await readChunks(runId)).map(({ state }) => state))).toEqual(new Set(['DONE']));
    const [row] = await bundle.database`select settled_at from runs where id = ${runId}`;
    expect(row!.settled_at).not.toBeNull();
    // What was sent is the size that is known.
    expect(await sumRuns(bundle.database, campaignId)).toMatchObject({ reachableDevices: sent, audienceUsers: null });
  });

  test('is counted on while it is paused, and continues with everything', async () => {
    const { runId, campaignId } = await begin();
    const job = cutter();
    await step(job);
    await inTransaction(bundle.database, (tx) => pauseCampaignRuns(tx, { campaignId, reason: 'paused' }));
    await bundle.database`update run_turns set is_parked = true where run_id = ${runId}`;
    await countAll(job);
    expect(await readRun(runId)).toMatchObject({ status: 'PAUSED', devices });
    // No other run gives its worker away for it.
    const [turn] = await bundle.database`
      select is_parked as "isParked", devices_left::int as devices from run_turns where run_id = ${runId}`;
    expect(turn).toEqual({ isParked: true, devices });
    await inTransaction(bundle.database, (tx) => resumeCampaignRuns(tx, campaignId));
    await send(runId);
    expect(bundle.sent).toHaveLength(devices);
  });

  test('keeps a limit of users exactly while it is counted', async () => {
    const { runId } = await begin({ settings: { audienceLimit: { of: 'RUN', users: 250 } } });
    const job = cutter();
    while ((await step(job)) > 0) await send(runId);
    await send(runId);
    expect(await bundle.counters(runId)).toMatchObject({ ACCEPTED: 250 });
    expect(await readRun(runId)).toMatchObject({ devices });
  });

  test('has a turn of the estimated size, which becomes exact', async () => {
    const { runId } = await begin();
    const job = cutter();
    await step(job);
    await step(job);
    await step(job);
    const readTurn = async () => {
      const [row] = await bundle.database`
        select devices_left as left, is_parked as "isParked" from run_turns where run_id = ${runId}`;
      return row! as unknown as { left: number; isParked: boolean };
    };
    expect((await readTurn()).left).toBeGreaterThan(devices / 4);
    await bundle.database`update run_turns set is_parked = true`;
    await step(job);
    expect(await readTurn()).toMatchObject({ isParked: false });
    await countAll(job);
    expect((await readTurn()).left).toBe(devices);
  });

  describe('of a segment', () => {
    const wanted = {
      filter_operator: 'and',
      filters: [
        { filter_type: 'user_attributes', name: 'number', data_type: 'double', operator: 'lessThan', value: 200 },
      ],
    };
    beforeEach(async () => {
      await bundle.database`
        update users set attributes = ('{"number": ' || substr(customer_id, 6) || '}')::jsonb`;
    });
    const addSegment = async (kind: 'FILE' | 'FILTER') => {
      const isFile = kind === 'FILE';
      const { database, workspaceId } = bundle;
      const id = '5'.repeat(24);
      await database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, included_filters,
          filters_digest, uses_segments, version, user_count, created_by, created_at, updated_at)
        values (${id}, ${workspaceId}, 'the segment', ${kind}, 'READY', 'API', ${isFile ? 'ID' : null},
          ${isFile ? 'string' : null}, ${isFile ? null : database.json(wanted)}, ${isFile ? null : Buffer.alloc(32)}, '{}', 1,
          ${isFile ? 200 : null}, 'test', ${start}, ${start})`;
      if (isFile)
        await database`
          insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
          select workspace_id, bucket, ${id}, id, 1 from users where (attributes ->> 'number')::int < 200`;
      return id;
    };

    test.each(['FILE', 'FILTER'] as const)('(%s) is sent bucket by bucket, to its members only', async (kind) => {
      const segmentId = await addSegment(kind);
      const { runId, campaignId } = await begin({ segmentId });
      const job = cutter();
      for (let steps = 0; steps < 5; steps += 1) await step(job);
      await send(runId);
      expect(bundle.sent.length).toBeGreaterThan(0);
      expect(bundle.sent.length).toBeLessThan(150);
      await countAll(job);
      await send(runId);
      await bundle.end();
      expect(await readRun(runId)).toMatchObject({ status: 'SENT', devices: 200, users: 200 });
      expect(await bundle.states(campaignId)).toMatchObject({ campaign: 'SENT' });
      expect(new Set(bundle.sent.map(({ pushId }) => pushId))).toEqual(
        new Set(Array.from({ length: 200 }, (_, number) => `push-user-${number}`)),
      );
    });

    test('keeps the filters it had at the start', async () => {
      const segmentId = await addSegment('FILTER');
      const { runId } = await begin({ segmentId });
      const job = cutter();
      await step(job);
      const none = { ...wanted, filters: [{ ...wanted.filters[0], value: 0 }] };
      await bundle.database`update segments set included_filters = ${bundle.database.json(none)}`;
      await countAll(job);
      expect(await readRun(runId)).toMatchObject({ devices: 200, users: 200 });
    });

    test('resolves buckets again whose members were stored by a step that was not', async () => {
      const segmentId = await addSegment('FILTER');
      const { runId } = await begin({ segmentId });
      await bundle.database`
        insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
        select workspace_id, bucket, ${runId}, id, 0 from users where bucket < 3`;
      await countAll();
      expect(await readRun(runId)).toMatchObject({ devices: 200, users: 200 });
      expect(bundle.lines.filter((line) => /segment_members/.test(JSON.stringify(line)))).toEqual([]);
    });

    test('is explained to those in buckets that are not resolved yet as one that has not reached them', async () => {
      const segmentId = await addSegment('FILTER');
      const { runId, campaignId } = await begin({ segmentId });
      const job = cutter();
      for (let steps = 0; steps < 3; steps += 1) await step(job);
      const { cut } = await readRun(runId);
      const { database, workspaceId } = bundle;
      const stepOf = async (isMember: boolean, isCounted: boolean) => {
        const [user] = await database`
          select customer_id as id from users
          where ((attributes ->> 'number')::int < 200) = ${isMember} and (bucket < ${cut as number}) = ${isCounted} limit 1`;
        const asked = { workspaceId, campaignId, customerId: user!.id as string, runId: undefined };
        return (await explainDelivery({ database }, asked)).runs![0]!.step;
      };
      expect([await stepOf(true, false), await stepOf(false, false)]).toEqual(['NOT_REACHED_YET', 'NOT_REACHED_YET']);
      expect([await stepOf(true, true), await stepOf(false, true)]).toEqual(['NOT_REACHED_YET', 'NOT_IN_AUDIENCE']);
      await countAll(job);
      expect(await stepOf(false, true)).toBe('NOT_IN_AUDIENCE');
    });

    test('keeps no member who was erased while the run waited for its size', async () => {
      const segmentId = await addSegment('FILTER');
      const { runId } = await begin({ segmentId, settings: { spreadMinutes: 3 } });
      const job = cutter();
      for (let steps = 0; steps < 3; steps += 1) await step(job);
      expect((await readRun(runId)).status).toBe('QUEUED');
      const { database, workspaceId } = bundle;
      const [member] = await database`
        select bucket, user_id as "userId" from segment_members where segment_id = ${runId} limit 1`;
      const user = { bucket: member!.bucket as number, userId: member!.userId as string };
      await inTransaction(database, (tx) => eraseMemberships(tx, { workspaceId, users: [user] }));
      const left = await database`
        select 1 from segment_members where segment_id = ${runId} and user_id = ${user.userId}`;
      expect(left).toHaveLength(0);
    });

    test('ends without a message if no user matches', async () => {
      const segmentId = await addSegment('FILTER');
      await bundle.database`update users set attributes = '{}'`;
      const { runId } = await begin({ segmentId });
      await countAll();
      await send(runId);
      await bundle.end();
      expect(await readRun(runId)).toMatchObject({ status: 'SENT', devices: 0, users: 0 });
    });
  });

  describe('if it needs the size first', () => {
    test('waits for it, and has the pace that follows from it', async () => {
      const { runId } = await begin({ settings: { spreadMinutes: 3 } });
      const job = cutter();
      for (let steps = 0; steps < 8; steps += 1) {
        expect(await readRun(runId)).toMatchObject({ status: 'QUEUED', startedAt: null, devices: null });
        expect(await release()).toBe(0);
        await step(job);
        await send(runId);
      }
      expect(bundle.sent).toEqual([]);
      const later = new Date(start.getTime() + 10_000);
      bundle.clock.anchor(later);
      await countAll(job);
      expect(await readRun(runId)).toMatchObject({
        ...{ status: 'SENDING', cut: null, devices, users: devices, pace: 200, startedAt: later },
        sendUntil: new Date(later.getTime() + 86_400_000 + 3 * 60_000),
      });
      expect(coverAll(await readChunks(runId))).toEqual(allBuckets);
    });

    test.each([
      ['its campaign has a throttle', { devicesPerMinute: 5_000 }, null],
      ['its workspace has one', {}, 5_000],
    ])('waits if %s', async (_why, settings, ofWorkspace) => {
      await bundle.database`update workspaces set devices_per_minute = ${ofWorkspace}`;
      const { runId } = await begin({ settings });
      expect(await readRun(runId)).toMatchObject({ status: 'QUEUED', cut: 0 });
      await countAll();
      expect(await readRun(runId)).toMatchObject({ status: 'SENDING', pace: 5_000, devices });
    });

    test('counts each variation, and uses a winner that was named meanwhile for everybody', async () => {
      const content = { ANDROID: {} };
      const variants = { locales: [], percents: [50, 50], learning: null, contents: [[content], [content]] };
      const groupsAfter = async (winner: number | null) => {
        const { campaignId, runId } = await bundle.accept();
        await bundle.database`update campaigns set variants = ${bundle.database.json(variants)}`;
        await release();
        const job = cutter();
        await step(job);
        await bundle.database`update campaigns set winner = ${winner}, winner_named_at = ${winner && start}, winner_named_by = ${winner && 'test'}
          where id = ${campaignId}`;
        await countAll(job);
        const { groups, status } = await readRun(runId);
        expect(status).toBe('SENDING');
        const [chunk] = await bundle.database`select winners from chunks where run_id = ${runId} limit 1`;
        expect(chunk!.winners).toEqual(winner === null ? null : [{ after: -1, variation: winner }]);
        const byVariation = Map.groupBy(groups as { variation: number; users: number }[], (row) => row.variation);
        return new Map([...byVariation].map(([key, own]) => [key, own.reduce((sum, { users }) => sum + users, 0)]));
      };
      const drawn = await groupsAfter(null);
      expect([...drawn.keys()].sort()).toEqual([1, 2]);
      expect(drawn.get(1)! + drawn.get(2)!).toBe(devices);
      await bundle.database.unsafe(
        'delete from chunks; delete from run_turns; delete from push_requests; delete from runs',
      );
      expect(await groupsAfter(2)).toEqual(new Map([[2, devices]]));
    });

    test('is counted on after a pause, and not after a stop', async () => {
      const { runId, campaignId } = await begin({ settings: { spreadMinutes: 3 } });
      const job = cutter();
      await step(job);
      await inTransaction(bundle.database, (tx) => pauseCampaignRuns(tx, { campaignId, reason: 'paused' }));
      expect(await step(job)).toBe(0);
      await inTransaction(bundle.database, (tx) => resumeCampaignRuns(tx, campaignId));
      await step(job);
      expect((await readRun(runId)).cut).toBeGreaterThan(1);
      await inTransaction(bundle.database, (tx) =>
        stopCampaignRuns(tx, { campaignId, reason: 'stopped', at: bundle.clock.now() }),
      );
      expect(await step(job)).toBe(0);
      expect(await readRun(runId)).toMatchObject({ status: 'STOPPED', startedAt: null });
    });
  });

  test('counts control groups exactly, and records conversions as of a run with groups from the start', async () => {
    await bundle.database`update workspaces set control_group_percent = 20`;
    const { runId } = await begin({ settings: { leavesOutGlobalControlGroup: true } });
    expect((await readRun(runId)).groups).toEqual([]);
    await countAll();
    const groups = (await readRun(runId)).groups as { group: string | null; users: number }[];
    expect(groups.reduce((sum, { users }) => sum + users, 0)).toBe(devices);
    const controls = groups.filter(({ group }) => group !== null).reduce((sum, { users }) => sum + users, 0);
    await send(runId);
    expect((await bundle.counters(runId)).ACCEPTED).toBe(devices - controls);
  });
});

describe('the ranges of a step', () => {
  test('cover all its buckets, with several windows each', () => {
    const of = (counts: number[]) =>
      cutRanges(
        counts.map((_, index) => 10 + index),
        new Map(counts.map((count, index) => [10 + index, count])),
      );
    expect(of([3_000, 3_000])).toEqual([
      { from: 10, to: 10, number: 10 },
      { from: 11, to: 11, number: 11 },
    ]);
    expect(of([1_000, 1_000, 0, 5])).toEqual([
      { from: 10, to: 11, number: 10 },
      { from: 12, to: 13, number: 12 },
    ]);
    expect(of([0, 0, 0])).toEqual([{ from: 10, to: 12, number: 10 }]);
  });
});
