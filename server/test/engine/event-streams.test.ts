import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeClock, makeManualClock } from '../../src/clock.ts';
import { encryptionContext, makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { eventUuid } from '../../src/domain/events/event-streams.ts';
import type { StreamedEvent } from '../../src/domain/events/event-streams.ts';
import { makeId } from '../../src/domain/ids.ts';
import { startJob } from '../../src/engine/jobs/job.ts';
import { makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeNoteEventBatches, makePostEventBatches, marksOf } from '../../src/engine/outbox/event-streams.ts';
import type { CallbackAnswer } from '../../src/engine/outbox/receivers.ts';
import { makeLog } from '../../src/log.ts';
import { makeOutgoingClient, postOnce } from '../../src/outgoing/client.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { insertDeliveries } from '../../src/storage/ledger/deliveries.ts';
import type { Delivery } from '../../src/storage/ledger/deliveries.ts';
import { findEventStream, updateEventStream } from '../../src/storage/outbox/event-streams.ts';
import { markDeliveries, markReports } from '../../src/storage/outbox/stream-marks.ts';
import type { ReportMark } from '../../src/storage/outbox/stream-marks.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { ledgerRun } from '../ledger-run.ts';
import { awaitArrival, startReceiver, startSilentReceiver } from '../receivers/silent-server.ts';
import type { TestReceiver } from '../receivers/silent-server.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

type Window = { at?: Date; mark?: Date; of?: string; buckets?: number[] };

describe('event batches', () => {
  const now = new Date('2026-03-02T12:00:00Z');
  const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  const idOf = (number: number): string => number.toString(16).padStart(24, '0');

  let testDatabase: TestDatabase;
  let workspaceId: string;
  let [runId, testRunId] = ['', ''];
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const { database } = testDatabase;
    workspaceId = await insertTestWorkspace(database, now);
    await database`select make_day_partition('deliveries', '2026-03-02')`;
    [runId, testRunId] = [makeId(now), makeId(now)];
    for (const id of [runId, testRunId]) await insertSentRun(database, { workspaceId, id, at: now });
    await database`update runs set is_test = id = ${testRunId}, locales = '{default,de}'`;
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    await testDatabase.database.unsafe('delete from event_streams; delete from deliveries');
  });

  const delivered = (number: number, more: Partial<Delivery> = {}): Delivery => ({
    ...{
      bucket: 3,
      deviceId: idOf(number),
      userId: idOf(1000 + number),
      platform: 'IOS',
      outcome: 'ACCEPTED',
      code: null,
    },
    ...{ providerMessageId: null, attempts: 1, retryAt: null, ...more },
  });

  let told: number;

  describe('a marked event', () => {
    const event = (number: number) => ({
      ...{ kind: 'delivered', uuid: eventUuid(['delivered', runId, idOf(number)]), runId, bucket: 3 },
      ...{ userId: idOf(1000 + number), deviceId: idOf(number), platform: 'IOS', at: now.toISOString() },
    });

    test('is batched once, and wakes the sender', async () => {
      await addStream('stream');
      await addWindow([delivered(1), delivered(2)]);
      expect(await note()).toBe(1);
      expect(told).toBe(1);
      const [batch, ...others] = await readBatches();
      expect(others).toEqual([]);
      expect(batch!.toSorted((one, other) => (one.deviceId! < other.deviceId! ? -1 : 1))).toEqual([event(1), event(2)]);
      expect(await note()).toBe(0);
      expect(told).toBe(0);
      expect(await readBatches()).toHaveLength(1);
    });

    test('is in a batch of at most a hundred (fact 7)', async () => {
      await addStream('stream');
      await addWindow(Array.from({ length: 201 }, (_, number) => delivered(number)));
      await note();
      const batches = await readBatches();
      expect(batches.map(({ length }) => length).toSorted((one, other) => other - one)).toEqual([100, 100, 1]);
      expect(new Set(batches.flat().map(({ deviceId }) => deviceId)).size).toBe(201);
    });

    test('is sent once per user withheld by a control group, if the stream subscribes to these', async () => {
      await addStream('asks');
      await addStream('does not', ['delivered']);
      const out = { outcome: 'WITHHELD', code: 'GLOBAL_CONTROL_GROUP', userId: idOf(7), attempts: 0 } as const;
      await addWindow([delivered(1, out), delivered(2, out), delivered(3, { ...out, code: 'FREQUENCY_CAP' })]);
      await addWindow([delivered(4)]);
      await note();
      const [asks, doesNot] = await readBatches();
      expect(asks!.filter(({ kind }) => kind === 'control_group')).toEqual([
        {
          ...{ kind: 'control_group', uuid: eventUuid(['control_group', runId, idOf(7)]), runId, bucket: 3 },
          ...{ userId: idOf(7), deviceId: null, platform: null, at: now.toISOString() },
          controlGroup: 'GLOBAL_CONTROL_GROUP',
        },
      ]);
      expect(asks).toHaveLength(2);
      expect(doesNot).toEqual([event(4)]);
    });

    test('is not sent for deliveries if the stream subscribes to clicks only', async () => {
      await addStream('stream', ['clicked']);
      await addStream('other');
      await addWindow([delivered(1)]);
      await testDatabase.database`update event_stream_marks set stream_id = 'stream'`;
      await note();
      expect(await readBatches()).toEqual([]);
    });

    test('names its content as the statistics do', async () => {
      await addStream('stream');
      await addWindow([delivered(1, { variant: { variation: 2, locale: 2 } })]);
      await addReport({ variation: 3, locale: 'fr', action: 'buy' });
      await note();
      expect((await readBatches()).flat()).toEqual([
        {
          ...{ kind: 'clicked', uuid: eventUuid(['a click']), runId, bucket: 3, userId: null, deviceId: idOf(1) },
          ...{ platform: 'IOS', at: now.toISOString(), variation: 'variation_3', locale: 'fr', action: 'buy' },
        },
        { ...event(1), variation: 'variation_2', locale: 'de' },
      ]);
    });

    test('is read from the rows stored at the time of the mark, in its buckets and its run', async () => {
      await addStream('stream');
      await addWindow([delivered(1)]);
      await addWindow([delivered(2)], { at: later(1), mark: now });
      await addWindow([delivered(3, { bucket: 4 })], { buckets: [5] });
      await note();
      expect((await readBatches()).flat()).toEqual([event(1)]);
    });

    test('is not sent for a test of a campaign', async () => {
      await addStream('stream');
      await addWindow([delivered(1)], { of: testRunId });
      await addReport({ runId: testRunId });
      expect(await note()).toBe(2);
      expect(await readBatches()).toEqual([]);
    });

    test('is sent once if it was marked twice', async () => {
      await addStream('stream');
      await addWindow([delivered(1)]);
      await addWindow([]);
      await addReport();
      await addReport();
      expect(await note()).toBe(4);
      expect((await readBatches()).flat()).toHaveLength(2);
    });

    test('waits while the receiver has two hundred unsent batches', async () => {
      await addStream('stream');
      await addStream('other');
      await testDatabase.database`
        insert into event_stream_batches (id, stream_id, workspace_id, events, state, next_at, created_at)
        select 'batch ' || number, 'stream', ${workspaceId}, '[]', 'PENDING', ${now}, ${now} from generate_series(1, 200) as number`;
      await addReport();
      expect(await note()).toBe(1);
      await testDatabase.database`delete from event_stream_batches where id = 'batch 1'`;
      expect(await note()).toBe(1);
    });
  });

  describe('a batch', () => {
    type Posted = { url: string; headers: Record<string, string>; body: string };

    /** Posts what is due, and says what was posted and what is stored. */
    async function post(answer: CallbackAnswer, at = now) {
      const { database } = testDatabase;
      const log = makeLog({ level: 'silent', pretty: false });
      const clock = makeManualClock(at);
      const posted: Posted[] = [];
      const job = makePostEventBatches({
        ...{ database, clock, log, encryption, abbreviation: 'SVC' },
        outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
        async post(request) {
          posted.push(request as never);
          return answer;
        },
      });
      const count = await job.runOnce(clock.now());
      await job.settled();
      const [stored] = await database`
        select state, attempts, last_status as status, last_error as error, next_at as "nextAt", ended_at as "endedAt"
        from event_stream_batches`;
      const [stream] = await database`
        select delivered_events as events, last_delivered_at as "deliveredAt" from event_streams`;
      return { posted, stored, stream, count };
    }

    const answered = (status: number) => ({ kind: 'answered', status }) as CallbackAnswer;

    async function addBatch(attempts = 0): Promise<void> {
      await addStream('stream');
      await addReport();
      await note();
      await testDatabase.database`update event_stream_batches set attempts = ${attempts}`;
    }

    test('is posted until a 2xx response, then removed and counted for its stream', async () => {
      for (const status of [200, 204, 299]) {
        await testDatabase.database`delete from event_streams`;
        await addBatch();
        const { posted, stored, stream, count } = await post(answered(status));
        expect(count).toBe(1);
        expect(posted).toHaveLength(1);
        expect(posted[0]).toMatchObject({ url: 'https://receiver.example/' });
        expect(posted[0]!.body).toContain(eventUuid(['a click']));
        expect(stored).toBeUndefined();
        expect(stream).toEqual({ events: 1, deliveredAt: now });
      }
    });

    test('is posted again after 30, 60 and 120 seconds if it is rejected, then given up (fact 7)', async () => {
      const waits = [30, 60, 120];
      for (const [attempts, seconds] of waits.entries()) {
        await testDatabase.database`delete from event_streams`;
        await addBatch(attempts);
        expect((await post(answered(500))).stored).toEqual({
          ...{ state: 'PENDING', attempts: attempts + 1, status: 500, error: null },
          ...{ nextAt: later(seconds), endedAt: null },
        });
      }
      await testDatabase.database`delete from event_streams`;
      await addBatch(3);
      const { stored, stream } = await post({ kind: 'failed', error: 'unreachable' } as never);
      expect(stored).toEqual({
        ...{ state: 'GIVEN_UP', attempts: 4, status: null, error: 'unreachable', nextAt: null, endedAt: now },
      });
      expect(stream).toEqual({ events: 0, deliveredAt: null });
    });

    test('is not delivered by a status below 200 or above 299', async () => {
      for (const status of [199, 300, 404]) {
        await testDatabase.database`delete from event_streams`;
        await addBatch();
        expect((await post(answered(status))).stored).toMatchObject({ state: 'PENDING', status });
      }
    });

    test('is given up instead of posted a fifth time if its last attempt did not end', async () => {
      await addBatch(4);
      const { posted, stored } = await post(answered(200));
      expect(posted).toEqual([]);
      expect(stored).toMatchObject({ state: 'GIVEN_UP', error: 'the last attempt did not end', endedAt: now });
    });

    describe('for an unresponsive receiver', () => {
      const silent = { kind: 'failed', error: 'timeout' } as CallbackAnswer;

      async function addBatches(count: number): Promise<void> {
        await addStream('stream');
        await testDatabase.database`
          insert into event_stream_batches (id, stream_id, workspace_id, events, state, next_at, created_at)
          select 'batch ' || number, 'stream', ${workspaceId}, '[]', 'PENDING', ${now}, ${now}
          from generate_series(1, ${count}::int) as number`;
      }
      /** Rounds of one node until nothing is due. @returns how many batches were posted */
      async function postAll(answer: CallbackAnswer, at = now): Promise<number> {
        let posted = 0;
        for (let round = await post(answer, at); round.count > 0; round = await post(answer, at)) posted += round.count;
        return posted;
      }
      const readStream = async () => (await findEventStream(testDatabase.database, { workspaceId, id: 'stream' }))!;

      test('waits after three attempts, loses none, and is sent when the receiver responds', async () => {
        await addBatches(10);
        expect(await postAll(silent)).toBe(3);
        expect(await readStream()).toMatchObject({ silentSince: now, pausedUntil: later(5), pendingBatches: 10 });
        const [row] = await testDatabase.database`
          select count(*) as untouched from event_stream_batches where attempts = 0 and next_at = ${now}`;
        expect(row!.untouched).toBe(7);
        expect(await postAll(silent, later(5))).toBe(1);
        expect(await readStream()).toMatchObject({ silentSince: now, pausedUntil: later(15) });
        expect(await postAll(answered(204), later(15))).toBe(6);
        expect(await readStream()).toMatchObject({ silentSince: null, pausedUntil: null, pendingBatches: 4 });
      });

      test('is posted immediately to a new address', async () => {
        await addBatches(10);
        await postAll(silent);
        const change = { id: 'stream', workspaceId, at: now };
        await updateEventStream(testDatabase.database, { ...change, events: ['clicked'] });
        expect(await postAll(answered(204))).toBe(0);
        await updateEventStream(testDatabase.database, { ...change, url: 'https://other.example/' });
        expect(await postAll(answered(204))).toBe(7);
      });

      test('is given up after it has waited for a day', async () => {
        await addBatches(10);
        await postAll(silent);
        await postAll(silent, later(86_401));
        expect(await readStream()).toMatchObject({ pendingBatches: 4, deadBatches: 6 });
      });
    });

    test('gets its whole schedule again if it is resent', async () => {
      await addBatch(100);
      expect((await post(answered(500))).stored).toMatchObject({ state: 'PENDING', nextAt: later(30) });
    });
  });

  /** A stream of these kinds; its marks and batches go with it. */
  async function addStream(id: string, events: string[] = ['delivered', 'clicked', 'control_group']): Promise<void> {
    const encrypted = encryption.encrypt(
      Buffer.from('secret'),
      encryptionContext.eventStreamSecret({ workspaceId, id }),
    );
    await testDatabase.database`
      insert into event_streams (id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes, created_at,
        updated_at)
      values (${id}, ${workspaceId}, 'https://receiver.example/', ${encrypted}, ${events}, '{}', '{}', ${now}, ${now})`;
  }

  /** Stores rows of a window, and tells the streams of them. */
  async function addWindow(deliveries: Delivery[], { at = now, mark = at, of = runId, buckets = [3] }: Window = {}) {
    const { database } = testDatabase;
    const { runNumber, workspaceNumber } = await ledgerRun(database, of);
    await inTransaction(database, async (tx) => {
      await insertDeliveries(tx, { day: '2026-03-02', runNumber, workspaceNumber, sentAt: at, deliveries });
      const kinds = ['delivered', 'control_group'] as const;
      const marks = [{ workspaceId, runId: of, buckets, kinds: [...kinds], events: deliveries.length }];
      await markDeliveries(tx, { marks, at: mark });
    });
  }

  async function addReport(more: Partial<ReportMark> = {}): Promise<void> {
    const report: ReportMark = {
      ...{ workspaceId, runId, bucket: 3, deviceId: idOf(1), action: null, variation: null, locale: null },
      kind: 'clicked',
      platform: 'IOS',
      uuid: eventUuid(['a click']),
    };
    await inTransaction(testDatabase.database, (tx) => markReports(tx, { marks: [{ ...report, ...more }], at: now }));
  }

  async function note(): Promise<number> {
    told = 0;
    const onNoted = (): void => void (told += 1);
    return makeNoteEventBatches({ database: testDatabase.database, onNoted }).runOnce(now);
  }

  async function readBatches(): Promise<StreamedEvent[][]> {
    const rows = await testDatabase.database<{ events: StreamedEvent[] }[]>`
      select events from event_stream_batches order by stream_id, id`;
    return rows.map(({ events }) => events);
  }
});

describe('event marks', () => {
  const run = { id: 'run', workspaceId: 'WORKSPACE' };
  const stored = (bucket: number, outcome: string, code: string | null = null) => ({
    delivery: { bucket, outcome, code },
  });

  test('count an accepted message, and a user withheld by a control group', () => {
    expect(
      marksOf(run, [
        stored(4, 'ACCEPTED', 'FALLBACK_USER_ATTRIBUTE'),
        stored(9, 'WITHHELD', 'GLOBAL_CONTROL_GROUP'),
        stored(4, 'ACCEPTED'),
        stored(4, 'WITHHELD', 'CAMPAIGN_CONTROL_GROUP'),
        stored(1, 'REJECTED'),
      ]),
    ).toEqual([
      { workspaceId: 'WORKSPACE', runId: 'run', buckets: [4, 9], kinds: ['delivered', 'control_group'], events: 4 },
    ]);
  });

  test('are empty for rows that contain no event', () => {
    const others = ['WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED'].map((outcome) =>
      stored(1, outcome, 'GLOBAL_CONTROL_GROUP'),
    );
    expect(marksOf(run, [...others, stored(1, 'WITHHELD', 'FREQUENCY_CAP'), stored(1, 'WITHHELD')])).toEqual([]);
    expect(marksOf(run, [])).toEqual([]);
  });
});

describe('a batch for a responsive stream', () => {
  const encryption = makeEncryption(Buffer.alloc(32, 9));

  let node: Awaited<ReturnType<typeof makeNodeBundle>>;
  beforeEach(async () => {
    node = await makeNodeBundle();
  });
  afterEach(() => node.end());

  test.each([3, 30])('does not wait for %i unresponsive streams of other workspaces', async (streams) => {
    const silent = await Promise.all(Array.from({ length: streams }, () => node.silent()));
    const healthy = await node.receiver();
    for (const [number, { origin }] of silent.entries()) {
      // A workspace has five streams at most.
      const workspaceId = number % 5 === 0 ? await node.addWorkspace() : lastWorkspace;
      lastWorkspace = workspaceId;
      await node.addStream(workspaceId, { url: `${origin}/events`, batches: 200 });
    }
    node.start();
    await silent[0]!.arrived(1);
    await node.addStream(await node.addWorkspace(), { url: `${healthy.origin}/events`, batches: 1 });
    node.wake();
    await awaitArrival(healthy, '/events');
  });
  let lastWorkspace = '';

  test('does not wait for three unresponsive streams of its workspace at the same host', async () => {
    const host = await node.receiver((path) => path.startsWith('/hangs'));
    const workspaceId = await node.addWorkspace();
    for (const number of [1, 2, 3])
      await node.addStream(workspaceId, { url: `${host.origin}/hangs/${number}`, batches: 200 });
    node.start();
    await host.arrived(3);
    await node.addStream(workspaceId, { url: `${host.origin}/healthy`, batches: 1 });
    node.wake();
    await awaitArrival(host, '/healthy');
  });

  /** One node with real time and real sockets. */
  async function makeNodeBundle() {
    const { database, drop } = await createTestDatabase();
    const clock = makeClock();
    const log = makeLog({ level: 'silent', pretty: false });
    const outgoing = makeOutgoingClient({ allowedNetworks: ['127.0.0.0/8'] });
    const receivers: TestReceiver[] = [];
    let running: ReturnType<typeof startJob> | undefined;
    const job = makePostEventBatches({
      ...{ database, clock, log, encryption, abbreviation: 'SVC' },
      outcomes: makeOutcomeBuffer({ log, pause: async () => {} }),
      post: (request) => postOnce(outgoing, request),
      onFreed: () => running?.wake(),
    });
    let made = 0;
    const keep = (receiver: TestReceiver): TestReceiver => {
      receivers.push(receiver);
      return receiver;
    };
    return {
      addWorkspace: () => insertTestWorkspace(database, new Date(Date.UTC(2026, 2, 1, 12, 0, (made += 1)))),
      silent: async () => keep(await startSilentReceiver()),
      receiver: async (isSilent?: (path: string) => boolean) =>
        keep(await startReceiver(isSilent === undefined ? {} : { isSilent })),
      /** A stream with batches that have been due for an hour. */
      async addStream(workspaceId: string, { url, batches }: { url: string; batches: number }): Promise<void> {
        const at = new Date(clock.now().getTime() - 3_600_000);
        const id = makeId(at);
        const encrypted = encryption.encrypt(
          Buffer.from(`whsec_${Buffer.alloc(32, 1).toString('base64')}`),
          encryptionContext.eventStreamSecret({ workspaceId, id }),
        );
        await database`
          insert into event_streams (id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes,
            created_at, updated_at)
          values (${id}, ${workspaceId}, ${url}, ${encrypted}, '{clicked}', '{}', '{}', ${at}, ${at})`;
        await database`
          insert into event_stream_batches (id, stream_id, workspace_id, events, state, next_at, created_at)
          select ${id} || number, ${id}, ${workspaceId}, '[]', 'PENDING', ${at}, ${at}
          from generate_series(1, ${batches}::int) as number`;
      },
      start() {
        running = startJob(job, { clock, log });
      },
      wake: () => running?.wake(),
      async end(): Promise<void> {
        await running?.stop();
        for (const receiver of receivers) receiver.close();
        await job.settled();
        await outgoing.close();
        await drop();
      },
    };
  }
});
