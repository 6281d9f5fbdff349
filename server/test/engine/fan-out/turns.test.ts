import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { slotsOfShare, turnShareOf } from '../../../src/domain/campaigns/turn-shares.ts';
import { makeCorrectTurns } from '../../../src/engine/fan-out/correct-turns.ts';
import { makeFairSlots } from '../../../src/engine/fan-out/fair-slots.ts';
import { cutBuckets } from '../../../src/engine/fan-out/runs.ts';
import type { Window, WindowResult } from '../../../src/engine/fan-out/send-window.ts';
import { makeChunkWorker } from '../../../src/engine/fan-out/work-chunks.ts';
import { makeLease } from '../../../src/engine/jobs/leased-job.ts';
import { makeOutcomeBuffer } from '../../../src/engine/jobs/outcome-buffer.ts';
import { makeLog } from '../../../src/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import { endChunk, insertChunks, postponeChunks, releaseChunk } from '../../../src/storage/runs/chunks.ts';
import { claimTurn, insertTurn, keepTurn } from '../../../src/storage/runs/turns.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';

const start = new Date('2026-03-02T12:00:00Z');
const windowDevices = 250;
/** Of one window: 10,000 devices a second. */
const windowMilliseconds = 25;

let testDatabase: TestDatabase;
let database: Database;
let clock: ReturnType<typeof makeManualClock>;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  ({ database } = testDatabase);
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  clock = makeManualClock(start);
  await database.unsafe(
    'delete from chunks; delete from run_cursors; delete from run_turns; delete from workspace_turns; delete from runs; delete from campaigns; delete from workspaces',
  );
});

const lease = () => makeLease(clock, 60_000);
const elapsed = (): number => clock.realNow().getTime() - start.getTime();

async function addWorkspace(id: string): Promise<void> {
  await database`
    insert into workspaces (id, db_name, name, created_at) values (${id}, ${`db_${id.toLowerCase()}`}, 'Test', ${start})`;
}

/** Starts a run as the job does: chunks and a turn. */
async function launch(run: { id: string; workspaceId: string; devices: number }): Promise<void> {
  const { id, workspaceId, devices } = run;
  await insertSentRun(database, { workspaceId, id, at: start });
  await database`update runs set status = 'SENDING', ended_at = null, audience_devices = ${devices} where id = ${id}`;
  const chunks = { runId: id, workspaceId, lane: 1, at: clock.now(), winner: null, ranges: cutBuckets(devices) };
  await insertChunks(database, chunks);
  await insertTurn(database, { runId: id, workspaceId, devices });
}

const claim = (more: { first?: 'fair' | 'waiting'; except?: string[] } = {}) =>
  claimTurn(database, { owner: 'worker', first: 'fair', except: [], at: clock.now(), ...more, ...lease() });
const correct = () => makeCorrectTurns({ database, clock, wakeWorkers: () => {} }).runOnce(clock.now());

describe('the turns of runs', () => {
  test('alternate between workspaces, however many runs each has', async () => {
    await Promise.all(['A', 'B'].map(addWorkspace));
    for (let run = 0; run < 5; run += 1) await launch({ id: `a${run}`, workspaceId: 'A', devices: 100_000 });
    await launch({ id: 'b', workspaceId: 'B', devices: 100_000 });
    const taken: string[] = [];
    for (let turn = 0; turn < 20; turn += 1) taken.push((await claim())!.workspaceId);
    expect(taken.filter((id) => id === 'A')).toHaveLength(10);
    for (let turn = 0; turn < 20; turn += 2) expect(new Set(taken.slice(turn, turn + 2)).size).toBe(2);
  });

  test('are one for a workspace and its test workspace', async () => {
    await Promise.all(['A', 'A_DEBUG', 'B'].map(addWorkspace));
    for (const workspaceId of ['A', 'A_DEBUG', 'B'])
      await launch({ id: `of ${workspaceId}`, workspaceId, devices: 100_000 });
    const taken: string[] = [];
    for (let turn = 0; turn < 20; turn += 1) taken.push((await claim())!.workspaceId);
    expect(taken.filter((id) => id === 'B')).toHaveLength(10);
    expect(['A_DEBUG', 'A', 'XDEBUG'].map(turnShareOf)).toEqual(['A', 'A', 'XDEBUG']);
  });

  test('of one workspace begin with the run that has the least left', async () => {
    await addWorkspace('A');
    await launch({ id: 'large', workspaceId: 'A', devices: 100_000 });
    await launch({ id: 'small', workspaceId: 'A', devices: 1_000 });
    await launch({ id: 'medium', workspaceId: 'A', devices: 10_000 });
    const taken: string[] = [];
    for (let turn = 0; turn < 10; turn += 1) taken.push((await claim())!.runId);
    // 10,000 devices are eight chunks.
    expect(taken).toEqual(['small', ...new Array<string>(8).fill('medium'), 'large']);
  });

  test('are for the run that waits longest, every second time', async () => {
    await addWorkspace('A');
    await launch({ id: 'large', workspaceId: 'A', devices: 100_000 });
    await launch({ id: 'medium', workspaceId: 'A', devices: 50_000 });
    expect((await claim({ first: 'waiting' }))!.runId).toBe('medium');
    expect((await claim({ first: 'waiting' }))!.runId).toBe('large');
    expect((await claim({ first: 'waiting' }))!.runId).toBe('medium');
    clock.advance(1_000);
    await keepTurn(database, { runId: 'medium', except: [], at: clock.realNow() });
    clock.advance(500);
    expect((await claim({ first: 'waiting' }))!.runId).toBe('large');
  });

  test('of a workspace that returns give it no credit for the time without work', async () => {
    await Promise.all(['A', 'B'].map(addWorkspace));
    await launch({ id: 'a', workspaceId: 'A', devices: 100_000 });
    for (let turn = 0; turn < 10; turn += 1) await claim();
    await launch({ id: 'b', workspaceId: 'B', devices: 100_000 });
    const taken: string[] = [];
    for (let turn = 0; turn < 10; turn += 1) taken.push((await claim())!.workspaceId);
    expect(taken.filter((id) => id === 'B')).toHaveLength(5);
  });

  test('pass runs that are paused, postponed or left out, and return when they may be sent again', async () => {
    await Promise.all(['A', 'B', 'C'].map(addWorkspace));
    for (const workspaceId of ['A', 'B', 'C']) await launch({ id: `of ${workspaceId}`, workspaceId, devices: 1_000 });
    await database`update runs set status = 'PAUSED', status_reason = 'a test' where id = 'of A'`;
    await postponeChunks(database, { runId: 'of B', until: new Date(start.getTime() + 30_000), besides: [] });
    expect(await claim({ except: ['C'] })).toBeUndefined();
    await correct();
    const parked = async () =>
      (await database`select run_id from run_turns where is_parked order by run_id`).map((row) =>
        String(row['run_id']),
      );
    expect(await parked()).toEqual(['of A', 'of B']);
    expect((await claim())!.runId).toBe('of C');
    await database`update runs set status = 'SENDING', status_reason = null where id = 'of A'`;
    clock.advance(30_000);
    await correct();
    expect(await parked()).toEqual(['of C']);
    expect(new Set([(await claim())!.runId, (await claim())!.runId])).toEqual(new Set(['of A', 'of B']));
  });

  test('are corrected: a run without one gets it, and ended runs and idle workspaces have none', async () => {
    await addWorkspace('A');
    await launch({ id: 'a', workspaceId: 'A', devices: 1_000 });
    await database.unsafe('delete from run_turns; delete from workspace_turns');
    expect(await claim()).toBeUndefined();
    await correct();
    const chunk = (await claim())!;
    // Its only chunk is held, until its lease ends.
    expect(await claim()).toBeUndefined();
    clock.advance(60_000);
    await correct();
    const again = (await claim())!;
    expect(again).toMatchObject({ runId: 'a', attempt: 2, crashes: 1 });
    expect(await endChunk(database, { ...chunk, state: 'DONE', at: clock.now() })).toBe(false);
    await endChunk(database, { ...again, state: 'DONE', at: clock.now() });
    for (let round = 0; round < 3; round += 1) await correct();
    expect(await database`select run_id from run_turns`).toHaveLength(0);
    expect(await database`select workspace_id from workspace_turns`).toHaveLength(0);
  });

  test('cost the same with 500 open runs of 500 workspaces as with one', async () => {
    await addWorkspace('W0');
    await launch({ id: 'r0', workspaceId: 'W0', devices: 100_000 });
    const one = await countBuffers();
    for (let workspace = 1; workspace < 500; workspace += 1) await addWorkspace(`W${workspace}`);
    for (let run = 1; run < 500; run += 1) await launch({ id: `r${run}`, workspaceId: `W${run}`, devices: 100_000 });
    for (const table of ['chunks', 'runs', 'run_turns', 'workspace_turns']) await database.unsafe(`analyze ${table}`);
    for (const first of ['fair', 'waiting'] as const) {
      const { buffers, plan } = await countBuffers(first);
      expect(buffers, plan).toBeLessThan(one.buffers * 2);
      expect(plan).not.toMatch(/Seq Scan on (chunks|runs|run_turns|workspace_turns)/);
    }
  });

  /** The pages that a claim reads or writes, and its plan. */
  async function countBuffers(first: 'fair' | 'waiting' = 'fair') {
    let plan = '';
    const explained = (strings: TemplateStringsArray, ...values: never[]) => {
      const query = database(strings, ...values);
      return Object.assign(query, {
        then: (resolve: (rows: unknown[]) => unknown, reject: (error: unknown) => unknown) =>
          database`explain (analyze, buffers, costs off) ${database(strings, ...values)}`.then((rows) => {
            plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
            return resolve([]);
          }, reject),
      });
    };
    await claimTurn(explained as unknown as Database, { owner: 'w', first, except: [], at: clock.now(), ...lease() });
    const [, hit] = /Buffers: shared hit=(\d+)/.exec(plan) ?? [];
    return { buffers: Number(hit), plan };
  }
});

describe('workers that share', () => {
  type Sent = { runId: string; at: number };

  /** One slot that sends 10,000 devices a second. */
  function makeSender({ isStopping = () => false, workspacePercent = 100 } = {}) {
    const sent: Sent[] = [];
    const ended = new Map<string, number>();
    const log = makeLog({ level: 'silent', pretty: false });
    let correctedAt = 0;
    const sendWindow = async ({ run, chunk, cursor }: Window): Promise<WindowResult> => {
      clock.advance(windowMilliseconds);
      sent.push({ runId: run.id, at: elapsed() });
      const width = chunk.bucketTo - chunk.bucketFrom + 1;
      const windows = Math.ceil((run.audienceDevices! * width) / 256 / windowDevices);
      const done = Number(cursor.position || 0) + 1;
      if (done < windows) {
        const position = String(done);
        await database`
          insert into run_cursors (run_id, workspace_id, bucket, position)
          values (${run.id}, ${run.workspaceId}, ${chunk.bucketFrom}, ${position})
          on conflict (run_id, bucket) do update set position = excluded.position`;
        return { kind: 'sent', cursor: { bucket: chunk.bucketFrom, position }, search: undefined };
      }
      await endChunk(database, { ...chunk, state: 'DONE', at: clock.now() });
      ended.set(run.id, elapsed());
      return { kind: 'ended' };
    };
    const worker = makeChunkWorker(
      {
        ...{ database, clock, log, owner: 'worker', parallelChunks: 1, transactionalChunks: 0, workspacePercent },
        ...{ outcomes: makeOutcomeBuffer({ log, pause: async () => {} }), onChunkEnded() {}, sendWindow },
      },
      { isStopping, onClaimed: () => {} },
    );
    return {
      sent,
      ended,
      async work(): Promise<boolean> {
        if (elapsed() - correctedAt >= 1_000) {
          await correct();
          correctedAt = elapsed();
        }
        return (await worker.workNextChunk(1)) === 'worked';
      },
    };
  }

  test('count the time of a chunk that a throttle ends for its workspace', async () => {
    await addWorkspace('A');
    await launch({ id: 'throttled', workspaceId: 'A', devices: 1_000 });
    const log = makeLog({ level: 'silent', pretty: false });
    const sendWindow = async (): Promise<WindowResult> => {
      clock.advance(400);
      return { kind: 'throttled', until: new Date(clock.now().getTime() + 60_000) };
    };
    const worker = makeChunkWorker(
      {
        ...{ database, clock, log, owner: 'worker', parallelChunks: 1, transactionalChunks: 0, sendWindow },
        ...{ outcomes: makeOutcomeBuffer({ log, pause: async () => {} }), onChunkEnded() {} },
      },
      { isStopping: () => false, onClaimed: () => {} },
    );
    expect(await worker.workNextChunk(1)).toBe('worked');
    const [share] = await database`select turn from workspace_turns where workspace_id = 'A'`;
    expect(share!['turn']).toBe(400);
  });

  test.each(['A', 'B'])(
    'send a campaign of workspace %s to 1,000 devices at once, next to a large one of A, which repeats nothing',
    { timeout: 240_000 },
    async (workspaceId) => {
      await Promise.all(['A', 'B'].map(addWorkspace));
      const large = 1_000_000;
      await launch({ id: 'large', workspaceId: 'A', devices: large });
      const sender = makeSender();
      let launchedAt: number | undefined;
      while (await sender.work()) {
        if (launchedAt !== undefined || elapsed() < 3_000) continue;
        launchedAt = elapsed();
        await launch({ id: 'small', workspaceId, devices: 1_000 });
      }
      const small = sender.sent.filter(({ runId }) => runId === 'small');
      expect(small).toHaveLength(4);
      expect(sender.ended.get('small')! - launchedAt!).toBeLessThanOrEqual(2_000);
      // Each window is sent once: the chunks that were given back went on where they were.
      const windows = 256 * Math.ceil(large / 256 / windowDevices);
      expect(sender.sent).toHaveLength(windows + 4);
      const rows = await database`select 1 from chunks where state <> 'DONE' or crashes > 0`;
      expect(rows).toHaveLength(0);
    },
  );

  test('finish 50 campaigns of 50 workspaces in the order of their sizes', { timeout: 240_000 }, async () => {
    const sizes = Array.from({ length: 50 }, (_, index) => 250 * (((index * 37) % 50) + 1));
    await Promise.all(sizes.map((_, index) => addWorkspace(`W${index}`)));
    for (const [index, devices] of sizes.entries())
      await launch({ id: `r${index}`, workspaceId: `W${index}`, devices });
    const sender = makeSender();
    while (await sender.work());
    expect(sender.ended.size).toBe(50);
    const bySize = sizes.map((devices, index) => ({ devices, endedAt: sender.ended.get(`r${index}`)! }));
    for (const one of bySize)
      for (const other of bySize)
        if (one.devices > other.devices * 1.2)
          expect(one.endedAt, JSON.stringify({ one, other })).toBeGreaterThan(other.endedAt);
  });

  test('send a window of each of 30 open runs every two seconds', async () => {
    await Promise.all(['A', 'B'].map(addWorkspace));
    for (let run = 0; run < 30; run += 1)
      await launch({ id: `r${run}`, workspaceId: run < 29 ? 'A' : 'B', devices: 200_000 });
    const sender = makeSender();
    while (elapsed() < 8_000 && (await sender.work()));
    const last = new Map<string, number>();
    const gaps: number[] = [];
    for (const { runId, at } of sender.sent) {
      gaps.push(at - (last.get(runId) ?? 0));
      last.set(runId, at);
    }
    for (let run = 0; run < 30; run += 1) gaps.push(8_000 - (last.get(`r${run}`) ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2_000);
    // The other workspace has its half of what is not needed for that.
    expect(sender.sent.filter(({ runId }) => runId === 'r29').length).toBeGreaterThan(sender.sent.length / 4);
  });

  test('give no workspace more slots than its part, and replace slots whose window is slow for other workspaces', async () => {
    await Promise.all(['A', 'A_DEBUG', 'B'].map(addWorkspace));
    for (const workspaceId of ['A', 'A_DEBUG', 'B'])
      await launch({ id: `of ${workspaceId}`, workspaceId, devices: 100_000 });
    const fair = makeFairSlots({ database, clock, owner: 'worker', slots: 4, workspacePercent: 50 });
    const take = async (kind: 'usual' | 'spare') => fair.claim(kind, { at: clock.now(), lease: lease() });
    const taken = [await take('usual'), await take('usual'), await take('usual'), await take('usual')];
    expect(taken.map((chunk) => turnShareOf(chunk!.workspaceId)).sort()).toEqual(['A', 'A', 'B', 'B']);
    expect(await take('usual')).toBeUndefined();
    expect(slotsOfShare({ slots: 4, percent: 10 })).toBe(1);

    const open = Promise.withResolvers<void>();
    const ofA = taken.find((chunk) => turnShareOf(chunk!.workspaceId) === 'A')!;
    const window = fair.noteWindow(ofA, () => open.promise);
    expect(fair.countSpare()).toBe(0);
    clock.advance(1_000);
    expect(fair.countSpare()).toBe(1);
    const ofB = taken.find((chunk) => chunk!.workspaceId === 'B')!;
    fair.leave(ofB);
    await releaseChunk(database, ofB);
    expect((await take('spare'))!.workspaceId).toBe('B');
    expect(fair.countSpare()).toBe(0);
    open.resolve();
    await window;
    expect(fair.countSpare()).toBe(-1);
  });
});
