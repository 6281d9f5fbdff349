import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { WindowFailedError, WindowRefusedError } from '../../../src/engine/fan-out/send-window.ts';
import type { Window, WindowResult } from '../../../src/engine/fan-out/send-window.ts';
import { makeChunkWorker, startChunkWorkers } from '../../../src/engine/fan-out/work-chunks.ts';
import { chunkLeaseMilliseconds } from '../../../src/engine/jobs/leased-job.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeLog } from '../../../src/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { refuseInserts } from '../../refuse-inserts.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';
import { makeFanOutBundle, start } from './fan-out-bundle.ts';
import type { FanOutBundle } from './fan-out-bundle.ts';

type Row = {
  lane?: number;
  crashes?: number;
  suspect?: number;
  setAside?: number;
  /** The window that was open when the worker died. */
  window?: { bucket: number; position: string; devices: number };
};

type Sent = Pick<Window, 'cursor' | 'search'>;

describe('chunk worker', () => {
  const now = new Date('2026-03-02T12:00:00Z');
  const later = (milliseconds: number): Date => new Date(now.getTime() + milliseconds);

  let testDatabase: TestDatabase;
  let workspaceId: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    workspaceId = await insertTestWorkspace(testDatabase.database, now);
    await insertSentRun(testDatabase.database, { workspaceId, id: 'run', at: now });
    await testDatabase.database`update runs set status = 'SENDING', ended_at = null`;
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    await testDatabase.database.unsafe('delete from chunks; delete from run_cursors');
  });

  const sent = (bucket: number, position: string, search?: Window['search']): WindowResult => ({
    ...{ kind: 'sent', cursor: { bucket, position }, search },
  });
  const leaseUntil = later(chunkLeaseMilliseconds);

  test('has nothing to do without a chunk, and after it was stopped', async () => {
    const idle = makeWorker();
    expect(await idle.worker.workNextChunk(1)).toBe('nothing to do');
    await addChunk(1);
    expect(await idle.worker.workNextChunk(0)).toBe('nothing to do');
    idle.stop();
    expect(await idle.worker.workNextChunk(1)).toBe('nothing to do');
    expect(idle.seen).toEqual({ ended: 0, claimed: [] });
  });

  test('sends a chunk window by window, each from the end of the previous one, until its end', async () => {
    await addChunk(1);
    const { worker, windows, seen } = makeWorker([sent(10, 'b'), sent(12, 'd'), { kind: 'ended' }]);
    expect(await worker.workNextChunk(1)).toBe('worked');
    expect(windows).toEqual([
      { cursor: { bucket: 10, position: '' }, search: undefined },
      { cursor: { bucket: 10, position: 'b' }, search: undefined },
      { cursor: { bucket: 12, position: 'd' }, search: undefined },
    ]);
    expect(seen).toEqual({ ended: 1, claimed: [1] });
  });

  test('resumes a chunk at its cursor', async () => {
    await addChunk(1);
    await addCursor(13, 'x');
    await addCursor(25, 'of another chunk');
    const { worker, windows } = makeWorker();
    await worker.workNextChunk(1);
    expect(windows).toEqual([{ cursor: { bucket: 13, position: 'x' }, search: undefined }]);
  });

  test('returns its chunk after the current window when it stops', async () => {
    await addChunk(1);
    const { worker, windows, seen } = makeWorker([sent(10, 'b')]);
    expect(await worker.workNextChunk(1)).toBe('worked');
    expect(windows).toHaveLength(1);
    expect(seen.ended).toBe(0);
    expect(await readChunks()).toMatchObject([{ state: 'READY', owner: null, leaseUntil: null }]);
  });

  test('returns a chunk that it lost or whose run was paused', async () => {
    await addChunk(1);
    const { worker, windows } = makeWorker([{ kind: 'lost' }]);
    expect(await worker.workNextChunk(1)).toBe('worked');
    expect(windows).toHaveLength(1);
    expect(await readChunks()).toMatchObject([{ state: 'READY' }]);
  });

  test('claims no chunk of a throttled run before its time, except those that block others', async () => {
    for (const number of [1, 2, 3]) await addChunk(number);
    const until = later(5_000);
    const { worker } = makeWorker([{ kind: 'throttled', until, besides: [25] }]);
    expect(await worker.workNextChunk(1)).toBe('worked');
    expect((await readChunks()).map(({ state, notBefore }) => [state, notBefore])).toEqual([
      ['READY', until],
      ['READY', now],
      ['READY', until],
    ]);
    const all = makeWorker([{ kind: 'throttled', until }]);
    expect(await all.worker.workNextChunk(1)).toBe('worked');
    expect((await readChunks()).map(({ notBefore }) => notBefore)).toEqual([until, until, until]);
  });

  test('returns a chunk after a database failure, without counting a crash', async () => {
    await addChunk(1, { crashes: 2 });
    const { worker } = makeWorker([Object.assign(new Error('away'), { code: '57P01' })]);
    expect(await worker.workNextChunk(1)).toBe('failed');
    expect(await readChunks()).toMatchObject([{ state: 'READY', owner: null, crashes: 2 }]);
  });

  test('ends the lease at once for a window that cannot be sent, and searches one that cannot be stored at the next claim', async () => {
    await addChunk(1);
    const failing = makeWorker([new WindowFailedError('a window cannot be sent')]);
    expect(await failing.worker.workNextChunk(1)).toBe('failed');
    expect(await readChunks()).toMatchObject([{ state: 'CLAIMED', owner: 'worker', crashes: 0, leaseUntil: now }]);
    const refused = makeWorker([new WindowRefusedError('a window cannot be stored')]);
    expect(await refused.worker.workNextChunk(1)).toBe('failed');
    expect(await readChunks()).toMatchObject([{ state: 'CLAIMED', crashes: 2, leaseUntil: now }]);
  });

  test('lets the lease expire after any other fault, and does not renew it', async () => {
    await addChunk(1);
    const { worker, clock } = makeWorker([new Error('a surprise')]);
    expect(await worker.workNextChunk(1)).toBe('failed');
    clock.advance(1_000);
    await worker.renewLeases();
    expect(await readChunks()).toMatchObject([{ state: 'CLAIMED', owner: 'worker', crashes: 0, leaseUntil }]);
  });

  test('renews the lease of the current chunk', async () => {
    await addChunk(1);
    const { worker, clock, during } = makeWorker();
    let lease: unknown;
    during(async () => {
      clock.advance(1_000);
      await worker.renewLeases();
      lease = (await readChunks())[0]!.leaseUntil;
    });
    await worker.workNextChunk(1);
    expect(lease).toEqual(later(chunkLeaseMilliseconds + 1_000));
  });

  test('quarantines a chunk whose workers crashed ten times before they opened a window', async () => {
    await addChunk(1, { crashes: 9 });
    const ninth = makeWorker();
    await ninth.worker.workNextChunk(1);
    expect(ninth.windows).toHaveLength(1);
    await testDatabase.database`delete from chunks`;
    await addChunk(1, { crashes: 10 });
    const tenth = makeWorker();
    expect(await tenth.worker.workNextChunk(1)).toBe('worked');
    expect(tenth.windows).toEqual([]);
    expect(tenth.seen.ended).toBe(1);
    expect(await readChunks()).toMatchObject([{ state: 'QUARANTINED', owner: null, crashes: 10 }]);
  });

  const window = { bucket: 12, position: 'd', devices: 8 };

  test('searches the devices of a window after three crashes, starting with half of them, as the only window of the process', async () => {
    await addChunk(1, { crashes: 2, window });
    const second = makeWorker();
    await second.worker.workNextChunk(1);
    expect(second.windows).toEqual([{ cursor: { bucket: 10, position: '' }, search: undefined }]);
    await testDatabase.database`delete from chunks`;
    await addChunk(1, { crashes: 3, window });
    const search = { suspectDevices: 4, treatment: 'send' } as const;
    const third = makeWorker([sent(10, 'b', search), { kind: 'ended' }]);
    await third.worker.workNextChunk(1);
    expect(third.windows).toEqual([
      { cursor: { bucket: 10, position: '' }, search: { suspectDevices: 8, treatment: 'send' } },
      { cursor: { bucket: 10, position: 'b' }, search },
    ]);
  });

  test('quarantines a device that was alone in its window when the worker crashed', async () => {
    await addChunk(1, { crashes: 4, suspect: 1, window: { ...window, devices: 1 } });
    const alone = makeWorker();
    await alone.worker.workNextChunk(1);
    expect(alone.windows[0]!.search).toEqual({ suspectDevices: 1, treatment: 'set aside' });
    await testDatabase.database`delete from chunks`;
    // Nothing was open: it is looked at once more.
    await addChunk(1, { crashes: 4, suspect: 1 });
    const unopened = makeWorker();
    await unopened.worker.workNextChunk(1);
    expect(unopened.windows[0]!.search).toEqual({ suspectDevices: 1, treatment: 'send' });
  });

  test('does not search a window that was stored, although its chunk marks it as open', async () => {
    await addChunk(1, { crashes: 3, window });
    await addCursor(12, 'd');
    const stored = makeWorker();
    await stored.worker.workNextChunk(1);
    expect(stored.windows).toEqual([{ cursor: { bucket: 12, position: 'd' }, search: undefined }]);
    await testDatabase.database.unsafe('delete from chunks; delete from run_cursors');
    await addChunk(1, { crashes: 3, window });
    await addCursor(12, 'c');
    const other = makeWorker();
    await other.worker.workNextChunk(1);
    expect(other.windows[0]!.search).toEqual({ suspectDevices: 8, treatment: 'send' });
  });

  test('gives up a chunk with ten devices that crash workers, because the message is the cause', async () => {
    await addChunk(1, { crashes: 3, setAside: 9, window });
    const ninth = makeWorker();
    await ninth.worker.workNextChunk(1);
    expect(ninth.windows).toHaveLength(1);
    await testDatabase.database`delete from chunks`;
    await addChunk(1, { crashes: 3, setAside: 10, window });
    const { worker, windows } = makeWorker();
    await worker.workNextChunk(1);
    expect(windows).toEqual([]);
    expect(await readChunks()).toMatchObject([{ state: 'QUARANTINED' }]);
  });

  test('claims a chunk of named users with slots of both kinds', async () => {
    await addChunk(1, { lane: 0 });
    const { worker, seen } = makeWorker();
    expect(await worker.workNextChunk(0)).toBe('worked');
    expect(seen).toEqual({ ended: 1, claimed: [0] });
  });

  /** A chunk that is ready, or (with crashes or an open window) whose worker died. */
  async function addChunk(number: number, { lane = 1, crashes = 0, suspect, setAside = 0, window }: Row = {}) {
    const isClaimed = crashes > 0 || window !== undefined;
    await testDatabase.database`
      insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, owner, lease_until, crashes,
        suspect_devices, set_aside, window_opened_at, window_bucket, window_position, window_devices, not_before, created_at)
      values ('run', ${number}, ${workspaceId}, ${lane}, ${number * 10}, ${number * 10 + 9}, ${isClaimed ? 'CLAIMED' : 'READY'},
        ${isClaimed ? 'dead' : null}, ${isClaimed ? now : null}, ${Math.max(0, crashes - 1)}, ${suspect ?? null}, ${setAside},
        ${window ? now : null}, ${window?.bucket ?? null}, ${window?.position ?? null}, ${window?.devices ?? null}, ${now},
        ${now})`;
  }

  async function addCursor(bucket: number, position: string): Promise<void> {
    await testDatabase.database`
      insert into run_cursors (run_id, workspace_id, bucket, position) values ('run', ${workspaceId}, ${bucket}, ${position})`;
  }

  /** A worker whose windows become what is given, one after another; it fails with an error among them. */
  function makeWorker(results: (WindowResult | Error)[] = [{ kind: 'ended' }]) {
    const windows: Sent[] = [];
    const seen = { ended: 0, claimed: [] as number[] };
    const log = makeLog({ level: 'silent', pretty: false });
    const clock = makeManualClock(now);
    let isStopping = false;
    let meanwhile = async (): Promise<void> => {};
    const worker = makeChunkWorker(
      {
        ...{ database: testDatabase.database, clock, log, owner: 'worker', parallelChunks: 1, transactionalChunks: 0 },
        outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
        onChunkEnded: () => void (seen.ended += 1),
        async sendWindow({ run, chunk, cursor, search }) {
          expect([run.id, chunk.owner]).toEqual(['run', 'worker']);
          windows.push({ cursor, search });
          await meanwhile();
          const result = results[windows.length - 1]!;
          if (result instanceof Error) throw result;
          // What is not asked for is not sent.
          if (windows.length === results.length && result.kind === 'sent') isStopping = true;
          return result;
        },
      },
      { isStopping: () => isStopping, onClaimed: (lastLane) => void seen.claimed.push(lastLane) },
    );
    const during = (work: () => Promise<void>): void => void (meanwhile = work);
    return { worker, windows, seen, clock, during, stop: () => void (isStopping = true) };
  }

  async function readChunks() {
    const rows = await testDatabase.database`
      select number, state, owner, crashes, lease_until as "leaseUntil", not_before as "notBefore" from chunks order by number`;
    return [...rows];
  }
});

describe('the slots of workers', () => {
  // No slot looks again by itself: the time between two looks never passes.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  test('read once more after a wake-up during a read', async () => {
    let answer = Promise.withResolvers<never[]>();
    let claims = 0;
    const claim = (strings: readonly string[]): Promise<never[]> => {
      if (!strings[0]!.includes('with due as')) return Promise.resolve([]);
      claims += 1;
      return answer.promise;
    };
    const workers = startWorkers(claim, { parallelChunks: 1, transactionalChunks: 0 });
    const untilClaims = async (wanted: number): Promise<void> => {
      for (let turn = 0; claims < wanted && turn < 1_000; turn += 1) await setImmediate();
      expect(claims).toBe(wanted);
    };
    await untilClaims(1);
    // A chunk was made ready after the statement had begun, which finds nothing.
    workers.wake();
    answer.resolve([]);
    await untilClaims(2);

    answer = Promise.withResolvers();
    answer.resolve([]);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    expect(claims).toBe(2);
    await workers.stop();
  });

  test('read one slot of each kind after a wake-up, and the next one only after a chunk was found', async () => {
    const lanes: unknown[] = [];
    let found: object[] = [];
    const claim = async (strings: readonly string[], ...[lastLane]: unknown[]): Promise<object[]> => {
      if (!strings[0]!.includes('with due as')) return [];
      lanes.push(lastLane);
      return lastLane === 1 ? found.splice(0, 1) : [];
    };
    const workers = startWorkers(claim, { parallelChunks: 4, transactionalChunks: 2 });
    const settle = async (): Promise<unknown[]> => {
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
      return lanes.splice(0);
    };
    expect(await settle()).toEqual([0, 0, 1, 1, 1, 1]);
    workers.wake();
    expect(await settle()).toEqual([0, 1]);
    found = [
      { runId: 'a', number: 1, crashes: 99 },
      { runId: 'a', number: 2, crashes: 99 },
    ].map((chunk) => ({
      ...{ ...chunk, workspaceId: 'w', bucketFrom: 0, bucketTo: 9, owner: 'worker', attempt: 1 },
      ...{ windowBucket: null, windowPosition: null, windowDevices: null, suspectDevices: null, setAside: 0 },
    }));
    workers.wake();
    const looks = await settle();
    expect(found).toEqual([]);
    expect(looks.filter((lane) => lane === 0)).toHaveLength(1);
    // Two found something and each woke the next, which found nothing in the end; both looked for more.
    expect(looks.filter((lane) => lane === 1).length).toBeGreaterThanOrEqual(3);
    expect(looks.filter((lane) => lane === 1).length).toBeLessThanOrEqual(5);
    await workers.stop();
  });
});

describe('a device that crashes workers', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
  });
  afterEach(() => bundle.drop());

  const poison = 'push-user-37';

  test('is found by halving and quarantined, and all others are reached (fault F16)', async () => {
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

  test('is not blamed for three crashes in one window that have another cause', async () => {
    await bundle.addDevices(100);
    const { runId } = await bundle.accept();
    await bundle.release();
    expect(await workLives((pushId, lives) => pushId === poison && lives < 3, 32)).toBe(3);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 100 });
  });

  test('is found the same way if it makes a page fail without a crash, and no lease is waited for', async () => {
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

  test('is found the same way if the database rejects its outcome; other outcomes are stored and the node continues', async () => {
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

  test('is not searched for in a window that was stored, although its chunk marks it as open', async () => {
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

  test('gets the outcome of an internal fault alone, without affecting others', async () => {
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

  test('is found among second attempts in small batches, then alone, and quarantined', async () => {
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

  test('is quarantined if the database rejects the outcome of its second attempt, without affecting other buckets', async () => {
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

  /** Workers that die as soon as they send to such a device: nothing of their open windows is stored. */
  async function workLives(
    isDeadly: (pushId: string, lives: number) => boolean,
    windowDevices: number,
  ): Promise<number> {
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
});

describe('a clock that is moved during a send', () => {
  let bundle: FanOutBundle;
  beforeEach(async () => {
    bundle = await makeFanOutBundle();
  });
  afterEach(() => bundle.drop());

  test('does not disturb it in four moves: each device gets one message', async () => {
    await bundle.addDevices(20);
    const { campaignId, runId } = await bundle.accept();
    await bundle.release();
    const { asked, goOn } = holdAnswers(20);
    const workers = bundle.startWorkers({ owner: 'first' });
    await asked;
    await moveClock();
    goOn();
    await bundle.settled(runId, [workers]);
    await workers.stop();
    await bundle.end();
    expect(await bundle.states(campaignId)).toEqual({ campaign: 'SENT', run: 'SENT', reason: null });
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
    expect(bundle.sent).toHaveLength(20);
  });

  test('does not disturb a second attempt', async () => {
    await bundle.addDevices(20);
    bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device' }));
    const { runId } = await bundle.accept();
    await bundle.release();
    await bundle.work();
    bundle.clock.setOffset(1_800_000);
    const { asked, goOn } = holdAnswers(40);
    const retried = bundle.retry();
    await asked;
    await moveClock();
    goOn();
    expect(await retried).toBe(20);
    expect(await bundle.counters(runId)).toEqual({ ACCEPTED: 20 });
    expect(bundle.sent).toHaveLength(40);
    const [most] =
      await bundle.database`select max(attempts) as attempts from readable_deliveries as deliveries where run_id = ${runId}`;
    expect(most!.attempts).toBe(2);
  });

  /** The provider keeps its answers back until they are let go. */
  function holdAnswers(count: number) {
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    bundle.answer(async () => {
      if (bundle.sent.length >= count) asked.resolve();
      await goOn.promise;
      return { kind: 'accepted' };
    });
    return { asked: asked.promise, goOn: goOn.resolve };
  }

  /** As the sandbox does it: further than a lease, time and again, and everything looks for work each time. */
  async function moveClock(): Promise<void> {
    for (let move = 1; move <= 4; move += 1) {
      bundle.clock.setOffset(move * 3_600_000);
      expect(await bundle.claim(`thief ${move}`)).toBeUndefined();
      expect(await bundle.retry()).toBe(0);
      await bundle.end();
    }
  }
});

function startWorkers(
  database: (strings: readonly string[], ...values: unknown[]) => Promise<object[]>,
  slots: { parallelChunks: number; transactionalChunks: number },
) {
  const log = makeLog({ level: 'silent', pretty: false });
  return startChunkWorkers({
    ...{ ...slots, database: database as unknown as Database, log, clock: makeManualClock(start), owner: 'worker' },
    sendWindow: () => Promise.reject(new Error('there is nothing to send')),
    outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
    onChunkEnded() {},
  });
}
