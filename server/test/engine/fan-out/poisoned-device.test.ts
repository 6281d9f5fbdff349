import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseInserts } from '../../refuse-inserts.ts';
import { makeFanOutBundle } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

let bundle: FanOutBundle;
beforeEach(async () => {
  bundle = await makeFanOutBundle();
});
afterEach(() => bundle.drop());

const poison = 'push-user-37';

/** Workers that die as soon as they send to such a device: nothing of their open windows is stored. */
async function workLives(isDeadly: (pushId: string, lives: number) => boolean, windowDevices: number): Promise<number> {
  const dead: (() => Promise<void>)[] = [];
  let died = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  bundle.answer(async ({ pushId }) => {
    if (!isDeadly(pushId, dead.length)) return { kind: 'accepted' };
    died.resolve();
    await goOn.promise;
    return { kind: 'accepted' };
  });
  for (;;) {
    died = Promise.withResolvers<void>();
    const workers = bundle.startWorkers({ owner: `life ${dead.length}`, windowDevices, parallelChunks: 1 });
    const ended = Promise.withResolvers<void>();
    const look = setInterval(() => {
      workers.wake();
      void bundle.end().then((count) => count > 0 && ended.resolve());
    }, 20);
    const isDead = await Promise.race([died.promise.then(() => true), ended.promise.then(() => false)]);
    clearInterval(look);
    if (!isDead) {
      goOn.resolve();
      await workers.stop();
      for (const stop of dead) await stop();
      return dead.length;
    }
    dead.push(() => workers.stop());
    bundle.clock.advance(61_000);
  }
}

async function failures(): Promise<unknown[]> {
  const rows = await bundle.database`
    select devices.push_id, deliveries.outcome, deliveries.code from readable_deliveries as deliveries
    join devices on devices.id = deliveries.device_id where deliveries.outcome <> 'ACCEPTED'`;
  return [...rows];
}

test('a device that ends its workers is found by halving and set aside; all others are reached (fault F16)', async () => {
  await bundle.addDevices(100);
  const { campaignId, runId } = await bundle.accept();
  await bundle.release();
  const deaths = await workLives((pushId) => pushId === poison, 32);
  expect(deaths).toBeGreaterThan(3);
  expect(deaths).toBeLessThanOrEqual(3 + Math.log2(32));
  expect(await failures()).toEqual([{ push_id: poison, outcome: 'FAILED', code: 'SET_ASIDE' }]);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 99, FAILED: 1 });
  expect(await bundle.states(campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
});

test('workers that are killed three times in one window by something else lose nobody', async () => {
  await bundle.addDevices(100);
  const { runId } = await bundle.accept();
  await bundle.release();
  expect(await workLives((pushId, lives) => pushId === poison && lives < 3, 32)).toBe(3);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 100 });
});

test('a page that fails without a crash is searched in the same way, and no lease is waited for', async () => {
  await bundle.addDevices(100);
  const { campaignId, runId } = await bundle.accept();
  await bundle.release();
  bundle.breakPages((pushId) => pushId === poison);
  await bundle.work({ windowDevices: 32 });
  expect(await failures()).toEqual([{ push_id: poison, outcome: 'FAILED', code: 'SET_ASIDE' }]);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 99, FAILED: 1 });
  expect(bundle.sent).toHaveLength(99);
  await bundle.end();
  expect((await bundle.states(campaignId)).run).toBe('SENT');
});

test('a device whose outcome the database refuses is found in the same way; the others have theirs, and the node goes on', async () => {
  await bundle.addDevices(100);
  const { campaignId, runId } = await bundle.accept();
  await bundle.release();
  await bundle.database`select make_day_partition('deliveries', day) from runs where id = ${runId}`;
  const [device] = await bundle.database`select id from devices where push_id = ${poison}`;
  const when = `new.outcome = 'A' and new.device_id = decode('${device!.id}', 'hex')`;
  await refuseInserts(bundle.database, 'deliveries_20260301', { when, code: '22000' });
  await bundle.work({ windowDevices: 32 });
  expect(await failures()).toEqual([{ push_id: poison, outcome: 'FAILED', code: 'SET_ASIDE' }]);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 99, FAILED: 1 });
  expect(bundle.outcomes.waiting()).toBe(0);
  // Those of the window that cannot be stored, and of its halves, got theirs again.
  expect(bundle.sent.length).toBeLessThanOrEqual(100 + 32 + 16 + 8 + 4 + 2 + 1);
  await bundle.end();
  expect((await bundle.states(campaignId)).run).toBe('SENT');
});

test('a window that was stored is not searched, though its chunk still says that it is open', async () => {
  await bundle.addDevices(30);
  const { runId } = await bundle.accept();
  await bundle.release();
  const [chunk, run] = [(await bundle.claim('first'))!, await bundle.run(runId)];
  await bundle.sendWindow({ run, chunk, cursor: { bucket: 0, position: '' } });
  // As a cluster leaves it whose coordinator died after the outcomes were stored, where a device was looked for.
  const [cursor] = await bundle.database`select bucket, position from run_cursors`;
  await bundle.database`
    update chunks set window_opened_at = ${bundle.clock.now()}, window_bucket = ${cursor!.bucket},
      window_position = ${cursor!.position}, window_devices = 1, suspect_devices = 1, crashes = 3`;
  bundle.clock.advance(61_000);
  await bundle.work();
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 30 });
});

test('a fault of the service about one recipient is the outcome of that recipient alone', async () => {
  await bundle.addDevices(100);
  const { runId } = await bundle.accept();
  await bundle.release();
  bundle.answer(({ pushId }) => {
    if (pushId === poison) throw new RangeError('no such zone');
    return { kind: 'accepted' };
  });
  await bundle.work({ windowDevices: 32 });
  expect(await failures()).toEqual([{ push_id: poison, outcome: 'FAILED', code: 'RECIPIENT_FAULT' }]);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 99, FAILED: 1 });
  expect(bundle.sent).toHaveLength(100);
});

test('second attempts whose workers die are tried in small batches, then alone; the one that ends them is set aside', async () => {
  await bundle.addDevices(80);
  bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device' }));
  const { runId } = await bundle.accept();
  await bundle.release();
  await bundle.work();
  let died = Promise.withResolvers<void>();
  bundle.answer(({ pushId }) => {
    if (pushId !== poison) return { kind: 'accepted' };
    died.resolve();
    return new Promise(() => {});
  });
  let deaths = 0;
  for (; (await bundle.counters(runId)).WAITING !== undefined;) {
    bundle.clock.advance(600_000);
    died = Promise.withResolvers<void>();
    const isDead = await Promise.race([died.promise.then(() => true), bundle.retry().then(() => false)]);
    if (isDead) deaths += 1;
  }
  expect(deaths).toBeLessThanOrEqual(8);
  expect(await failures()).toEqual([{ push_id: poison, outcome: 'FAILED', code: 'SET_ASIDE' }]);
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 79, FAILED: 1 });
});

test('a second attempt whose outcome the database refuses costs those of other buckets nothing, and is set aside', async () => {
  await bundle.addDevices(40);
  bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device' }));
  const { runId } = await bundle.accept();
  await bundle.release();
  await bundle.work();
  bundle.answer(() => ({ kind: 'accepted' }));
  const [device] = await bundle.database`select id from devices where push_id = ${poison}`;
  const when = `new.outcome = 'A' and new.device_id = decode('${device!.id}', 'hex')`;
  await refuseInserts(bundle.database, 'deliveries_20260301', { on: 'update', when, code: '22000' });
  bundle.clock.advance(600_000);
  await expect(bundle.retry('one bucket')).rejects.toMatchObject({ code: '22000' });
  expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 39, WAITING: 1 });
  for (let tries = 0; (await bundle.counters(runId)).WAITING !== undefined; tries += 1) {
    expect(tries).toBeLessThan(10);
    bundle.clock.advance(600_000);
    await bundle.retry('one bucket').catch(() => {});
  }
  expect(await failures()).toEqual([{ push_id: poison, outcome: 'FAILED', code: 'SET_ASIDE' }]);
});
