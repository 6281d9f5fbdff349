import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeLog } from '../../../../src/log.ts';
import { AddressBlockedError, HostNotAllowedError } from '../../../../src/outgoing/guard.ts';
import { ProxyError } from '../../../../src/outgoing/proxy.ts';
import { RequestHead } from '../../../../src/providers/http2/requests.ts';
import type { OutgoingRequest, PromisedRequest } from '../../../../src/providers/http2/requests.ts';
import type { Session, SessionOptions } from '../../../../src/providers/http2/session.ts';
import {
  dispatch,
  failWaiting,
  makeHttp2Transport,
  makeRequestLane,
  makeSessionPool,
} from '../../../../src/providers/http2/transport.ts';
import type { Http2TransportOptions, SessionPool } from '../../../../src/providers/http2/transport.ts';
import type { Answer } from '../../../../src/providers/provider.ts';

/** A session whose peer is the test. */
type Peer = Session & {
  sent: { path: string; settle: (answer: Answer) => void }[];
  streams: number;
  leaves: boolean;
  isClosed: boolean;
  options: SessionOptions;
};

describe('session pool', () => {
  const ok: Answer = { kind: 'answer', status: 200, headers: {}, body: '' };
  const refused: Answer = { kind: 'failure', certainty: 'unsent', reason: 'refused', detail: 'no' };
  const target = { key: 'one', origin: 'https://push.example', isGuarded: false };
  const connectMilliseconds = 1_000;
  const requestMilliseconds = 2_000;
  const waitMilliseconds = connectMilliseconds + requestMilliseconds;

  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  describe('waiting requests', () => {
    test('open one connection at a time, another one if no stream is free, up to the limit', async () => {
      const { pool, ask, connect, peers, paths, opening, answers } = openPool();
      expect(opening).toHaveLength(0);
      ask('/1', '/2', '/3');
      expect(opening).toHaveLength(1);
      await connect();
      expect([paths(), opening.length]).toEqual([[['/1']], 1]);
      await connect();
      expect([paths(), opening.length]).toEqual([[['/1'], ['/2']], 0]);
      peers[1]!.sent[0]!.settle(ok);
      expect(paths()).toEqual([['/1'], ['/2', '/3']]);
      peers[0]!.sent[0]!.settle(ok);
      expect(answers).toEqual([
        ['/2', ok],
        ['/1', ok],
      ]);
      expect([opening.length, pool.waiting.length]).toEqual([0, 0]);
    });

    test('share a connection with free streams instead of opening a second one', async () => {
      const { ask, connect, paths, opening } = openPool({ streams: 3 });
      ask('/1', '/2', '/3');
      await connect();
      expect([paths(), opening.length]).toEqual([[['/1', '/2', '/3']], 0]);
    });

    test('get a new connection if theirs accepts no more, which is forgotten when it closes', async () => {
      const { pool, ask, connect, peers, paths, opening } = openPool({ sessionsPerTarget: 1 });
      ask('/1');
      await connect();
      peers[0]!.leaves = true;
      ask('/2');
      expect(opening).toHaveLength(1);
      await connect();
      expect(paths()).toEqual([['/1'], ['/2']]);
      peers[0]!.options.onClosed();
      expect(pool.sessions).toEqual([peers[1]]);
    });

    test('are sent up to three times in all if they are refused, then reported as unsent', async () => {
      const { ask, connect, peers, paths, answers } = openPool({ streams: 5, sessionsPerTarget: 1 });
      ask('/1');
      await connect();
      for (let time = 0; time < 3; time += 1) {
        expect([paths()[0]!.length, answers]).toEqual([time + 1, []]);
        peers[0]!.sent[time]!.settle(refused);
      }
      expect([paths(), answers]).toEqual([[['/1', '/1', '/1']], [['/1', refused]]]);
    });

    test.each([
      [{ kind: 'failure', certainty: 'unknown', reason: 'reset', detail: 'gone' }],
      [{ kind: 'answer', status: 503, headers: {}, body: '' }],
    ] as [Answer][])('are not sent again if they may have been processed: %j', async (answer) => {
      const { ask, connect, peers, paths, answers } = openPool();
      ask('/1');
      await connect();
      peers[0]!.sent[0]!.settle(answer);
      expect([paths(), answers]).toEqual([[['/1']], [['/1', answer]]]);
    });

    test('are not sent again if they are refused while the transport closes', async () => {
      const { rules, ask, connect, peers, paths, answers } = openPool();
      ask('/1');
      await connect();
      rules.isClosed = true;
      peers[0]!.sent[0]!.settle(refused);
      expect([paths(), answers]).toEqual([[['/1']], [['/1', refused]]]);
    });

    test('are reported as unsent with an invalid header, without affecting the next one', async () => {
      const { pool, ask, connect, paths, answers } = openPool({ streams: 5 });
      const settle = (answer: Answer) => answers.push(['faulty', answer]);
      const faulty = { path: '/0', headers: { ttl: 'a\nb' }, body: Buffer.alloc(0) };
      pool.waiting.push({ ...faulty, tries: 1, waitsUntil: performance.now() + waitMilliseconds, settle });
      ask('/1');
      await connect();
      expect(answers).toEqual([
        ['faulty', { kind: 'failure', certainty: 'unsent', reason: 'refused', detail: 'not a value of header ttl' }],
      ]);
      expect(paths()).toEqual([['/1']]);
    });
  });

  describe('a pool whose server speaks HTTP/1.1', () => {
    test('opens four connections, one at a time, whatever the limit for HTTP/2 is', async () => {
      const { ask, connect, opening, paths } = openPool({ protocol: 'http/1.1', sessionsPerTarget: 2 });
      ask('/1', '/2', '/3', '/4', '/5');
      for (let count = 1; count <= 4; count += 1) {
        expect(opening).toHaveLength(1);
        await connect();
      }
      expect(opening).toHaveLength(0);
      expect(paths()).toEqual([['/1'], ['/2'], ['/3'], ['/4']]);
    });
  });

  describe('requests behind slow responses', () => {
    test('are given up as unsent after the time limits of a connection and a request', async () => {
      const { ask, connect, peers, answers, paths } = openPool({ streams: 1, sessionsPerTarget: 1 });
      ask('/1', '/2');
      await connect();
      await vi.advanceTimersByTimeAsync(waitMilliseconds - 1);
      ask('/3');
      peers[0]!.sent[0]!.settle(ok);
      expect(paths()).toEqual([['/1', '/2']]);
      ask('/4');
      await vi.advanceTimersByTimeAsync(waitMilliseconds - 1);
      // In time for the one, and too late for nobody else.
      peers[0]!.sent[1]!.settle(ok);
      expect(paths()).toEqual([['/1', '/2', '/3']]);
      await vi.advanceTimersByTimeAsync(1);
      peers[0]!.options.onSpace();
      const failure = { ...{ kind: 'failure', certainty: 'unsent', reason: 'unreachable' } };
      expect(answers).toMatchObject([
        ['/1', ok],
        ['/2', ok],
        ['/4', { ...failure, detail: 'no stream was free in time' }],
      ]);
    });
  });

  describe('a failed connection', () => {
    test.each([
      [new Error('ECONNREFUSED'), 'unreachable'],
      [Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), 'unresolved'],
      // The resolver itself is out of order.
      [Object.assign(new Error('no resolver'), { code: 'EAI_AGAIN' }), 'unreachable'],
      [Object.assign(new Error('no server'), { code: 'ESERVFAIL' }), 'unreachable'],
      [new AddressBlockedError('blocked'), 'address-blocked'],
      [new HostNotAllowedError('not allowed'), 'host-not-allowed'],
      [new ProxyError('PROXY_AUTH', 'auth'), 'proxy-auth'],
      [new ProxyError('PROXY_REFUSED', 'refused'), 'proxy-refused'],
      [new ProxyError('PROXY_UNREACHABLE', 'away'), 'proxy-unreachable'],
    ])('reports its reason to all waiting requests: %s', async (error, reason) => {
      const { pool, ask, connect, answers } = openPool({ fault: () => error });
      ask('/1', '/2');
      await connect();
      const failure = { kind: 'failure', certainty: 'unsent', reason, detail: error.message };
      expect(answers).toEqual([
        ['/1', failure],
        ['/2', failure],
      ]);
      expect([pool.waiting.length, pool.opening, vi.getTimerCount()]).toEqual([0, 0, 0]);
    });

    test('lets requests wait for another live connection', async () => {
      const faults: Error[] = [];
      const { pool, ask, connect, peers, answers, paths } = openPool({ fault: () => faults[0] });
      ask('/1');
      await connect();
      faults.push(new Error('away'));
      ask('/2');
      await connect();
      expect([answers, pool.opening]).toEqual([[], 0]);
      peers[0]!.sent[0]!.settle(ok);
      expect(paths()).toEqual([['/1', '/2']]);
    });

    test('fails the requests after three that end in a row without serving any, and is retried by the next request', async () => {
      const { ask, connect, peers, answers, opening } = openPool({ streams: 0 });
      ask('/1');
      for (let time = 0; time < 3; time += 1) {
        expect([opening.length, answers.length]).toEqual([1, 0]);
        await connect();
        const peer = peers.at(-1)!;
        peer.leaves = true;
        peer.options.onClosed();
      }
      const detail = 'every connection ended before it served a request';
      expect([opening.length, answers]).toEqual([
        0,
        [['/1', { kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail }]],
      ]);
      ask('/2');
      expect(opening).toHaveLength(1);
    });

    test('is closed if it opens after the transport has closed, or if it leaves immediately', async () => {
      const { pool, rules, ask, connect, peers } = openPool();
      ask('/1');
      rules.isClosed = true;
      failWaiting(pool, new Error('closed'));
      await connect();
      expect([peers[0]!.isClosed, pool.sessions]).toEqual([true, []]);
    });
  });

  describe('a peer that keeps its connection and allows no stream', () => {
    const limit = connectMilliseconds + requestMilliseconds;

    test('is waited for up to the time limits of a connection and a request', async () => {
      const { ask, connect, answers } = openPool({ streams: 0, sessionsPerTarget: 1 });
      ask('/1');
      await connect();
      await vi.advanceTimersByTimeAsync(limit - 1);
      expect(answers).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      const failure = {
        kind: 'failure',
        certainty: 'unsent',
        reason: 'unreachable',
        detail: 'no stream was free in time',
      };
      expect([answers, vi.getTimerCount()]).toEqual([[['/1', failure]], 0]);
    });

    test('gets the full time again after each stream that it allowed', async () => {
      const { ask, connect, peers, answers } = openPool({ streams: 1, sessionsPerTarget: 1 });
      ask('/1', '/2', '/3');
      await connect();
      await vi.advanceTimersByTimeAsync(limit - 1);
      peers[0]!.sent[0]!.settle(ok);
      await vi.advanceTimersByTimeAsync(limit - 1);
      expect(answers).toEqual([['/1', ok]]);
      await vi.advanceTimersByTimeAsync(limit);
      expect(answers.slice(1)).toMatchObject([['/3', { reason: 'unreachable' }]]);
    });
  });

  describe('a lane', () => {
    function openLane(pool: SessionPool, poolOf: () => SessionPool = () => pool) {
      const told: unknown[] = [];
      const owner = {
        reads: 'failures' as const,
        onAccepted: (ticket: number, status: number) => void told.push([ticket, status]),
        onAnswer: (ticket: number, answer: Answer) => void told.push([ticket, answer]),
        onSpace: () => void told.push('space'),
        onUnreachable: (failure: Answer) => void told.push(failure),
      };
      const lane = makeRequestLane(target, { owner, poolOf });
      const head = new RequestHead([]);
      const send = (ticket: number) =>
        lane.send({ head, path: `/${ticket}`, values: [], body: Buffer.alloc(0), ticket, listener: owner });
      return { told, send };
    }

    test('rejects messages that cannot be sent now, and notifies once when there is space', async () => {
      const { pool, connect, peers, paths, opening } = openPool({ sessionsPerTarget: 1 });
      const { send, told } = openLane(pool);
      expect([send(1), send(1), opening.length]).toEqual([false, false, 1]);
      await connect();
      expect(told).toEqual(['space']);
      expect([send(1), send(2)]).toEqual([true, false]);
      expect(paths()).toEqual([['/1']]);
      peers[0]!.sent[0]!.settle(ok);
      expect(told).toEqual(['space', [1, ok], 'space']);
      peers[0]!.options.onSpace();
      expect(told).toHaveLength(3);
    });

    test('waits for single requests that have callers waiting', async () => {
      const { pool, ask, connect, peers, paths } = openPool({ sessionsPerTarget: 1 });
      const { send, told } = openLane(pool);
      ask('/a', '/b');
      await connect();
      expect(send(1)).toBe(false);
      peers[0]!.sent[0]!.settle(ok);
      expect([paths(), told]).toEqual([[['/a', '/b']], []]);
      peers[0]!.sent[1]!.settle(ok);
      expect(told).toEqual(['space']);
    });

    test('reports a failed connection, and may be used again', async () => {
      const { pool, connect, opening } = openPool({ fault: () => new Error('away') });
      const { send, told } = openLane(pool);
      send(1);
      await connect();
      expect(told).toEqual([{ kind: 'failure', certainty: 'unsent', reason: 'unreachable', detail: 'away' }]);
      expect([vi.getTimerCount(), send(1), opening.length]).toEqual([0, false, 1]);
    });

    test('uses the new pool of its target after its own was dropped', async () => {
      const first = openPool({ streams: 5 });
      const second = openPool({ streams: 5 });
      let pool = first.pool;
      const { send } = openLane(pool, () => pool);
      pool = second.pool;
      send(1);
      expect([first.opening.length, second.opening.length]).toEqual([1, 0]);
      first.pool.isDropped = true;
      send(2);
      await second.connect();
      expect(send(3)).toBe(true);
      expect([first.paths(), second.paths()]).toEqual([[], [['/3']]]);
    });

    test('may use any number of connections if each gave it a stream', async () => {
      const { pool, connect, peers } = openPool({ sessionsPerTarget: 1 });
      const { send, told } = openLane(pool);
      for (let time = 0; time < 5; time += 1) {
        expect(send(time)).toBe(false);
        await connect();
        expect(send(time)).toBe(true);
        const peer = peers.at(-1)!;
        peer.leaves = true;
        peer.sent[0]!.settle(ok);
        peer.options.onClosed();
      }
      expect(told.filter((each) => each !== 'space')).toHaveLength(5);
    });

    test('reports asynchronously after the transport has closed that nothing was sent', async () => {
      const { pool, rules } = openPool();
      const { send, told } = openLane(pool);
      rules.isClosed = true;
      expect([send(7), told]).toEqual([true, []]);
      await settled();
      expect(told).toEqual([[7, { ...refused, detail: 'the transport is closed' }]]);
    });
  });

  function openPool({
    sessionsPerTarget = 2,
    streams = 1,
    protocol = 'h2' as Session['protocol'],
    fault = undefined as (() => Error | undefined) | undefined,
  } = {}) {
    const peers: Peer[] = [];
    const waiting: (() => void)[] = [];
    const rules = {
      log: makeLog({ level: 'silent', pretty: false }),
      allowedNetworks: [],
      proxy: undefined,
      sessionsPerTarget,
      connectMilliseconds,
      requestMilliseconds,
      isClosed: false,
      async openSession(_target: unknown, options: SessionOptions) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        const error = fault?.();
        if (error) throw error;
        const peer = makePeer(options, { streams, protocol });
        peers.push(peer);
        return peer;
      },
    };
    const pool = makeSessionPool(target, rules);
    const answers: [string, Answer][] = [];
    return {
      pool,
      rules,
      peers,
      answers,
      opening: waiting,
      ask(...paths: string[]) {
        for (const path of paths)
          pool.waiting.push({
            ...{ path, headers: {}, body: Buffer.alloc(0), tries: 1, waitsUntil: performance.now() + waitMilliseconds },
            settle: (answer) => answers.push([path, answer]),
          } satisfies PromisedRequest);
        dispatch(pool);
      },
      /** The connections that are being made are there, or have failed. */
      async connect() {
        for (const resolve of waiting.splice(0)) resolve();
        await settled();
      },
      paths: () => peers.map(({ sent }) => sent.map(({ path }) => path)),
    };
  }
});

describe('the transport', () => {
  /** A busy machine takes its time. */
  const soon = { interval: 2, timeout: 10_000 };

  const closed = { kind: 'failure', certainty: 'unsent', detail: 'the transport is closed' };

  test('shares a connection among requests of one key, and uses another for another key', async () => {
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
    'opens (with the setting %s) no more than %d sessions per target while streams are needed',
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

  test('queues ten thousand requests for a target, and rejects one more', async () => {
    const sockets = new Set<Socket>();
    const origin = await listen(createTcpServer((socket) => sockets.add(socket.on('error', () => {}))));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    const { transport, ask } = openTransport();
    const waiting = Array.from({ length: 10_000 }, () => ask(origin));
    const refused = {
      kind: 'failure',
      certainty: 'unsent',
      reason: 'refused',
      detail: 'too many requests are waiting',
    };
    expect(await ask(origin)).toEqual(refused);
    expect(await Promise.race([ask(origin, { key: 'two' }), Promise.resolve('waits')])).toBe('waits');
    await transport.close();
    expect(await waiting[0]).toEqual({ ...closed, reason: 'unreachable' });
    expect(await waiting.at(-1)).toMatchObject(closed);
  });

  test('completes open requests when it closes, and accepts no others', async () => {
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
    'gives up requests after the configured time, by the client %s',
    async (client) => {
      const { origin } = await serve({ answers: false });
      const { ask } = openTransport({ client, requestMilliseconds: 60 });
      expect(await ask(origin)).toMatchObject({ reason: 'timeout' });
    },
  );

  test('closes the least recently used of five hundred targets for another', async () => {
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
});

function makePeer(options: SessionOptions, { streams, protocol }: Pick<Peer, 'streams' | 'protocol'>): Peer {
  let open = 0;
  const peer: Peer = {
    protocol,
    sent: [],
    streams,
    leaves: false,
    isClosed: false,
    options,
    send({ path, listener, ticket }: OutgoingRequest) {
      open += 1;
      peer.sent.push({
        path,
        settle(answer) {
          open -= 1;
          listener.onAnswer(ticket, answer);
          options.onSpace();
        },
      });
    },
    hasFreeStream: () => !peer.leaves && open < peer.streams,
    hasSpace: () => !peer.leaves && open < peer.streams,
    openStreams: () => open,
    isLeaving: () => peer.leaves,
    close: () => void (peer.isClosed = true),
    closeGracefully: async () => {},
  };
  return peer;
}

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
