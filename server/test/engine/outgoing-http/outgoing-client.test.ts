import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeOutgoingClient, OutgoingRefusedError, postOnce } from '../../../src/outgoing/client.ts';
import type { OutgoingClientOptions } from '../../../src/outgoing/client.ts';
import { AddressBlockedError } from '../../../src/outgoing/guard.ts';

const loopback = ['127.0.0.0/8'];
const get = { method: 'GET', headers: {} } as const;

function makeClient(options: Partial<OutgoingClientOptions> = {}) {
  const client = makeOutgoingClient({ allowedNetworks: loopback, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Listens on loopback until the test ends; gives the port and what has connected. */
async function listen(server: Server, { port = 0, host = '127.0.0.1' } = {}) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  server.listen(port, host);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

const serve = (answer: RequestListener, where?: { port?: number; host?: string }) =>
  listen(createHttpServer(answer), where);

/** An address on which nothing listens. */
async function findClosedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const answerOk: RequestListener = (_request, response) => void response.end('fine');

describe('the outgoing client', () => {
  test('returns status, headers and body, and sends the given headers and no others of its own', async () => {
    const asked: IncomingMessage[] = [];
    const { port } = await serve((request, response) => {
      asked.push(request);
      response.writeHead(201, { 'x-own': 'yes', 'set-cookie': 'session=1' }).end('made');
    });
    const client = makeClient();
    const url = `http://127.0.0.1:${port}/a%20b?c=d#e`;
    for (let time = 0; time < 2; time++) {
      const answer = await client.open({ url, method: 'POST', headers: { 'x-mine': '1' }, body: 'body' });
      expect(answer).toMatchObject({ status: 201, headers: { 'x-own': 'yes' } });
      expect(await text(answer.body)).toBe('made');
    }
    expect(asked[1]!.url).toBe('/a%20b?c=d');
    expect(asked[1]!.headers).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'close',
      'content-length': '4',
      'user-agent': 'Carillon',
      'x-mine': '1',
    });
  });

  test('connects to the checked address under the name, even if the name is rebound', async () => {
    const checked: (string | undefined)[] = [];
    const { port } = await serve((request, response) => {
      checked.push(request.headers.host);
      response.end();
    });
    const other = await serve(answerOk, { port, host: '127.0.0.2' });
    let resolutions = 0;
    const client = makeClient({
      allowedNetworks: ['127.0.0.1/32'],
      resolver: async () => [{ address: ++resolutions === 1 ? '127.0.0.1' : '127.0.0.2' }],
    });
    const url = `http://rebind.example:${port}/`;
    expect((await client.open({ url, ...get })).status).toBe(200);
    expect({ resolutions, checked }).toEqual({ resolutions: 1, checked: [`rebind.example:${port}`] });
    await expect(client.open({ url, ...get })).rejects.toThrow(AddressBlockedError);
    expect(other.sockets.size).toBe(0);
  });

  test('closes a socket that reached another address before sending anything', async () => {
    // The kernel connects 0.0.0.0 to 127.0.0.1.
    const received: Buffer[] = [];
    const closed = Promise.withResolvers<void>();
    const server = createTcpServer((socket) => {
      socket.on('data', (data) => received.push(data)).on('close', () => closed.resolve());
    });
    const { port } = await listen(server);
    const client = makeClient({ allowedNetworks: ['0.0.0.0/32'] });
    await expect(client.open({ url: `http://0.0.0.0:${port}/`, ...get })).rejects.toThrow(AddressBlockedError);
    await closed.promise;
    expect(received).toEqual([]);
  });

  test('sends the name in SNI, and rejects an untrusted certificate', async () => {
    const named = Promise.withResolvers<string>();
    const server = createTlsServer({
      SNICallback: (name, done) => {
        named.resolve(name);
        done(new Error('no certificate here'));
      },
    });
    const { port } = await listen(server);
    const client = makeClient({ resolver: async () => [{ address: '127.0.0.1' }] });
    await expect(client.open({ url: `https://named.example:${port}/`, ...get })).rejects.toThrow();
    expect(await named.promise).toBe('named.example');
  });

  test.each([
    ['one public and one private answer', ['8.8.8.8', '127.0.0.1']],
    ['a private answer first', ['127.0.0.1', '8.8.8.8']],
    ['a mapped private answer', ['::ffff:127.0.0.1']],
  ])('rejects a name with %s, and names no address in the message', async (_case, addresses) => {
    const { port, sockets } = await serve(answerOk);
    const client = makeClient({
      allowedNetworks: ['127.0.0.2'],
      resolver: async () => addresses.map((address) => ({ address })),
    });
    const error = await client.open({ url: `http://mixed.example:${port}/`, ...get }).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(AddressBlockedError);
    expect((error as Error).message).not.toMatch(/\d/);
    expect(sockets.size).toBe(0);
  });

  test.each(['http://127.0.0.1/', 'http://2130706433/', 'http://u:p@127.0.0.2/', 'ftp://127.0.0.2/', 'nonsense'])(
    'rejects %s without a connection, and names no address in the message',
    async (url) => {
      const error = await makeClient({ allowedNetworks: ['127.0.0.2'] })
        .open({ url, ...get })
        .catch((thrown: Error) => thrown);
      expect(error).toBeInstanceOf(OutgoingRefusedError);
      expect((error as Error).message).not.toMatch(/\d/);
    },
  );

  test('returns a redirect as a response', async () => {
    const { port } = await serve((_request, response) => void response.writeHead(302, { location: '/next' }).end());
    expect(await makeClient().open({ url: `http://127.0.0.1:${port}/`, ...get })).toMatchObject({
      status: 302,
      headers: { location: '/next' },
    });
  });

  test('applies the connect limit to the lookup and to a TLS handshake without a response', async () => {
    const nameless = makeClient({ connectMilliseconds: 40, resolver: () => new Promise(() => {}) });
    const late = { code: 'UND_ERR_CONNECT_TIMEOUT' };
    await expect(nameless.open({ url: 'http://slow.example/', ...get })).rejects.toMatchObject(late);

    const { port, sockets } = await listen(createTcpServer());
    const client = makeClient({ connectMilliseconds: 40 });
    await expect(client.open({ url: `https://127.0.0.1:${port}/`, ...get })).rejects.toMatchObject(late);
    const [socket] = sockets;
    // The hello of TLS has to be taken out before the end of the connection can be seen.
    if (!socket!.resume().destroyed) await once(socket!, 'close');
  });

  test('ends a call if headers or body stay silent', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/body') response.write('one piece');
    });
    const client = makeClient({ silenceMilliseconds: 40 });
    await expect(client.open({ url: `http://127.0.0.1:${port}/`, ...get })).rejects.toMatchObject({
      code: 'UND_ERR_HEADERS_TIMEOUT',
    });
    const { body } = await client.open({ url: `http://127.0.0.1:${port}/body`, ...get });
    await expect(text(body)).rejects.toMatchObject({ code: 'UND_ERR_BODY_TIMEOUT' });
  });

  test('ends a call by its signal while connecting and while reading', async () => {
    const gone = new Error('the process ends');
    const asked = Promise.withResolvers<void>();
    let resolutions = 0;
    const nameless = makeClient({
      resolver: () => {
        resolutions++;
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const connecting = new AbortController();
    const call = nameless.open({ url: 'http://slow.example/', ...get, signal: connecting.signal });
    await asked.promise;
    connecting.abort(gone);
    await expect(call).rejects.toBe(gone);
    await expect(nameless.open({ url: 'http://other.example/', ...get, signal: connecting.signal })).rejects.toBe(gone);
    expect(resolutions).toBe(1);

    const { port } = await serve((_request, response) => void response.write('one piece'));
    const reading = new AbortController();
    const answer = await makeClient().open({ url: `http://127.0.0.1:${port}/`, ...get, signal: reading.signal });
    const read = text(answer.body);
    reading.abort(gone);
    await expect(read).rejects.toBe(gone);
  });

  test('ends open calls when it closes', async () => {
    const { port } = await serve((_request, response) => void response.write('one piece'));
    const client = makeClient();
    const { body } = await client.open({ url: `http://127.0.0.1:${port}/`, ...get });
    const read = text(body);
    await client.close();
    await expect(read).rejects.toThrow();
  });
});

describe('a single post', () => {
  const post = { headers: { 'content-type': 'application/json' }, body: '{"a":1}' };

  test('returns any status, and does not follow a redirect', async () => {
    const asked: string[] = [];
    const { port } = await serve(async (request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['content-type']} ${await text(request)}`);
      const status = Number(request.url!.slice(1));
      response.writeHead(status, { location: '/200' }).end('said');
    });
    for (const status of [200, 204, 302, 307, 404, 500]) {
      expect(await postOnce(makeClient(), { url: `http://127.0.0.1:${port}/${status}`, ...post })).toEqual({
        kind: 'answered',
        status,
      });
    }
    expect(asked).toHaveLength(6);
    expect(asked[0]).toBe('POST /200 application/json {"a":1}');
  });

  test('cuts off an endless response, and counts its status', async () => {
    let sent = 0;
    const cut = Promise.withResolvers<void>();
    const { port } = await serve((_request, response) => {
      const piece = Buffer.alloc(64 * 1024);
      const send = () => {
        do sent += piece.length;
        while (response.write(piece));
      };
      response.on('drain', send).on('close', () => cut.resolve());
      send();
    });
    expect(await postOnce(makeClient(), { url: `http://127.0.0.1:${port}/`, ...post })).toEqual({
      kind: 'answered',
      status: 200,
    });
    await cut.promise;
    // What the sockets of both sides hold, and no more.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  test('names the failure: timeout, unreachable, refused', async () => {
    const { port, sockets } = await serve(() => {});
    const client = makeClient();
    expect(await postOnce(client, { url: `http://127.0.0.1:${port}/`, ...post, totalMilliseconds: 40 })).toEqual({
      kind: 'failed',
      error: 'timeout',
    });
    const nameless = makeClient({ resolver: () => new Promise(() => {}) });
    expect(await postOnce(nameless, { url: 'http://slow.example/', ...post, totalMilliseconds: 40 })).toEqual({
      kind: 'failed',
      error: 'timeout',
    });
    expect(await postOnce(client, { url: `http://127.0.0.1:${await findClosedPort()}/`, ...post })).toEqual({
      kind: 'failed',
      error: 'unreachable',
    });
    const impatient = makeClient({ silenceMilliseconds: 40 });
    expect(await postOnce(impatient, { url: `http://127.0.0.1:${port}/`, ...post })).toEqual({
      kind: 'failed',
      error: 'timeout',
    });
    const before = sockets.size;
    for (const url of [`http://10.0.0.1:${port}/`, 'ftp://127.0.0.1/', '']) {
      expect(await postOnce(client, { url, ...post })).toEqual({ kind: 'failed', error: 'refused' });
    }
    const blocked = makeClient({ allowedNetworks: ['10.0.0.0/8'], resolver: async () => [{ address: '127.0.0.1' }] });
    expect(await postOnce(blocked, { url: `http://a.example:${port}/`, ...post })).toEqual({
      kind: 'failed',
      error: 'refused',
    });
    expect(sockets.size).toBe(before);
  });

  test('counts a status that arrived in time, even if its body never ends', async () => {
    const { port } = await serve((_request, response) => void response.write('one piece'));
    expect(await postOnce(makeClient(), { url: `http://127.0.0.1:${port}/`, ...post, totalMilliseconds: 400 })).toEqual(
      {
        kind: 'answered',
        status: 200,
      },
    );
  });
});

/** In the new namespace every address of the internet, private ones included, is this machine. */
const setUp = 'ip link set lo up && ip route add local 0.0.0.0/0 dev lo && ip -6 route add local ::/0 dev lo';
const probe = spawnSync('unshare', ['--net', '--', 'sh', '-c', setUp], { encoding: 'utf8' });
const whyNot = probe.status === 0 ? '' : (probe.error?.message ?? probe.stderr.trim().split('\n')[0]);

describe('real sockets, with a listener at every address', () => {
  test.skipIf(whyNot !== '')(
    `are not connected to a private address in any spelling${whyNot && ` (skipped, needs root and a network namespace: ${whyNot})`}`,
    async () => {
      const script = join(import.meta.dirname, 'ssrf-child.ts');
      const proxy = 'http://127.0.0.1:80';
      const { stdout } = await promisify(execFile)(
        'unshare',
        ['--net', '--', 'sh', '-c', `${setUp} && exec "$@"`, 'sh', process.execPath, script],
        { env: { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy } },
      );
      const report = JSON.parse(stdout);
      const refusals = ['AddressBlockedError', 'OutgoingRefusedError'];

      expect(report.closed.arrivals).toEqual([]);
      expect(Object.keys(report.closed.outcomes).length).toBeGreaterThan(120);
      expect([...new Set(Object.values(report.closed.outcomes))].sort()).toEqual(refusals);
      expect(report.closedNames.arrivals).toEqual([]);
      expect([...new Set(Object.values(report.closedNames.outcomes))]).toEqual(['AddressBlockedError']);

      // The listeners are there: opened, all are reached that take a connection at all.
      const unreached = Object.entries(report.opened.outcomes).filter(([, outcome]) => outcome !== 200);
      expect(unreached.map(([url]) => url)).toEqual([
        'http://224.0.0.1/',
        'http://255.255.255.255/',
        'http://[fe80::1]/',
        'http://[ff02::1]/',
      ]);
      expect(report.opened.arrivals).toHaveLength(Object.keys(report.opened.outcomes).length - unreached.length);
      expect(report.openedName).toEqual({ outcome: 200, arrivals: ['10.0.0.1'] });

      // Public addresses are called without an allow-list, and directly: the environment named a proxy.
      expect(report.public.arrivals).toEqual(['8.8.8.8', '2606:4700:4700::1111']);
      expect(report.rebound).toEqual({ outcome: 200, second: 'AddressBlockedError', arrivals: ['8.8.8.8'] });
      expect(report.redirected).toEqual({ outcome: 'refused', arrivals: ['8.8.8.8'] });
      expect(report.redirectedOpen.arrivals).toEqual(['8.8.8.8', '169.254.169.254']);
    },
  );
});
