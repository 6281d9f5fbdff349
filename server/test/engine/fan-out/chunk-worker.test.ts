import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { chunkLeaseMilliseconds } from '../../../src/engine/jobs/leased-job.ts';
import { WindowFailedError, WindowRefusedError } from '../../../src/engine/fan-out/send-window.ts';
import type { Window, WindowResult } from '../../../src/engine/fan-out/send-window.ts';
import { makeChunkWorker } from '../../../src/engine/fan-out/work-chunks.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeLog } from '../../../src/log.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

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

type Row = {
  lane?: number;
  crashes?: number;
  suspect?: number;
  setAside?: number;
  /** The window that was open when the worker died. */
  window?: { bucket: number; position: string; devices: number };
};

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

type Sent = Pick<Window, 'cursor' | 'search'>;

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

const sent = (bucket: number, position: string, search?: Window['search']): WindowResult => ({
  ...{ kind: 'sent', cursor: { bucket, position }, search },
});
const leaseUntil = later(chunkLeaseMilliseconds);

test('where there is no chunk, or the worker stops, there is nothing to do', async () => {
  const idle = makeWorker();
  expect(await idle.worker.workNextChunk(1)).toBe('nothing to do');
  await addChunk(1);
  expect(await idle.worker.workNextChunk(0)).toBe('nothing to do');
  idle.stop();
  expect(await idle.worker.workNextChunk(1)).toBe('nothing to do');
  expect(idle.seen).toEqual({ ended: 0, claimed: [] });
});

test('a chunk is sent window by window, each from where the one before ended, until its end is told', async () => {
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

test('a chunk goes on at its cursor', async () => {
  await addChunk(1);
  await addCursor(13, 'x');
  await addCursor(25, 'of another chunk');
  const { worker, windows } = makeWorker();
  await worker.workNextChunk(1);
  expect(windows).toEqual([{ cursor: { bucket: 13, position: 'x' }, search: undefined }]);
});

test('a worker that stops gives its chunk back after the window', async () => {
  await addChunk(1);
  const { worker, windows, seen } = makeWorker([sent(10, 'b')]);
  expect(await worker.workNextChunk(1)).toBe('worked');
  expect(windows).toHaveLength(1);
  expect(seen.ended).toBe(0);
  expect(await readChunks()).toMatchObject([{ state: 'READY', owner: null, leaseUntil: null }]);
});

test('a chunk that is lost, or whose run was paused, is given back', async () => {
  await addChunk(1);
  const { worker, windows } = makeWorker([{ kind: 'lost' }]);
  expect(await worker.workNextChunk(1)).toBe('worked');
  expect(windows).toHaveLength(1);
  expect(await readChunks()).toMatchObject([{ state: 'READY' }]);
});

test('of a throttled run no chunk is claimed before its time, but those that the others wait for', async () => {
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

test('a database that fails is no fault of the chunk, which is given back', async () => {
  await addChunk(1, { crashes: 2 });
  const { worker } = makeWorker([Object.assign(new Error('away'), { code: '57P01' })]);
  expect(await worker.workNextChunk(1)).toBe('failed');
  expect(await readChunks()).toMatchObject([{ state: 'READY', owner: null, crashes: 2 }]);
});

test('a window that cannot be sent ends the lease at once, and one that cannot be stored is searched at the next claim', async () => {
  await addChunk(1);
  const failing = makeWorker([new WindowFailedError('a window cannot be sent')]);
  expect(await failing.worker.workNextChunk(1)).toBe('failed');
  expect(await readChunks()).toMatchObject([{ state: 'CLAIMED', owner: 'worker', crashes: 0, leaseUntil: now }]);
  const refused = makeWorker([new WindowRefusedError('a window cannot be stored')]);
  expect(await refused.worker.workNextChunk(1)).toBe('failed');
  expect(await readChunks()).toMatchObject([{ state: 'CLAIMED', crashes: 2, leaseUntil: now }]);
});

test('after any other fault the lease runs out, and is renewed no more', async () => {
  await addChunk(1);
  const { worker, clock } = makeWorker([new Error('a surprise')]);
  expect(await worker.workNextChunk(1)).toBe('failed');
  clock.advance(1_000);
  await worker.renewLeases();
  expect(await readChunks()).toMatchObject([{ state: 'CLAIMED', owner: 'worker', crashes: 0, leaseUntil }]);
});

test('the lease of a chunk that is being worked is renewed', async () => {
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

test('a chunk whose workers died ten times before they opened a window is set aside', async () => {
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

test('after three deaths in one window its devices are searched, half of them first, by the only window of the process', async () => {
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

test('a device that was alone in its window when the worker died is set aside', async () => {
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

test('a window that was stored is not searched, though its chunk still says that it is open', async () => {
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

test('a chunk with ten devices that end workers is given up: it is the message', async () => {
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

test('a chunk of named users is claimed by slots of both kinds', async () => {
  await addChunk(1, { lane: 0 });
  const { worker, seen } = makeWorker();
  expect(await worker.workNextChunk(0)).toBe('worked');
  expect(seen).toEqual({ ended: 1, claimed: [0] });
});
