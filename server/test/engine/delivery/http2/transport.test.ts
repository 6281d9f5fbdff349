import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2TransportOptions } from '../../../../src/providers/http2/transport.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { makeLog } from '../../../../src/log.ts';

/** A busy machine takes its time. */
const soon = { interval: 2, timeout: 10_000 };

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A provider that answers each request with its path, or leaves it open. */
async function serve({ answers = true, maxConcurrentStreams = 100 } = {}) {
  const sessions = new Set<ServerHttp2Session>();
  const streams: ServerHttp2Stream[] = [];
  const server = createServer({ settings: { maxConcurrentStreams } });
  server.on('session', (session) => sessions.add(session.on('error', () => {})));
  server.on('stream', (stream, headers) => {
    streams.push(stream.on('error', () => {}));
    if (!answers) return;
    stream.respond({ ':status': 200 });
    stream.end(headers[':path']);
  });
  const origin = await listen(server as unknown as Server);
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
  });
  return { origin, sessions, streams };
}

function openTransport(options: Partial<Http2TransportOptions> = {}) {
  const transport = makeHttp2Transport({
    log: makeLog({ level: 'silent', pretty: false }),
    allowedNetworks: [],
    ...options,
  });
  onTestFinished(() => transport.close());
  const ask = (origin: string, { key = 'one', path = '/p' } = {}): Promise<Answer> =>
    transport.request({ key, origin, isGuarded: false }, { path, headers: {}, body: Buffer.from('x') });
  return { transport, ask };
}

const closed = { kind: 'failure', certainty: 'unsent', detail: 'the transport is closed' };

test('requests of one key share a connection, and those of another have one of their own', async () => {
  const { origin, sessions } = await serve();
  const { ask } = openTransport();
  const asked = ['/a', '/b', '/c'].map((path) => ask(origin, { path }));
  expect((await Promise.all(asked)).map((answer) => answer.kind === 'answer' && answer.body)).toEqual([
    '/a',
    '/b',
    '/c',
  ]);
  expect(sessions.size).toBe(1);
  await ask(origin, { key: 'two' });
  expect(sessions.size).toBe(2);
});

test.each([
  [undefined, 2],
  [1, 1],
  [3, 3],
])(
  'of sessions for a target (setting: %s) no more than %d are opened, while streams are wanted',
  async (given, expected) => {
    const { origin, sessions, streams } = await serve({ answers: false, maxConcurrentStreams: 1 });
    const { ask } = openTransport(given === undefined ? {} : { sessionsPerTarget: given });
    const answers = Array.from({ length: 5 }, () => ask(origin));
    await vi.waitFor(() => expect([sessions.size, streams.length]).toEqual([expected, expected]), soon);
    for (let number = 0; number < 5; number += 1) {
      await vi.waitFor(() => expect(streams.length).toBeGreaterThan(number), soon);
      streams[number]!.respond({ ':status': 200 }, { endStream: true });
    }
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 200 });
    expect(sessions.size).toBe(expected);
  },
);

test('ten thousand requests wait for a target, and one more does not', async () => {
  const sockets = new Set<Socket>();
  const origin = await listen(createTcpServer((socket) => sockets.add(socket.on('error', () => {}))));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const { transport, ask } = openTransport();
  const waiting = Array.from({ length: 10_000 }, () => ask(origin));
  const refused = { kind: 'failure', certainty: 'unsent', reason: 'refused', detail: 'too many requests are waiting' };
  expect(await ask(origin)).toEqual(refused);
  expect(await Promise.race([ask(origin, { key: 'two' }), Promise.resolve('waits')])).toBe('waits');
  await transport.close();
  expect(await waiting[0]).toEqual({ ...closed, reason: 'unreachable' });
  expect(await waiting.at(-1)).toMatchObject(closed);
});

test('a transport that closes lets open requests end, and takes no other', async () => {
  const { origin, streams, sessions } = await serve({ answers: false });
  const { transport, ask } = openTransport();
  const answer = ask(origin);
  await vi.waitFor(() => expect(streams).toHaveLength(1), soon);
  let isClosed = false;
  const closing = transport.close().then(() => (isClosed = true));
  expect(await ask(origin)).toEqual({ ...closed, reason: 'refused' });
  expect(isClosed).toBe(false);
  streams[0]!.respond({ ':status': 200 }, { endStream: true });
  expect(await answer).toMatchObject({ status: 200 });
  await closing;
  await vi.waitFor(() => expect([...sessions].every(({ destroyed }) => destroyed)).toBe(true), soon);
});

test.each(['carillon', 'node'] as const)(
  'requests are given up after the time that is set, by the client %s',
  async (client) => {
    const { origin } = await serve({ answers: false });
    const { ask } = openTransport({ client, requestMilliseconds: 60 });
    expect(await ask(origin)).toMatchObject({ reason: 'timeout' });
  },
);

test('of five hundred targets the one that was not used for the longest time makes way for another', async () => {
  const { origin, sessions } = await serve();
  const { ask } = openTransport();
  for (let number = 0; number < 500; number += 1) await ask(origin, { key: `${number}` });
  expect(sessions.size).toBe(500);
  await ask(origin, { key: '0' });
  await ask(origin, { key: 'another' });
  expect(sessions.size).toBe(501);
  // Still connected, unlike the second.
  await ask(origin, { key: '0' });
  expect(sessions.size).toBe(501);
  await ask(origin, { key: '1' });
  expect(sessions.size).toBe(502);
});
