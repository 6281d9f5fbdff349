import { once } from 'node:events';
import { createSecureServer, createServer } from 'node:http2';
import type { Http2SecureServer, Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Server as TlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeLog } from '../../../../src/log.ts';
import { makeOutgoingProxy, parseProxySettings } from '../../../../src/outgoing/proxy.ts';
import { openHttp2Session } from '../../../../src/providers/http2/http2-session.ts';
import { openNodeSession } from '../../../../src/providers/http2/node-session.ts';
import type { Http2Target } from '../../../../src/providers/http2/open-socket.ts';
import { RequestHead } from '../../../../src/providers/http2/requests.ts';
import type { AnswerListener } from '../../../../src/providers/http2/requests.ts';
import type { Session } from '../../../../src/providers/http2/session.ts';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { listen, serveAll, startOwnProxy } from '../../outgoing-http/proxy-bundle.ts';
import type { Behaviour } from '../../outgoing-http/proxy-bundle.ts';
import { http2Clients } from '../delivery-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';
import { flags, frame, settings, startHostileServer, statusField, types } from './hostile-http2-server.ts';
import { sendByLane } from './send-by-lane.ts';

describe('sessions', () => {
  /** A busy machine takes its time. */
  const soon = { interval: 2, timeout: 10_000 };

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

    test('sends a request unchanged, and reports free space after the response', async () => {
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

    test('sends the shared headers and those of the request', async () => {
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
    ] as const)('reads of a success only what its listener needs: %s', async (reads, expected) => {
      const { origin, stream } = await serve();
      const { send: ask } = await openAt(origin);
      const answer = ask({ reads });
      const peer = await stream(0);
      peer.respond({ ':status': 200, 'x-a': 'b' });
      peer.end('done');
      expect(await answer).toEqual(expected);
    });

    test('reads up to 64 KiB of a body', async () => {
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
    ])('reports the certain outcome of a stream that was %s', async (...[, code, status, expected]) => {
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

    test('reports a request with an invalid header as unsent, after the call returned', async () => {
      const { origin } = await serve();
      const { session, send: ask } = await openAt(origin);
      let isTold = false;
      const answer = ask({ id: 'a\nb' }).finally(() => (isTold = true));
      expect(isTold).toBe(false);
      expect(await answer).toMatchObject({ certainty: 'unsent', detail: 'not a value of header apns-id' });
      expect(session.openStreams()).toBe(0);
    });

    test('gives up a request without a response in time, and cancels it', async () => {
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

    test('accepts nothing after GOAWAY, completes open requests, and is closed', async () => {
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

    test('reports requests that were open when the connection broke as possibly processed', async () => {
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

    test('completes open requests before it closes', async () => {
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

    test('closes immediately if it is idle', async () => {
      const { origin } = await serve();
      const { session, events } = await openAt(origin);
      session.close();
      await vi.waitFor(() => expect(events.closed).toBe(1), soon);
    });

    test('ends open requests at the time limit of a graceful close', async () => {
      const { origin, stream } = await serve();
      const { session, events, send: ask } = await openAt(origin);
      const answer = ask();
      await stream(0);
      const closedAt = performance.now();
      await session.closeGracefully(60);
      expect(performance.now() - closedAt).toBeGreaterThan(55);
      expect([events.closed, await answer]).toMatchObject([1, lost]);
    });

    test('fails to open if nothing listens, the server stays silent, or hangs up', async () => {
      const silent = await listen(createTcpServer(() => {}));
      await expect(openAt(silent, { connectMilliseconds: 300 })).rejects.toThrow('no connection in time');
      const rude = await listen(createTcpServer((socket) => socket.destroy()));
      await expect(openAt(rude)).rejects.toThrow();
      const server = createTcpServer();
      const nobody = await listen(server);
      await new Promise((resolve) => server.close(resolve));
      await expect(openAt(nobody)).rejects.toThrow('ECONNREFUSED');
    });

    test('pings the peer every minute, and ends without an answer', async () => {
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

    test('closes after ten idle minutes', async () => {
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
});

describe('TLS', () => {
  // Its one name is `localhost`.
  const certificate = makeCertificate();
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
  afterAll(() => setDefaultCACertificates(before));

  let transport: Http2Transport;
  let stop: (() => Promise<void>) | undefined;
  afterEach(async () => {
    await transport.close();
    await stop?.();
    stop = undefined;
  });

  const send = (origin: string, body = 'x') =>
    transport.request(
      { key: 'k', origin, isGuarded: false },
      { path: '/p', headers: { 'x-header': 'value' }, body: Buffer.from(body) },
    );

  describe.each(http2Clients)('requests over TLS, by the HTTP/2 client %s', (client) => {
    beforeEach(() => {
      transport = makeHttp2Transport({
        log: makeLog({ level: 'silent', pretty: false }),
        allowedNetworks: [],
        client,
        connectMilliseconds: 5_000,
      });
    });

    test('receive responses, under the name of the host and over HTTP/2', async () => {
      const seen: string[] = [];
      const server = createSecureServer(certificate);
      server.on('stream', (stream, headers) => {
        let body = '';
        stream.on('data', (piece) => (body += piece));
        stream.on('end', () => {
          seen.push(`${stream.session!.alpnProtocol} ${headers[':authority']} ${headers['x-header']} ${body.length}`);
          stream.respond({ ':status': 200 });
          stream.end(body.slice(0, 3));
        });
      });
      const origin = `https://localhost:${await listen(server)}`;
      // More than one TLS record (16 KiB) and one window (64 KiB).
      const bodies = ['abc', 'y'.repeat(200_000)];
      const answers = await Promise.all(bodies.map((body) => send(origin, body)));
      expect(answers).toMatchObject([
        { kind: 'answer', status: 200, body: 'abc' },
        { kind: 'answer', status: 200, body: 'yyy' },
      ]);
      const { host } = new URL(origin);
      expect(seen.sort()).toEqual([`h2 ${host} value 200000`, `h2 ${host} value 3`]);
    });

    test('are not sent to a server that does not speak HTTP/2', async () => {
      let bytes = 0;
      const server = createTlsServer(certificate, (socket) => {
        socket.on('data', (piece) => (bytes += piece.length));
        socket.on('error', () => {});
      });
      const answer = await send(`https://localhost:${await listen(server)}`);
      expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unreachable' });
      expect(bytes).toBe(0);
    });

    test('are not sent if the certificate does not cover the name or the address', async () => {
      const server = createSecureServer(certificate);
      server.on('stream', (stream) => stream.respond({ ':status': 200 }, { endStream: true }));
      const port = await listen(server);
      const answer = await send(`https://127.0.0.1:${port}`);
      expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unreachable' });
      expect(answer).toMatchObject({ detail: expect.stringContaining('altnames') });
    });

    test('are not sent if the certificate was signed by an untrusted issuer', async () => {
      const server = createSecureServer(makeCertificate());
      server.on('stream', (stream) => stream.respond({ ':status': 200 }, { endStream: true }));
      const answer = await send(`https://localhost:${await listen(server)}`);
      expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unreachable' });
      expect(answer).toMatchObject({ detail: expect.stringContaining('self-signed') });
    });
  });

  async function listen(server: TlsServer | Http2SecureServer): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stop = () => new Promise((resolve) => server.close(() => resolve()));
    return (server.address() as AddressInfo).port;
  }
});

describe('a tunnel', () => {
  const certificate = makeCertificate(['provider.example', 'localhost']);
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
  afterAll(() => setDefaultCACertificates(before));

  describe.each(http2Clients)('requests through the proxy, by the HTTP/2 client %s', (client) => {
    function makeSender(url: string, { resolvesNames = false, connectMilliseconds = 5_000 } = {}) {
      const log = makeLog({ level: 'silent', pretty: false });
      const settings = parseProxySettings({ url, noProxy: ['direct.example'], resolvesNames, hosts: [] });
      const transport = makeHttp2Transport({
        log,
        allowedNetworks: [],
        client,
        connectMilliseconds,
        proxy: makeOutgoingProxy(settings, log),
      });
      onTestFinished(() => transport.close());
      return (target: Partial<Http2Target> & { origin: string }, body = 'x') =>
        transport.request(
          { key: target.origin, isGuarded: false, ...target },
          { path: '/p', headers: {}, body: Buffer.from(body) },
        );
    }

    test.each(['http', 'https'])('arrive over TLS inside the tunnel, with the proxy called by %s', async (scheme) => {
      const proxy = await ownProxy(scheme === 'https' ? { tls: certificate } : {});
      proxy.lead('provider.example:443', await serve(createSecureServer(certificate)));
      const send = makeSender(`${scheme}://ann:secret@localhost:${proxy.port}`);
      const bodies = ['abc', 'y'.repeat(200_000), ...Array.from({ length: 50 }, (_, number) => `m${number}`)];
      const answers = await Promise.all(bodies.map((body) => send({ origin: 'https://provider.example' }, body)));
      expect(answers.map((answer) => answer.kind === 'answer' && answer.body)).toEqual(
        bodies.map((body) => body.slice(0, 10)),
      );
      const asked = [
        'CONNECT provider.example:443 HTTP/1.1',
        'Host: provider.example:443',
        `Proxy-Authorization: Basic ${btoa('ann:secret')}`,
      ].join('\r\n');
      expect(new Set(proxy.heads)).toEqual(new Set([asked]));
      expect(proxy.heads.length).toBeLessThanOrEqual(2);
    });

    test('work without TLS inside, even if a greeting comes with the response of the proxy', async () => {
      const port = await serve(createServer());
      // Both in one packet.
      const behave: Behaviour = async ({ socket, tunnel }) => {
        socket.cork();
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        await tunnel();
        setTimeout(() => socket.uncork(), 50);
      };
      const proxy = await ownProxy({ behave });
      proxy.lead('provider.example:80', port);
      const send = makeSender(`http://127.0.0.1:${proxy.port}`);
      expect(await send({ origin: 'http://provider.example' }, 'abc')).toMatchObject({ status: 200, body: 'abc' });
    });

    test('require a certificate for the name of the provider, and HTTP/2', async () => {
      const proxy = await ownProxy();
      proxy.lead('other.example:443', await serve(createSecureServer(certificate)));
      const noHttp2 = createTlsServer(certificate, (socket) => socket.on('error', () => {}));
      proxy.lead('provider.example:443', await listen(noHttp2));
      onTestFinished(() => void noHttp2.close());
      const send = makeSender(`http://127.0.0.1:${proxy.port}`);
      const unsent = { kind: 'failure', certainty: 'unsent', reason: 'unreachable' };
      expect(await send({ origin: 'https://other.example' })).toMatchObject({
        ...unsent,
        detail: expect.stringContaining('altnames'),
      });
      expect(await send({ origin: 'https://provider.example' })).toMatchObject({
        ...unsent,
        detail: 'the server does not speak HTTP/2',
      });
    });

    test('connect directly to simulators, this machine and excepted hosts', async () => {
      const proxy = await ownProxy();
      const port = await serve(createServer());
      const send = makeSender(`http://127.0.0.1:${proxy.port}`);
      const direct: (Partial<Http2Target> & { origin: string })[] = [
        { origin: 'https://provider.example', connectTo: `http://127.0.0.1:${port}` },
        { origin: `http://localhost:${port}` },
        { origin: `http://127.0.0.1:${port}` },
      ];
      for (const target of direct) expect(await send(target)).toMatchObject({ kind: 'answer', status: 200 });
      expect(await send({ origin: 'https://direct.example', isGuarded: true })).toMatchObject({ kind: 'failure' });
      expect(proxy.heads).toEqual([]);
    });

    test('check a guarded host locally: neither a private address nor an unlisted name is requested', async () => {
      const proxy = await ownProxy();
      proxy.lead('web.push.apple.com:80', await serve(createServer()));
      const url = `http://127.0.0.1:${proxy.port}`;
      const send = makeSender(url);
      expect(await send({ origin: 'https://10.0.0.1', isGuarded: true })).toMatchObject({ reason: 'address-blocked' });
      const resolving = makeSender(url, { resolvesNames: true });
      for (const origin of ['https://push.internal.example', 'https://intranet', 'https://10.0.0.1'])
        expect(await resolving({ origin, isGuarded: true })).toMatchObject({
          certainty: 'unsent',
          reason: 'host-not-allowed',
        });
      expect(proxy.openSockets()).toBe(0);
      const known = { origin: 'http://web.push.apple.com', isGuarded: true };
      expect(await resolving(known)).toMatchObject({ kind: 'answer', status: 200 });
      expect(proxy.authorities()).toEqual(['web.push.apple.com:80']);
    });

    test.each([
      ['proxy-auth', ({ socket }) => socket.end('HTTP/1.1 407 No\r\n\r\n')],
      ['proxy-refused', ({ socket }) => socket.end('HTTP/1.1 403 No\r\n\r\n')],
      ['proxy-refused', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nsurprise')],
      ['proxy-refused', ({ socket }) => socket.end('what?\r\n\r\n')],
      ['proxy-unreachable', ({ socket }) => socket.resetAndDestroy()],
    ] as [string, Behaviour][])(
      'report the fault of the proxy as %s and unsent, and work again on the next call',
      async (reason, behave) => {
        const proxy = await ownProxy({ behave });
        const send = makeSender(`http://ann:CANARY@127.0.0.1:${proxy.port}`);
        const answer = await send({ origin: 'https://provider.example' });
        expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason });
        expect(JSON.stringify(answer)).not.toContain('CANARY');
        proxy.behave(serveAll);
        proxy.lead('provider.example:443', await serve(createSecureServer(certificate)));
        expect(await send({ origin: 'https://provider.example' })).toMatchObject({ kind: 'answer', status: 200 });
      },
    );

    test('give up an unresponsive proxy or tunnel after the time limit of a connection', async () => {
      const mute = await ownProxy({ behave: () => {} });
      const asking = makeSender(`http://127.0.0.1:${mute.port}`, { connectMilliseconds: 300 });
      expect(await asking({ origin: 'https://provider.example' })).toMatchObject({
        certainty: 'unsent',
        reason: 'proxy-unreachable',
      });
      const proxy = await ownProxy({ behave: ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\n') });
      const send = makeSender(`http://127.0.0.1:${proxy.port}`, { connectMilliseconds: 300 });
      for (const origin of ['https://provider.example', 'http://provider.example'])
        expect(await send({ origin })).toMatchObject({ certainty: 'unsent', reason: 'unreachable' });
    });

    test('report the outcome of messages in a tunnel that is cut, and open another one for the next message', async () => {
      const proxy = await ownProxy();
      const server = createSecureServer(certificate);
      const asked = Promise.withResolvers<void>();
      server.once('stream', () => asked.resolve());
      const mute = await listen(server as unknown as TlsServer);
      onTestFinished(() => void server.close());
      proxy.lead('provider.example:443', mute);
      const send = makeSender(`http://127.0.0.1:${proxy.port}`);
      const answer = send({ origin: 'https://provider.example' });
      await asked.promise;
      proxy.cutAll();
      expect(await answer).toMatchObject({ kind: 'failure', certainty: 'unknown' });
      proxy.lead('provider.example:443', await serve(createSecureServer(certificate)));
      expect(await send({ origin: 'https://provider.example' })).toMatchObject({ kind: 'answer', status: 200 });
      expect(proxy.heads).toHaveLength(2);
    });
  });

  /** A provider that answers each request with what came. */
  async function serve(server: Http2Server | Http2SecureServer) {
    const sessions = new Set<ServerHttp2Session>();
    server.on('session', (session) => sessions.add(session.on('error', () => {})));
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        stream.respond({ ':status': 200 });
        stream.end(Buffer.concat(pieces).subarray(0, 10));
      });
    });
    const port = await listen(server as unknown as TlsServer);
    onTestFinished(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
    return port;
  }
});

describe('a returning peer', () => {
  const request = { path: '/', headers: { 'content-type': 'text/plain' }, body: Buffer.from('body') };

  test.each(['promise', 'lane'])(
    'is connected to for the fourth request after it was away for three (by a %s)',
    async (way) => {
      const server = createServer((_request, response) => response.end('here'));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      const target = { key: way, origin: `http://127.0.0.1:${port}`, isGuarded: false };
      const transport = makeHttp2Transport({ log: makeLog({ level: 'silent', pretty: false }), allowedNetworks: [] });
      const send = async () =>
        way === 'promise'
          ? transport.request(target, request)
          : (
              await sendByLane(transport, {
                target,
                reads: 'all',
                requests: [{ ...request, headers: { ...request.headers, 'x-number': '1' } }],
              })
            )[0];
      try {
        for (let time = 0; time < 3; time += 1)
          expect(await send()).toMatchObject({
            reason: 'unreachable',
            detail: expect.stringContaining('ECONNREFUSED'),
          });
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
        expect(await send()).toMatchObject({ kind: 'answer', status: 200 });
      } finally {
        await transport.close();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  );
});

// A label has at most 63 characters (RFC 1035 §2.3.4), so that no resolver has to be asked.
const nowhere = `${'x'.repeat(70)}.example`;
const log = makeLog({ level: 'silent', pretty: false });

describe.each(http2Clients)('unknown host names, by the HTTP/2 client %s', (client) => {
  function makeSender({ proxyUrl }: { proxyUrl?: string } = {}) {
    const settings = proxyUrl && parseProxySettings({ url: proxyUrl, noProxy: [], resolvesNames: false, hosts: [] });
    const proxy = settings ? makeOutgoingProxy(settings, log) : undefined;
    const transport = makeHttp2Transport({ log, allowedNetworks: [], client, connectMilliseconds: 5_000, proxy });
    onTestFinished(() => transport.close());
    return (target: { origin: string; isGuarded: boolean }) =>
      transport.request({ key: target.origin, ...target }, { path: '/p', headers: {}, body: Buffer.from('x') });
  }

  test.each([
    ['a guarded host', 'https', true],
    ['a provider', 'https', false],
    ['a provider without TLS', 'http', false],
  ])('are reported as unresolved: %s', async (_what, scheme, isGuarded) => {
    const answer = await makeSender()({ origin: `${scheme}://${nowhere}`, isGuarded });
    expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unresolved' });
  });

  test('are reported as an unreachable proxy if the name of the proxy does not exist', async () => {
    const send = makeSender({ proxyUrl: `http://${nowhere}:3128` });
    expect(await send({ origin: 'https://provider.example', isGuarded: false })).toMatchObject({
      ...{ kind: 'failure', certainty: 'unsent', reason: 'proxy-unreachable' },
    });
  });
});

async function ownProxy(options: Parameters<typeof startOwnProxy>[0] = {}) {
  const proxy = await startOwnProxy(options);
  onTestFinished(() => proxy.stop());
  return proxy;
}
