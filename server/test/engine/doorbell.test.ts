import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeDoorbell, ringAfterCommit } from '../../src/engine/doorbell.ts';
import type { AnswerOptions, Bell, Doorbell, DoorbellDependencies } from '../../src/engine/doorbell.ts';
import { makeLog } from '../../src/log.ts';
import { inTransaction, openDatabase, withSession } from '../../src/storage/database.ts';
import { listen } from '../../src/storage/notifications.ts';
import { findFreePort } from '../find-free-port.ts';
import { makePushBundle, userBody } from '../push/push-bundle.ts';
import { isPoolerInstalled, startPooler } from '../start-pooler.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

const log = makeLog({ level: 'silent', pretty: false });
let bundle: TestDatabase;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  bundle = await createTestDatabase();
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await bundle.drop();
});

type Pause = NonNullable<DoorbellDependencies['pause']>;
/** Pauses that last until the test ends them. */
function holdPauses() {
  const held: { milliseconds: number; end: () => void }[] = [];
  const pause: Pause = (milliseconds, signal) =>
    new Promise((resolve) => {
      held.push({ milliseconds, end: resolve });
      signal?.addEventListener('abort', () => resolve());
    });
  return { pause, held, endAll: () => held.splice(0).forEach(({ end }) => end()) };
}
const noPause: Pause = () => Promise.resolve();

/** A node with workers. The connection's own wake is not counted. */
async function openNode(more: Partial<AnswerOptions> = {}, { pause = noPause }: { pause?: Pause } = {}) {
  const node = { doorbell: makeDoorbell({ database: bundle.database, pause, random: () => 0 }), woken: [] as Bell[] };
  const wakes = {
    'fan-out': () => void node.woken.push('fan-out'),
    'named-runs': () => void node.woken.push('named-runs'),
    segments: () => void node.woken.push('segments'),
    journeys: () => void node.woken.push('journeys'),
  };
  const answering = await node.doorbell.answer({ url: bundle.url, log, wakes, ...more });
  ends.push(() => answering.stop());
  const atStart = node.woken.splice(0);
  return { ...node, atStart, stop: () => answering.stop() };
}

/** A node that takes requests and sends nothing. */
const openApiNode = (pause = noPause): Doorbell => makeDoorbell({ database: bundle.database, pause });

/** What is sent through the database. */
async function overhear(): Promise<string[]> {
  const payloads: string[] = [];
  const { signal } = new AbortController();
  const listener = await listen({ url: bundle.url, onPayload: (payload) => void payloads.push(payload), signal });
  ends.push(() => listener.close());
  return payloads;
}

const sessions = async (): Promise<{ pid: number; state: string; isOpen: boolean }[]> => [
  ...(await bundle.database<{ pid: number; state: string; isOpen: boolean }[]>`
    select pid, state, xact_start is not null as "isOpen" from pg_stat_activity
    where datname = current_database() and application_name = 'carillon doorbell'`),
];

/** Ends the sessions that listen, as the end of the database does. */
async function cut(): Promise<void> {
  for (const { pid } of await sessions()) await bundle.database`select pg_terminate_backend(${pid}::int, 5000)`;
}

describe('a notification in a transaction', () => {
  test('wakes every node once per kind after the commit, and no node after a rollback', async () => {
    const [one, other] = [await openNode(), await openNode()];
    await inTransaction(bundle.database, async (tx) => {
      ringAfterCommit(tx, 'segments');
      throw new Error('rolled back');
    }).catch(() => {});
    await inTransaction(bundle.database, async (tx) => {
      ringAfterCommit(tx, 'fan-out');
      ringAfterCommit(tx, 'fan-out');
      // Had it been sent at once, the other ring of this transaction would wake them first.
      await bundle.database`select pg_notify('carillon', 'unknown word')`;
      expect([one.woken, other.woken]).toEqual([[], []]);
    });
    await expect.poll(() => [one.woken, other.woken]).toEqual([['fan-out'], ['fan-out']]);
  });

  test('wakes nodes from a reserved session, too', async () => {
    const node = await openNode();
    await withSession(bundle.database, (session) =>
      inTransaction(session, async (tx) => ringAfterCommit(tx, 'segments')),
    );
    await expect.poll(() => node.woken).toEqual(['segments']);
  });

  test('does not affect the stored data if it cannot be sent', async () => {
    await bundle.database`create table kept (number int)`;
    const stored = await inTransaction(bundle.database, async (tx) => {
      await tx`insert into kept values (1)`;
      tx.afterwards.set('fails', { text: 'select 1 / 0', parameters: [], name: undefined });
      ringAfterCommit(tx, 'fan-out');
      return 'stored';
    });
    expect([stored, [...(await bundle.database`select number from kept`)]]).toEqual(['stored', [{ number: 1 }]]);
  });
});

describe('a notification of a node', () => {
  test('wakes its own workers once and immediately, without the database', async () => {
    const [node, overheard] = [await openNode(), await overhear()];
    node.doorbell.ring();
    expect(node.woken).toEqual(['fan-out']);
    // Its own notification has come back when the one behind it has.
    await expect.poll(() => overheard.length).toBe(1);
    await inTransaction(bundle.database, async (tx) => ringAfterCommit(tx, 'segments'));
    await expect.poll(() => node.woken).toEqual(['fan-out', 'segments']);
  });

  test('wakes the workers of other nodes, even if it has none', async () => {
    const worker = await openNode();
    openApiNode().ring();
    await expect.poll(() => worker.woken).toEqual(['fan-out']);
  });

  test('of runs to named users wakes their senders alone, on every node', async () => {
    const [node, other] = [await openNode(), await openNode()];
    node.doorbell.ring('named-runs');
    expect(node.woken).toEqual(['named-runs']);
    await expect.poll(() => other.woken).toEqual(['named-runs']);
  });

  test('is forwarded immediately after a pause, then once for all within 20 ms', async () => {
    const { pause, held, endAll } = holdPauses();
    const [node, overheard] = [await openNode({}, { pause }), await overhear()];
    for (let count = 0; count < 50; count += 1) node.doorbell.ring();
    await expect.poll(() => held.map(({ milliseconds }) => milliseconds)).toEqual([20, 20]);
    expect(node.woken.length).toBe(1);
    endAll();
    await expect.poll(() => held.length).toBe(2);
    await expect.poll(() => [node.woken.length, overheard.length]).toEqual([2, 2]);
    // Nothing came meanwhile, so the next is passed on at once again.
    endAll();
    await expect.poll(() => held.length).toBe(0);
    node.doorbell.ring();
    expect(node.woken.length).toBe(3);
    await expect.poll(() => overheard.length).toBe(3);
  });

  test('wakes a node at most fifty times a second if many nodes send at once', async () => {
    const { pause, held, endAll } = holdPauses();
    const node = await openNode({}, { pause });
    const overheard = await overhear();
    for (let count = 0; count < 20; count += 1) openApiNode().ring();
    await expect.poll(() => overheard.length).toBe(20);
    await expect.poll(() => [held.length, node.woken.length]).toEqual([1, 1]);
    endAll();
    await expect.poll(() => node.woken.length).toBe(2);
  });

  test('is short, and ignored if its kind is unknown', async () => {
    const [node, overheard] = [await openNode(), await overhear()];
    await bundle.database`select pg_notify('carillon', 'toString x')`;
    await bundle.database`select pg_notify('carillon', '')`;
    openApiNode().ring();
    await expect.poll(() => node.woken).toEqual(['fan-out']);
    expect(Math.max(...overheard.map((payload) => Buffer.byteLength(payload)))).toBeLessThanOrEqual(20);
  });
});

describe('the listening session', () => {
  test('is one per node, idle outside a transaction, and gone after the node has stopped', async () => {
    const node = await openNode();
    expect(node.atStart).toEqual(['fan-out', 'named-runs', 'segments', 'journeys']);
    openApiNode().ring();
    await expect.poll(() => node.woken).toEqual(['fan-out']);
    expect(await sessions()).toMatchObject([{ state: 'idle', isOpen: false }]);
    await node.stop();
    await expect.poll(sessions).toEqual([]);
    openApiNode().ring();
    node.doorbell.ring();
    expect(node.woken).toEqual(['fan-out']);
  });

  test('is reopened after a disconnect, and then wakes for earlier and later notifications', async () => {
    const { pause, held, endAll } = holdPauses();
    const node = await openNode({}, { pause });
    await cut();
    await expect.poll(() => held.map(({ milliseconds }) => milliseconds)).toEqual([500]);
    const overheard = await overhear();
    // As pushes do it, and then a file.
    for (let count = 0; count < 5; count += 1) openApiNode().ring();
    await inTransaction(bundle.database, async (tx) => ringAfterCommit(tx, 'segments'));
    await expect.poll(() => overheard.length).toBe(6);
    expect(node.woken).toEqual([]);
    endAll();
    await expect.poll(() => node.woken).toEqual(['fan-out', 'named-runs', 'segments', 'journeys']);
    openApiNode().ring();
    await expect.poll(() => node.woken).toEqual(['fan-out', 'named-runs', 'segments', 'journeys', 'fan-out']);
  });

  test('is retried at growing intervals while the database is unavailable, with jitter between nodes', async () => {
    const url = new URL(bundle.url);
    url.port = String(await findFreePort());
    for (const [draw, expected] of [
      [0, [500, 1000, 2000, 4000, 8000, 10000, 10000]],
      [0.5, [375, 750, 1500, 3000, 6000, 7500, 7500]],
    ] as const) {
      const { pause, held } = holdPauses();
      const pauses: number[] = [];
      const doorbell = makeDoorbell({ database: bundle.database, pause, random: () => draw });
      const answering = await doorbell.answer({
        url: url.href,
        log,
        wakes: { 'fan-out'() {}, 'named-runs'() {}, segments() {}, journeys() {} },
      });
      while (pauses.length < 7) {
        await expect.poll(() => held.length).toBe(1);
        const { milliseconds, end } = held.pop()!;
        pauses.push(milliseconds);
        end();
      }
      await answering.stop();
      expect(pauses).toEqual(expected);
    }
  });

  test('is closed if the server stops answering, and does not delay a stop', async () => {
    const front = await startFront();
    const node = await openNode({ url: front.url, times: { answerMilliseconds: 100, probeMilliseconds: 20 } });
    front.silence();
    // One that is made goes through: the wake of its start.
    await expect.poll(() => node.woken).toEqual(['fan-out', 'named-runs', 'segments', 'journeys']);
    openApiNode().ring();
    await expect.poll(() => node.woken.length).toBe(4);
    front.silence();
    await node.stop();
    front.keepSilent();
    const begun = makeDoorbell({ database: bundle.database, pause: noPause });
    const answering = await begun.answer({
      ...{ url: front.url, log, wakes: { 'fan-out'() {}, 'named-runs'() {}, segments() {}, journeys() {} } },
      times: { answerMilliseconds: 50, probeMilliseconds: 1_000 },
    });
    await answering.stop();
  });

  test('causes no uncaught fault if the database shuts down while it closes', async () => {
    const front = await startFront();
    const faults: Error[] = [];
    const note = (fault: Error): void => void faults.push(fault);
    process.on('uncaughtExceptionMonitor', note);
    ends.push(async () => process.off('uncaughtExceptionMonitor', note));
    const node = await openNode({ url: front.url });
    front.shutDown();
    await node.stop();
    await new Promise(setImmediate);
    expect(faults).toEqual([]);
  });

  test.skipIf(!isPoolerInstalled)('reports that it does not listen behind a pooler in transaction mode', async () => {
    const pooler = await startPooler(bundle.url, { mode: 'transaction', roundRobin: true });
    ends.push(() => pooler.stop());
    const { signal } = new AbortController();
    const times = { answerMilliseconds: 2_000, probeMilliseconds: 20 };
    const listener = await listen({ url: pooler.url, onPayload() {}, signal, times });
    const pooled = openDatabase({ url: pooler.url, connections: 1, name: 'pooled', pooler: 'transaction' });
    ends.push(() => pooled.end());
    // It is given the session that has just listened.
    const { fault } = await inTransaction(pooled, async (tx) => {
      await tx`select 1`;
      return listener.lost;
    });
    expect(fault).toMatchObject({ message: expect.stringContaining('does not listen any more') });
    await listener.close();
  });
});

describe('a push that a node of role `api` accepts', () => {
  test('wakes the senders of named users on another node once it is stored, also if it joins or is repeated', async () => {
    const api = await makePushBundle();
    ends.unshift(() => api.end());
    await api.addUser('ada');
    const doorbell = makeDoorbell({ database: api.database, pause: noPause });
    const stored: number[] = [];
    const look = async (): Promise<void> => void stored.push((await api.countRows()).requests);
    const wakes = { 'fan-out'() {}, 'named-runs': () => void look(), segments() {}, journeys() {} };
    const answering = await doorbell.answer({ url: api.url, log, wakes });
    ends.push(() => answering.stop());
    await expect.poll(() => stored).toEqual([0]);
    expect((await api.send(userBody('ada'))).statusCode).toBe(200);
    await expect.poll(() => stored).toEqual([0, 1]);
    expect((await api.send(userBody('ada', { requestId: 'second' }))).statusCode).toBe(200);
    await expect.poll(() => stored).toEqual([0, 1, 2]);
    const headers = { 'idempotency-key': 'third' };
    expect((await api.send(userBody('ada', { requestId: 'third' }), { headers })).statusCode).toBe(200);
    await expect.poll(() => stored).toEqual([0, 1, 2, 3]);
  });
});

const goodbye = 'X'.charCodeAt(0);
const shutdownFields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', '', ''];
const shutdownBody = Buffer.from(shutdownFields.join('\0'));
const shuttingDown = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), shutdownBody]);
shuttingDown.writeInt32BE(shutdownBody.length + 4, 1);

/** Passes everything on until it is told to keep silent: then it reads, and neither passes on nor closes anything. */
async function startFront() {
  const to = new URL(bundle.url);
  const pairs = new Set<[Socket, Socket]>();
  const silent = new Set<Socket>();
  let isSilent = false;
  let isShuttingDown = false;
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname);
    pairs.add([client, upstream]);
    if (isSilent) silent.add(client);
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (piece: Buffer) => {
        if (isShuttingDown && from === client && piece.at(0) === goodbye) client.end(shuttingDown);
        else if (!silent.has(client)) into.write(piece);
      });
      from.on('close', () => into.destroy());
      from.on('error', () => {});
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.unshift(async () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = new URL(bundle.url);
  [url.hostname, url.port] = ['127.0.0.1', String((server.address() as AddressInfo).port)];
  return {
    url: url.href,
    silence: () => pairs.forEach(([client]) => silent.add(client)),
    keepSilent: () => (isSilent = true),
    /** Answers the goodbye of a session as a database that is shut down at that moment. */
    shutDown: () => (isShuttingDown = true),
  };
}
