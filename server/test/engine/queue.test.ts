import { inTransaction } from '../../src/storage/database.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWakeFanOut } from '../../src/app/push/wake-fan-out.ts';
import { enqueueFanOut } from '../../src/engine/enqueue.ts';
import { startQueue } from '../../src/engine/queue.ts';
import type { Queue } from '../../src/engine/queue.ts';
import { makeLog } from '../../src/log.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

let bundle: TestDatabase;
let queue: Queue;
let woken = 0;
beforeEach(async () => {
  bundle = await createTestDatabase();
  woken = 0;
  const log = makeLog({ level: 'silent', pretty: false });
  queue = await startQueue({
    databaseUrl: bundle.url,
    log,
    wakeFanOut: () => (woken += 1),
    wakeSegments: () => {},
    pollMilliseconds: 10,
    restartMilliseconds: 10,
  });
});
afterEach(async () => {
  await queue.stop();
  await bundle.drop();
});

test('a wake-up comes when its transaction commits, and not when it does not', async () => {
  await inTransaction(bundle.database, async (tx) => {
    await enqueueFanOut(tx);
    throw new Error('rolled back');
  }).catch(() => {});
  expect(woken).toBe(0);
  await inTransaction(bundle.database, (tx) => enqueueFanOut(tx));
  await expect.poll(() => woken).toBe(1);
});

test('who stores while the workers are told makes them told once more, however many they are', async () => {
  // Nobody takes the job, so each telling shows in it.
  await queue.stop();
  const wakeFanOut = makeWakeFanOut(bundle);
  const tellings = async () => {
    const [job] = await bundle.database`select revision from graphile_worker.jobs where key = 'wake-fan-out'`;
    return job ? job.revision + 1 : 0;
  };
  for (let count = 0; count < 50; count += 1) wakeFanOut();
  await expect.poll(tellings).toBe(2);
  wakeFanOut();
  await expect.poll(tellings).toBe(3);
});

test('workers that cannot settle a job, as while the database is away, are replaced and the process lives', async () => {
  const { database } = bundle;
  await database.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'the database is away'; end $$;
    create trigger refuse before delete on graphile_worker._private_jobs for each row execute function refuse()`);
  // More often than there are workers.
  for (let count = 1; count <= 5; count += 1) {
    await inTransaction(database, (tx) => enqueueFanOut(tx));
    await expect.poll(() => woken, { timeout: 10_000 }).toBe(count);
  }
  await database`drop trigger refuse on graphile_worker._private_jobs`;
  await inTransaction(database, (tx) => enqueueFanOut(tx));
  await expect.poll(() => woken, { timeout: 10_000 }).toBe(6);
});

test('a runner that waits for ever for jobs it could not settle is left behind', async () => {
  const { database } = bundle;
  await database.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'the database is away'; end $$;
    create trigger refuse before delete on graphile_worker._private_jobs for each row execute function refuse()`);
  // One after another, a moment apart: some come while a runner is ending. The wait is the test's, so that moments differ.
  for (let count = 1; count <= 150; count += 1) {
    await inTransaction(database, (tx) => enqueueFanOut(tx));
    await expect.poll(() => woken, { timeout: 5_000, interval: 1 + (count % 7) }).toBe(count);
  }
});

/** Ends every connection from the server's side, as a restart does. */
async function cutAll(): Promise<void> {
  const { database } = bundle;
  await database`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
}

test('after its connections were cut, wake-ups come again', async () => {
  // Cut while the library reads the names of its tasks, which it does once.
  await cutAll();
  await inTransaction(bundle.database, (tx) => enqueueFanOut(tx));
  await expect.poll(() => woken, { timeout: 10_000 }).toBe(1);
  await cutAll();
  await inTransaction(bundle.database, (tx) => enqueueFanOut(tx));
  await expect.poll(() => woken, { timeout: 10_000 }).toBe(2);
});
