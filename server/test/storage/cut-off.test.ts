import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inTransaction, openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { listen } from '../../src/storage/notifications.ts';
import { sessionWords } from '../../src/storage/postgres/connection-watch.ts';
import { isPoolerInstalled, startPooler } from '../start-pooler.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

// Packets that are dropped for real, and how long it takes: `npm run test:nodes`. Here a proxy keeps silent, and the times
// of the watch are short.
const watchTimes = { lookMilliseconds: 20, askMilliseconds: 300 };
const lost = { code: 'CONNECTION_CLOSED' };

let bundle: TestDatabase;
beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

describe('what a session is told, so that it does not outlive a node that is cut off', () => {
  const told = `select string_agg(name || ' ' || setting, ', ' order by name) as told from pg_settings
    where name like 'tcp\\_%' or name in ('client_connection_check_interval', 'idle_in_transaction_session_timeout')`;
  const expected =
    'client_connection_check_interval 10000, idle_in_transaction_session_timeout 60000, tcp_keepalives_count 3, ' +
    'tcp_keepalives_idle 10, tcp_keepalives_interval 5, tcp_user_timeout 30000';

  test('each of a pool', async () => {
    const database = openDatabase({ url: bundle.url, connections: 1, name: 'told' });
    expect(await database.unsafe(told)).toEqual([{ told: expected }]);
    await database.end();
  });

  test('the one that listens', async () => {
    const proxy = await startProxy(bundle.url);
    const { signal } = new AbortController();
    const listener = await listen({ url: proxy.url, onPayload() {}, signal });
    for (const words of [sessionWords, 'idle_in_transaction_session_timeout']) expect(proxy.sent()).toContain(words);
    await listener.close();
    await proxy.close();
  });
});

describe('a statement that nobody answers', () => {
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

  test('fails when the database is out of reach, in a transaction too, and later ones are answered', async () => {
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

  test('fails when the database never got it and is in reach again', async () => {
    proxy.silence('those that are open');
    await expect(database`select 3`).rejects.toMatchObject(lost);
    expect(await database`select 4 as four`).toEqual([{ four: 4 }]);
  });

  test('is waited for when it takes its time, or waits for a lock', async () => {
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
    'is waited for behind a pooler in session mode, which announces another session',
    async () => {
      const pooler = await startPooler(bundle.url, { mode: 'session', roundRobin: false });
      const pooled = openDatabase({ url: pooler.url, connections: 1, name: 'pooled', watchTimes });
      expect(await pooled`select 5 as five from pg_sleep(0.6)`).toEqual([{ five: 5 }]);
      await pooled.end();
      await pooler.stop();
    },
  );
});

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
