import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction, LostTransactionError, openDatabase } from '../../src/storage/database.ts';
import type { Database, Transaction } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';

// What is answered is stored: whatever else is in flight, whatever the session forgot, wherever it was cut.
let bundle: Awaited<ReturnType<typeof createTestDatabase>>;
let database: Database;
beforeEach(async () => {
  bundle = await createTestDatabase();
  await bundle.database`create table notes (note text primary key)`;
  database = openDatabase({ url: bundle.url, connections: 1, name: 'boundary' });
});
afterEach(async () => {
  await database.end();
  await bundle.drop();
});

const notes = async (): Promise<string[]> =>
  (await bundle.database<{ note: string }[]>`select note from notes order by note`).map(({ note }) => note);

const idleTransactions = async (): Promise<number> =>
  (
    await bundle.database`
    select 1 from pg_stat_activity where application_name = 'boundary' and state like 'idle in transaction%'`
  ).length;

const insert = (tx: Transaction, note: string) => tx`insert into notes values (${note})`;

describe('one connection with many statements in flight', () => {
  test.each([1, 100])(
    '%i statements, a transaction and an insert: nothing is answered that is not stored',
    async (count) => {
      const inFlight = Array.from({ length: count }, (_, n) => database`insert into notes values (${`before ${n}`})`);
      const answered: string[] = [];
      const every = [
        ...inFlight.map((statement, n) => statement.then(() => answered.push(`before ${n}`))),
        inTransaction(database, async (tx) => {
          await tx`insert into notes values ('inside')`;
          await new Promise((resolve) => setImmediate(resolve));
          await tx`insert into notes values ('inside, later')`;
        }).then(() => answered.push('inside', 'inside, later')),
        database`insert into notes values ('after')`.then(() => answered.push('after')),
      ];
      const wait = new AbortController();
      void Promise.allSettled(every).then(() => wait.abort());
      while (!wait.signal.aborted) {
        const seen = [...answered];
        expect(await notes()).toEqual(expect.arrayContaining(seen));
      }
      await Promise.all(every);
      expect(await notes()).toEqual(answered.sort());
      expect(answered).toHaveLength(count + 3);
      expect(await idleTransactions()).toBe(0);
    },
  );

  test('a transaction that throws beside them takes none of them with it', async () => {
    const inFlight = Array.from({ length: 100 }, (_, n) => database`insert into notes values (${`note ${n}`})`);
    const thrown = inTransaction(database, async (tx) => {
      await tx`insert into notes values ('never')`;
      throw new Error('undo');
    });
    const after = database`insert into notes values ('after')`;
    await Promise.all([expect(thrown).rejects.toThrow('undo'), ...inFlight, after]);
    expect(await notes()).toHaveLength(101);
  });
});

describe('a transaction in which the session forgets its statements', () => {
  test('deallocate all: what it answers is stored, and later callers are served', async () => {
    const answered: string[] = [];
    for (const note of ['a', 'b', 'c', 'd'])
      await inTransaction(database, async (tx) => {
        await insert(tx, note);
        await tx.unsafe('deallocate all');
      }).then(
        () => answered.push(note),
        // The next transaction on that connection meets what is missing; the one after it has another connection.
        (error: unknown) => expect(error).toMatchObject({ code: '26000' }),
      );
    expect(answered).toEqual(['a', 'c']);
    expect(await notes()).toEqual(answered);
    const same = () => database`select count(*) as notes from notes`;
    await same();
    await database.unsafe('deallocate all');
    expect(await Promise.all([same(), same()])).toEqual([[{ notes: 2 }], [{ notes: 2 }]]);
  });

  test('a statement that is gone fails its transaction, swallowed or not', async () => {
    const given = (swallow: boolean) =>
      inTransaction(database, async (tx) => {
        await insert(tx, 'one');
        await tx.unsafe('deallocate all');
        const again = insert(tx, 'two');
        await (swallow ? again.catch(() => {}) : again);
      });
    await expect(given(false)).rejects.toMatchObject({ code: '26000' });
    await expect(given(true)).rejects.toMatchObject({
      name: 'LostTransactionError',
      code: 'TRANSACTION_ROLLED_BACK',
      cause: { code: '26000' },
    });
    expect(await notes()).toEqual([]);
  });

  test('discard all cannot be part of one, and nothing of it is stored', async () => {
    const given = (swallow: boolean) =>
      inTransaction(database, async (tx) => {
        await tx`insert into notes values ('never')`;
        const discard = tx.unsafe('discard all');
        await (swallow ? discard.catch(() => {}) : discard);
      });
    await expect(given(false)).rejects.toMatchObject({ code: '25001' });
    await expect(given(true)).rejects.toThrow(LostTransactionError);
    expect(await notes()).toEqual([]);
  });
});

describe('a transaction whose work hides that it failed', () => {
  test('is refused, although the database has no error for its commit', async () => {
    const given = inTransaction(database, async (tx) => {
      await tx`insert into notes values ('one')`;
      await tx`insert into notes values ('one')`.catch(() => {});
      return 'done';
    });
    await expect(given).rejects.toMatchObject({
      name: 'LostTransactionError',
      code: 'TRANSACTION_ROLLED_BACK',
      cause: { code: '23505' },
    });
    expect(await notes()).toEqual([]);
  });

  test('is refused when the transaction was ended by a statement of its own', async () => {
    const given = inTransaction(database, async (tx) => {
      await tx`insert into notes values ('one')`;
      await tx.unsafe('rollback');
      await tx.unsafe('begin');
      // Fails where nobody sees it: in a function, whose error another statement of the same text swallows.
      await tx.unsafe('select 1/0').catch(() => {});
    });
    await expect(given).rejects.toMatchObject({ code: 'TRANSACTION_ROLLED_BACK' });
    expect(await notes()).toEqual([]);
  });

  test('is refused when the statement that fails is still under way at its end', async () => {
    const unwatched: Promise<unknown>[] = [];
    const given = inTransaction(database, async (tx) => {
      await tx`insert into notes values ('one')`;
      unwatched.push(tx`insert into notes values ('one')`.catch(() => {}));
    });
    await expect(given).rejects.toMatchObject({ code: 'TRANSACTION_ROLLED_BACK' });
    await Promise.all(unwatched);
    expect(await notes()).toEqual([]);
  });

  test('takes no statement when it is over', async () => {
    let late: (() => Promise<unknown>) | undefined;
    await inTransaction(database, async (tx) => {
      late = async () => tx`insert into notes values ('late')`;
    });
    await expect(late!()).rejects.toThrow('is over');
    expect(await notes()).toEqual([]);
  });
});

/** Passes bytes on until it has passed as many commits as told, and cuts there: before the database hears of the last. */
async function startCutter(url: string, { isPassed }: { isPassed: boolean }) {
  const target = new URL(url);
  const { port, hostname } = target;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
    far.on('data', (bytes) => near.write(bytes));
    near.on('data', (bytes) => {
      if (!bytes.includes('commit\0')) return void far.write(bytes);
      // The database may hear it, but nobody hears the database.
      far.removeAllListeners('data');
      if (isPassed) far.write(bytes, () => setTimeout(() => near.destroy(), 100));
      else near.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a connection that is cut between the last statement and the answer to the commit', () => {
  test.each([false, true])(
    'tells the caller that nobody knows (the database heard the commit: %s)',
    async (isPassed) => {
      const cutter = await startCutter(bundle.url, { isPassed });
      const through = openDatabase({ url: cutter.url, connections: 1, name: 'cut' });
      const given = inTransaction(through, (tx) => tx`insert into notes values ('note')`);
      await expect(given).rejects.toMatchObject({ name: 'LostTransactionError', code: 'CONNECTION_CLOSED' });
      expect(await notes()).toEqual(isPassed ? ['note'] : []);
      expect(await through`select 1 as one`).toEqual([{ one: 1 }]);
      await through.end();
      await cutter.close();
    },
  );
});
