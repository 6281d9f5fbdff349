import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isOutage } from '../../src/domain/database-faults.ts';
import { inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database, Queryable } from '../../src/storage/database.ts';
import { listen } from '../../src/storage/notifications.ts';
import { sessionWords } from '../../src/storage/postgres/connection-watch.ts';
import { propertyRuns } from '../property-runs.ts';
import { startGate } from '../rig/gate.ts';
import { isPoolerInstalled, startPooler } from '../start-pooler.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

describe('a lost connection', () => {
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

  const notes = async (): Promise<string[]> =>
    (await test_.database<{ note: string }[]>`select note from notes order by note`).map(({ note }) => note);

  describe('a transaction whose connection is lost between two statements', () => {
    test('fails, rejects its later statements, and stores nothing', async () => {
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

    test('frees its place in the pool, however often', async () => {
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

    test('fails and rolls back if it is cut during a statement', async () => {
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

  describe('a lost reserved session', () => {
    test('accepts no more statements, and its return affects no other caller', async () => {
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

  describe('a database that repeatedly goes away and comes back', () => {
    test('settles every statement, transaction and reservation, and restores all places of the pool', async () => {
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

  /** Ends the connection from the server's side, as a restart or a fail-over does, and waits until it is gone. */
  async function cut(tx: Queryable): Promise<void> {
    const [{ pid }] = (await tx`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
    await test_.database`select pg_terminate_backend(${pid}::int, 5000)`;
    await new Promise((resolve) => setImmediate(resolve));
  }
});

describe('a lost new connection', () => {
  const ready = message('Z', 'I');
  const ended = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');

  test('is reported as an outage to its caller, and not as an internal fault, if it ends during preparation', async () => {
    const server = createServer((socket) => {
      let messages = 0;
      socket.on('error', () => {});
      socket.on('data', () => {
        messages += 1;
        // The start; then the settings of the session, with its end in the same piece.
        if (messages === 1) socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
        else socket.end(Buffer.concat([message('C', 'SET\0'), ready, ended]));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const database = openDatabase({ url: `postgres://u:p@127.0.0.1:${port}/d`, connections: 1, name: 'lost' });
    try {
      const error: unknown = await database`select 1`.catch((fault: unknown) => fault);
      expect(error).toMatchObject({ code: 'CONNECTION_CLOSED' });
      expect(isOutage(error)).toBe(true);
    } finally {
      await database.end();
      server.close();
    }
  });
});

describe('a node that is disconnected', () => {
  // Packets that are dropped for real, and how long it takes: `npm run test:nodes`. Here a proxy keeps silent, and the times
  // of the watch are short.
  const watchTimes = { lookMilliseconds: 20, askMilliseconds: 300 };
  const lost = { code: 'CONNECTION_CLOSED' };

  let bundle: TestDatabase;
  beforeAll(async () => {
    bundle = await createTestDatabase();
  });
  afterAll(() => bundle.drop());

  describe('the settings of a session that end it with a disconnected node', () => {
    const told = `select string_agg(name || ' ' || setting, ', ' order by name) as told from pg_settings
    where name like 'tcp\\_%' or name in ('client_connection_check_interval', 'idle_in_transaction_session_timeout')`;
    const expected =
      'client_connection_check_interval 10000, idle_in_transaction_session_timeout 60000, tcp_keepalives_count 3, ' +
      'tcp_keepalives_idle 10, tcp_keepalives_interval 5, tcp_user_timeout 30000';

    test('are sent to each session of a pool', async () => {
      const database = openDatabase({ url: bundle.url, connections: 1, name: 'told' });
      expect(await database.unsafe(told)).toEqual([{ told: expected }]);
      await database.end();
    });

    test('are sent to the listening session', async () => {
      const proxy = await startProxy(bundle.url);
      const { signal } = new AbortController();
      const listener = await listen({ url: proxy.url, onPayload() {}, signal });
      for (const words of [sessionWords, 'idle_in_transaction_session_timeout']) expect(proxy.sent()).toContain(words);
      await listener.close();
      await proxy.close();
    });
  });

  describe('a statement without a response', () => {
    let proxy: Awaited<ReturnType<typeof startProxy>>;
    let database: Database;
    beforeEach(async () => {
      proxy = await startProxy(bundle.url);
      database = openDatabase({ url: proxy.url, connections: 2, name: 'cut off', watchTimes });
      await database`select 1`;
    });
    afterEach(async () => {
      await database.end({ timeoutSeconds: 0 });
      await proxy.close();
    });

    test('fails if the database is out of reach, even in a transaction, and later ones succeed', async () => {
      await expect(
        inTransaction(database, async (tx) => {
          await tx`create table never (number int)`;
          proxy.silence('all');
          await tx`select 2`;
        }),
      ).rejects.toMatchObject(lost);
      proxy.mend();
      expect(await database`select to_regclass('never') as name`).toEqual([{ name: null }]);
    });

    test('fails if the database never received it and is in reach again', async () => {
      proxy.silence('those that are open');
      await expect(database`select 3`).rejects.toMatchObject(lost);
      expect(await database`select 4 as four`).toEqual([{ four: 4 }]);
    });

    test('is waited for if it is slow or waits for a lock', async () => {
      await database`create table if not exists locked (number int)`;
      const blocker = inTransaction(bundle.database, async (tx) => {
        await tx`lock table locked`;
        await tx`select pg_sleep(0.6)`;
      });
      const waiter = inTransaction(database, (tx) => tx`lock table locked`);
      const [, , slept] = await Promise.all([blocker, waiter, database`select 6 as six from pg_sleep(0.6)`]);
      expect(slept).toEqual([{ six: 6 }]);
    });

    test.skipIf(!isPoolerInstalled)(
      'is waited for behind a pooler in session mode, which reports another session',
      async () => {
        const pooler = await startPooler(bundle.url, { mode: 'session', roundRobin: false });
        const pooled = openDatabase({ url: pooler.url, connections: 1, name: 'pooled', watchTimes });
        expect(await pooled`select 5 as five from pg_sleep(0.6)`).toEqual([{ five: 5 }]);
        await pooled.end();
        await pooler.stop();
      },
    );
  });
});

function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Passes everything on, until it is told to keep silent: then it reads, and neither passes on nor closes anything. */
async function startProxy(target: string) {
  const to = new URL(target);
  const pairs = new Set<[client: Socket, server: Socket]>();
  let isSilent = false;
  let sent = '';
  const silenced = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    pairs.add([client, upstream]);
    if (isSilent) silenced.add(client);
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      if (from === client) from.on('data', (piece) => (sent += piece.toString()));
      from.on('data', (piece) => void (silenced.has(client) || into.write(piece)));
      from.on('close', () => void (silenced.has(client) || into.destroy()));
      from.on('error', () => {});
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  [url.hostname, url.port] = ['127.0.0.1', String((server.address() as AddressInfo).port)];
  return {
    url: url.href,
    /** All that came from clients. */
    sent: () => sent,
    silence(which: 'all' | 'those that are open') {
      isSilent = which === 'all';
      for (const [client] of pairs) silenced.add(client);
    },
    mend() {
      isSilent = false;
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
