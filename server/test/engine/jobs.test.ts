import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeClock, makeManualClock } from '../../src/clock.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { makeDoorbell, ringAfterCommit } from '../../src/engine/doorbell.ts';
import type { Bell } from '../../src/engine/doorbell.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { makeJobBook, makeRest, startJob } from '../../src/engine/jobs/job.ts';
import type { Job } from '../../src/engine/jobs/job.ts';
import { makeLeasedJob } from '../../src/engine/jobs/leased-job.ts';
import { LostWorkError, makeOutcomeBuffer } from '../../src/engine/jobs/outcome-buffer.ts';
import { makeBackoff, makeFaultLogger, processOneByOne } from '../../src/engine/jobs/process-one-by-one.ts';
import type { ProcessBatch } from '../../src/engine/jobs/process-one-by-one.ts';
import { startWorker } from '../../src/engine/start-worker.ts';
import type { Worker, WorkerDependencies } from '../../src/engine/start-worker.ts';
import { makeLog } from '../../src/log.ts';
import type { Delivery } from '../../src/providers/deliver.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { findFreePort } from '../find-free-port.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

describe('jobs', () => {
  const start = new Date('2026-03-01T12:00:00Z');
  const after = (seconds: number): Date => new Date(start.getTime() + seconds * 1_000);

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

  describe('a job', () => {
    /** Its rounds end as is given, then with nothing done. */
    function openJob(
      rounds: (number | Error)[],
      {
        intervalMilliseconds = 5_000,
        rest = undefined as { stretch: (milliseconds: number) => number } | undefined,
      } = {},
    ) {
      const clock = makeManualClock(start);
      clock.setOffset(3_600_000);
      const { log, lines } = openLog();
      const notes: unknown[] = [];
      const ran: Date[] = [];
      const job: Job = {
        name: 'tidy',
        intervalMilliseconds,
        async runOnce(now) {
          ran.push(now);
          const round = rounds.shift() ?? 0;
          if (round instanceof Error) throw round;
          return round;
        },
      };
      const book = { note: (name: string, round: object) => void notes.push([name, round]) } as never;
      return { ran, lines, notes, running: startJob(job, { clock, log, book, rest: rest as never }) };
    }

    test('runs immediately, again while there is work, and then after its interval', async () => {
      const { ran, notes, running } = openJob([3, 1]);
      await pass(0);
      // By the time that the sandbox moves; its result is noted by real time.
      expect(ran).toEqual([after(3_600), after(3_600), after(3_600)]);
      expect(notes).toEqual([3, 1, 0].map((done) => ['tidy', { at: start, done }]));
      await pass(4_999);
      expect(ran).toHaveLength(3);
      await pass(1);
      expect(ran).toHaveLength(4);
      await running.stop();
    });

    test('runs when it is woken, and once more if that happened during a run', async () => {
      const { ran, running } = openJob([]);
      running.wake();
      await pass(0);
      expect(ran).toHaveLength(2);
      running.wake();
      await pass(0);
      expect(ran).toHaveLength(3);
      await pass(4_999);
      expect(ran).toHaveLength(3);
      await running.stop();
    });

    test.each([
      [200, 999],
      [5_000, 4_999],
    ])('waits its interval of %d ms, or at least a second, after it throws', async (intervalMilliseconds, quiet) => {
      const fault = new Error('away');
      const { ran, lines, notes, running } = openJob([fault], { intervalMilliseconds });
      await pass(quiet);
      expect([ran.length, notes]).toEqual([1, [['tidy', { at: start, error: fault }]]]);
      expect(lines).toMatchObject([{ err: { message: 'away' } }]);
      await pass(1);
      expect(ran).toHaveLength(2);
      await running.stop();
    });

    test('waits longer on a resting node', async () => {
      const { ran, running } = openJob([], { rest: { stretch: (milliseconds) => milliseconds * 2 } });
      await pass(9_999);
      expect(ran).toHaveLength(1);
      await pass(1);
      expect(ran).toHaveLength(2);
      await running.stop();
    });

    test('ends after the current run, and does not run again', async () => {
      const { ran, running } = openJob([1, 1, 1]);
      await running.stop();
      expect([ran.length, vi.getTimerCount()]).toEqual([1, 0]);
      running.wake();
      await pass(60_000);
      expect(ran).toHaveLength(1);
    });
  });

  describe('the job book', () => {
    test('has the last success and the last failure of each job, sorted by name', () => {
      const book = makeJobBook();
      book.note('b', { at: start, done: 3 });
      book.note('a', { at: after(1), done: 0 });
      book.note('b', { at: after(2), error: Object.assign(new Error('secret'), { code: '53100' }) });
      const iso = (seconds: number) => after(seconds).toISOString();
      expect(book.read()).toEqual([
        { name: 'a', doneAt: iso(1), done: 0, failedAt: null, fault: null },
        { name: 'b', doneAt: iso(0), done: 3, failedAt: iso(2), fault: '53100' },
      ]);
      book.note('b', { at: after(3), done: 1 });
      expect(book.read()[1]).toEqual({ name: 'b', doneAt: iso(3), done: 1, failedAt: iso(2), fault: '53100' });
    });

    test.each([
      [new TypeError('secret'), 'TypeError'],
      [{}, 'Error'],
      [{ code: 7 }, '7'],
      [{ code: 'x'.repeat(61) }, 'x'.repeat(60)],
    ])('names only the kind of a fault: %s', (error, fault) => {
      const book = makeJobBook();
      book.note('a', { at: start, error });
      expect(book.read()[0]!.fault).toBe(fault);
    });

    test('reports a job as failing after the third failure in a row', () => {
      let failed = 0;
      const book = makeJobBook({ onFailed: () => (failed += 1) });
      const fail = () => book.note('a', { at: start, error: new Error('x') });
      book.note('b', { at: start, done: 1 });
      fail();
      fail();
      expect(book.findFailing()).toEqual([]);
      fail();
      expect(book.findFailing()).toEqual([{ name: 'a', fault: 'Error' }]);
      expect(book.countFailures()).toEqual([
        { name: 'b', total: 0, inARow: 0 },
        { name: 'a', total: 3, inARow: 3 },
      ]);
      book.note('a', { at: start, done: 0 });
      expect([book.findFailing(), failed]).toEqual([[], 3]);
      fail();
      expect(book.countFailures()[1]).toEqual({ name: 'a', total: 4, inARow: 1 });
    });
  });

  describe('the backoff of failed items', () => {
    test('is 2 seconds, then 4, 8 and so on, at most a minute', () => {
      const putOff = makeBackoff();
      const waits = [2, 4, 8, 16, 32, 60, 60];
      for (const seconds of waits) expect(putOff.add('a', start)).toEqual(after(seconds));
      for (let time = 0; time < 20; time += 1) expect(putOff.add('a', start)).toEqual(after(60));
    });

    test('excludes an item until its time, and starts over after a success', () => {
      const putOff = makeBackoff();
      putOff.add('a', start);
      putOff.add('b', after(1));
      expect([putOff.list(after(1.9)), putOff.list(after(2)), putOff.list(after(3))]).toEqual([['a', 'b'], ['b'], []]);
      putOff.remove('a');
      expect(putOff.list(start)).toEqual(['b']);
      expect(putOff.add('a', start)).toEqual(after(2));
      expect(putOff.add('b', start)).toEqual(after(4));
    });

    test('forgets an item that was idle for ten minutes', () => {
      const putOff = makeBackoff();
      for (const id of ['a', 'b']) putOff.add(id, start);
      expect(putOff.add('a', after(602))).toEqual(after(606));
      expect(putOff.add('b', after(602.001))).toEqual(after(604.001));
    });
  });

  describe('one-by-one processing of a batch', () => {
    const faulty = (id: string) => Object.assign(new Error(`broken ${id}`), { severity: 'ERROR', code: '22003' });
    /** Works the items that are not put off; those that are faulty throw, once they were taken. */
    function openBatch(
      items: string[],
      { isFaulty = (_id: string): boolean => false, fault = (id: string): Error => faulty(id) } = {},
    ) {
      const asked: [number, string[]][] = [];
      const worked: string[] = [];
      const work: ProcessBatch = async ({ limit, except, onTaken }) => {
        asked.push([limit, [...except]]);
        const taken = items.filter((id) => !except.includes(id) && !worked.includes(id)).slice(0, limit);
        if (taken.length > 0) onTaken(taken);
        const wrong = taken.find(isFaulty);
        if (wrong !== undefined) throw fault(wrong);
        worked.push(...taken);
        return taken.length;
      };
      const faults: unknown[] = [];
      const putOff = makeBackoff();
      const run = (limit: number) =>
        processOneByOne(work, {
          ...{ now: start, limit, putOff },
          onFault: ({ id, error, retryAt }) => void faults.push([id, (error as Error).message, retryAt]),
        });
      return { run, asked, worked, faults, putOff };
    }

    test('processes the batch together, and clears the backoff of its items', async () => {
      const { run, asked, worked, putOff } = openBatch(['a', 'b', 'c']);
      putOff.add('b', after(-10));
      expect(await run(2)).toBe(2);
      expect([asked, worked]).toEqual([[[2, []]], ['a', 'b']]);
      expect(putOff.add('b', start)).toEqual(after(2));
    });

    test('continues item by item after a fault: the faulty one is delayed and reported, the others are done', async () => {
      const { run, asked, worked, faults } = openBatch(['a', 'b', 'c'], { isFaulty: (id) => id === 'b' });
      expect(await run(10)).toBe(2);
      expect(worked).toEqual(['a', 'c']);
      expect(faults).toEqual([['b', 'broken b', after(2)]]);
      expect(asked).toEqual([
        [10, []],
        [1, []],
        [1, []],
        [1, ['b']],
        [1, ['b']],
      ]);
    });

    test('queries as often as it has items, and no more', async () => {
      const { run, worked, asked } = openBatch(['a', 'b', 'c', 'd'], { isFaulty: (id) => id === 'a' });
      expect(await run(3)).toBe(2);
      expect([worked, asked.length]).toEqual([['b', 'c'], 4]);
    });

    test('throws a database fault, and a fault without an item', async () => {
      const away = () => Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      const first = openBatch(['a'], { isFaulty: () => true, fault: away });
      await expect(first.run(5)).rejects.toThrow('away');
      expect([first.asked.length, first.faults]).toEqual([1, []]);
      let calls = 0;
      const work: ProcessBatch = async ({ onTaken }) => {
        calls += 1;
        if (calls === 1) onTaken(['a', 'b']);
        throw calls === 1 ? faulty('a') : new Error('nothing taken');
      };
      const apart = { now: start, limit: 5, putOff: makeBackoff(), onFault: () => {} };
      await expect(processOneByOne(work, apart)).rejects.toThrow('nothing taken');
      expect(calls).toBe(2);
      await expect(processOneByOne(async () => Promise.reject(new Error('early')), apart)).rejects.toThrow('early');
      let looks = 0;
      const lost: ProcessBatch = async ({ onTaken }) => {
        looks += 1;
        onTaken(['a']);
        throw looks === 1 ? faulty('a') : away();
      };
      await expect(processOneByOne(lost, apart)).rejects.toThrow('away');
    });

    test('logs a fault in one line, with the item and the time of its retry', () => {
      const { log, lines } = openLog();
      makeFaultLogger(log, 'run')({ id: 'r1', error: new Error('x'), retryAt: after(2) });
      expect(lines).toMatchObject([
        { runId: 'r1', retryAt: after(2).toISOString(), msg: 'run cannot be started; others go before it' },
      ]);
    });
  });

  describe('a job that sends under a lease', () => {
    function openLeased({ maxUnderWay = 3, waiting = 0 } = {}) {
      const clock = makeManualClock(start);
      clock.setOffset(3_600_000);
      const { log, lines } = openLog();
      const claims: object[] = [];
      const due: { id: string }[][] = [];
      const ends = new Map<string, PromiseWithResolvers<void>>();
      const outcomes = { waiting: () => waiting } as never;
      const job = makeLeasedJob({
        ...{ name: 'post', what: 'callback', maxUnderWay, clock, log, outcomes },
        async claim(claim) {
          claims.push(claim);
          return due.shift() ?? [];
        },
        deliver({ id }) {
          const end = Promise.withResolvers<void>();
          ends.set(id, end);
          return end.promise;
        },
      });
      return { job, claims, due, ends, lines };
    }

    test('claims up to the free number for a minute of real time, and returns the count', async () => {
      const { job, claims, due, ends } = openLeased();
      due.push([{ id: 'a' }, { id: 'b' }]);
      const round = job.runOnce(after(3_600));
      await pass(0);
      expect(claims).toEqual([{ at: after(3_600), limit: 3, leasedAt: start, leaseUntil: after(60) }]);
      for (const end of ends.values()) end.resolve();
      expect(await round).toBe(2);
      expect([vi.getTimerCount(), job.name, job.intervalMilliseconds]).toEqual([0, 'post', 1_000]);
    });

    test('leaves items running that take over a second, and claims fewer', async () => {
      const { job, claims, due, ends } = openLeased({ maxUnderWay: 2 });
      due.push([{ id: 'slow' }]);
      const round = job.runOnce(start);
      await pass(999);
      let isOver = false;
      void round.then(() => (isOver = true));
      await pass(0);
      expect(isOver).toBe(false);
      await pass(1);
      expect(await round).toBe(1);
      due.push([{ id: 'slow too' }]);
      const next = job.runOnce(start);
      await pass(1_000);
      await next;
      expect(claims.map((claim) => (claim as { limit: number }).limit)).toEqual([2, 1]);
      expect(await job.runOnce(start)).toBe(0);
      expect(claims).toHaveLength(2);
      const settled = job.settled();
      for (const end of ends.values()) end.resolve();
      await settled;
      await job.runOnce(start);
      expect((claims[2] as { limit: number }).limit).toBe(2);
    });

    test('claims nothing while outcomes cannot be stored', async () => {
      const { job, claims } = openLeased({ waiting: 1 });
      expect([await job.runOnce(start), claims]).toEqual([0, []]);
    });

    test('continues after a failure, and logs the failed item', async () => {
      const { job, claims, due, ends, lines } = openLeased();
      due.push([{ id: 'a' }]);
      const round = job.runOnce(start);
      await pass(0);
      ends.get('a')!.reject(new Error('away'));
      expect(await round).toBe(1);
      expect(lines).toMatchObject([{ id: 'a', msg: 'callback not settled' }]);
      await job.runOnce(start);
      expect((claims[1] as { limit: number }).limit).toBe(3);
    });
  });

  describe('the outcomes of a stopping node', () => {
    const away = () => Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    function openKept(store: () => Promise<string>) {
      const { log } = openLog();
      const pauses: number[] = [];
      const outcomes = makeOutcomeBuffer({
        log,
        pause(milliseconds) {
          pauses.push(milliseconds);
          return new Promise((resolve) => setTimeout(resolve, milliseconds));
        },
      });
      const stored = outcomes.store(store);
      stored.catch(() => {});
      return { outcomes, stored, pauses };
    }

    test('are retried for ten seconds, once a second, and then given up', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
      let tries = 0;
      const { outcomes, stored, pauses } = openKept(async () => {
        tries += 1;
        throw away();
      });
      await pass(60_000);
      expect([outcomes.waiting(), outcomes.fault(), new Set(pauses)]).toEqual([1, 'ECONNREFUSED', new Set([1_000])]);
      const before = tries;
      let isSettled = false;
      void outcomes.settled().then(() => (isSettled = true));
      await pass(0);
      expect(isSettled).toBe(false);
      outcomes.noteStopping();
      await pass(0);
      expect(isSettled).toBe(true);
      await outcomes.settled();
      await pass(5_000);
      outcomes.noteStopping();
      await pass(5_000);
      expect([tries - before, outcomes.waiting()]).toEqual([10, 1]);
      await pass(1_000);
      await expect(stored).rejects.toThrow('away');
      expect([tries - before, outcomes.waiting(), outcomes.fault()]).toEqual([11, 0, undefined]);
    });

    test('are given up immediately if they belong to another worker by now', async () => {
      const { stored, pauses } = openKept(async () => Promise.reject(new LostWorkError('lost')));
      await expect(stored).rejects.toThrow(LostWorkError);
      expect(pauses).toEqual([]);
    });

    test('are waited for until the last is stored', async () => {
      let isAway = true;
      const { outcomes, stored } = openKept(async () => (isAway ? Promise.reject(away()) : 'stored'));
      await pass(0);
      let isSettled = false;
      void outcomes.settled().then(() => (isSettled = true));
      await pass(1_000);
      expect(isSettled).toBe(false);
      isAway = false;
      await pass(1_000);
      expect([await stored, isSettled, outcomes.waiting()]).toEqual(['stored', true, 0]);
    });
  });
});

describe('the rest of a node', () => {
  test('begins five seconds after the last call, and makes jobs run at a twentieth of their rate', () => {
    let now = 0;
    const rest = makeRest(() => now);
    expect(rest.stretch(1_000)).toBe(20_000);
    const end = rest.beginCall();
    now = 60_000;
    expect(rest.stretch(1_000)).toBe(1_000);
    end();
    now = 65_000;
    expect(rest.stretch(1_000)).toBe(1_000);
    now = 65_001;
    expect(rest.stretch(1_000)).toBe(20_000);
  });

  test('ends with a call, and not otherwise; the end of a call counts once', () => {
    let now = 0;
    let woken = 0;
    const rest = makeRest(() => now);
    rest.onWoken(() => (woken += 1));
    const end = rest.beginCall();
    rest.beginCall()();
    expect(woken).toBe(1);
    end();
    end();
    now = 10_000;
    rest.beginCall()();
    expect(woken).toBe(2);
  });
});

describe('the outcome buffer', () => {
  /** As PostgreSQL says it. */
  const refused = (code: string) => () => Object.assign(new Error('refused'), { code, severity: 'ERROR' });

  test.each([
    ['a value that its type has not', refused('22003')],
    ['a constraint', refused('23514')],
    ['a statement that cannot be written', () => new RangeError('Invalid time value')],
  ])(
    'gives up outcomes that are rejected for %s after twenty retries, without blocking others',
    async (_what, fault) => {
      const { outcomes, lines, pauses } = makeKept();
      const { store, tries } = makeStore(Infinity, fault);
      await expect(outcomes.store(store)).rejects.toThrow(fault().message);
      expect([tries(), pauses()]).toEqual([21, 20]);
      expect([outcomes.waiting(), outcomes.fault()]).toEqual([0, undefined]);
      await outcomes.settled();
      expect(lines.map(({ msg }) => msg)).toEqual([
        'outcomes cannot be stored; they are kept and stored again',
        'outcomes are given up: the database refuses what is in them',
      ]);
    },
  );

  test.each([
    ['a disk that is full', refused('53100')],
    ['a lock', refused('55P03')],
    ['a node that is away', () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
    ['a certificate that has expired', () => Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' })],
  ])('keeps outcomes that fail for %s as long as the failure lasts', async (_what, fault) => {
    const { outcomes } = makeKept();
    const { store, tries } = makeStore(1_000, fault);
    expect(await outcomes.store(store)).toBe('stored');
    expect(tries()).toBe(1_001);
  });

  test('does not store outcomes again that belong to another worker by now', async () => {
    const { outcomes } = makeKept();
    const { store, tries } = makeStore(Infinity, () => new LostWorkError('lost'));
    await expect(outcomes.store(store)).rejects.toThrow(LostWorkError);
    expect(tries()).toBe(1);
  });
});

describe('a worker', () => {
  let bundle: TestDatabase;
  let worker: Worker | undefined;
  const silent = makeLog({ level: 'silent', pretty: false });
  const ran = new Map<string, number>();

  beforeEach(async () => {
    ran.clear();
    bundle = await createTestDatabase();
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
    await bundle.drop();
  });
  const erase = makeEraseDueUsers({ database: {} as never }).name;
  const byTime = [
    'advance-journeys',
    'fire-due-campaigns',
    'release-due-triggers',
    'expire-segments',
    erase,
    'erase-log-bodies',
  ];
  const fanOut = [
    ...[
      'release-runs',
      'cut-audiences',
      'correct-turns',
      'retry-deliveries',
      'continue-mended-runs',
      'probe-held-keys',
      'send-live-activities',
    ],
    'send-token-challenges',
    'end-runs',
  ];
  const receivers = [
    ...['fill-segments', 'deliver-callbacks', 'note-event-batches', 'post-event-batches', 'send-mails'],
    'write-report-files',
  ];
  const housekeeping = [
    ...[
      'archive-ended-keys',
      'rotate-token-secrets',
      'drop-old-records',
      'drop-old-receipts',
      'drop-segment-leftovers',
      'prepare-days',
    ],
    ...['drop-old-days', 'trim-old-records', 'remove-pictures', 'remove-topics', 'attribute-conversions'],
  ];
  const all = [...byTime, ...fanOut, ...receivers, ...housekeeping];

  test('runs all jobs at its start, and the due ones or all of them when it is woken', async () => {
    await expectRuns(all, () => start());
    await expectRuns([...byTime, ...fanOut, ...receivers], () => worker!.wakeDue());
    await expectRuns(all, () => worker!.wake());
  });

  const ring = (bell: Bell) => inTransaction(bundle.database, async (tx) => ringAfterCommit(tx, bell));

  test('wakes the senders or the file readers on a notification', async () => {
    await expectRuns(all, () => start());
    await expectRuns(fanOut, () => ring('fan-out'));
    await expectRuns(receivers, () => ring('segments'));
  });

  test('does nothing after it has stopped, and gives up outcomes in time', async () => {
    let stops = 0;
    const closed: string[] = [];
    await start({
      outcomes: { ...makeOutcomeBuffer({ log: silent, pause: async () => {} }), noteStopping: () => void (stops += 1) },
      smtpClient: { send: () => Promise.reject(new Error('not asked for')), close: () => void closed.push('smtp') },
    });
    await worker!.stop();
    ran.clear();
    worker!.wake();
    await ring('fan-out');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([ran.size, stops, closed]).toEqual([0, 1, ['smtp']]);
  });

  test('watches alerts if it has a source of issues', async () => {
    const watching = { readAlertIssues: async () => [], recheck: async () => {}, consoleUrl: undefined };
    await expectRuns([...all, 'watch-alerts'], () => start({ alerts: watching as never }));
  });

  test('finds work by polling if it gets no notification', async () => {
    const url = new URL(bundle.url);
    url.port = String(await findFreePort());
    // The looks come at their usual distance.
    await start({ rest: undefined, sessionUrl: url.href });
    await expect.poll(() => ran.has('release-runs'), { interval: 5 }).toBe(true);
    await ring('fan-out');
    ran.clear();
    await expect.poll(() => ran.has('release-runs'), { timeout: 10_000 }).toBe(true);
  });

  async function start(more: Partial<WorkerDependencies> = {}): Promise<void> {
    worker = await startWorker({
      ...{ database: bundle.database, sessionUrl: bundle.url, clock: makeClock(), log: silent },
      doorbell: makeDoorbell(bundle),
      book: { note: (name: string) => void ran.set(name, (ran.get(name) ?? 0) + 1) } as never,
      // No look comes of itself.
      rest: { beginCall: () => () => {}, stretch: (milliseconds) => milliseconds * 20, onWoken: () => {} },
      encryption: {} as never,
      delivery: {} as Delivery,
      interactionTokens: makeInteractionTokens(Buffer.alloc(32, 1)),
      phoneDefaults: {} as never,
      ...{
        owner: 'one',
        parallelChunks: 1,
        workspacePercent: 100,
        windowDevices: 10,
        lateSendMinutes: 10,
        inboxMessages: 10,
      },
      retention: { deliveries: 30, events: 30 } as never,
      ...{ allowedNetworks: [], smtpClient: undefined, segmentUsersPerDay: 10, abbreviation: 'svc' },
      ...{ conversionSettleSeconds: 1, async *readReport() {}, pictures: { objects: undefined, keptDays: 90 } },
      outcomes: makeOutcomeBuffer({ log: silent, pause: async () => {} }),
      ...more,
    });
  }

  /** Nothing runs any more. */
  async function rest(): Promise<void> {
    const count = (): number => [...ran.values()].reduce((sum, times) => sum + times, 0);
    for (let before = -1; before !== count();) {
      before = count();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Which jobs ran, once all that are expected did. */
  async function expectRuns(expected: string[], act: () => void | Promise<void>): Promise<void> {
    await rest();
    ran.clear();
    await act();
    await expect.poll(() => expected.filter((name) => !ran.has(name)), { interval: 5 }).toEqual([]);
    expect([...ran.keys()].sort()).toEqual([...expected].sort());
  }
});

function openLog() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, log: makeLog({ level: 'info', pretty: false }, { write }) };
}

/** A try to store throws this, as often as is said; then it succeeds. */
function makeStore(times: number, fault: () => Error) {
  let tries = 0;
  return {
    tries: () => tries,
    async store(): Promise<string> {
      tries += 1;
      if (tries <= times) throw fault();
      return 'stored';
    },
  };
}

function makeKept() {
  const lines: Record<string, unknown>[] = [];
  const log = makeLog(
    { level: 'info', pretty: false },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  let pauses = 0;
  const outcomes = makeOutcomeBuffer({ log, pause: async () => void (pauses += 1) });
  return { outcomes, lines, pauses: () => pauses };
}
