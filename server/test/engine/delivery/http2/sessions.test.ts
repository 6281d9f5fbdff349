import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AnswerListener } from '../../../../src/providers/http2/requests.ts';
import { openHttp2Session } from '../../../../src/providers/http2/http2-session.ts';
import { openNodeSession } from '../../../../src/providers/http2/node-session.ts';
import { RequestHead } from '../../../../src/providers/http2/requests.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import type { Session } from '../../../../src/providers/http2/session.ts';
import { makeLog } from '../../../../src/log.ts';
import { flags, frame, settings, startHostileServer, statusField, types } from './hostile-http2-server.ts';

/** A busy machine takes its time. */
const soon = { interval: 2, timeout: 10_000 };

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A peer whose streams the test answers. */
async function serve(peerSettings = {}) {
  const server: Http2Server = createServer({ settings: peerSettings });
  const sessions: ServerHttp2Session[] = [];
  const streams: ServerHttp2Stream[] = [];
  server.on('session', (session) => sessions.push(session.on('error', () => {})));
  server.on('stream', (stream) => streams.push(stream.on('error', () => {})));
  server.on('sessionError', () => {});
  const origin = await listen(server as unknown as Server);
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
  });
  /** The stream of the nth request. */
  const stream = async (nth: number): Promise<ServerHttp2Stream> => {
    await vi.waitFor(() => expect(streams.length).toBeGreaterThan(nth), soon);
    return streams[nth]!;
  };
  return { origin, sessions, stream };
}

const openers = [
  ['carillon', openHttp2Session],
  ['node', openNodeSession],
] as const;

afterEach(() => void vi.useRealTimers());

describe.each(openers)('a session of %s', (_client, open) => {
  type Limits = { connectMilliseconds?: number; requestMilliseconds?: number };
  async function openAt(origin: string, { connectMilliseconds = 2_000, requestMilliseconds = 2_000 }: Limits = {}) {
    const events = { space: 0, closed: 0 };
    const session = await open(
      { key: 'one', origin: 'http://push.example', connectTo: origin, isGuarded: false },
      {
        log: makeLog({ level: 'silent', pretty: false }),
        ...{ allowedNetworks: [], proxy: undefined, connectMilliseconds, requestMilliseconds },
        onSpace: () => void (events.space += 1),
        onClosed: () => void (events.closed += 1),
      },
    );
    onTestFinished(() => session.closeGracefully(0));
    return { session, events, send: (given: Sent = {}) => send(session, given) };
  }

  type Sent = { reads?: AnswerListener['reads']; id?: string; body?: string };
  const head = new RequestHead([['apns-topic', 'com.shop']], ['apns-id']);
  function send(session: Session, { reads = 'all', id = 'a', body = 'body' }: Sent): Promise<Answer | number> {
    return new Promise((resolve) => {
      const listener = {
        reads,
        onAccepted: (_ticket: number, status: number) => resolve(status),
        onAnswer: (_ticket: number, answer: Answer) => resolve(answer),
      };
      const bytes = Buffer.from(body);
      session.send({ head, path: '/p', values: [id], body: bytes, ticket: 1, listener });
      bytes.fill('?');
    });
  }

  test('sends a request as it was, and tells of room when it is answered', async () => {
    const { origin, stream } = await serve({ maxConcurrentStreams: 2 });
    const { session, events, send: ask } = await openAt(origin);
    const { space } = events;
    expect([session.openStreams(), session.hasFreeStream(), session.hasSpace(), session.isLeaving()]).toEqual([
      0,
      true,
      true,
      false,
    ]);
    const answers = [ask(), ask()];
    expect([session.openStreams(), session.hasFreeStream(), session.hasSpace()]).toEqual([2, false, false]);
    const first = await stream(0);
    let body = '';
    first.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    await once(first, 'end');
    expect([body, first.sentHeaders]).toEqual(['body', undefined]);
    first.respond({ ':status': 201, 'x-a': ['b', 'c'] });
    first.end('done');
    expect(await answers[0]).toMatchObject({ kind: 'answer', status: 201, headers: { 'x-a': 'b, c' }, body: 'done' });
    await vi.waitFor(() => expect([session.openStreams(), session.hasFreeStream()]).toEqual([1, true]), soon);
    expect(events.space).toBeGreaterThan(space);
    (await stream(1)).respond({ ':status': 404 }, { endStream: true });
    expect(await answers[1]).toMatchObject({ kind: 'answer', status: 404, body: '' });
  });

  test('has its headers, with those of its own', async () => {
    const server = createServer((request, response) => response.end(JSON.stringify(request.headers)));
    const { send: ask } = await openAt(await listen(server as unknown as Server));
    const answer = (await ask({ id: '7' })) as { body: string };
    expect(JSON.parse(answer.body)).toMatchObject({
      ...{
        ':method': 'POST',
        ':path': '/p',
        ':scheme': 'http',
        ':authority': expect.stringMatching(/^push\.example(?::80)?$/) as unknown,
      },
      ...{ 'apns-topic': 'com.shop', 'apns-id': '7' },
    });
  });

  test.each([
    ['failures', 200],
    ['bodies', { kind: 'answer', status: 200, headers: {}, body: 'done' }],
  ] as const)('reads of a success no more than its listener does: %s', async (reads, expected) => {
    const { origin, stream } = await serve();
    const { send: ask } = await openAt(origin);
    const answer = ask({ reads });
    const peer = await stream(0);
    peer.respond({ ':status': 200, 'x-a': 'b' });
    peer.end('done');
    expect(await answer).toEqual(expected);
  });

  test('reads 64 KiB of a body', async () => {
    const { origin, stream } = await serve();
    const { send: ask } = await openAt(origin);
    const answer = ask();
    const peer = await stream(0);
    peer.respond({ ':status': 400 });
    for (const letter of 'abc') peer.write(letter.repeat(30_000));
    peer.end();
    expect(((await answer) as { body: string }).body).toBe(
      `${'a'.repeat(30_000)}${'b'.repeat(30_000)}${'c'.repeat(5_536)}`,
    );
  });

  const lost = { kind: 'failure', certainty: 'unknown', reason: 'reset' };
  test.each([
    ['refused', 7, undefined, { kind: 'failure', certainty: 'unsent', reason: 'refused' }],
    ['cancelled', 8, undefined, lost],
    ['cancelled after a status that decides', 8, 200, { kind: 'answer', status: 200 }],
    ['cancelled after one that does not', 8, 500, lost],
  ])('says of a stream that was %s what is certain', async (...[, code, status, expected]) => {
    const server = await startHostileServer((peer) => {
      peer.write(settings());
      peer.onRequest = (stream) => {
        const head = { stream, flags: flags.endHeaders, payload: statusField(status ?? 0) };
        if (status !== undefined) peer.write(frame(types.headers, head));
        peer.reset(stream, code);
      };
    });
    onTestFinished(() => server.stop());
    const { send: ask } = await openAt(server.origin);
    expect(await ask()).toMatchObject(expected);
  });

  test('calls a request unsent whose header cannot be sent, after it returned', async () => {
    const { origin } = await serve();
    const { session, send: ask } = await openAt(origin);
    let isTold = false;
    const answer = ask({ id: 'a\nb' }).finally(() => (isTold = true));
    expect(isTold).toBe(false);
    expect(await answer).toMatchObject({ certainty: 'unsent', detail: 'not a value of header apns-id' });
    expect(session.openStreams()).toBe(0);
  });

  test('gives up a request that nobody answers in time, and cancels it', async () => {
    const { origin, stream } = await serve();
    const { session, send: ask } = await openAt(origin, { requestMilliseconds: 80 });
    const askedAt = performance.now();
    const answer = ask();
    const peer = await stream(0);
    expect(await answer).toEqual({
      kind: 'failure',
      certainty: 'unknown',
      reason: 'timeout',
      detail: 'no answer in time',
    });
    expect(performance.now() - askedAt).toBeGreaterThan(75);
    await vi.waitFor(() => expect([peer.rstCode, session.openStreams()]).toEqual([8, 0]), soon);
  });

  test('takes nothing more after a goodbye, ends what is open, and is closed', async () => {
    const { origin, sessions, stream } = await serve();
    const { session, events, send: ask } = await openAt(origin);
    const answer = ask();
    const peer = await stream(0);
    sessions[0]!.goaway(0, 1);
    await vi.waitFor(() => expect(session.isLeaving()).toBe(true), soon);
    expect([session.hasFreeStream(), session.hasSpace()]).toEqual([false, false]);
    peer.respond({ ':status': 200 }, { endStream: true });
    expect(await answer).toMatchObject({ status: 200 });
    sessions[0]!.close();
    await vi.waitFor(() => expect(events.closed).toBe(1), soon);
  });

  test('says of what was open when the connection broke that it may have been done', async () => {
    const { origin, sessions, stream } = await serve();
    const { session, events, send: ask } = await openAt(origin);
    const answer = ask();
    await stream(0);
    sessions[0]!.destroy();
    expect(await answer).toMatchObject(lost);
    await vi.waitFor(
      () => expect([events.closed, session.isLeaving(), session.openStreams()]).toEqual([1, true, 0]),
      soon,
    );
    await session.closeGracefully(10_000);
  });

  test('that is closed lets what is open end first', async () => {
    const { origin, stream } = await serve();
    const { session, events, send: ask } = await openAt(origin);
    const answer = ask();
    const peer = await stream(0);
    session.close();
    expect([session.isLeaving(), session.hasFreeStream()]).toEqual([true, false]);
    peer.respond({ ':status': 200 }, { endStream: true });
    expect(await answer).toMatchObject({ status: 200 });
    await vi.waitFor(() => expect(events.closed).toBe(1), soon);
  });

  test('that rests is closed at once', async () => {
    const { origin } = await serve();
    const { session, events } = await openAt(origin);
    session.close();
    await vi.waitFor(() => expect(events.closed).toBe(1), soon);
  });

  test('that is closed in a time ends what is open after it', async () => {
    const { origin, stream } = await serve();
    const { session, events, send: ask } = await openAt(origin);
    const answer = ask();
    await stream(0);
    const closedAt = performance.now();
    await session.closeGracefully(60);
    expect(performance.now() - closedAt).toBeGreaterThan(55);
    expect([events.closed, await answer]).toMatchObject([1, lost]);
  });

  test('does not come to be where nobody listens, nobody greets, or somebody hangs up', async () => {
    const silent = await listen(createTcpServer(() => {}));
    await expect(openAt(silent, { connectMilliseconds: 300 })).rejects.toThrow('no connection in time');
    const rude = await listen(createTcpServer((socket) => socket.destroy()));
    await expect(openAt(rude)).rejects.toThrow();
    const server = createTcpServer();
    const nobody = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    await expect(openAt(nobody)).rejects.toThrow('ECONNREFUSED');
  });

  test('asks a peer every minute whether it is there, and ends where nobody answers', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const server = await startHostileServer((peer) => {
      peer.isPolite = peer.number === 1;
      peer.write(settings());
    });
    onTestFinished(() => server.stop());
    const polite = await openAt(server.origin, { connectMilliseconds: 300 });
    const silent = await openAt(server.origin, { connectMilliseconds: 300 });
    const pings = () =>
      server.peers.map(
        ({ frames }) => frames.filter(({ type, flags: given }) => type === types.ping && given === 0).length,
      );
    vi.advanceTimersByTime(59_999);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(pings()).toEqual([0, 0]);
    vi.advanceTimersByTime(1);
    await vi.waitFor(() => expect(silent.events.closed).toBe(1), soon);
    expect([pings(), polite.events.closed, polite.session.isLeaving()]).toEqual([[1, 1], 0, false]);
    vi.advanceTimersByTime(60_000);
    await vi.waitFor(() => expect(pings()).toEqual([2, 1]), soon);
  });

  test('that had nothing to do for ten minutes is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const { origin } = await serve();
    const { events } = await openAt(origin);
    vi.advanceTimersByTime(600_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(events.closed).toBe(0);
    vi.advanceTimersByTime(60_000);
    await vi.waitFor(() => expect(events.closed).toBe(1), soon);
  });
});
