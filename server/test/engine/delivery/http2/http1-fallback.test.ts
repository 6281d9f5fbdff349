import { createServer as createHttp1Server } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { Server as TcpServer, Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2TransportOptions } from '../../../../src/providers/http2/transport.ts';
import type { Http2Target } from '../../../../src/providers/http2/open-socket.ts';
import type { Answer } from '../../../../src/providers/provider.ts';
import { makeOutgoingProxy, parseProxySettings } from '../../../../src/outgoing/proxy.ts';
import { makeLog } from '../../../../src/log.ts';
import { listen, startOwnProxy } from '../../outgoing-http/proxy-bundle.ts';
import { http2Clients } from '../delivery-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';
import { watchLeftBehind } from './watch-left-behind.ts';

const soon = { interval: 2, timeout: 10_000 };
const certificate = makeCertificate(['localhost', 'web.push.apple.com']);
const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
afterAll(() => setDefaultCACertificates(before));

const log = makeLog({ level: 'silent', pretty: false });
const loopback = ['127.0.0.0/8', '::1/128'];

/** Counts the connections of a server and ends them with the test. */
async function serve(
  server: TcpServer,
): Promise<{ port: number; origin: string; sockets: Set<Socket>; opened: () => number }> {
  const sockets = new Set<Socket>();
  let opened = 0;
  server.on('secureConnection', (socket: TLSSocket) => {
    opened += 1;
    sockets.add(socket.on('error', () => {}));
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port, origin: `https://localhost:${port}`, sockets, opened: () => opened };
}

/** A push service that speaks HTTP/1.1 only. `negotiates`: it says so by ALPN (RFC 7301), or it does not know ALPN. */
function serveHttp1(onRequest: RequestListener, { negotiates = true } = {}) {
  if (negotiates) return serve(createHttpsServer(certificate, onRequest));
  const http = createHttp1Server(onRequest);
  return serve(createTlsServer(certificate, (socket) => http.emit('connection', socket)));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request.setEncoding('utf8')) body += piece;
  return body;
}

const created: RequestListener = (request, response) =>
  void bodyOf(request).then(() => response.writeHead(201, { location: '/m/1' }).end());

describe.each(http2Clients)('the HTTP/2 client %s at a server without HTTP/2', (client) => {
  function makeSender(options: Partial<Http2TransportOptions> = {}) {
    const transport = makeHttp2Transport({ log, allowedNetworks: loopback, client, ...options });
    onTestFinished(() => transport.close());
    const send = (
      target: Partial<Http2Target> & { origin: string },
      { path = '/p?a=1', headers = {} as Record<string, string>, body = 'x' } = {},
    ): Promise<Answer> =>
      transport.request(
        { key: target.origin, isGuarded: true, fallback: 'http/1.1', ...target },
        { path, headers, body: Buffer.from(body) },
      );
    return { transport, send };
  }

  test.each([
    ['that negotiates HTTP/1.1', true],
    ['that negotiates nothing', false],
  ])('sends the request over HTTP/1.1 to a server %s', async (_what, negotiates) => {
    const seen: unknown[] = [];
    const { origin } = await serveHttp1(
      (request, response) =>
        void bodyOf(request).then((body) => {
          const { method, url, httpVersion, headers } = request;
          seen.push({ method, url, httpVersion, body, headers, name: (request.socket as TLSSocket).servername });
          response.writeHead(201, { location: '/m/1', 'x-a': ['b', 'c'] }).end('done');
        }),
      { negotiates },
    );
    const { send } = makeSender();
    const answer = await send({ origin }, { headers: { ttl: '60', topic: 'abc' }, body: 'secret' });
    expect(answer).toMatchObject({
      ...{ kind: 'answer', status: 201, body: 'done' },
      headers: { location: '/m/1', 'x-a': 'b, c' },
    });
    expect(seen).toEqual([
      {
        ...{ method: 'POST', url: '/p?a=1', httpVersion: '1.1', body: 'secret', name: 'localhost' },
        headers: {
          ...{ host: new URL(origin).host, connection: 'keep-alive', 'content-length': '6' },
          ...{ ttl: '60', topic: 'abc' },
        },
      },
    ]);
  });

  test('prefers HTTP/2 if the server offers both', async () => {
    const server = createSecureServer({ ...certificate, allowHTTP1: true });
    const versions: string[] = [];
    server.on('request', (request, response) => {
      versions.push(request.httpVersion);
      request.resume();
      response.writeHead(201).end();
    });
    const { origin } = await serve(server as unknown as TcpServer);
    const { send } = makeSender();
    // More than one window (64 KiB), both ways of reading.
    const answers = await Promise.all(['a', 'y'.repeat(200_000)].map((body) => send({ origin }, { body })));
    expect(answers).toMatchObject([{ status: 201 }, { status: 201 }]);
    expect(versions).toEqual(['2.0', '2.0']);
  });

  test('sends one message after another over the same connection', async () => {
    const { origin, opened } = await serveHttp1(created);
    const { send } = makeSender();
    for (let number = 0; number < 5; number += 1) expect(await send({ origin })).toMatchObject({ status: 201 });
    expect(opened()).toBe(1);
  });

  test('opens four connections for many messages, and sends each message once', async () => {
    const paths: string[] = [];
    const { origin, opened } = await serveHttp1((request, response) => {
      paths.push(request.url!);
      created(request, response);
    });
    const { send } = makeSender();
    const wanted = Array.from({ length: 200 }, (_, number) => `/${number}`);
    const answers = await Promise.all(wanted.map((path) => send({ origin }, { path })));
    expect(answers.filter((answer) => answer.kind === 'answer' && answer.status === 201)).toHaveLength(200);
    expect(paths.sort()).toEqual(wanted.sort());
    expect(opened()).toBe(4);
  });

  test('does not send the request at all unless the target allows HTTP/1.1', async () => {
    let bytes = 0;
    const server = createTlsServer(certificate, (socket) => socket.on('data', (piece) => (bytes += piece.length)));
    const { origin } = await serve(server);
    const { send } = makeSender();
    expect(await send({ origin, fallback: undefined })).toMatchObject({
      ...{ certainty: 'unsent', reason: 'unreachable', detail: 'the server does not speak HTTP/2' },
    });
    expect(bytes).toBe(0);
  });

  test('checks addresses when it connects, and certificates by the name of the host', async () => {
    const { origin, port, opened } = await serveHttp1(created);
    const guarded = makeSender({ allowedNetworks: [] });
    expect(await guarded.send({ origin })).toMatchObject({ certainty: 'unsent', reason: 'address-blocked' });
    const { send } = makeSender();
    const other = await send({ origin: `https://127.0.0.1:${port}` });
    expect(other).toMatchObject({ certainty: 'unsent', reason: 'unreachable' });
    expect(other).toMatchObject({ detail: expect.stringContaining('altnames') });
    expect(opened()).toBe(0);
  });

  test('connects a simulated service to its own address', async () => {
    const seen: (string | undefined)[] = [];
    const { origin } = await serveHttp1((request, response) => {
      seen.push(request.headers.host);
      created(request, response);
    });
    const { send } = makeSender({ allowedNetworks: [] });
    const target = { origin: 'https://push.carillon.test', connectTo: origin, isGuarded: false };
    expect(await send(target)).toMatchObject({ status: 201 });
    expect(seen).toEqual(['push.carillon.test']);
  });

  test('sends requests through the tunnel of the outgoing proxy', async () => {
    const { port } = await serveHttp1(created);
    const proxy = await startOwnProxy();
    onTestFinished(() => proxy.stop());
    proxy.lead('web.push.apple.com:443', port);
    const url = `http://127.0.0.1:${proxy.port}`;
    const settings = parseProxySettings({ url, noProxy: [], resolvesNames: true, hosts: [] });
    const { send } = makeSender({ proxy: makeOutgoingProxy(settings, log) });
    const target = { origin: 'https://web.push.apple.com' };
    for (const body of ['a', 'y'.repeat(100_000)]) expect(await send(target, { body })).toMatchObject({ status: 201 });
    expect(proxy.authorities()).toEqual(['web.push.apple.com:443']);
    proxy.behave(({ socket }) => socket.end('HTTP/1.1 403 No\r\n\r\n'));
    expect(await send({ ...target, key: 'another' })).toMatchObject({ certainty: 'unsent', reason: 'proxy-refused' });
  });

  describe('a failed connection', () => {
    test('reports that the message may have arrived, and does not send it again', async () => {
      const paths: string[] = [];
      const { origin } = await serveHttp1((request) => {
        paths.push(request.url!);
        request.socket.destroy();
      });
      const { send } = makeSender();
      expect(await send({ origin })).toMatchObject({ kind: 'failure', certainty: 'unknown', reason: 'reset' });
      expect(paths).toEqual(['/p?a=1']);
    });

    test.each([
      ['201', { kind: 'answer', status: 201 }],
      ['500', { kind: 'failure', certainty: 'unknown', reason: 'reset' }],
    ])('decides by the status alone after the head of a %s', async (status, expected) => {
      const { origin } = await serveHttp1((request, response) => {
        void bodyOf(request).then(() => {
          response.writeHead(Number(status), { 'content-length': '100' });
          response.write('ten bytes.', () => request.socket.destroy());
        });
      });
      const { send } = makeSender();
      expect(await send({ origin })).toMatchObject(expected);
    });

    test('is replaced after the server has closed the idle one', async () => {
      const { origin, sockets, opened } = await serveHttp1(created);
      const { send } = makeSender();
      expect(await send({ origin })).toMatchObject({ status: 201 });
      for (const socket of sockets) socket.end();
      await vi.waitFor(() => expect(sockets.size).toBe(0), soon);
      expect(await send({ origin })).toMatchObject({ status: 201 });
      expect(opened()).toBe(2);
    });

    test('is replaced after each response that ends the connection', async () => {
      const { origin, opened } = await serveHttp1((request, response) => {
        request.resume();
        response.writeHead(201, { connection: 'close' }).end();
      });
      const { send } = makeSender();
      const answers = await Promise.all(Array.from({ length: 20 }, () => send({ origin })));
      for (const answer of answers) expect(answer).toMatchObject({ status: 201 });
      expect(opened()).toBe(20);
    });

    test('is retried up to three times if it ends before a request was sent', async () => {
      // The peer ends each connection within its greeting.
      const server = createTlsServer(certificate, (socket) => socket.destroy());
      const { origin, opened } = await serve(server);
      const { send } = makeSender();
      expect(await send({ origin })).toMatchObject({ kind: 'failure' });
      expect(opened()).toBeLessThanOrEqual(3);
    });
  });

  describe('a slow server', () => {
    test('is given up after the time limit of a request, and its connection closed', async () => {
      const asked = Promise.withResolvers<void>();
      const { origin, sockets } = await serveHttp1(() => asked.resolve());
      const { send } = makeSender({ requestMilliseconds: 100 });
      const answer = send({ origin });
      await asked.promise;
      expect(await answer).toMatchObject({ kind: 'failure', certainty: 'unknown', reason: 'timeout' });
      await vi.waitFor(() => expect(sockets.size).toBe(0), soon);
    });

    test('is given up after the time limit of a request if the response has no end', async () => {
      const { origin, sockets } = await serveHttp1((_request, response) => {
        response.writeHead(500);
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      });
      const { send } = makeSender({ requestMilliseconds: 200 });
      expect(await send({ origin })).toMatchObject({ kind: 'failure', certainty: 'unknown', reason: 'timeout' });
      await vi.waitFor(() => expect(sockets.size).toBe(0), soon);
    });

    test('is given up after the time limit of a connection if there is no TLS handshake', async () => {
      const mute = createTcpServer((socket) => socket.on('error', () => {}));
      const port = await listen(mute);
      onTestFinished(() => void mute.close());
      const { send } = makeSender({ connectMilliseconds: 100 });
      expect(await send({ origin: `https://localhost:${port}` })).toMatchObject({
        ...{ certainty: 'unsent', reason: 'unreachable', detail: 'no connection in time' },
      });
    });
  });

  describe('a hostile response', () => {
    /** Answers each request with bytes of the test's own. */
    const answerWith = (bytes: string | Buffer, { end = false } = {}) =>
      serve(
        createTlsServer(certificate, (socket) => {
          socket.once('data', () => {
            socket.write(bytes);
            if (end) socket.end();
          });
        }),
      );

    test('is cut off after 64 KB of an endless body, and its connection closed', async () => {
      const { origin, sockets } = await serveHttp1((_request, response) => {
        response.writeHead(400);
        const fill = (): void => {
          while (response.write('y'.repeat(16_384)));
        };
        response.on('drain', fill);
        fill();
      });
      const { send } = makeSender();
      const answer = await send({ origin });
      expect(answer).toMatchObject({ kind: 'answer', status: 400 });
      expect((answer as { body: string }).body).toHaveLength(64 * 1024);
      await vi.waitFor(() => expect(sockets.size).toBe(0), soon);
    });

    test.each([
      ['a head of over 64 KB', `HTTP/1.1 201 Created\r\n${'x-filler: yyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(4_000)}`],
      ['what is not HTTP', 'who are you?\r\n\r\n'],
      ['HTTP/2 that was not negotiated', Buffer.from('000000040000000000', 'hex')],
      ['two lengths', 'HTTP/1.1 500 No\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nabcde'],
      ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'],
    ])('is not trusted: %s', async (_what, bytes) => {
      const { origin, sockets } = await answerWith(bytes);
      const { send } = makeSender();
      expect(await send({ origin })).toMatchObject({ kind: 'failure', certainty: 'unknown', reason: 'reset' });
      await vi.waitFor(() => expect(sockets.size).toBe(0), soon);
    });

    test.each([
      [
        'interim answers',
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n',
      ],
      ['a header with the name of a prototype', 'HTTP/1.1 201 Created\r\n__proto__: x\r\nContent-Length: 0\r\n\r\n'],
      ['a second answer that was not asked for', `HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n`.repeat(2)],
    ])('is read in spite of %s', async (_what, bytes) => {
      const { origin } = await answerWith(bytes);
      const { send } = makeSender();
      const answer = await send({ origin });
      expect(answer).toMatchObject({ kind: 'answer', status: 201 });
      expect(Object.keys((answer as { headers: object }).headers)).not.toContain('__proto__');
    });

    test('is not used for the next message if it is a second one', async () => {
      const server = createTlsServer(certificate, (socket) => {
        socket.once('data', () => {
          const stray = 'HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n';
          socket.write(`HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n${stray}`);
        });
      });
      const { origin, opened } = await serve(server);
      const { send } = makeSender();
      for (let number = 0; number < 3; number += 1) expect(await send({ origin })).toMatchObject({ status: 201 });
      expect(opened()).toBe(3);
    });

    test('is read up to the end of the connection', async () => {
      const { origin } = await answerWith('HTTP/1.1 410 Gone\r\nConnection: close\r\n\r\nthe end', { end: true });
      const { send } = makeSender();
      expect(await send({ origin })).toMatchObject({ kind: 'answer', status: 410, body: 'the end' });
    });
  });

  test.each([
    ['a header with a line break', { ttl: '60\r\nx-injected: 1' }, '/p'],
    ['a path with a line break', {}, '/p\r\nx-injected: 1'],
  ])('sends nothing of a request with %s', async (_what, headers: Record<string, string>, path) => {
    const seen: unknown[] = [];
    const { origin } = await serveHttp1((request, response) => {
      seen.push(request.url);
      created(request, response);
    });
    const { send } = makeSender();
    expect(await send({ origin }, { headers, path })).toMatchObject({ certainty: 'unsent', reason: 'refused' });
    expect(await send({ origin }, { path: '/fine' })).toMatchObject({ status: 201 });
    expect(seen).toEqual(['/fine']);
  });

  test('completes open requests when the transport closes, and leaves nothing behind', async () => {
    const responses: ServerResponse[] = [];
    const { origin, sockets } = await serveHttp1((request, response) => {
      request.resume();
      responses.push(response);
    });
    const watch = watchLeftBehind();
    onTestFinished(() => watch.stop());
    const { transport, send } = makeSender();
    const answer = send({ origin });
    await vi.waitFor(() => expect(responses).toHaveLength(1), soon);
    let isClosed = false;
    const closing = transport.close().then(() => (isClosed = true));
    expect(await send({ origin })).toMatchObject({ certainty: 'unsent', reason: 'refused' });
    expect(isClosed).toBe(false);
    responses[0]!.writeHead(201).end();
    expect(await answer).toMatchObject({ status: 201 });
    await closing;
    // Node keeps what a TLS connection was made of until it collects garbage.
    const left = (): string[] => watch.left().filter((each) => !each.startsWith('TLSWRAP'));
    await vi.waitFor(() => expect([sockets.size, left()]).toEqual([0, []]), soon);
  });
});
