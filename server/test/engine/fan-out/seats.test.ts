import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import { admitUsers, makeDeliverToEligible } from '../../../src/engine/fan-out/deliver-to-eligible.ts';
import { freeSeats, markSent, runLimitOf, seatUsers, waitForSeats } from '../../../src/engine/fan-out/seats.ts';
import { makeLog } from '../../../src/log.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import type { Database } from '../../../src/storage/database.ts';
import { insertDeliveries } from '../../../src/storage/ledger/deliveries.ts';
import type { DeliveryOutcome } from '../../../src/storage/ledger/deliveries.ts';
import type { RunToSend } from '../../../src/storage/runs/run-states.ts';
import { insertSentRun } from '../../insert-sent-run.ts';
import { ledgerRun } from '../../ledger-run.ts';
import { createTestDatabase } from '../../test-database.ts';
import type { TestDatabase } from '../../test-database.ts';
import { insertTestWorkspace } from '../../test-workspace.ts';

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

const leftOut = { kind: 'withhold', code: 'CAMPAIGN_AUDIENCE_LIMIT' };
const heldUntil = (until: Date) => ({ kind: 'hold', code: 'CAMPAIGN_AUDIENCE_LIMIT', until });

describe('users who are to be sent to', () => {
  test('get a seat while there are any; the others wait until it is known whether all of these were sent', async () => {
    expect(await seat([])).toEqual({ refused: [], eligibility: leftOut });
    expect(await seat(users(1, 2))).toEqual({ refused: [], eligibility: heldUntil(later(5)) });
    expect(await readLimit()).toEqual({ taken: 2, sent: 0, seats: 2 });
    await addChunk(255, { isWindowOpen: true });
    expect(await seat(users(3, 4, 5))).toEqual({ refused: users(4, 5), eligibility: heldUntil(later(5)) });
    expect(await readLimit()).toEqual({ taken: 3, sent: 0, seats: 3 });
  });

  test('keep the seat that they have, and take no second one', async () => {
    await seat(users(1, 2, 3));
    expect((await seat(users(1, 3))).refused).toEqual([]);
    expect(await readLimit()).toEqual({ taken: 3, sent: 0, seats: 3 });
  });

  test('need none where a message of theirs was accepted', async () => {
    await seat(users(1, 2, 3));
    await store([[7, 'ACCEPTED']]);
    expect((await seat(users(7))).refused).toEqual([]);
    expect((await seat(users(1, 7))).refused).toEqual([]);
    expect(await readLimit()).toEqual({ taken: 3, sent: 0, seats: 3 });
  });

  test('are left out once as many messages were accepted as there are seats', async () => {
    await database`insert into audience_limits (id, workspace_id, taken, sent) values ('run', ${workspaceId}, 3, 3)`;
    expect(await seat(users(1, 2))).toEqual({ refused: users(1, 2), eligibility: leftOut });
    await database`update audience_limits set sent = 2`;
    await addChunk(255);
    expect((await seat(users(1))).eligibility).toEqual(heldUntil(later(5)));
  });

  test('are left out, too, where the message would be over when they are looked at again', async () => {
    await seat(users(1, 2, 3));
    await addChunk(255);
    expect((await seat(users(4), { sendUntil: later(5) })).eligibility).toEqual(leftOut);
    expect((await seat(users(4), { sendUntil: later(5.001) })).eligibility).toEqual(heldUntil(later(5)));
  });

  test('get the seats of those whose message nobody took, and wait a minute for one that is tried again', async () => {
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

test('a message that was accepted ends its user’s seat as sent; other outcomes, and runs without a limit, count nothing', async () => {
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

describe('what becomes of a seat', () => {
  const free = () => inTransaction(database, (tx) => freeSeats(tx, 'run'));
  const ahead = (...numbers: number[]) => numbers.map((number) => expect.objectContaining(user(number)));

  beforeEach(async () => {
    await seat(users(1, 2, 3));
    await store([
      [1, 'ACCEPTED'],
      [2, 'REJECTED'],
    ]);
  });

  test('is not known before its chunk has come to it', async () => {
    await addChunk(255, { state: 'READY' });
    expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: ahead(3) });
    expect(await readLimit()).toEqual({ taken: 2, sent: 1, seats: 1 });
  });

  test('is not known of a rejected message while a window is open, which may reach another device', async () => {
    await addChunk(255, { isWindowOpen: true });
    expect(await free()).toEqual({ freed: 0, waiting: 0, ahead: ahead(2, 3) });
    expect(await readLimit()).toEqual({ taken: 3, sent: 1, seats: 2 });
  });

  test('is that of a user who was sent to where nobody knows, once the chunk has ended', async () => {
    await addChunk(255, { state: 'DONE' });
    expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: [] });
    expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
  });

  test('is looked for in the user’s own chunk, both its ends included', async () => {
    await addChunk(2, { state: 'DONE' });
    await addChunk(255, { from: 3, state: 'READY' });
    expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: ahead(3) });
    await database`delete from chunks`;
    await addChunk(3, { state: 'DONE', from: 3 });
    expect(await free()).toEqual({ freed: 0, waiting: 0, ahead: [] });
    expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
  });

  test('waits while its message is tried again, and not once its run is over', async () => {
    await database`update deliveries set outcome = 'W', retry_at = ${later(60)} where outcome <> 'A'`;
    await addChunk(255, { state: 'DONE' });
    expect(await free()).toEqual({ freed: 0, waiting: 1, ahead: [] });
    expect(await readLimit()).toEqual({ taken: 3, sent: 2, seats: 1 });
    await database`update runs set status = 'SENT', ended_at = ${now}`;
    expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: [] });
    expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
  });

  test('is known of all seats when the run is over, whatever its chunks say', async () => {
    await addChunk(255, { state: 'READY' });
    await database`update runs set status = 'FAILED', status_reason = 'r', ended_at = ${now}`;
    expect(await free()).toEqual({ freed: 1, waiting: 0, ahead: [] });
    expect(await readLimit()).toEqual({ taken: 2, sent: 2, seats: 0 });
  });
});

describe('a chunk', () => {
  const chunk = { bucketFrom: 10, bucketTo: 19 };
  const wait = (more: Partial<RunToSend> = {}) => waitForSeats(database, { run: { ...run, ...more }, chunk, now });

  test('goes on while there are seats, when all were sent, and where there is no limit', async () => {
    expect(await wait()).toBeUndefined();
    await seat(users(1, 2));
    expect(await wait()).toBeUndefined();
    expect(await wait({ settings: {} })).toBeUndefined();
    await database`update audience_limits set taken = 3, sent = 3`;
    expect(await wait()).toBeUndefined();
  });

  test('waits for the chunks of users with a seat, whose buckets it names, unless they are its own', async () => {
    await seat([user(1), user(2, 25), user(3, 25)]);
    await addChunk(255);
    expect(await wait()).toEqual({ until: later(5), besides: [1, 25] });
    expect(await wait({ sendUntil: later(5) })).toBeUndefined();
    expect(await waitForSeats(database, { run, chunk: { bucketFrom: 25, bucketTo: 25 }, now })).toBeUndefined();
    expect(await waitForSeats(database, { run, chunk: { bucketFrom: 2, bucketTo: 24 }, now })).toEqual({
      ...{ until: later(5), besides: [1, 25] },
    });
  });

  test('goes on when a seat is given back', async () => {
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

  test('are all admitted where nothing holds the run back', async () => {
    const work = admitUsers(
      { database: undefined as never, clock: undefined as never, log },
      {
        ...{ run: { ...run, settings: {} }, devices: devices(1) },
      },
    );
    expect(await work).toBeUndefined();
  });

  test('are admitted as far as there are seats, once for two devices', async () => {
    await addChunk(255);
    expect(await admit(devices(1, 2, 1, 3, 4))).toEqual({ 1: 'send', 2: 'send', 3: 'send', 4: 'hold' });
    expect(await database`select 1 from user_messages`).toHaveLength(0);
  });

  test('whom a cap stops take no seat', async () => {
    await admit(devices(1, 2), capped({ id: 'another', settings: {} }));
    const both = capped({ settings: run.settings });
    expect(await admit(devices(1, 2, 3, 4), both)).toEqual({ 1: 'withhold', 2: 'withhold', 3: 'send', 4: 'send' });
    expect(await readLimit()).toMatchObject({ taken: 2 });
  });

  test('are written down once a run, with the campaign', async () => {
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

  test('that are not admitted have their reason in the ledger and no attempt, and the others are sent to', async () => {
    const asked: string[] = [];
    const deliver = makeDeliverToEligible({
      ...{ database, log, clock: makeManualClock(now), personaliseDevices: async (_run, own) => own },
      async deliverToDevices(_run, addressees) {
        asked.push(...addressees.map(({ device }) => device.userId));
        return addressees.map(({ device }) => ({ delivery: { userId: device.userId, outcome: 'ACCEPTED' } }) as never);
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
