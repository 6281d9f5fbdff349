import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeCampaignState } from '../../../src/app/campaigns/change-campaign-state.ts';
import { badgeOf } from '../../../src/domain/content/message.ts';
import { cutBuckets } from '../../../src/engine/fan-out/runs.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { countBadges } from '../../../src/storage/devices/device-badges.ts';
import { ledgerRun } from '../../ledger-run.ts';
import { claimedBy, makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

describe('fan out', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
  });
  afterEach(() => bundle.drop());

  const minute = 60_000;

  describe('a run', () => {
    test('reaches every device of its platforms once, with matching ledger, counters and requests, and ends', async () => {
      await bundle.addDevices(300);
      const { campaignId, runId } = await bundle.accept({ platforms: ['ANDROID', 'WEB'] });
      expect(await bundle.release()).toBe(1);
      await bundle.work();
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 200 }]);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 200 });
      expect(new Set(bundle.sent.map((request) => request.deviceId)).size).toBe(200);
      expect(bundle.sent).toHaveLength(200);
      expect(await bundle.end()).toBe(1);
      expect(await bundle.states(campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
    });

    test('keeps the audience of its start, without devices that register later', async () => {
      await bundle.addDevices(20);
      const { runId } = await bundle.accept();
      await bundle.release();
      bundle.clock.advance(1000);
      await bundle.addDevices(5, 'later');
      await bundle.work();
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 20 }]);
    });

    test('ends immediately without recipients', async () => {
      const { campaignId } = await bundle.accept();
      await bundle.release();
      expect(await bundle.end()).toBe(1);
      expect((await bundle.states(campaignId)).run).toBe('SENT');
    });

    test('is divided into chunks that cover every bucket once', async () => {
      expect(cutBuckets(5_000)).toEqual([{ from: 0, to: 255 }]);
      for (const devices of [5_001, 12_000, 100_000, 10_000_000]) {
        const ranges = cutBuckets(devices);
        expect(ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, n) => from + n))).toEqual(
          Array.from({ length: 256 }, (_, bucket) => bucket),
        );
      }
    });

    test('is released once by concurrent nodes', async () => {
      await bundle.addDevices(10);
      await bundle.accept();
      const released = await Promise.all([bundle.release(), bundle.release(), bundle.release()]);
      expect(released.reduce((sum, count) => sum + count, 0)).toBe(1);
      expect((await bundle.database`select count(*) as chunks from chunks`)[0]!.chunks).toBe(1);
    });

    test('sends nothing after its time to live, and records EXPIRED', async () => {
      await bundle.addDevices(10);
      const { runId } = await bundle.accept({ ttlSeconds: 60 });
      await bundle.release();
      bundle.clock.advance(61_000);
      await bundle.work();
      expect(bundle.sent).toEqual([]);
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'EXPIRED', devices: 10 }]);
    });
  });

  describe('a crash', () => {
    test('repeats exactly the window that was not stored, under the same identities (reliability R2, R3)', async () => {
      await bundle.addDevices(30);
      const { runId } = await bundle.accept();
      await bundle.release();
      const run = await bundle.run(runId);
      const chunk = (await bundle.claim('first'))!;
      const started = { bucket: 0, position: '' };
      const one = await bundle.sendWindow({ run, chunk, cursor: started });
      expect(one.kind).toBe('sent');
      // The second window's requests leave, then the worker dies: nothing of it is stored.
      bundle.answer(() => new Promise(() => {}));
      void bundle.sendWindow({ run, chunk, cursor: one.kind === 'sent' ? one.cursor : started });
      while (bundle.sent.length < 20) await new Promise((resolve) => setTimeout(resolve, 2));
      bundle.answer(() => ({ kind: 'accepted' }));

      expect(await bundle.claim('second')).toBeUndefined();
      bundle.clock.advance(61_000);
      await bundle.work({ owner: 'second', windowDevices: 10 });
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 30 }]);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 30 });
      const requests = new Map<string, Set<string>>();
      for (const { deviceId, collapseId, messageId } of bundle.sent) {
        requests.set(deviceId, (requests.get(deviceId) ?? new Set()).add(`${collapseId} ${messageId}`));
      }
      expect(requests.size).toBe(30);
      expect(bundle.sent).toHaveLength(40);
      expect([...requests.values()].every((identities) => identities.size === 1)).toBe(true);
    });

    test('keeps the row of a device that the crashed worker stored elsewhere, and stores the rest of the window', async () => {
      await bundle.addDevices(5);
      const { runId } = await bundle.accept();
      await bundle.release();
      const { runNumber, workspaceNumber } = await ledgerRun(bundle.database, runId);
      await bundle.database`select make_day_partition('deliveries', day) from runs where id = ${runId}`;
      await bundle.database`
        insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, attempts, sent_at)
        select runs.day, ${workspaceNumber}, bucket, ${runNumber}, decode(devices.id, 'hex'), decode(user_id, 'hex'), 'A', 'R', 1,
          runs.created_at
        from devices, runs where runs.id = ${runId} order by devices.id limit 1`;
      await bundle.work();
      expect(await bundle.ledger(runId)).toEqual([
        { outcome: 'ACCEPTED', devices: 4 },
        { outcome: 'REJECTED', devices: 1 },
      ]);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 4 });
    });

    test('prevents a worker that lost its lease from storing outcomes, even if its requests complete', async () => {
      await bundle.addDevices(10);
      const { runId } = await bundle.accept();
      await bundle.release();
      const run = await bundle.run(runId);
      const chunk = (await bundle.claim('slow'))!;
      const answered = Promise.withResolvers<void>();
      bundle.answer(async () => {
        await answered.promise;
        return { kind: 'rejected', code: 'LATE', detail: '' };
      });
      const window = bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
      while (bundle.sent.length < 10) await new Promise((resolve) => setTimeout(resolve, 2));
      bundle.clock.advance(61_000);
      bundle.answer(() => ({ kind: 'accepted' }));
      await bundle.work({ owner: 'quick' });
      answered.resolve();
      expect((await window).kind).toBe('lost');
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 10 }]);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 10 });
    });

    test('quarantines a chunk after ten crashes before a window was opened, and the run ends FAILED', async () => {
      await bundle.addDevices(10);
      const { campaignId } = await bundle.accept();
      await bundle.release();
      for (const owner of 'abcdefghij') {
        expect(await bundle.claim(owner)).toBeDefined();
        bundle.clock.advance(61_000);
      }
      await bundle.work();
      expect(bundle.sent).toEqual([]);
      await bundle.end();
      expect(await bundle.states(campaignId)).toMatchObject({ campaign: 'FAILED', run: 'FAILED' });
    });

    test('is unlike a graceful stop, which returns the chunk immediately and repeats nothing', async () => {
      await bundle.addDevices(30);
      const { runId } = await bundle.accept();
      await bundle.release();
      const reached = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      bundle.answer(async (_device, nth) => {
        if (nth === 15) reached.resolve();
        if (nth > 10) await goOn.promise;
        return { kind: 'accepted' };
      });
      const workers = bundle.startWorkers({ owner: 'first', windowDevices: 10, parallelChunks: 1 });
      await reached.promise;
      const stopped = workers.stop();
      goOn.resolve();
      await stopped;
      // The open window ended and was stored; the third was not begun.
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 20 }]);
      const [chunk] = await bundle.database`select state, owner, crashes from chunks`;
      expect(chunk).toEqual({ state: 'READY', owner: null, crashes: 0 });
      await bundle.work({ owner: 'second', windowDevices: 10 });
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 30 }]);
      expect(bundle.sent).toHaveLength(30);
    });
  });

  describe('the response of a provider', () => {
    test('gone: removes the device, and no other', async () => {
      await bundle.addDevices(9);
      bundle.answer((device) =>
        device.pushId === 'push-user-4' ? { kind: 'gone', code: 'UNREGISTERED' } : { kind: 'accepted' },
      );
      const { runId } = await bundle.accept();
      await bundle.release();
      await bundle.work();
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 8, GONE: 1 });
      const gone = await bundle.database`select push_id, gone_reason from devices where state = 'GONE'`;
      expect([...gone]).toEqual([{ push_id: 'push-user-4', gone_reason: 'UNREGISTERED' }]);
    });

    test('gone since before the app registered again: keeps the device (reliability R6)', async () => {
      await bundle.addDevices(1);
      bundle.answer(() => ({
        kind: 'gone',
        code: 'Unregistered',
        goneSince: new Date(bundle.clock.now().getTime() - minute),
      }));
      await bundle.accept();
      await bundle.release();
      await bundle.work();
      expect((await bundle.database`select state from devices`)[0]!.state).toBe('ACTIVE');
    });

    test.each(claimedBy)(
      'wait: retries everything due in many buckets once in one query, claimed by %s',
      async (by) => {
        await bundle.addDevices(60);
        bundle.answer((_device, nth) =>
          nth <= 60 ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 30 } : { kind: 'accepted' },
        );
        const { runId } = await bundle.accept();
        await bundle.release();
        await bundle.work();
        bundle.clock.advance(40_000);
        expect(await Promise.all([bundle.retry(by), bundle.retry(by)]).then(([one, other]) => one + other)).toBe(60);
        expect(bundle.sent).toHaveLength(120);
        expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60 });
        expect(await bundle.retry(by)).toBe(0);
      },
    );

    test('wait: retries after Retry-After at the earliest, counts the attempt, and is accepted', async () => {
      await bundle.addDevices(3);
      bundle.answer((_device, nth) =>
        nth <= 3 ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 30 } : { kind: 'accepted' },
      );
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      await bundle.work();
      expect(await bundle.counters(runId)).toEqual({ WAITING: 3 });
      expect(await bundle.end()).toBe(0);
      bundle.clock.advance(29_000);
      expect(await bundle.retry()).toBe(0);
      bundle.clock.advance(10_000);
      expect(await bundle.retry()).toBe(3);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 3 });
      expect(
        (await bundle.database`select distinct attempts from readable_deliveries as deliveries`).map(
          (row) => row.attempts,
        ),
      ).toEqual([2]);
      await bundle.end();
      expect((await bundle.states(campaignId)).campaign).toBe('SENT');
    });

    test('unknown: gives up a device after 8 attempts, and the run ends (reliability R5, R7)', async () => {
      await bundle.addDevices(1);
      bundle.answer(() => ({ kind: 'unknown', code: 'TIMEOUT' }));
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      await bundle.work();
      for (let round = 0; round < 20; round += 1) {
        bundle.clock.advance(20 * minute);
        await bundle.retry();
      }
      expect(bundle.sent).toHaveLength(8);
      expect(await bundle.counters(runId)).toEqual({ FAILED: 1 });
      await bundle.end();
      expect((await bundle.states(campaignId)).run).toBe('SENT');
    });

    test('wait: retries no message after its lifetime', async () => {
      await bundle.addDevices(1);
      bundle.answer(() => ({ kind: 'wait', code: '429', scope: 'device', retryAfterSeconds: 600 }));
      const { runId } = await bundle.accept({ ttlSeconds: 300 });
      await bundle.release();
      await bundle.work();
      expect(await bundle.counters(runId)).toEqual({ EXPIRED: 1 });
    });

    test('429 for the whole credential: pauses that platform, not the others', async () => {
      await bundle.addDevices(60);
      const android = new Set(
        (await bundle.database`select push_id from devices where platform = 'ANDROID'`).map((row) => row.push_id),
      );
      bundle.answer((device) =>
        android.has(device.pushId)
          ? { kind: 'wait', code: 'QUOTA_EXCEEDED', scope: 'credential', retryAfterSeconds: 120 }
          : { kind: 'accepted' },
      );
      const { runId } = await bundle.accept();
      await bundle.release();
      await bundle.work({ windowDevices: 5 });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 40, WAITING: 20 });
      // One window of each of the four slots may have been open; the rest heard of the silence.
      expect(bundle.sent.filter((request) => android.has(request.pushId)).length).toBeLessThan(20);
    });

    test('429 for longer than the lifetime of the message: expires its devices, and the run ends', async () => {
      await bundle.addDevices(60);
      bundle.answer(() => ({ kind: 'wait', code: 'QUOTA_EXCEEDED', scope: 'credential', retryAfterSeconds: 7_200 }));
      const { campaignId, runId } = await bundle.accept({ ttlSeconds: 3_600, platforms: ['ANDROID'] });
      await bundle.release();
      await bundle.work({ windowDevices: 5 });
      expect(bundle.sent.length).toBeLessThan(20);
      expect(await bundle.counters(runId)).toEqual({ EXPIRED: 20 });
      await bundle.end();
      expect((await bundle.states(campaignId)).run).toBe('SENT');
    });

    test('a rejected credential: pauses the run with the provider’s words, and keeps every device in place', async () => {
      await bundle.addDevices(40);
      bundle.answer(() => ({ kind: 'stopped', code: 'InvalidProviderToken', detail: 'key K1 of team T1' }));
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      await bundle.work({ windowDevices: 10 });
      expect(await bundle.states(campaignId)).toMatchObject({
        run: 'PAUSED',
        reason: 'InvalidProviderToken: key K1 of team T1',
      });
      const [ledger] = await bundle.ledger(runId);
      expect(ledger!.outcome).toBe('WAITING');
      expect(ledger!.devices).toBeLessThan(40);
      bundle.answer(() => ({ kind: 'accepted' }));
      // What a node knows of held credentials is at most a second old.
      bundle.clock.advance(1_000);
      for (const action of ['pause', 'resume'] as const)
        await changeCampaignState(bundle, {
          workspaceId: bundle.workspaceId,
          campaignId,
          action,
          actor: { kind: 'system', name: 'Olga' },
        });
      await bundle.work();
      await bundle.retry();
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 40 }]);
    });

    test('wait: does not retry a device that left in the meantime', async () => {
      await bundle.addDevices(1);
      bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device' }));
      const { runId } = await bundle.accept();
      await bundle.release();
      await bundle.work();
      await bundle.database`update devices set state = 'OPTED_OUT'`;
      bundle.clock.advance(10 * minute);
      await bundle.retry();
      expect(bundle.sent).toHaveLength(1);
      expect(await bundle.counters(runId)).toEqual({ GONE: 1 });
    });
  });

  describe('a provider that cannot be reached', () => {
    test('costs no attempts, however long it is away, and delays no other; then all messages are sent (reliability R5)', async () => {
      await bundle.addDevices(90);
      bundle.answer((device) =>
        Number(device.pushId.split('-').at(-1)) % 3 === 0
          ? { kind: 'unreached', code: 'NOT_CONNECTED' }
          : { kind: 'accepted' },
      );
      const { campaignId, runId } = await bundle.accept();
      await bundle.release();
      await bundle.work({ windowDevices: 10 });
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60, WAITING: 30 });
      const before = bundle.sent.length;
      for (let minutes = 0; minutes < 120; minutes += 1) {
        bundle.clock.advance(minute);
        while ((await bundle.retry()) > 0);
      }
      // Two minutes of silence at most between two looks, and each look is one device or a few side by side.
      expect(bundle.sent.length - before).toBeLessThan(120 * 30);
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 60, WAITING: 30 });
      bundle.answer(() => ({ kind: 'accepted' }));
      for (let minutes = 0; minutes < 5; minutes += 1) {
        bundle.clock.advance(minute);
        while ((await bundle.retry()) > 0);
      }
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 90 });
      const [most] =
        await bundle.database`select max(attempts) as attempts from readable_deliveries as deliveries where run_id = ${runId}`;
      expect(most!.attempts).toBe(1);
      await bundle.end();
      expect((await bundle.states(campaignId)).run).toBe('SENT');
    });
  });

  describe('a throttled run', () => {
    test('sends at most its devices per minute across all workers, loses none and outlives its time to live', async () => {
      await bundle.addDevices(100);
      const { campaignId, runId } = await bundle.accept({ settings: { devicesPerMinute: 65 }, ttlSeconds: 60 });
      await bundle.release();
      const bySecond: number[] = [];
      const workers = ['one', 'two'].map((owner) => bundle.startWorkers({ owner, windowDevices: 10 }));
      while ((await bundle.states(campaignId)).run === 'SENDING') {
        const before = bundle.sent.length;
        await bundle.settled(runId, workers);
        bySecond.push(bundle.sent.length - before);
        bundle.clock.advance(1_000);
        await bundle.end();
      }
      await Promise.all(workers.map((worker) => worker.stop()));
      expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 100 });
      // More than a minute, so that windows that slide over the start are checked as well.
      expect(bySecond.length).toBeGreaterThan(90);
      for (let from = 0; from + 60 <= bySecond.length; from += 1)
        expect(bySecond.slice(from, from + 60).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(65);
      // 65 a minute less the room for a full bucket: one a second.
      expect(bySecond.length).toBeLessThan(125);
    });

    test('is spread over the configured time, or over the limit of its workspace', async () => {
      await bundle.addDevices(400);
      const spread = await bundle.accept({ settings: { spreadMinutes: 10 } });
      await bundle.release();
      expect((await bundle.run(spread.runId)).devicesPerMinute).toBe(40);
      await bundle.database`update workspaces set devices_per_minute = 1000`;
      const usual = await bundle.accept();
      await bundle.release();
      expect((await bundle.run(usual.runId)).devicesPerMinute).toBe(1_000);
      const own = await bundle.accept({ settings: { devicesPerMinute: 5_000, spreadMinutes: 10 } });
      await bundle.release();
      expect((await bundle.run(own.runId)).devicesPerMinute).toBe(5_000);
    });
  });

  describe('iPhones with provisional permission', () => {
    test('are reached alone, left out, or reached with the others, as the campaign says (fact 3.4)', async () => {
      await bundle.addDevices(30);
      await bundle.database`update devices set provisional = true where push_id in ('push-user-1', 'push-user-4')`;
      const reached: Record<string, number> = {};
      for (const iosDevices of ['ALL', 'PROVISIONAL', 'NON_PROVISIONAL'] as const) {
        const { runId } = await bundle.accept({ platforms: ['IOS'], settings: { iosDevices } });
        await bundle.release();
        await bundle.work();
        const [ended] = await bundle.database`select audience_devices as devices from runs where id = ${runId}`;
        expect(await bundle.counters(runId)).toEqual({ ACCEPTED: ended!.devices });
        reached[iosDevices] = ended!.devices;
      }
      expect(reached).toEqual({ ALL: 10, PROVISIONAL: 2, NON_PROVISIONAL: 8 });
    });
  });

  describe('lanes', () => {
    test('let a send to a named user be claimed before an earlier campaign', async () => {
      await bundle.addDevices(10);
      const campaign = await bundle.accept();
      await bundle.release();
      bundle.clock.advance(1000);
      const code = await bundle.accept({ targetUsers: [await bundle.userOf('user-3')] });
      expect((await bundle.claim('w'))!.runId).toBe(code.runId);
      expect(await bundle.claim('w', 0)).toBeUndefined();
      expect((await bundle.claim('w', 1))!.runId).toBe(campaign.runId);
    });

    test('send to named users only, and end a run without users immediately', async () => {
      await bundle.addDevices(10);
      const { runId } = await bundle.accept({ targetUsers: [await bundle.userOf('user-3')] });
      await bundle.work();
      expect(bundle.sent.map((request) => request.pushId)).toEqual(['push-user-3']);
      expect(await bundle.ledger(runId)).toEqual([{ outcome: 'ACCEPTED', devices: 1 }]);
      const nobody = await bundle.accept({ targetUsers: [] });
      expect((await bundle.states(nobody.campaignId)).run).toBe('SENT');
    });
  });
});

describe('badges', () => {
  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
    await bundle.addDevices(30);
  });
  afterAll(() => bundle.drop());
  beforeEach(async () => {
    bundle.answer(() => ({ kind: 'accepted' }));
    await bundle.database`update devices set badge_count = null, badge_runs = null, badge_values = null`;
  });

  const counts = async () => {
    const rows = await bundle.database<
      { count: number }[]
    >`select distinct badge_count as count from devices order by 1`;
    return rows.map(({ count }) => count);
  };

  test('are incremented, set and cleared for each device, and sent as the resulting number', async () => {
    expect(await sendAll({ operation: 'increment', value: 2 })).toEqual(['set 2']);
    expect(await sendAll({ operation: 'increment', value: 1 })).toEqual(['set 3']);
    expect(await sendAll({ operation: 'set', value: 9 })).toEqual(['set 9']);
    expect(await sendAll({ operation: 'increment', value: 1 })).toEqual(['set 10']);
    expect(await sendAll({ operation: 'clear' })).toEqual(['clear']);
    expect(await counts()).toEqual([0]);
    await bundle.database`update devices set badge_count = 99990`;
    expect(await sendAll({ operation: 'increment', value: 99 })).toEqual(['set 99999']);
  });

  test('repeat the same numbers if a crash repeats a window, whatever was counted in between', async () => {
    const since = bundle.sent.length;
    await bundle.database`update devices set badge_count = 4`;
    const runId = await push({ operation: 'increment', value: 1 });
    const run = await bundle.run(runId);
    const chunk = (await bundle.claim('first'))!;
    // Its requests leave, then the worker dies: nothing of the window is stored.
    bundle.answer(() => new Promise(() => {}));
    void bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
    while (bundle.sent.length < since + 10) await new Promise((resolve) => setTimeout(resolve, 2));
    bundle.answer(() => ({ kind: 'accepted' }));
    const first = told(since);
    const other = { workspaceId: bundle.workspaceId, runNumber: 1_000_000 };
    const devices = await bundle.database<{ bucket: number; id: string }[]>`select bucket, id from devices`;
    const steps = devices.map(({ bucket, id: deviceId }) => ({ bucket, deviceId, adds: true, value: 10 }));
    await inTransaction(bundle.database, (tx) => countBadges(tx, { ...other, steps }));

    const again = bundle.sent.length;
    bundle.clock.advance(61_000);
    await bundle.work({ owner: 'second', windowDevices: 10 });
    const second = told(again);
    expect([first.size, second.size]).toEqual([10, 30]);
    for (const [deviceId, numbers] of first) {
      expect(numbers).toEqual(['set 5']);
      expect(second.get(deviceId)).toEqual(['set 5']);
    }
    // The others were not counted for before the crash.
    expect([...second].filter(([deviceId]) => !first.has(deviceId)).every(([, [text]]) => text === 'set 15')).toBe(
      true,
    );
    expect(await counts()).toEqual([15]);
  });

  test('keep the number of the first attempt in a retry', async () => {
    const since = bundle.sent.length;
    bundle.answer((_device, nth) =>
      nth <= since + 30 ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 30 } : { kind: 'accepted' },
    );
    await push({ operation: 'increment', value: 1 });
    await bundle.work();
    await bundle.database`update devices set badge_count = 50`;
    bundle.clock.advance(120_000);
    expect(await bundle.retry()).toBe(30);
    for (const numbers of told(since).values()) expect(numbers).toEqual(['set 1', 'set 1']);
  });

  test('are counted once if two workers plan one window at the same time', async () => {
    const [device] = await bundle.database<{ bucket: number; id: string }[]>`select bucket, id from devices limit 1`;
    const steps = [{ bucket: device!.bucket, deviceId: device!.id, adds: true, value: 3 }];
    const asked = { workspaceId: bundle.workspaceId, runNumber: 2_000_000, steps };
    const numbers = await Promise.all(
      Array.from({ length: 8 }, () => inTransaction(bundle.database, (tx) => countBadges(tx, asked))),
    );
    expect(numbers.map((found) => found.get(device!.id))).toEqual(Array(8).fill(3));
  });

  test('remember for a device the newest sixteen runs that changed its badge', async () => {
    const [device] = await bundle.database<{ bucket: number; id: string }[]>`select bucket, id from devices limit 1`;
    const count = (runNumber: number) => {
      const steps = [{ bucket: device!.bucket, deviceId: device!.id, adds: true, value: 1 }];
      const { workspaceId } = bundle;
      return inTransaction(bundle.database, (tx) => countBadges(tx, { workspaceId, runNumber, steps }));
    };
    for (let run = 1; run <= 17; run += 1) expect((await count(run)).get(device!.id)).toBe(run);
    expect((await count(2)).get(device!.id)).toBe(2);
    const [row] = await bundle.database`select badge_runs, badge_count from devices where id = ${device!.id}`;
    expect([row!.badge_runs.map(Number), row!.badge_count]).toEqual([Array.from({ length: 16 }, (_, n) => 17 - n), 17]);
  });

  async function push(badge: object): Promise<string> {
    const { runId } = await bundle.accept({ options: { badge } });
    await bundle.release();
    return runId;
  }

  /** What each device was told since, one text a message. */
  function told(since: number): Map<string, string[]> {
    const numbers = new Map<string, string[]>();
    for (const [place, { deviceId }] of bundle.sent.entries()) {
      if (place < since) continue;
      const badge = badgeOf(bundle.messages[place]!.content)!;
      const text = badge.operation === 'clear' ? 'clear' : `${badge.operation} ${badge.value}`;
      numbers.set(deviceId, [...(numbers.get(deviceId) ?? []), text]);
    }
    return numbers;
  }

  async function sendAll(badge: object): Promise<string[]> {
    const since = bundle.sent.length;
    await push(badge);
    await bundle.work();
    const all = told(since);
    expect(all.size).toBe(30);
    return [...new Set([...all.values()].flat())];
  }
});

describe('apps without a credential', () => {
  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
  });
  afterAll(() => bundle.drop());

  test('do not stop other apps: their devices are rejected, and a retry knows the app as well', async () => {
    await bundle.addDevices(30);
    await bundle.database`update devices set app_id = 'courier' where platform = 'ANDROID'`;
    bundle.credentials(({ appId }) => (appId === 'courier' ? bundle.simulatedCredentials : undefined));
    bundle.answer((_device, nth) =>
      nth <= 10 ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 30 } : { kind: 'accepted' },
    );
    const { campaignId, runId } = await bundle.accept({ platforms: ['ANDROID', 'IOS'] });
    await bundle.release();
    await bundle.work();
    expect(await bundle.ledger(runId)).toEqual([
      { outcome: 'REJECTED', devices: 10 },
      { outcome: 'WAITING', devices: 10 },
    ]);
    bundle.clock.advance(120_000);
    expect(await bundle.retry()).toBe(10);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 10, REJECTED: 10 });
    const codes = await bundle.database`
      select distinct platform, code from readable_deliveries where run_id = ${runId} and outcome = 'REJECTED'`;
    expect([...codes]).toEqual([{ platform: 'IOS', code: 'NO_CREDENTIAL_FOR_APP' }]);
    expect(await bundle.end()).toBe(1);
    expect((await bundle.states(campaignId)).run).toBe('SENT');
    const [gone] = await bundle.database`select count(*) as devices from devices where state <> 'ACTIVE'`;
    expect(gone!.devices).toBe(0);
  });
});
