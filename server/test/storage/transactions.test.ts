import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { makeDropOldReceipts } from '../../src/engine/housekeeping/old-records.ts';
import {
  LostTransactionError,
  deleteReceiptsBefore,
  inSnapshot,
  inTransaction,
  openDatabase,
  readOldestTransaction,
  sendWithReceipt,
  withSession,
} from '../../src/storage/database.ts';
import type { Database, Transaction } from '../../src/storage/database.ts';
import { until } from '../carillon-bundle.ts';
import { collectPlans } from '../collect-plans.ts';
import { startCommitCutter } from '../rig/commit-cutter.ts';
import type { CommitCutter } from '../rig/commit-cutter.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

describe('transactions', () => {
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

  describe('one connection with many concurrent statements', () => {
    test.each([1, 100])(
      'stores all that it acknowledges with %i statements, a transaction and an insert',
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

    test('does not affect statements next to a transaction that throws', async () => {
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

  describe('a transaction after which the session has lost its statements', () => {
    test('stores what it acknowledges after deallocate all, and later callers are served', async () => {
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

    test('fails if a statement is missing, even if the error is swallowed', async () => {
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

    test('fails if it contains discard all, and stores nothing', async () => {
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

  describe('a transaction whose callback hides a failure', () => {
    test('is rejected, although the database reports no error for its commit', async () => {
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

    test('is rejected if one of its statements ended it', async () => {
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

    test('is rejected if the failing statement is still running at its end', async () => {
      const unwatched: Promise<unknown>[] = [];
      const given = inTransaction(database, async (tx) => {
        await tx`insert into notes values ('one')`;
        unwatched.push(tx`insert into notes values ('one')`.catch(() => {}));
      });
      await expect(given).rejects.toMatchObject({ code: 'TRANSACTION_ROLLED_BACK' });
      await Promise.all(unwatched);
      expect(await notes()).toEqual([]);
    });

    test('accepts no statement after its end', async () => {
      let late: (() => Promise<unknown>) | undefined;
      await inTransaction(database, async (tx) => {
        late = async () => tx`insert into notes values ('late')`;
      });
      await expect(late!()).rejects.toThrow('is over');
      expect(await notes()).toEqual([]);
    });
  });

  describe('a connection that is cut between the last statement and the reply to the commit', () => {
    let cutter: CommitCutter;
    let through: Database;
    beforeEach(async () => {
      cutter = await startCommitCutter(bundle.url);
      through = openDatabase({ url: cutter.url, connections: 2, name: 'cut' });
    });
    afterEach(async () => {
      await through.end();
      await cutter.close();
    });
    const store = (note: string) =>
      inTransaction(through, async (tx) => {
        await insert(tx, note);
        return `stored ${note}`;
      });

    test('reports success if the database committed', async () => {
      cutter.cutNext(1, ['answered']);
      expect(await store('note')).toBe('stored note');
      expect(cutter.cuts().answered).toBe(1);
      expect(await notes()).toEqual(['note']);
    });

    test('reports failure if the database never received the commit, and nothing is stored', async () => {
      cutter.cutNext(1, ['unheard']);
      await expect(store('note')).rejects.toMatchObject({ name: 'LostTransactionError', code: 'CONNECTION_CLOSED' });
      expect(await notes()).toEqual([]);
    });

    test('reports the true outcome even if it is cut repeatedly, also while the outcome is looked up', async () => {
      const answered: string[] = [];
      for (let round = 0; round < 5; round += 1) {
        cutter.cutNext(5, ['unheard', 'answered', 'unanswered']);
        await Promise.all(
          ['a', 'b'].map((name) =>
            store(`${round} ${name}`).then(
              () => answered.push(`${round} ${name}`),
              (error: unknown) => expect(error).toMatchObject({ code: 'CONNECTION_CLOSED' }),
            ),
          ),
        );
      }
      expect(await notes()).toEqual(answered.sort());
      const { unheard, answered: unheeded } = cutter.cuts();
      expect([unheard > 2, unheeded > 2]).toEqual([true, true]);
    });

    test('waits for a commit that is still running', async () => {
      // The database waits in the commit itself, for a row that another transaction holds.
      await bundle.database.unsafe(`
      create function wait_for_note() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(7); return null; end $$;
      create constraint trigger slow after insert on notes deferrable initially deferred
        for each row execute function wait_for_note()`);
      await inTransaction(bundle.database, async (tx) => {
        await tx`select pg_advisory_xact_lock(7)`;
        const given = store('slow');
        await until(async () => (await waiting('advisory')) === 1);
        cutter.cutOpen();
        // The question waits for the row that the commit has inserted already.
        await until(async () => (await waiting('transactionid')) === 1);
        return { given };
      }).then(async ({ given }) => expect(await given).toBe('stored slow'));
      expect(await notes()).toEqual(['slow']);
    });

    test('needs no reply for reading, and looks up the outcome in a session, too', async () => {
      cutter.cutNext(1, ['answered']);
      expect(await inSnapshot(through, (tx) => tx`select 1 as one`)).toEqual([{ one: 1 }]);
      await withSession(through, async (session) => {
        cutter.cutNext(1, ['answered']);
        await inTransaction(session, (tx) => insert(tx, 'of a session'));
      });
      expect(await notes()).toEqual(['of a session']);
    });

    test('leaves no receipt if nothing was changed', async () => {
      const receipts = async () =>
        (await bundle.database<{ count: number }[]>`select count(*) from transaction_receipts`)[0]!.count;
      await inTransaction(database, (tx) => tx`select 1`);
      expect(await receipts()).toBe(0);
      await inTransaction(database, (tx) => insert(tx, 'note'));
      expect(await receipts()).toBe(1);
    });

    test('leaves a receipt on a cluster for any possible change, because rows of its workers have no transaction id here', async () => {
      const receipts = async () =>
        (await bundle.database<{ count: number }[]>`select count(*) from transaction_receipts`)[0]!.count;
      const setting = "set local citus.shard_count = '32'";
      await inTransaction(database, async (tx) => void (await tx.unsafe(`${setting}; select 1`)));
      expect(await receipts()).toBe(0);
      await inTransaction(database, async (tx) => {
        await tx.unsafe(setting);
        await tx`update notes set note = 'another' where false`;
      });
      expect(await receipts()).toBe(1);
    });

    test('has its receipt removed ten minutes after its transaction, as are those of a restored database', async () => {
      const clock = makeManualClock(new Date('2026-06-01T12:00:00Z'));
      const { runOnce } = makeDropOldReceipts({ database, clock });
      const kept = async () => (await bundle.database`select made_in from transaction_receipts`).length;
      await inTransaction(database, (tx) => insert(tx, 'old'));
      // Those of the server's other databases count as well: one of theirs may have begun before and still run.
      const [old] = await bundle.database<{ id: string }[]>`select made_in::text as id from transaction_receipts`;
      await until(async () => BigInt(await readOldestTransaction(database)) > BigInt(old!.id));
      await runOnce(clock.now());
      await inTransaction(database, (tx) => insert(tx, 'new'));
      clock.advance(10 * 60_000 - 1);
      await runOnce(clock.now());
      expect(await kept()).toBe(2);
      clock.advance(1);
      await runOnce(clock.now());
      expect(await kept()).toBe(1);
      await bundle.database`update transaction_receipts set made_in = '1000000000000'`;
      await runOnce(clock.now());
      expect(await kept()).toBe(0);
    });

    test('reports an unknown outcome if the database cannot be asked either', async () => {
      cutter.cutNext(1, ['answered']);
      const given = inTransaction(through, async (tx) => {
        await insert(tx, 'note');
        // The pool ends while its only transaction commits, so it opens no connection to ask by.
        void through.end();
      });
      await expect(given).rejects.toMatchObject({ name: 'LostTransactionError', code: 'COMMIT_OUTCOME_UNKNOWN' });
    });
  });

  const waiting = async (event: string): Promise<number> =>
    (await bundle.database`select 1 from pg_stat_activity where wait_event = ${event} and datname = current_database()`)
      .length;
});

describe('a statement with a receipt', () => {
  let test_: Awaited<ReturnType<typeof createTestDatabase>>;
  let database: Database;
  let close: () => void;
  /** Of the statement with the note: not passed on, or its answer is not. */
  let cut: 'unheard' | 'answered' | undefined;

  beforeEach(async () => {
    test_ = await createTestDatabase();
    await test_.database`create table notes (note text)`;
    const target = new URL(test_.url);
    const sockets: Socket[] = [];
    const server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      sockets.push(near, far);
      let isDeaf = false;
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => {}).on('close', () => other.destroy());
      }
      near.on('data', (piece) => {
        if (cut !== undefined && piece.includes('a note')) {
          const way = cut;
          cut = undefined;
          if (way === 'unheard') return void near.destroy();
          isDeaf = true;
        }
        far.write(piece);
      });
      far.on('data', (piece) => (isDeaf ? near.destroy() : near.write(piece)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(test_.url);
    url.port = String((server.address() as AddressInfo).port);
    database = openDatabase({ url: url.href, connections: 2, name: 'receipted' });
    close = () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    };
  });
  afterEach(async () => {
    await database.end();
    close();
    await test_.drop();
  });

  const store = () =>
    sendWithReceipt<{ note: string }[]>(database, {
      statement: ({ poolId, number }) => database`
        with receipt as (
          insert into transaction_receipts (pool_id, number, is_stored) values (${poolId}, ${number}, true)
        )
        insert into notes values (${'a note'}) returning note`,
      readBack: async () => [{ note: 'read back' }],
    });
  const notes = async () => (await test_.database`select note from notes`).map(({ note }) => note as string);

  test('returns what it stored', async () => {
    expect(await store()).toEqual([{ note: 'a note' }]);
    expect(await notes()).toEqual(['a note']);
  });

  test('is looked up if its reply was lost, and stored once', async () => {
    cut = 'answered';
    expect(await store()).toEqual([{ note: 'read back' }]);
    expect(await notes()).toEqual(['a note']);
  });

  test('is reported as not stored for certain if the database never received it', async () => {
    cut = 'unheard';
    await expect(store()).rejects.toMatchObject({ name: 'LostTransactionError', code: 'CONNECTION_CLOSED' });
    expect(await notes()).toEqual([]);
  });
});

describe('receipts', () => {
  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  test('are removed before the given transaction, and those of future transactions', async () => {
    const { database } = bundle;
    await database`delete from transaction_receipts`;
    // The last is what a restore leaves of a database that had gone further.
    await database`
      insert into transaction_receipts (pool_id, number, is_stored, made_in)
      select ${'00'.repeat(16)}::uuid, number, true, made_in::xid8
      from unnest(${[1, 2, 3, 4]}::bigint[], ${['5', '6', '7', '9000000000000']}::text[]) as receipt (number, made_in)`;
    expect(await deleteReceiptsBefore(database, '7')).toBe(3);
    const rows = await database<
      { number: number }[]
    >`select number::int as number from transaction_receipts where number < 5`;
    expect(rows.map(({ number }) => number)).toEqual([3]);
  });

  test('are deleted by position, however few there were when the plan was made', async () => {
    const plans: string[] = [];
    await inTransaction(bundle.database, (tx) => deleteReceiptsBefore(collectPlans(tx, plans) as never, '10'));
    expect(plans.join('\n')).toMatch(/Tid Scan on transaction_receipts|Hash Join/);
    // An array of places would be compared with each row.
    expect(plans.join('\n')).not.toMatch(/ANY/);
  });
});
