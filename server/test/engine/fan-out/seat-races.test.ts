import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Outcome } from '../../../src/providers/provider.ts';
import { freeSeats, seatUsers } from '../../../src/engine/fan-out/seats.ts';
import type { SeatsLeft } from '../../../src/engine/fan-out/seats.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import type { Transaction } from '../../../src/storage/database.ts';
import { findLimit, lockLimit } from '../../../src/storage/runs/audience-seats.ts';
import { makeExperimentBundle } from '../../experiments/experiment-bundle.ts';
import type { ExperimentBundle } from '../../experiments/experiment-bundle.ts';

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

async function begin(limit: number) {
  const audience = { is_campaign_audience_limit_enabled: true, metric: 'SENT', frequency: 'TOTAL', limit };
  const id = await bundle.live({ campaign_audience_limit: audience });
  while ((await bundle.release()) > 0);
  const run = await bundle.run((await bundle.runs(id)).at(-1).id as string);
  return { run, limit: { id, workspaceId: bundle.workspaceId, users: limit } };
}

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

test('users of a window that ends while seats are looked at, and whose messages nobody took, do not count as sent', async () => {
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

test('a seat that is given to another user while its own is asked about is not used twice', async () => {
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
