import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { admitUsers, makeDeliverToEligible } from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import { freeSeats, markSent, runLimitOf, seatUsers, waitForSeats } from '../../../src/engine/fan-out/seats.ts';
import type { SeatsLeft } from '../../../src/engine/fan-out/seats.ts';
import { makeLog } from '../../../src/log.ts';
import type { Outcome } from '../../../src/providers/provider.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import type { Database, Transaction } from '../../../src/storage/database.ts';
import { insertDeliveries } from '../../../src/storage/ledger/deliveries.ts';
import type { DeliveryOutcome } from '../../../src/storage/ledger/deliveries.ts';
import { eraseSeats, findLimit, lockLimit } from '../../../src/storage/runs/audience-seats.ts';
import { postponeChunks, releaseChunk } from '../../../src/storage/runs/chunks.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { campaign, faultsOf } from '../../campaigns/authoring-bundle.ts';
import { makeExperimentBundle } from '../../experiments/experiment-bundle.ts';
import type { ExperimentBundle } from '../../experiments/experiment-bundle.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { ledgerRun } from '../../ledger-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

describe('seats', () => {
  const now = new Date('2026-03-02T12:00:00Z');
  const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000);
  const idOf = (number: number): string => number.toString(16).padStart(24, '0');
  const user = (number: number, bucket = number) => ({ bucket, userId: idOf(number) });
  const users = (...numbers: number[]) => numbers.map((number) => user(number));

  let testDatabase: TestDatabase;
  let database: Database;
  let workspaceId: string;
  let run: RunToSend;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    ({ database } = testDatabase);
    workspaceId = await insertTestWorkspace(database, now);
    await database`select make_day_partition('deliveries', '2026-03-02')`;
    await insertSentRun(database, { workspaceId, id: 'run', at: now });
    const { runNumber, workspaceNumber } = await ledgerRun(database, 'run');
    run = {
      ...{ id: 'run', number: runNumber, workspaceId, workspaceNumber, campaignId: 'run', canonicalCampaignId: 'run' },
      ...{ day: '2026-03-02', sendUntil: later(3600), createdAt: now, startedAt: now, occurrence: null, isTest: false },
      settings: { audienceLimit: { users: 3, of: 'RUN' } },
      timing: { kind: 'soon' },
      controls: { caps: [], minimumDelayMinutes: null, quietHours: null, zoneAttribute: 'zone', timeZone: 'UTC' },
    } as unknown as RunToSend;
  });
  afterAll(() => testDatabase.drop());
  beforeEach(async () => {
    const tables = ['audience_limits', 'audience_seats', 'deliveries', 'chunks', 'user_messages'];
    await database.unsafe(tables.map((table) => `delete from ${table}`).join('; '));
    await database`update runs set status = 'SENDING', ended_at = null, settled_at = null`;
  });

  const limit = () => runLimitOf(run)!;
  const seat = (wanted: ReturnType<typeof users>, more: Partial<RunToSend> = {}) =>
    inTransaction(database, (tx) => seatUsers(tx, { run: { ...run, ...more }, limit: limit(), users: wanted, now }));

  const leftOut = { kind: 'withhold', code: 'CAMPAIGN_AUDIENCE_LIMIT' };
  const heldUntil = (until: Date) => ({ kind: 'hold', code: 'CAMPAIGN_AUDIENCE_LIMIT', until });

  describe('users of a limited audience', () => {
    test('get a seat while there are any; the others wait until the outcome of these is known', async () => {
      expect(await seat([])).toEqual({ refused: [], eligibility: leftOut });
      expect(await seat(users(1, 2))).toEqual({ refused: [], eligibility: heldUntil(later(5)) });
      expect(await readLimit()).toEqual({ taken: 2, sent: 0, seats: 2 });
      await addChunk(255, { isWindowOpen: true });
      expect(await seat(users(3, 4, 5))).toEqual({ refused: users(4, 5), eligibility: heldUntil(later(5)) });
      expect(await readLimit()).toEqual({ taken: 3, sent: 0, seats: 3 });
    });

    test('keep their seat, and take no second one', async () => {
      await seat(users(1, 2, 3));
      expect((await seat(users(1, 3))).refused).toEqual([]);
      expect(await readLimit()).toEqual({ taken: 3, sent: 0, seats: 3 });
    });

    test('need no seat if one of their messages was accepted', async () => {
      await seat(users(1, 2, 3));
      await store([[7, 'ACCEPTED']]);
      expect((await seat(users(7))).refused).toEqual([]);
      expect((await seat(users(1, 7))).refused).toEqual([]);
      expect(await readLimit()).toEqual({ taken: 3, sent: 0, seats: 3 });
    });

    test('are excluded once as many messages were accepted as there are seats', async () => {
      await database`insert into audience_limits (id, workspace_id, taken, sent) values ('run', ${workspaceId}, 3, 3)`;
      expect(await seat(users(1, 2))).toEqual({ refused: users(1, 2), eligibility: leftOut });
      await database`update audience_limits set sent = 2`;
      await addChunk(255);
      expect((await seat(users(1))).eligibility).toEqual(heldUntil(later(5)));
    });

    test('are excluded, too, if the message would expire before the next check', async () => {
      await seat(users(1, 2, 3));
      await addChunk(255);
      expect((await seat(users(4), { sendUntil: later(5) })).eligibility).toEqual(leftOut);
      expect((await seat(users(4), { sendUntil: later(5.001) })).eligibility).toEqual(heldUntil(later(5)));
    });

    test('get seats of users whose message failed, and wait a minute for one that is retried', async () => {
      await seat(users(1, 2, 3));
      await store([
        [1, 'REJECTED'],
        [2, 'WAITING'],
        [3, 'ACCEPTED'],
      ]);
      await addChunk(255);
      expect(await seat(users(4, 5))).toEqual({ refused: users(5), eligibility: heldUntil(later(60)) });
      expect(await readLimit()).toEqual({ taken: 3, sent: 1, seats: 2 });
    });
  });

  test('counts a seat as used for an accepted message, and nothing for other outcomes or without a limit', async () => {
    await seat(users(1, 2));
    const result = (number: number, outcome: string) => ({ delivery: { ...user(number), outcome } }) as never;
    const mark = (results: never[], of = run) => inTransaction(database, (tx) => markSent(tx, { run: of, results }));
    await mark([result(1, 'WAITING'), result(2, 'REJECTED')]);
    expect(await readLimit()).toEqual({ taken: 2, sent: 0, seats: 2 });
    await mark([result(1, 'ACCEPTED')], { ...run, settings: {} });
    expect(await readLimit()).toEqual({ taken: 2, sent: 0, seats: 2 });
    // Of two devices, and of a user who has no seat.
    await mark([result(1, 'ACCEPTED'), result(1, 'ACCEPTED'), result(9, 'ACCEPTED')]);
    expect(await readLimit()).toEqual({ taken: 2, sent: 1, seats: 1 });
  });

  describe('the outcome of a seat', () => {
    const free = () => inTransaction(database, (tx) => freeSeats(tx, 'run'));
    const ahead = (...numbers: number[]) => numbers.map((number) => expect.objectContaining(user(number)));

    beforeEach(async () => {
      await seat(users(1, 2, 3));
      await store([
        [1, 'ACCEPTED'],
        [2, 'REJECTED'],
      ]);
    });

    test('is unknown before its chunk has reached it', async () => {
      await addChunk(255, { state: 'READY' });
      expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: ahead(3) });
      expect(await readLimit()).toEqual({ taken: 2, sent: 1, seats: 1 });
    });

    test('is unknown for a rejected message while a window is open, which may reach another device', async () => {
      await addChunk(255, { isWindowOpen: true });
      expect(await free()).toEqual({ freed: 0, waiting: 0, ahead: ahead(2, 3) });
      expect(await readLimit()).toEqual({ taken: 3, sent: 1, seats: 2 });
    });

    test('is that of a sent message if it is unknown when the chunk has ended', async () => {
      await addChunk(255, { state: 'DONE' });
      expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: [] });
      expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
    });

    test('is looked up in the chunk of the user, including both ends', async () => {
      await addChunk(2, { state: 'DONE' });
      await addChunk(255, { from: 3, state: 'READY' });
      expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: ahead(3) });
      await database`delete from chunks`;
      await addChunk(3, { state: 'DONE', from: 3 });
      expect(await free()).toEqual({ freed: 0, waiting: 0, ahead: [] });
      expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
    });

    test('is open while its message is retried, but not after the end of its run', async () => {
      await database`update deliveries set outcome = 'W', retry_at = ${later(60)} where outcome <> 'A'`;
      await addChunk(255, { state: 'DONE' });
      expect(await free()).toEqual({ freed: 0, waiting: 1, ahead: [] });
      expect(await readLimit()).toEqual({ taken: 3, sent: 2, seats: 1 });
      await database`update runs set status = 'SENT', ended_at = ${now}`;
      expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: [] });
      expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
    });

    test('is known for all seats when the run has ended, whatever the state of its chunks', async () => {
      await addChunk(255, { state: 'READY' });
      await database`update runs set status = 'FAILED', status_reason = 'r', ended_at = ${now}`;
      expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: [] });
      expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
    });
  });

  describe('a chunk', () => {
    const chunk = { bucketFrom: 10, bucketTo: 19 };
    const wait = (more: Partial<RunToSend> = {}) => waitForSeats(database, { run: { ...run, ...more }, chunk, now });

    test('continues while there are seats, after all were used, and without a limit', async () => {
      expect(await wait()).toBeUndefined();
      await seat(users(1, 2));
      expect(await wait()).toBeUndefined();
      expect(await wait({ settings: {} })).toBeUndefined();
      await database`update audience_limits set taken = 3, sent = 3`;
      expect(await wait()).toBeUndefined();
    });

    test('waits for the chunks of users with a seat, and names their buckets, unless they are its own', async () => {
      await seat([user(1), user(2, 25), user(3, 25)]);
      await addChunk(255);
      expect(await wait()).toEqual({ until: later(5), besides: [1, 25] });
      expect(await wait({ sendUntil: later(5) })).toBeUndefined();
      expect(await waitForSeats(database, { run, chunk: { bucketFrom: 25, bucketTo: 25 }, now })).toBeUndefined();
      expect(await waitForSeats(database, { run, chunk: { bucketFrom: 2, bucketTo: 24 }, now })).toEqual({
        ...{ until: later(5), besides: [1, 25] },
      });
    });

    test('continues when a seat is returned', async () => {
      await seat(users(1, 2, 3));
      await store([[1, 'REJECTED']]);
      await addChunk(255);
      expect(await wait()).toBeUndefined();
      expect(await readLimit()).toEqual({ taken: 2, sent: 0, seats: 2 });
    });
  });

  describe('users of a window', () => {
    const log = makeLog({ level: 'silent', pretty: false });
    const devices = (...numbers: number[]) =>
      numbers.map((number) => ({ device: { ...user(number), id: idOf(number) } as never, attempt: 1 }));
    const admit = async (own: ReturnType<typeof devices>, more: Partial<RunToSend> = {}) => {
      const clock = makeManualClock(now);
      const decisions = await admitUsers({ database, clock, log }, { run: { ...run, ...more }, devices: own });
      return decisions && Object.fromEntries([...decisions].map(([key, { kind }]) => [Number.parseInt(key), kind]));
    };
    const capped = (more: Partial<RunToSend> = {}): Partial<RunToSend> => ({
      ...{ settings: {}, controls: { ...run.controls, caps: [{ messages: 1, hours: 24 }] } },
      ...more,
    });

    test('are all admitted in a run without controls', async () => {
      const work = admitUsers(
        { database: undefined as never, clock: undefined as never, log },
        {
          ...{ run: { ...run, settings: {} }, devices: devices(1) },
        },
      );
      expect(await work).toBeUndefined();
    });

    test('are admitted up to the number of seats, once for two devices', async () => {
      await addChunk(255);
      expect(await admit(devices(1, 2, 1, 3, 4))).toEqual({ 1: 'send', 2: 'send', 3: 'send', 4: 'hold' });
      expect(await database`select 1 from user_messages`).toHaveLength(0);
    });

    test('take no seat if a cap stops them', async () => {
      await admit(devices(1, 2), capped({ id: 'another', settings: {} }));
      const both = capped({ settings: run.settings });
      expect(await admit(devices(1, 2, 3, 4), both)).toEqual({ 1: 'withhold', 2: 'withhold', 3: 'send', 4: 'send' });
      expect(await readLimit()).toMatchObject({ taken: 2 });
    });

    test('are recorded once per run, with the campaign', async () => {
      expect(await admit(devices(1, 2), capped())).toEqual({ 1: 'send', 2: 'send' });
      expect(await admit(devices(2, 1), capped())).toEqual({ 1: 'send', 2: 'send' });
      const rows = await database`
        select user_id as "userId", run_ids as "runIds", campaign_ids as "campaignIds", sent_at as at, is_counted as "isCounted"
        from user_messages order by 1`;
      expect([...rows]).toEqual(
        [1, 2].map((number) => ({
          ...{ userId: idOf(number), runIds: ['run'], campaignIds: ['run'], at: [now], isCounted: [true] },
        })),
      );
      expect(await admit(devices(1), capped({ id: 'another' }))).toEqual({ 1: 'withhold' });
      // Whoever is sent to whatever came before is written down for what comes after.
      await admit(devices(1), capped({ id: 'a third', settings: { ignoresCap: true } }));
      const [first] = await database`select run_ids as "runIds" from user_messages where user_id = ${idOf(1)}`;
      expect(first!.runIds).toEqual(['run', 'a third']);
    });

    test('get the reason in the ledger and no attempt if they are not admitted, while the others are sent to', async () => {
      const asked: string[] = [];
      const deliver = makeDeliverToEligible({
        ...{ database, log, clock: makeManualClock(now), personaliseDevices: async (_run, own) => own },
        async deliverToDevices(_run, addressees) {
          asked.push(...addressees.map(({ device }) => device.userId));
          return addressees.map(
            ({ device }) => ({ delivery: { userId: device.userId, outcome: 'ACCEPTED' } }) as never,
          );
        },
      });
      await addChunk(255);
      await admit(devices(2), capped({ id: 'another' }));
      const window = { ...run, ...capped({ settings: run.settings }), content: {}, variants: null } as RunToSend;
      const results = await deliver(window, devices(1, 2, 3, 4, 5));
      expect(asked).toEqual([1, 3, 4].map(idOf));
      expect(
        results.map(({ delivery: { outcome, code, attempts, retryAt } }) => [outcome, code, attempts, retryAt]),
      ).toEqual([
        ['ACCEPTED', undefined, undefined, undefined],
        ['WITHHELD', 'FREQUENCY_CAP', 0, null],
        ['ACCEPTED', undefined, undefined, undefined],
        ['ACCEPTED', undefined, undefined, undefined],
        ['WAITING', 'CAMPAIGN_AUDIENCE_LIMIT', 0, later(5)],
      ]);
    });
  });

  async function store(outcomes: [number: number, outcome: DeliveryOutcome][]): Promise<void> {
    const deliveries = outcomes.map(([number, outcome]) => ({
      ...{ ...user(number), deviceId: idOf(1_000 + number), platform: 'IOS' as const, outcome, code: null },
      ...{ providerMessageId: null, attempts: 1, retryAt: outcome === 'WAITING' ? later(60) : null },
    }));
    const { number: runNumber, workspaceNumber, day } = run;
    await insertDeliveries(database, { day, runNumber, workspaceNumber, sentAt: now, deliveries });
  }

  /** The run's chunk of all buckets up to one. */
  async function addChunk(to: number, { state = 'CLAIMED', isWindowOpen = false, from = 0 } = {}): Promise<void> {
    const isClaimed = state === 'CLAIMED';
    await database`
      insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, owner, lease_until, ended_at,
        window_opened_at, window_position, not_before, created_at)
      values ('run', ${from}, ${workspaceId}, 1, ${from}, ${to}, ${state}, ${isClaimed ? 'w' : null}, ${isClaimed ? now : null},
        ${state === 'DONE' ? now : null}, ${isWindowOpen ? now : null}, ${isWindowOpen ? '' : null}, ${now}, ${now})`;
  }

  async function readLimit() {
    const [row] = await database`
      select taken::int, sent::int, (select count(*)::int from audience_seats) as seats from audience_limits`;
    return row;
  }
});

describe('seat races', () => {
  const phones = 24;
  const rejected: Outcome = { kind: 'rejected', code: 'TOO_BIG', detail: '' };
  let bundle: ExperimentBundle;
  beforeAll(async () => {
    bundle = await makeExperimentBundle();
    await bundle.addPhones(phones);
  });
  afterAll(() => bundle.close());
  beforeEach(() => {
    bundle.sent.length = 0;
  });

  test('count rejected users as unsent even if their window ends while the seats are checked', async () => {
    const { run, limit } = await begin(phones);
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    bundle.answer(() => released.then(() => rejected));
    const workers = bundle.startWorkers({ windowDevices: phones + 1 });
    workers.wake();
    while (bundle.sent.length < phones) await new Promise((resolve) => setTimeout(resolve, 2));
    let ended = 0;
    const left: SeatsLeft = await inTransaction(bundle.database, async (tx) => {
      await lockLimit(tx, limit);
      const looking = after(tx, ['from chunks', 'join deliveries'], async () => {
        release();
        await bundle.settled(run.id, [workers]);
        ended += 1;
      });
      return freeSeats(looking, limit.id);
    });
    await workers.stop();
    expect(ended).toBe(1);
    expect(await findLimit(bundle.database, limit.id)).toEqual({ taken: phones - left.freed, sent: 0 });
    const then = await inTransaction(bundle.database, async (tx) => {
      await lockLimit(tx, limit);
      return freeSeats(tx, limit.id);
    });
    expect(left.freed + then.freed).toBe(phones);
    expect(await findLimit(bundle.database, limit.id)).toEqual({ taken: 0, sent: 0 });
  });

  test('never use a seat twice that is given to another user during a check', async () => {
    const { run, limit } = await begin(1);
    bundle.answer(() => rejected);
    const chunk = (await bundle.claim('one'))!;
    const cursor = { bucket: chunk.bucketFrom, position: '' };
    const seated = await bundle.sendWindow({ run, chunk, cursor });
    expect(seated.kind).toBe('sent');
    const [first, second] = (await bundle.database`
      select deliveries.bucket, user_id as "userId" from readable_deliveries as deliveries
      where run_id = ${run.id} order by (outcome = 'REJECTED') desc limit 2`) as unknown as {
      bucket: number;
      userId: string;
    }[];
    expect(await findLimit(bundle.database, limit.id)).toEqual({ taken: 1, sent: 0 });
    const seat = (tx: Transaction, users: (typeof first)[]) =>
      seatUsers(tx, { run, limit, users: users.map((user) => user!), now: bundle.clock.now() });
    let given = 0;
    const { refused } = await inTransaction(bundle.database, (tx) =>
      seat(
        after(tx, ['audience_seats as seat'], async () => {
          const other = await inTransaction(bundle.database, (elsewhere) => seat(elsewhere, [second]));
          given += 1 - other.refused.length;
        }),
        [first],
      ),
    );
    expect(given).toBe(1);
    expect(refused).toEqual([first]);
    expect(await findLimit(bundle.database, limit.id)).toEqual({ taken: 1, sent: 0 });
  });

  async function begin(limit: number) {
    const audience = { is_campaign_audience_limit_enabled: true, metric: 'SENT', frequency: 'TOTAL', limit };
    const id = await bundle.live({ campaign_audience_limit: audience });
    while ((await bundle.release()) > 0);
    const run = await bundle.run((await bundle.runs(id)).at(-1).id as string);
    return { run, limit: { id, workspaceId: bundle.workspaceId, users: limit } };
  }
});

type Options = { owners?: string[]; windowDevices?: number; parallelChunks?: number };

describe('audience limit', () => {
  const phones = 120;
  const hour = 3_600_000;
  let bundle: ExperimentBundle;
  beforeAll(async () => {
    bundle = await makeExperimentBundle();
    await bundle.addPhones(phones);
  });
  afterAll(() => bundle.close());
  beforeEach(() => {
    bundle.answer(() => ({ kind: 'accepted' }));
    bundle.sent.length = 0;
  });

  const limited = (limit: number, frequency = 'TOTAL') => ({
    campaign_audience_limit: { is_campaign_audience_limit_enabled: true, metric: 'SENT', frequency, limit },
  });
  const numberOf = (pushId: string): number => Number(pushId.split('-').at(-1));

  const ledgerOf = async (runId: string) =>
    Object.fromEntries(
      (
        await bundle.database`
          select outcome || coalesce(' ' || code, '') as what, count(*)::int as devices from readable_deliveries
          where run_id = ${runId} group by 1 order by 1`
      ).map(({ what, devices }) => [what, devices]),
    );
  const seatsOf = async (limitId: string) =>
    (
      await bundle.database`
        select taken::int, sent::int, (select count(*)::int from audience_seats where limit_id = ${limitId}) as seats
        from audience_limits where id = ${limitId}`
    )[0];

  describe('a campaign with an audience limit', () => {
    test('reaches exactly its limit over two nodes, and records the limit as the reason for the others', async () => {
      const id = await bundle.live(limited(50));
      const runId = await begin(id);
      await sendAll(runId);
      expect(new Set(bundle.sent.map(({ pushId }) => pushId)).size).toBe(50);
      expect(bundle.sent).toHaveLength(50);
      expect(await ledgerOf(runId)).toEqual({ ACCEPTED: 50, 'WITHHELD CAMPAIGN_AUDIENCE_LIMIT': phones - 50 });
      expect(await seatsOf(id)).toEqual({ taken: 50, sent: 50, seats: 0 });
      const shown = await bundle.get(id);
      expect(shown).toMatchObject({ status: 'SENT', ...limited(50) });
      const found = await bundle.call('POST', '/v5/campaigns/search', { limit: 1, page: 1 });
      expect(found.json().data.campaigns[0]).toMatchObject({ id, ...limited(50) });
      expect((await bundle.variations(id)).all_variations).toMatchObject({
        performance_stats: { attempted: 50, sent: 50, failed: 0 },
        failure_breakdown: { CAMPAIGN_AUDIENCE_LIMIT: phones - 50 },
      });
      const [left] = await bundle.database`
        select users.customer_id as customer from readable_deliveries as deliveries join users on users.id = user_id
        where run_id = ${runId} and outcome = 'WITHHELD' limit 1`;
      const told = await bundle.explain(id, left!.customer as string);
      expect(told.runs[0].step).toBe('CAMPAIGN_AUDIENCE_LIMIT');
    });

    test('reuses the seats of failed messages, at once or after their attempts, to reach its full limit', async () => {
      const tries = new Map<string, number>();
      bundle.answer(({ pushId }): Outcome => {
        const tried = (tries.get(pushId) ?? 0) + 1;
        tries.set(pushId, tried);
        switch (numberOf(pushId) % 5) {
          case 0:
            return { kind: 'rejected', code: 'TOO_BIG', detail: '' };
          case 1:
            return tried < 3
              ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 20 }
              : { kind: 'rejected', code: 'LATE', detail: '' };
          case 2:
            return tried < 3
              ? { kind: 'wait', code: '503', scope: 'device', retryAfterSeconds: 20 }
              : { kind: 'accepted' };
          default:
            return { kind: 'accepted' };
        }
      });
      const id = await bundle.live(limited(60));
      const runId = await begin(id);
      await sendAll(runId);
      const { ACCEPTED: accepted, 'WITHHELD CAMPAIGN_AUDIENCE_LIMIT': left, ...failed } = await ledgerOf(runId);
      expect(accepted).toBe(60);
      expect(Object.keys(failed).toSorted()).toEqual(['REJECTED LATE', 'REJECTED TOO_BIG']);
      expect(accepted! + left! + failed['REJECTED LATE']! + failed['REJECTED TOO_BIG']!).toBe(phones);
      expect(await seatsOf(id)).toMatchObject({ taken: 60, sent: 60, seats: 0 });
    });

    test('excludes no user if the limit is above the audience', async () => {
      const id = await bundle.live(limited(phones + 1));
      const runId = await begin(id);
      await sendAll(runId);
      expect(await ledgerOf(runId)).toEqual({ ACCEPTED: phones });
    });

    test('stays within its limit if a worker crashes and the others repeat its messages', async () => {
      const id = await bundle.live(limited(40));
      const runId = await begin(id);
      const lost = (await bundle.claim('lost'))!;
      bundle.answer(() => new Promise(() => {}));
      void bundle.sendWindow({
        run: await bundle.run(runId),
        chunk: lost,
        cursor: { bucket: lost.bucketFrom, position: '' },
      });
      while (bundle.sent.length < 10) await new Promise((resolve) => setTimeout(resolve, 2));
      const first = bundle.sent.map(({ pushId }) => pushId);
      bundle.answer(() => ({ kind: 'accepted' }));
      // The others meet the limit while its seats are still taken.
      const workers = ['one', 'two'].map((owner) => bundle.startWorkers({ owner, windowDevices: 13 }));
      const isBusy = async () => {
        for (const worker of workers) worker.wake();
        await new Promise((resolve) => setTimeout(resolve, 2));
        const [row] = await bundle.database`
          select count(*)::int as due from chunks where run_id = ${runId} and number <> ${lost.number}
            and (state = 'CLAIMED' or state = 'READY' and not_before <= ${bundle.clock.now()})`;
        return row!.due > 0;
      };
      for (let round = 0; round < 4; round += 1) {
        while (await isBusy());
        await bundle.retry();
        bundle.clock.advance(5_000);
      }
      await Promise.all(workers.map((worker) => worker.stop()));
      expect(bundle.sent).toHaveLength(40);
      expect(await seatsOf(id)).toMatchObject({ taken: 40, sent: 30 });
      bundle.clock.advance(60_000);
      // A window of another size than the one that was lost.
      await sendAll(runId, { windowDevices: 4 });
      const reached = bundle.sent.map(({ pushId }) => pushId);
      expect(new Set(reached).size).toBe(40);
      expect(reached).toHaveLength(50);
      for (const pushId of first) expect(reached.filter((other) => other === pushId)).toHaveLength(2);
      expect(await ledgerOf(runId)).toEqual({ ACCEPTED: 40, 'WITHHELD CAMPAIGN_AUDIENCE_LIMIT': phones - 40 });
    });

    test('resumes a returned chunk of users with seats before the other chunks', async () => {
      const id = await bundle.live(limited(40));
      const runId = await begin(id);
      // The last of the chunks in every order.
      await bundle.database`update chunks set not_before = not_before - interval '1 hour' where run_id = ${runId} and number = 3`;
      const back = (await bundle.claim('lost'))!;
      await bundle.database`update chunks set created_at = created_at + interval '1 hour' where run_id = ${runId} and number = 3`;
      bundle.answer(() => new Promise(() => {}));
      const cursor = { bucket: back.bucketFrom, position: '' };
      void bundle.sendWindow({ run: await bundle.run(runId), chunk: back, cursor });
      while (bundle.sent.length < 10) await new Promise((resolve) => setTimeout(resolve, 2));
      bundle.answer(() => ({ kind: 'accepted' }));
      await releaseChunk(bundle.database, back);
      await postponeChunks(bundle.database, { runId, until: bundle.clock.now(), besides: [] });
      await sendAll(runId, { owners: ['one'], parallelChunks: 1 });
      expect(new Set(bundle.sent.map(({ pushId }) => pushId)).size).toBe(40);
      expect(await ledgerOf(runId)).toEqual({ ACCEPTED: 40, 'WITHHELD CAMPAIGN_AUDIENCE_LIMIT': phones - 40 });
    });

    test('counts users of a crashed worker who cannot be reached again, because its message may have arrived', async () => {
      const id = await bundle.live(limited(50));
      const runId = await begin(id);
      const lost = (await bundle.claim('lost'))!;
      bundle.answer(() => new Promise(() => {}));
      void bundle.sendWindow({
        run: await bundle.run(runId),
        chunk: lost,
        cursor: { bucket: lost.bucketFrom, position: '' },
      });
      while (bundle.sent.length < 10) await new Promise((resolve) => setTimeout(resolve, 2));
      const gone = bundle.sent[3]!.pushId;
      await bundle.database`update devices set state = 'OPTED_OUT' where push_id = ${gone}`;
      bundle.answer(() => ({ kind: 'accepted' }));
      bundle.clock.advance(61_000);
      await sendAll(runId);
      await bundle.database`update devices set state = 'ACTIVE' where push_id = ${gone}`;
      expect(new Set(bundle.sent.map(({ pushId }) => pushId)).size).toBe(50);
      expect(await ledgerOf(runId)).toMatchObject({ ACCEPTED: 49 });
      expect(await seatsOf(id)).toEqual({ taken: 50, sent: 50, seats: 0 });
    });

    test('counts a user once, whatever the number of devices', async () => {
      await bundle.database`
        insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at,
          created_at, updated_at)
        select workspace_id, bucket, left(id, 16) || translate(right(id, 8), '0123456789abcdef', '123456789abcdef0'), user_id, 'tablet', platform, 'tablet-' || push_id, state,
          registered_at, created_at, updated_at from devices`;
      // The first device of every fourth user is gone; the second gets the message on the same seat.
      bundle.answer(({ pushId }) =>
        numberOf(pushId) % 4 === 0 && pushId.startsWith('push-')
          ? { kind: 'rejected', code: 'TOO_BIG', detail: '' }
          : { kind: 'accepted' },
      );
      try {
        const id = await bundle.live(limited(36));
        const runId = await begin(id);
        await sendAll(runId, { windowDevices: 7 });
        const [counted] = await bundle.database`
          select count(distinct user_id)::int as users from readable_deliveries where run_id = ${runId} and outcome = 'ACCEPTED'`;
        expect(counted!.users).toBe(36);
        expect(await seatsOf(id)).toMatchObject({ taken: 36, sent: 36 });
      } finally {
        await bundle.database`delete from devices where device_id = 'tablet'`;
      }
    });

    test('sends to as many users in the morning if quiet hours held them', async () => {
      const now = bundle.clock.now().toISOString().slice(11, 13);
      const next = String((Number(now) + 2) % 24).padStart(2, '0');
      await bundle.database`update workspaces set quiet_from = ${`${now}:00`}, quiet_to = ${`${next}:00`}`;
      const id = await bundle.live(limited(30));
      const runId = await begin(id);
      await bundle.work();
      expect(await ledgerOf(runId)).toEqual({ 'WAITING QUIET_HOURS': phones });
      bundle.clock.advance(2 * hour);
      bundle.answer(({ pushId }) =>
        numberOf(pushId) % 3 === 0 ? { kind: 'rejected', code: 'TOO_BIG', detail: '' } : { kind: 'accepted' },
      );
      await sendAll(runId);
      await bundle.database`update workspaces set quiet_from = null, quiet_to = null`;
      expect(await ledgerOf(runId)).toMatchObject({ ACCEPTED: 30 });
    });

    test('applies its limit to all runs together, or to each', async () => {
      const start = new Date(bundle.clock.now().getTime() + hour);
      const daily = (limit: object) => ({
        ...{ ...limit, campaign_delivery_type: 'PERIODIC' },
        scheduling_details: {
          delivery_type: 'AT_FIXED_TIME',
          start_time: start.toISOString().slice(0, 19),
          periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 3 },
        },
      });
      const [total, each] = [await bundle.live(daily(limited(180))), await bundle.live(daily(limited(30, 'INSTANCE')))];
      bundle.clock.advance(start.getTime() + 60_000 - bundle.clock.now().getTime());
      const sent: number[][] = [];
      for (let day = 0; day < 3; day += 1) {
        while ((await bundle.fire()) > 0);
        bundle.sent.length = 0;
        await bundle.deliver();
        const runs = await Promise.all([total, each].map(async (id) => (await bundle.runs(id)).at(-1).id as string));
        sent.push(await Promise.all(runs.map(async (runId) => (await ledgerOf(runId)).ACCEPTED ?? 0)));
        bundle.clock.advance(24 * hour);
      }
      expect(sent).toEqual([
        [120, 30],
        [60, 30],
        [0, 30],
      ]);
    });

    test('keeps a seat that a run could not use for the next run, but not one of an erased user', async () => {
      const start = new Date(bundle.clock.now().getTime() + hour);
      const id = await bundle.live({
        ...{ ...limited(160), campaign_delivery_type: 'PERIODIC' },
        scheduling_details: {
          delivery_type: 'AT_FIXED_TIME',
          start_time: start.toISOString().slice(0, 19),
          periodic_details: { sending_frequency: 'DAILY', no_of_occurences: 3 },
        },
      });
      bundle.clock.advance(start.getTime() + 60_000 - bundle.clock.now().getTime());
      bundle.answer(() => ({ kind: 'rejected', code: 'TOO_BIG', detail: '' }));
      const accepted: number[] = [];
      for (let day = 0; day < 3; day += 1) {
        while ((await bundle.fire()) > 0);
        await bundle.deliver();
        accepted.push((await ledgerOf((await bundle.runs(id)).at(-1).id)).ACCEPTED ?? 0);
        if (day === 0) {
          expect(await seatsOf(id)).toMatchObject({ taken: phones, sent: 0 });
          const [user] =
            await bundle.database`select bucket, user_id as "userId" from audience_seats where limit_id = ${id}`;
          await eraseSeats(bundle.database, user as never);
        }
        bundle.answer(() => ({ kind: 'accepted' }));
        bundle.clock.advance(24 * hour);
      }
      expect(accepted).toEqual([0, 120, 39]);
    });

    test('sends a test whatever the limit', async () => {
      const id = await bundle.live(limited(1));
      await sendAll(await begin(id));
      const tested = await bundle.call(
        'POST',
        '/v5/campaigns/test',
        campaign({
          ...limited(1),
          test_campaign_meta: { identifier: 'customer_id', identifier_values: ['user-1', 'user-2'] },
        }),
      );
      expect(tested.statusCode).toBe(200);
    });
  });

  const faults = async (limit: object, more: object = {}) =>
    faultsOf(await bundle.call('POST', '/v5/campaigns', campaign({ campaign_audience_limit: limit, ...more })));
  const of = 'campaign_audience_limit.';

  test.each<[string, object, string]>([
    ['none', { limit: 0, frequency: 'TOTAL' }, `${of}limit must be a whole number from 1 to 9999999999.`],
    [
      'too many',
      { limit: 10_000_000_000, frequency: 'TOTAL' },
      `${of}limit must be a whole number from 1 to 9999999999.`,
    ],
    [
      'another count',
      { limit: 5, frequency: 'TOTAL', metric: 'CLICKS' },
      `${of}metric must be one of SENT in this version, not "CLICKS".`,
    ],
    [
      'a day',
      { limit: 5, frequency: 'DAILY' },
      `${of}frequency must be one of TOTAL, INSTANCE in this version, not "DAILY".`,
    ],
    [
      'one that is switched off',
      { limit: 5, is_campaign_audience_limit_enabled: false },
      `${of}limit needs is_campaign_audience_limit_enabled.`,
    ],
  ])('is rejected with %s as limit, by the name of the field', async (_name, limit, sentence) => {
    expect(await faults(limit)).toEqual([sentence]);
  });

  test('rejects a limit per instance for an event-triggered campaign', async () => {
    const answer = await faults({ limit: 5, frequency: 'INSTANCE' }, { campaign_delivery_type: 'EVENT_TRIGGERED' });
    expect(answer).toContain(`${of}frequency must be TOTAL for a campaign of type EVENT_TRIGGERED.`);
  });

  test('accepts V1’s spelling of a limit, which has no switch', async () => {
    const id = await bundle.live({ campaign_audience_limit: { limit: 40, metrics: 'SENT', frequency: 'INSTANCE' } });
    const runId = await begin(id);
    await sendAll(runId);
    expect(await ledgerOf(runId)).toMatchObject({ ACCEPTED: 40 });
    expect(await seatsOf(runId)).toMatchObject({ sent: 40 });
  });

  /** Begins a run, its chunk cut into four so that several workers send it at once. */
  async function begin(id: string): Promise<string> {
    while ((await bundle.release()) > 0);
    const run = (await bundle.runs(id)).at(-1);
    await bundle.database`
      insert into chunks (run_id, number, workspace_id, lane, bucket_from, bucket_to, state, not_before, created_at)
      select run_id, part, workspace_id, lane, part * 64, part * 64 + 63, state, not_before, created_at
      from chunks cross join generate_series(1, 3) as part where run_id = ${run.id} and number = 0`;
    await bundle.database`update chunks set bucket_to = 63 where run_id = ${run.id} and number = 0`;
    return run.id;
  }

  /** Two nodes at once, with their retries, until nothing of the run is left to do. */
  async function sendAll(runId: string, options: Options = {}): Promise<void> {
    const { owners = ['one', 'two'], windowDevices = 17, parallelChunks = 4 } = options;
    const workers = owners.map((owner) => bundle.startWorkers({ owner, windowDevices, parallelChunks }));
    for (let round = 0; ; round += 1) {
      await bundle.settled(runId, workers);
      await Promise.all(owners.map(() => bundle.retry()));
      const [row] = await bundle.database`
        select (select count(*)::int from chunks where run_id = ${runId} and state in ('READY', 'CLAIMED')) as chunks,
          (select count(*)::int from readable_deliveries where run_id = ${runId} and outcome = 'WAITING') as waiting`;
      if (row!.chunks === 0 && row!.waiting === 0) break;
      if (round > 400) throw new Error(`still open: ${JSON.stringify(row)}`);
      // Attempts come later and later.
      bundle.clock.advance(round < 40 ? 5_000 : 120_000);
    }
    await Promise.all(workers.map((worker) => worker.stop()));
    while ((await bundle.end()) > 0);
  }
});

/** The transaction, with something that happens elsewhere after the first statement that holds one of the texts was answered. */
function after(tx: Transaction, texts: readonly string[], happens: () => Promise<void>): Transaction {
  let isDone = false;
  return new Proxy(tx, {
    apply(target, self, given: [TemplateStringsArray, ...unknown[]]) {
      const statement: unknown = Reflect.apply(target, self, given);
      if (isDone || !texts.some((text) => given[0].join('?').includes(text))) return statement;
      isDone = true;
      return (async () => {
        const rows = await (statement as Promise<unknown>);
        await happens();
        return rows;
      })();
    },
  });
}
