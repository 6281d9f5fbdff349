import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database, Queryable } from '../../src/storage/database.ts';
import { endLeasesOfPredecessors } from '../../src/storage/installation/nodes.ts';
import { settleDeliveries } from '../../src/storage/ledger/due-deliveries.ts';
import { idBytes } from '../../src/storage/ledger/ledger-encoding.ts';
import { settleMessage } from '../../src/storage/outbox/outbox.ts';
import { claimCallbacks, listDueCallbackReceivers } from '../../src/storage/outbox/receivers.ts';
import * as chunks from '../../src/storage/runs/chunks.ts';
import * as operations from '../../src/storage/segments/segment-operations.ts';
import { makeFanOutBundle, start } from '../engine/fan-out/fan-out-bundle.ts';
import type { FanOutBundle } from '../engine/fan-out/fan-out-bundle.ts';
import { makeSegmentBundle } from '../segments/segment-bundle.ts';

type Stored = Record<string, unknown>;

describe('the guards of leases', () => {
  /*
   * A worker whose lease ran out may be as alive as before: it stores what it has when it wakes up. Every statement of a
   * worker names its owner and the number of its attempt, either of which proves by itself that the work is another's now.
   */
  let bundle: FanOutBundle;
  beforeAll(async () => {
    bundle = await makeFanOutBundle();
  });
  afterAll(() => bundle.drop());

  const at = start;
  const leaseUntil = new Date(start.getTime() + 300_000);
  const place = { bucket: 7, position: 'x' };

  /** Who has it now, and three who had it: each differs from the holder in one thing, or in both. */
  const holder = { owner: 'second', attempts: 2 };
  const others = [
    { owner: 'first', attempts: 2 },
    { owner: 'second', attempts: 1 },
    { owner: 'first', attempts: 1 },
  ];

  describe('the guard of a chunk', () => {
    let runId: string;
    beforeAll(async () => {
      await bundle.addDevices(1);
      ({ runId } = await bundle.accept());
      await bundle.release();
      await bundle.claim('first');
      bundle.clock.advance(61_000);
      expect(await bundle.claim('second')).toMatchObject({ runId, number: 0, owner: 'second', attempt: 2 });
      await bundle.database`
        update chunks set window_opened_at = ${at}, window_bucket = 3, window_position = 'w', window_devices = 9`;
    });

    const select = (tx: Queryable): Promise<Stored[]> => tx`select * from chunks`;
    const statements: [string, (tx: Queryable, hold: chunks.ChunkHold) => Promise<unknown>, unknown, unknown][] = [
      [
        'openWindow',
        (tx, hold) => chunks.openWindow(tx as Database, { ...hold, ...place, at, leaseUntil, devices: 5 }),
        { refusals: [], winners: null },
        undefined,
      ],
      [
        'closeWindow',
        (tx, hold) =>
          chunks.closeWindow(tx, {
            ...hold,
            leaseUntil,
            suspectDevices: null,
            setAside: 1,
            workspaceId: bundle.workspaceId,
          }),
        { isStreamed: false },
        undefined,
      ],
      ['abandonChunk', (tx, hold) => chunks.abandonChunk(tx, { ...hold, at }), undefined, undefined],
      ['endChunk', (tx, hold) => chunks.endChunk(tx, { ...hold, state: 'DONE', at }), true, false],
      ['releaseChunk', (tx, hold) => chunks.releaseChunk(tx, hold), undefined, undefined],
      ['renewLeases', (tx, hold) => chunks.renewLeases(tx as Database, { chunks: [hold], leaseUntil }), 1, 0],
    ];

    test.each(statements)('allows %s for the holder, and changes nothing for any other worker', async (...row) => {
      const [, statement, done, refused] = row;
      const hold = ({ owner, attempts }: typeof holder) => ({ runId, number: 0, owner, attempt: attempts });
      for (const other of others)
        expect(await tryOn(select, (tx) => statement(tx, hold(other)))).toEqual({ said: refused, isChanged: false });
      expect(await tryOn(select, (tx) => statement(tx, hold(holder)))).toEqual({ said: done, isChanged: true });
    });

    test('opens no window if the run was stopped in the meantime', async () => {
      const hold = { runId, number: 0, owner: 'second', attempt: 2 };
      const opened = await tryOn(select, async (tx) => {
        await tx`update runs set status = 'PAUSED', status_reason = 'test' where id = ${runId}`;
        return chunks.openWindow(tx as Database, { ...hold, ...place, at, leaseUntil, devices: 5 });
      });
      expect(opened).toEqual({ said: undefined, isChanged: false });
    });
  });

  describe('the guard of a segment operation', () => {
    const id = '1'.repeat(24);
    beforeAll(async () => {
      await bundle.database`
        insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, created_by,
          created_at, updated_at)
        values (${id}, ${bundle.workspaceId}, 'Buyers', 'FILE', 'FILLING', 'API', 'uid', 'string', 'test', ${at}, ${at})`;
      await bundle.database`
        insert into segment_operations (id, workspace_id, segment_id, number, kind, request_id, state, attempts, not_before,
          owner, lease_until, requested_by, created_at)
        values (${id}, ${bundle.workspaceId}, ${id}, 1, 'CREATE', ${'0'.repeat(32)}, 'FILLING', 2, ${at}, 'second', ${at},
          'test', ${at})`;
    });

    const select = (tx: Queryable): Promise<Stored[]> => tx`select * from segment_operations`;
    const counted = { attempts: 3, crashes: 1 };
    type Hold = operations.OperationHold;
    const statements: [string, (tx: Queryable, hold: Hold) => Promise<unknown>, object, unknown][] = [
      [
        'noteProgress',
        (tx, hold) => operations.noteProgress(tx as Database, { ...hold, bytesRead: 5, valuesFound: 1, leaseUntil }),
        { said: true, isChanged: true },
        false,
      ],
      // It only locks; what its caller then stores is undone when it says no.
      ['lockHeldOperation', operations.lockHeldOperation, { said: true, isChanged: false }, false],
      [
        'releaseOperation',
        (tx, hold) => operations.releaseOperation(tx as Database, { ...hold, notBefore: at, detail: null, counted }),
        { said: undefined, isChanged: true },
        undefined,
      ],
    ];

    test.each(statements)('allows %s for the holder, and changes nothing for any other worker', async (...row) => {
      const [, statement, done, refused] = row;
      for (const other of others)
        expect(await tryOn(select, (tx) => statement(tx, { id, ...other }))).toEqual({
          said: refused,
          isChanged: false,
        });
      expect(await tryOn(select, (tx) => statement(tx, { id, ...holder }))).toEqual(done);
    });
  });

  describe('the attempt number as guard of rows without an owner', () => {
    const id = '2'.repeat(24);

    test('prevents a past attempt from settling a delivery, and keeps a settled one unchanged', async () => {
      const run = { day: '2026-03-01', runNumber: 7 };
      const delivery = {
        bucket: 1,
        deviceId: id,
        userId: id,
        platform: 'IOS' as const,
        code: null,
        providerMessageId: null,
      };
      await bundle.database`select make_day_partition('deliveries', ${run.day}::date)`.catch(() => {});
      await bundle.database`
        insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
          attempts, sent_at, retry_at)
        values (${run.day}::date, 1, 1, 7, ${idBytes(id)}, ${idBytes(id)}, 'I', 'W', 2, ${at}, ${at})`;
      const select = (tx: Queryable): Promise<Stored[]> => tx`select * from deliveries where run_number = 7`;
      const settled = { ...run, ...delivery, outcome: 'ACCEPTED' as const, attempts: 2, retryAt: null };
      const settle = (tx: Queryable, claimedAttempts: number): Promise<number[]> =>
        settleDeliveries(tx, { deliveries: [{ ...settled, claimedAttempts }], sentAt: leaseUntil });
      expect(await tryOn(select, (tx) => settle(tx, 1))).toEqual({ said: [], isChanged: false });
      expect(await tryOn(select, (tx) => settle(tx, 2))).toEqual({ said: [0], isChanged: true });
      await bundle.database`update deliveries set outcome = 'FAILED', retry_at = null where run_number = 7`;
      expect(await tryOn(select, (tx) => settle(tx, 2))).toEqual({ said: [], isChanged: false });
    });

    test('prevents a past attempt from settling an email, and keeps a settled one unchanged', async () => {
      await bundle.database`
        insert into mails (id, workspace_id, recipients, subject, body, state, attempts, next_at, created_at)
        values (${id}, ${bundle.workspaceId}, '{a@b.c}', 'Subject', 'Body', 'PENDING', 2, ${at}, ${at})`;
      const select = (tx: Queryable): Promise<Stored[]> => tx`select * from mails`;
      const settle = (tx: Queryable, attempts: number): Promise<boolean> =>
        settleMessage(tx, { channel: 'emails', id, attempts, outcome: { state: 'SENT', endedAt: at } as never });
      expect(await tryOn(select, (tx) => settle(tx, 1))).toEqual({ said: false, isChanged: false });
      expect(await tryOn(select, (tx) => settle(tx, 2))).toEqual({ said: true, isChanged: true });
      await bundle.database`update mails set state = 'KEPT', next_at = null, ended_at = ${start}`;
      expect(await tryOn(select, (tx) => settle(tx, 2))).toEqual({ said: false, isChanged: false });
    });
  });

  /** What a statement did to a row; nothing of it is kept. */
  async function tryOn(select: (tx: Queryable) => Promise<Stored[]>, statement: (tx: Queryable) => Promise<unknown>) {
    const undone = new Error('undone');
    let seen: { isChanged: boolean; said: unknown } | undefined;
    await inTransaction(bundle.database, async (tx) => {
      const before = await select(tx);
      const said = await statement(tx);
      seen = { said, isChanged: JSON.stringify(await select(tx)) !== JSON.stringify(before) };
      throw undone;
    }).catch((error: unknown) => {
      if (error !== undone) throw error;
    });
    return seen!;
  }
});

describe('the leases of a dead process', () => {
  test('are freed at once for chunks and second attempts, and the crash of a chunk’s worker is counted', async () => {
    const bundle = await makeFanOutBundle();
    try {
      const { database, clock } = bundle;
      await bundle.addDevices(10);
      await bundle.accept();
      await bundle.release();
      await bundle.claim('dead');
      expect(await bundle.claim('next')).toBeUndefined();
      expect(await endLeasesOfPredecessors(database, clock.realNow())).toMatchObject({ chunks: 1, retries: 0 });
      expect(await bundle.claim('next')).toMatchObject({ crashes: 1 });
      expect((await endLeasesOfPredecessors(database, clock.realNow())).chunks).toBe(1);

      bundle.answer(() => ({ kind: 'wait', code: '503', scope: 'device' }));
      await bundle.work();
      clock.advance(600_000);
      bundle.answer(() => new Promise(() => {}));
      void bundle.retry();
      while (bundle.sent.length < 20) await new Promise((resolve) => setTimeout(resolve, 2));
      expect(await bundle.retry()).toBe(0);
      expect((await endLeasesOfPredecessors(database, clock.realNow())).retries).toBe(10);
      bundle.answer(() => ({ kind: 'accepted' }));
      expect(await bundle.retry()).toBe(10);
    } finally {
      await bundle.drop();
    }
  });

  test('are freed at once for files and callbacks', async () => {
    const bundle = await makeSegmentBundle();
    try {
      const { database, clock } = bundle;
      const leasedAt = clock.realNow();
      const leaseUntil = new Date(leasedAt.getTime() + 60_000);
      await bundle.create({ file_url: bundle.serve('a\n'), callback_url: `${bundle.origin}/cb` });
      await database`
        update segment_operations set state = 'FILLING', owner = 'dead', lease_until = ${leaseUntil}, attempts = 1`;
      expect(await bundle.fill()).toBe(0);
      expect((await endLeasesOfPredecessors(database, leasedAt)).files).toBe(1);
      expect(await bundle.fill()).toBe(1);
      const at = clock.now();
      const due = await listDueCallbackReceivers(database, { at, leasedAt, after: undefined, limit: 1 });
      const turns = due.map(({ workspaceId, key }) => ({ workspaceId, key, count: 1 }));
      const claim = { turns, at, leasedAt, leaseUntil, probeUntil: leaseUntil };
      expect(await claimCallbacks(database, claim)).toHaveLength(1);
      expect(await claimCallbacks(database, claim)).toHaveLength(0);
      expect((await endLeasesOfPredecessors(database, leasedAt)).callbacks).toBe(1);
      expect(await claimCallbacks(database, claim)).toHaveLength(1);
    } finally {
      await bundle.end();
    }
  });
});
