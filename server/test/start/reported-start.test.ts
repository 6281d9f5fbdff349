import { expect, test } from 'vitest';
import { inTransaction, openDatabase } from '../../src/storage/database.ts';
import { startCarillonBundle, until } from '../carillon-bundle.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';

test('a node has reported itself before it looks for faults: its own start opens no alert that no node sends', async () => {
  let looked: Promise<Date | null> | undefined;
  const bundle = await startCarillonBundle(
    {},
    {
      async startFront(databaseUrl) {
        const database = openDatabase({ url: databaseUrl, connections: 2, name: 'test' });
        const held = Promise.withResolvers<void>();
        looked = inTransaction(database, async (tx) => {
          await tx`lock table nodes in share mode`;
          held.resolve();
          await until(() => isAnybodyWaiting(database));
          const [row] = await database<{ at: Date | null }[]>`select alerts_checked_at as at from installation`;
          return row!.at;
        });
        await held.promise;
        return { environment: {}, close: () => database.end() };
      },
    },
  );
  try {
    expect(await looked).toBeNull();
    await until(async () => {
      const [row] = await bundle.database<{ at: Date | null }[]>`select alerts_checked_at as at from installation`;
      return row!.at !== null;
    });
    expect(await bundle.database`select what from alerts`).toEqual([]);
  } finally {
    await bundle.stop();
  }
});
