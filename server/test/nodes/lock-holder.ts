/**
 * A node's machine that is to be cut off: it holds a row in an open transaction, two more of its sessions wait for that row,
 * and a fourth holds a lock of its session, as an import does. Argument: the database. Told `cut`, it sends one more
 * statement, and tells after how many seconds that came to nothing.
 */
import { inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';

const database = openDatabase({ url: process.argv[2]!, connections: 4, name: 'cut off' });
const held = Promise.withResolvers<void>();
const cut = Promise.withResolvers<void>();
process.on('message', () => cut.resolve());
process.on('disconnect', () => process.exit(0));

const holder = inTransaction(database, async (tx) => {
  await tx`update lock_probe set number = number + 1`;
  held.resolve();
  await cut.promise;
  const begin = performance.now();
  await tx`select 1`.catch(() => {});
  process.send?.({ failedSeconds: (performance.now() - begin) / 1000 });
}).catch(() => {});
await held.promise;
const waiters = [1, 2].map(() =>
  inTransaction(database, (tx) => tx`update lock_probe set number = number + 1`).catch(() => {}),
);
await withSession(database, async (session) => {
  await session`select pg_advisory_lock(7)`;
  process.send?.('held');
  await Promise.all([holder, ...waiters]);
}).catch(() => {});
await database.end({ timeoutSeconds: 1 });
