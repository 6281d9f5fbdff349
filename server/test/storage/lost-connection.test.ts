import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database, Queryable } from '../../src/storage/database.ts';
import { propertyRuns } from '../property-runs.ts';
import { createTestDatabase } from '../test-database.ts';
import { startGate } from '../rig/gate.ts';

// What the driver does by itself: crash the process, leave the connection mute, or run the rest of a transaction on
// another session, statement by statement (docs/decisions/0025).
let test_: Awaited<ReturnType<typeof createTestDatabase>>;
let database: Database;
beforeEach(async () => {
  test_ = await createTestDatabase();
  await test_.database`create table notes (note text)`;
  // One connection: what comes next uses the one that was lost.
  database = openDatabase({ url: test_.url, connections: 1, name: 'lost' });
});
afterEach(async () => {
  await database.end();
  await test_.drop();
});

/** Ends the connection from the server's side, as a restart or a fail-over does, and waits until it is gone. */
async function cut(tx: Queryable): Promise<void> {
  const [{ pid }] = (await tx`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
  await test_.database`select pg_terminate_backend(${pid}::int, 5000)`;
  await new Promise((resolve) => setImmediate(resolve));
}

const notes = async (): Promise<string[]> =>
  (await test_.database<{ note: string }[]>`select note from notes order by note`).map(({ note }) => note);

describe('a transaction whose connection is lost between two statements', () => {
  test('fails, its later statements are refused, and nothing of it is stored', async () => {
    const later: unknown[] = [];
    let goOn: (() => void) | undefined;
    const isOver = new Promise<void>((resolve) => (goOn = resolve));
    const given = inTransaction(database, async (tx) => {
      await tx`insert into notes values ('before')`;
      await cut(tx);
      // The pool has a new session by now; a statement that went there would be committed by itself.
      await expect.poll(() => database`select 1 as one`.catch(() => undefined)).toEqual([{ one: 1 }]);
      for (const note of ['after', 'long after'])
        await tx`insert into notes values (${note})`.catch((error: { code: string }) => later.push(error.code));
      goOn!();
    });
    await expect(given).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    await isOver;
    expect(later).toEqual(['CONNECTION_CLOSED', 'CONNECTION_CLOSED']);
    expect(await notes()).toEqual([]);
  });

  test('gives its place in the pool to others, however often', async () => {
    for (let round = 0; round < propertyRuns(100); round += 1) {
      const given = inTransaction(database, async (tx) => {
        await tx`insert into notes values ('never')`;
        await cut(tx);
        // Written while nobody listens: small, and so not at once.
        await tx`select 1`;
      });
      await expect(given).rejects.toThrow();
    }
    await database`insert into notes values ('at last')`;
    expect(await notes()).toEqual(['at last']);
  });

  test('fails when the statement that is under way is cut, and rolls back', async () => {
    const given = inTransaction(database, async (tx) => {
      await tx`insert into notes values ('before')`;
      const [{ pid }] = (await tx`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
      const sleeping = tx`select pg_sleep(60)`;
      sleeping.catch(() => {});
      await test_.database`select pg_terminate_backend(${pid}::int, 5000)`;
      await sleeping;
    });
    await expect(given).rejects.toThrow();
    expect(await database`select 1 as one`).toEqual([{ one: 1 }]);
    expect(await notes()).toEqual([]);
  });
});

describe('a reserved session that is lost', () => {
  test('takes no more statements, and giving it back harms nobody', async () => {
    await withSession(database, async (session) => {
      await session.unsafe('begin');
      await session`insert into notes values ('before')`;
      await cut(session);
      await expect(session`insert into notes values ('after')`).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    });
    for (let count = 0; count < 10; count += 1) expect(await database`select 1 as one`).toEqual([{ one: 1 }]);
    expect(await notes()).toEqual([]);
  });
});

describe('a database that goes away and comes back, again and again', () => {
  test('every statement, transaction and reservation settles, and afterwards the pool has all its places', async () => {
    const gate = await startGate(test_.url.replace('postgres:', 'http:'));
    const url = new URL(test_.url);
    url.port = new URL(gate.origin).port;
    const connections = 3;
    const through = openDatabase({ url: url.href, connections, name: 'gate' });
    let rejected = 0;
    const settle = (work: Promise<unknown>) => work.catch(() => (rejected += 1));
    const work = () => [
      ...Array.from({ length: 4 }, () => settle(through`select 1`)),
      ...Array.from({ length: 4 }, () =>
        settle(
          inTransaction(through, async (tx) => {
            await tx`select 1`;
            await tx`select 2`;
          }),
        ),
      ),
      settle(withSession(through, (session) => session`select 1`)),
    ];
    for (let round = 0; round < 25; round += 1) {
      const during = work();
      if (round % 2 === 0) await Promise.race(during);
      await gate.close();
      const without = work();
      await gate.open();
      await Promise.all([...during, ...without]);
    }
    expect(rejected).toBeGreaterThan(25);
    // As many sessions at one time as there are places: each waits until all are there.
    const pids = new Set<number>();
    const all = Promise.withResolvers<void>();
    await Promise.all(
      Array.from({ length: connections }, () =>
        withSession(through, async (session) => {
          pids.add((await session`select pg_backend_pid() as pid`)[0]!.pid as number);
          if (pids.size === connections) all.resolve();
          await all.promise;
        }),
      ),
    );
    expect(pids.size).toBe(connections);
    await through.end();
    await gate.close();
  });
});
