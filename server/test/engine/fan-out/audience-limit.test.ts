import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/providers/provider.ts';
import { postponeChunks, releaseChunk } from '../../../src/storage/runs/chunks.ts';
import { eraseSeats } from '../../../src/storage/runs/audience-seats.ts';
import { campaign, faultsOf } from '../../campaigns/authoring-bundle.ts';
import { makeExperimentBundle } from '../../experiments/experiment-bundle.ts';
import type { ExperimentBundle } from '../../experiments/experiment-bundle.ts';

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

type Options = { owners?: string[]; windowDevices?: number; parallelChunks?: number };

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
  test('reaches exactly so many users over two nodes, and leaves out the others with the limit as the reason', async () => {
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

  test('does not fall short: what no provider took, at once or after its attempts, is a seat for the next', async () => {
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

  test('a limit above the audience keeps nobody out', async () => {
    const id = await bundle.live(limited(phones + 1));
    const runId = await begin(id);
    await sendAll(runId);
    expect(await ledgerOf(runId)).toEqual({ ACCEPTED: phones });
  });

  test('a worker is lost in the middle: the others send what it began, and nobody more than the limit hears of it', async () => {
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

  test('a chunk that was given back with users before it who have seats is not put off by the others', async () => {
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

  test('a lost worker’s users who cannot be reached again count: its message may have come', async () => {
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

  test('a user counts once, whatever the number of devices', async () => {
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

  test('of whom quiet hours held, as many are sent to in the morning', async () => {
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

  test('is of all runs together, or of each', async () => {
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

  test('a seat that a run could not use is there for the next, and one of a user who was erased is not', async () => {
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

  test('a test of it is sent whatever the limit', async () => {
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
])('a limit of %s is refused by name', async (_name, limit, sentence) => {
  expect(await faults(limit)).toEqual([sentence]);
});

test('a campaign of users’ events has no instances to limit', async () => {
  const answer = await faults({ limit: 5, frequency: 'INSTANCE' }, { campaign_delivery_type: 'EVENT_TRIGGERED' });
  expect(answer).toContain(`${of}frequency must be TOTAL for a campaign of type EVENT_TRIGGERED.`);
});

test('V1’s spelling, without a switch, is a limit too', async () => {
  const id = await bundle.live({ campaign_audience_limit: { limit: 40, metrics: 'SENT', frequency: 'INSTANCE' } });
  const runId = await begin(id);
  await sendAll(runId);
  expect(await ledgerOf(runId)).toMatchObject({ ACCEPTED: 40 });
  expect(await seatsOf(runId)).toMatchObject({ sent: 40 });
});
