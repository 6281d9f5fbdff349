import { getEventListeners, once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeCompanyProvider } from '../../../src/engine/company-account.ts';
import { downloadFile } from '../../../src/engine/segment-fill/download-file.ts';
import { makeLog } from '../../../src/log.ts';
import { makeOutgoingClient, postOnce } from '../../../src/outgoing/client.ts';
import type { OutgoingClient, OutgoingClientOptions } from '../../../src/outgoing/client.ts';
import { makeOutgoingProxy, openTunnel, parseProxySettings } from '../../../src/outgoing/proxy.ts';
import type { GivenProxy, ProxySettings } from '../../../src/outgoing/proxy.ts';
import { makeCertificate } from '../delivery/make-certificate.ts';
import { isTinyproxyInstalled, listen, serveAll, startOwnProxy, startTinyproxy } from './proxy-bundle.ts';
import type { Behaviour } from './proxy-bundle.ts';

type Given = Partial<GivenProxy> & { client?: Partial<OutgoingClientOptions> };

describe('outgoing proxy', () => {
  // The documentation's networks (RFC 5737) stand for public hosts; the proxy leads them to this machine.
  const publicAddress = '203.0.113.7';
  const allowedNetworks = ['203.0.113.0/24'];
  const certificate = makeCertificate(['files.example', 'localhost']);
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
  afterAll(() => setDefaultCACertificates(before));

  const get = { method: 'GET', headers: {} } as const;
  const answerFine: RequestListener = (_request, response) => void response.end('fine');

  describe('calls through the proxy', () => {
    test('name the checked address to the proxy, and the host to the target', async () => {
      const seen: (string | undefined)[] = [];
      const port = await serve((request, response) => {
        seen.push(request.headers.host);
        response.end('fine');
      });
      const proxy = await ownProxy();
      proxy.lead(`${publicAddress}:80`, port);
      const { outgoing, outgoingProxy } = makeClient(`http://ann:p%40ss@127.0.0.1:${proxy.port}`);
      expect(outgoingProxy.state()).toBe('UNUSED');
      const answer = await outgoing.open({ url: 'http://files.example/a', ...get });
      expect([answer.status, await text(answer.body)]).toEqual([200, 'fine']);
      expect(seen).toEqual(['files.example']);
      // Nothing else is told to the proxy.
      const authority = `${publicAddress}:80`;
      expect(proxy.heads).toEqual([
        `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: Basic ${btoa('ann:p@ss')}`,
      ]);
      expect(outgoingProxy.state()).toBe('OK');
    });

    test('use TLS up to the target, with a certificate that must match the name', async () => {
      const proxy = await ownProxy();
      proxy.lead(`${publicAddress}:443`, await serve(answerFine, certificate));
      const { outgoing } = makeClient(`http://127.0.0.1:${proxy.port}`);
      expect((await outgoing.open({ url: 'https://files.example/', ...get })).status).toBe(200);
      await expect(outgoing.open({ url: 'https://other.example/', ...get })).rejects.toThrow(/altnames/);
    });

    test('may use TLS to the proxy itself', async () => {
      const proxy = await ownProxy({ tls: certificate });
      proxy.lead(`${publicAddress}:443`, await serve(answerFine, certificate));
      proxy.lead(`${publicAddress}:80`, await serve(answerFine));
      const { outgoing } = makeClient(`https://localhost:${proxy.port}`);
      for (const url of ['https://files.example/', 'http://files.example/'])
        expect(await text((await outgoing.open({ url, ...get })).body)).toBe('fine');
      const { outgoing: untrusting, outgoingProxy } = makeClient(`https://127.0.0.1:${proxy.port}`);
      await expect(untrusting.open({ url: 'http://files.example/', ...get })).rejects.toThrow(/could not be reached/);
      expect(outgoingProxy.state()).toBe('PROXY_UNREACHABLE');
    });

    test('reject a private address before the proxy is contacted', async () => {
      const proxy = await ownProxy();
      const { outgoing } = makeClient(`http://127.0.0.1:${proxy.port}`, {
        client: { resolver: async () => [{ address: '10.1.2.3' }] },
      });
      expect(await postOnce(outgoing, { url: 'http://files.example/', headers: {}, body: '' })).toEqual({
        kind: 'failed',
        error: 'refused',
      });
      expect(await postOnce(outgoing, { url: 'http://10.1.2.3/', headers: {}, body: '' })).toMatchObject({
        error: 'refused',
      });
      expect(proxy.openSockets()).toBe(0);
    });

    test('go directly to this machine and the hosts of CARILLON_NO_PROXY, with the usual checks', async () => {
      const port = await serve(answerFine);
      const proxy = await ownProxy();
      const client = { allowedNetworks: ['127.0.0.0/8'], resolver: async () => [{ address: '127.0.0.1' }] };
      const { outgoing } = makeClient(`http://127.0.0.1:${proxy.port}`, { noProxy: ['direct.example'], client });
      for (const host of ['127.0.0.1', 'localhost', 'direct.example', 'resolves-to-loopback.example'])
        expect((await outgoing.open({ url: `http://${host}:${port}/`, ...get })).status).toBe(200);
      expect(proxy.heads).toEqual([]);
      const { outgoing: guarded } = makeClient(`http://127.0.0.1:${proxy.port}`, {
        noProxy: ['direct.example'],
        client: { resolver: async () => [{ address: '192.168.0.1' }] },
      });
      const post = { url: 'http://direct.example/', headers: {}, body: '' };
      expect(await postOnce(guarded, post)).toEqual({ kind: 'failed', error: 'refused' });
    });

    test('pass listed names unresolved if only the proxy resolves, and send no others', async () => {
      const proxy = await ownProxy();
      proxy.lead('files.example:80', await serve(answerFine));
      const { outgoing } = makeClient(`http://127.0.0.1:${proxy.port}`, {
        resolvesNames: true,
        hosts: ['files.example'],
        client: { resolver: () => Promise.reject(new Error('there is no DNS here')) },
      });
      expect((await outgoing.open({ url: 'http://files.example/', ...get })).status).toBe(200);
      for (const host of ['other.example', 'intranet', publicAddress])
        expect(await postOnce(outgoing, { url: `http://${host}/`, headers: {}, body: '' })).toMatchObject({
          error: 'refused',
        });
      expect(proxy.authorities()).toEqual(['files.example:80']);
    });

    test('may name internal hosts chosen by the operator, which the proxy resolves', async () => {
      const proxy = await ownProxy();
      proxy.lead('issuer.internal:80', await serve(answerFine));
      const { outgoing } = makeClient(`http://127.0.0.1:${proxy.port}`, {
        client: { allowedNetworks: [], hosts: 'trusted', resolver: () => Promise.reject(new Error('not here')) },
      });
      expect((await outgoing.open({ url: 'http://issuer.internal/', ...get })).status).toBe(200);
    });

    test('reach the issuer of the company account by its name', async () => {
      const proxy = await ownProxy();
      const issuer = 'http://issuer.internal';
      const answer = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
      const port = await serve((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      });
      proxy.lead('issuer.internal:80', port);
      const { outgoingProxy } = makeClient(`http://127.0.0.1:${proxy.port}`);
      const settings = {
        groupsClaim: 'groups',
        issuer,
        clientId: 'id',
        clientSecret: 'secret',
        name: 'Example',
        proxy: outgoingProxy,
      };
      const provider = makeCompanyProvider(settings);
      onTestFinished(() => provider.close());
      const location = await provider.authorize({
        redirectUri: 'https://push.example/',
        state: 's',
        nonce: 'n',
        codeVerifier: 'c'.repeat(43),
      });
      expect(location).toMatch(/^http:\/\/issuer\.internal\/authorize\?/);
      expect(proxy.authorities()).toEqual(['issuer.internal:80']);
    });

    test('download a file of a segment, with redirects', async () => {
      const proxy = await ownProxy();
      const port = await serve((request, response) => {
        if (request.url === '/old') response.writeHead(302, { location: 'http://files.example/new' }).end();
        else response.end('a\nb\n');
      });
      proxy.lead(`${publicAddress}:80`, port);
      const { outgoing } = makeClient(`http://127.0.0.1:${proxy.port}`);
      const file = await readFile(outgoing, 'http://files.example/old');
      expect(file.toString()).toBe('a\nb\n');
      expect(proxy.authorities()).toEqual([`${publicAddress}:80`, `${publicAddress}:80`]);
    });
  });

  const say =
    (words: string): Behaviour =>
    ({ socket }) =>
      socket.end(words);

  const hostile: [what: string, behave: Behaviour, code: string][] = [
    ['wants other credentials', say('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'), 'PROXY_AUTH'],
    ['forbids the host', say('HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nno!!'), 'PROXY_REFUSED'],
    ['cannot reach the host', say('HTTP/1.0 502 Bad Gateway\r\n\r\n'), 'PROXY_REFUSED'],
    ['redirects', say('HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\n\r\n'), 'PROXY_REFUSED'],
    ['answers with an interim status', say('HTTP/1.1 100 Continue\r\n\r\n'), 'PROXY_REFUSED'],
    ['speaks no HTTP', say('220 smtp.example ESMTP\r\n\r\n'), 'PROXY_REFUSED'],
    ['never ends its head', say(`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(20_000)}`), 'PROXY_REFUSED'],
    ['hangs up', ({ socket }) => socket.end(), 'PROXY_UNREACHABLE'],
    ['resets', ({ socket }) => socket.resetAndDestroy(), 'PROXY_UNREACHABLE'],
    ['breaks off within its head', say('HTTP/1.1 200 Conn'), 'PROXY_UNREACHABLE'],
    ['speaks before the target may', say('HTTP/1.1 200 OK\r\n\r\nsurprise'), 'PROXY_REFUSED'],
  ];

  test.each(hostile)('fails the call without sending anything of it if the proxy %s', async (_what, behave, code) => {
    const proxy = await ownProxy({ behave });
    const { outgoing, outgoingProxy } = makeClient(`http://ann:CANARY@127.0.0.1:${proxy.port}`);
    const error = await outgoing.open({ url: 'https://files.example/', ...get }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ProxyError', code });
    expect(String((error as Error).stack)).not.toMatch(/CANARY|Q0FOQVJZ/);
    expect(outgoingProxy.state()).toBe(code);
    expect(proxy.heads).toHaveLength(1);
    // The next call finds it well again.
    proxy.behave(serveAll);
    proxy.lead(`${publicAddress}:443`, await serve(answerFine, certificate));
    expect((await outgoing.open({ url: 'https://files.example/', ...get })).status).toBe(200);
    expect(outgoingProxy.state()).toBe('OK');
  });

  test('gives up a silent proxy after the time limit of a connection', async () => {
    const proxy = await ownProxy({ behave: () => {} });
    const client = { connectMilliseconds: 300 };
    const { outgoing, outgoingProxy } = makeClient(`http://127.0.0.1:${proxy.port}`, { client });
    await expect(outgoing.open({ url: 'https://files.example/', ...get })).rejects.toMatchObject({
      code: 'PROXY_UNREACHABLE',
    });
    expect(outgoingProxy.state()).toBe('PROXY_UNREACHABLE');
  });

  test('distinguishes an unreachable proxy from an unreachable target', async () => {
    const proxy = await startOwnProxy();
    await proxy.stop();
    const { outgoing } = makeClient(`http://127.0.0.1:${proxy.port}`);
    await expect(outgoing.open({ url: 'http://files.example/', ...get })).rejects.toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: 'the outgoing proxy could not be reached (ECONNREFUSED)',
    });
    const download = readFile(outgoing, 'http://files.example/');
    await expect(download).rejects.toMatchObject({ detail: 'no connection (PROXY_UNREACHABLE)', isRepeatable: true });
  });

  test('ends the call as without a proxy if a response breaks off within the tunnel', async () => {
    const proxy = await ownProxy();
    const asked = Promise.withResolvers<void>();
    proxy.lead(`${publicAddress}:80`, await serve(() => asked.resolve()));
    const { outgoing, outgoingProxy } = makeClient(`http://127.0.0.1:${proxy.port}`);
    const answer = postOnce(outgoing, { url: 'http://files.example/', headers: {}, body: 'x' });
    await asked.promise;
    proxy.cutAll();
    expect(await answer).toEqual({ kind: 'failed', error: 'unreachable' });
    expect(outgoingProxy.state()).toBe('OK');
  });

  test('logs a change for the worse at intervals, without credentials', async () => {
    const lines: unknown[] = [];
    const log = { warn: (...words: unknown[]) => lines.push(words) };
    const proxy = await ownProxy({ behave: say('HTTP/1.1 407 No\r\n\r\n') });
    const settings = { url: `http://ann:CANARY@127.0.0.1:${proxy.port}`, noProxy: [], resolvesNames: false, hosts: [] };
    const outgoingProxy = makeOutgoingProxy(parseProxySettings(settings), log as never)!;
    const open = () =>
      outgoingProxy.openTunnel({ host: 'a.example', port: 1, isSecure: true }, AbortSignal.timeout(5_000));
    for (let time = 0; time < 3; time += 1) await open().catch(() => {});
    proxy.behave(say('HTTP/1.1 403 No\r\n\r\n'));
    await open().catch(() => {});
    expect(lines).toEqual([
      [
        { code: 'PROXY_AUTH', detail: 'the outgoing proxy does not take its credentials (407)' },
        'the outgoing proxy failed',
      ],
    ]);
  });

  test.skipIf(!isTinyproxyInstalled)('is accepted by tinyproxy with the password, and rejected without', async () => {
    const own = await ownProxy();
    const port = await serve(answerFine, certificate);
    own.lead(`${publicAddress}:443`, port);
    const tinyproxy = await startTinyproxy({ user: 'ann', password: 'secret', upstream: own.port });
    onTestFinished(() => tinyproxy.stop());
    const { outgoing } = makeClient(`http://ann:secret@127.0.0.1:${tinyproxy.port}`);
    const answer = await outgoing.open({ url: 'https://files.example/', ...get });
    expect(await text(answer.body)).toBe('fine');
    for (const user of ['ann:wrong@', '']) {
      const { outgoing: stranger } = makeClient(`http://${user}127.0.0.1:${tinyproxy.port}`);
      await expect(stranger.open({ url: 'https://files.example/', ...get })).rejects.toMatchObject({
        code: 'PROXY_AUTH',
      });
    }
    expect(own.heads).toHaveLength(1);
  });

  async function serve(answer: RequestListener, tls?: typeof certificate): Promise<number> {
    const server = tls ? createHttpsServer(tls, answer) : createHttpServer(answer);
    const port = await listen(server);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return port;
  }

  function makeClient(url: string, { client, ...given }: Given = {}) {
    const settings = parseProxySettings({ noProxy: [], resolvesNames: false, hosts: [], ...given, url });
    const outgoingProxy = makeOutgoingProxy(settings, makeLog({ level: 'silent', pretty: false }))!;
    const outgoing = makeOutgoingClient({
      allowedNetworks,
      proxy: outgoingProxy,
      resolver: async () => [{ address: publicAddress }],
      ...client,
    });
    onTestFinished(() => outgoing.close());
    return { outgoing, outgoingProxy };
  }
});

type Asked = Partial<ProxySettings> & { target?: string; isTargetSecure?: boolean; signal?: AbortSignal };

describe('tunnels', () => {
  const certificate = makeCertificate(['localhost']);
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
  afterAll(() => setDefaultCACertificates(before));

  const neverAborted = new AbortController().signal;

  const say =
    (...pieces: string[]): Behaviour =>
    async ({ socket }) => {
      socket.setNoDelay(true);
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };

  describe('the CONNECT request', () => {
    test.each([
      ['a.example', 'a.example:443'],
      ['203.0.113.7', '203.0.113.7:443'],
      ['2001:db8::1', '[2001:db8::1]:443'],
    ])('for %s contains only %s', async (target, authority) => {
      const { proxy, opened } = await ask(say('HTTP/1.1 200 OK\r\n\r\n'), { target });
      await opened;
      expect(proxy.heads).toEqual([`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}`]);
    });

    test('carries the credentials of the proxy', async () => {
      const { proxy, opened } = await ask(say('HTTP/1.1 200 OK\r\n\r\n'), { authorization: 'Basic eA==' });
      await opened;
      expect(proxy.heads[0]).toMatch(/\r\nProxy-Authorization: Basic eA==$/);
    });
  });

  test.each([
    'HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n',
    'HTTP/1.0 200 OK\r\n\r\n',
    'HTTP/1.1 200\r\n\r\n',
    'HTTP/1.1 200 \r\n\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 299 Fine\r\n\r\n',
  ])('are opened by %j (RFC 9110 §9.3.6)', async (head) => {
    const { opened } = await ask(say(head));
    expect((await opened).destroyed).toBe(false);
  });

  test.each([
    ['HTTP/1.1 401 No\r\n\r\n', 'PROXY_AUTH', 'does not take its credentials (401)'],
    ['HTTP/1.1 407 No\r\n\r\n', 'PROXY_AUTH', 'does not take its credentials (407)'],
    ['HTTP/1.1 199 Soon\r\n\r\n', 'PROXY_REFUSED', 'refused (199)'],
    ['HTTP/1.1 300 Elsewhere\r\n\r\n', 'PROXY_REFUSED', 'refused (300)'],
    ['HTTP/1.1 502\r\n\r\n', 'PROXY_REFUSED', 'refused (502)'],
    ['HTTP/1.1 2000 OK\r\n\r\n', 'PROXY_REFUSED', 'did not answer by HTTP'],
    ['HTTP/1.1 20 OK\r\n\r\n', 'PROXY_REFUSED', 'did not answer by HTTP'],
    ['HTTP/1.1 200OK\r\n\r\n', 'PROXY_REFUSED', 'did not answer by HTTP'],
    ['HTTP/1.2 200 OK\r\n\r\n', 'PROXY_REFUSED', 'did not answer by HTTP'],
    ['HTTP/2 200\r\n\r\n', 'PROXY_REFUSED', 'did not answer by HTTP'],
    ['X HTTP/1.1 200 OK\r\n\r\n', 'PROXY_REFUSED', 'did not answer by HTTP'],
    ['no\r\nHTTP/1.1 200 OK\r\n\r\n', 'PROXY_REFUSED', 'did not answer by HTTP'],
    ['HTTP/1.1 200 OK\r\n\r\nx', 'PROXY_REFUSED', 'sent data before the request'],
  ])('are not opened by %j, and the connection is closed', async (head, code, detail) => {
    const closed = Promise.withResolvers<void>();
    const { opened } = await ask(async (call) => {
      call.socket.on('close', closed.resolve);
      await say(head)(call);
    });
    await expect(opened).rejects.toMatchObject({ name: 'ProxyError', code, message: `the outgoing proxy ${detail}` });
    await closed.promise;
  });

  describe('the header of the proxy response', () => {
    const start = 'HTTP/1.1 200 OK\r\nX: ';
    const headOf = (bytes: number) => start.padEnd(bytes, 'x');

    test('may arrive in pieces with any boundaries', async () => {
      const { opened } = await ask(say('HTTP', '/1.1 200 OK\r', '\nX: y\r\n', '\r', '\n'));
      expect((await opened).destroyed).toBe(false);
    });

    test('may be 16 KiB long, and no byte more', async () => {
      const fits = await ask(say(`${headOf(16_384)}\r\n\r\n`));
      expect((await fits.opened).destroyed).toBe(false);
      for (const head of [`${headOf(16_385)}\r\n\r\n`, headOf(16_390)]) {
        const { opened } = await ask(say(head));
        await expect(opened).rejects.toMatchObject({
          code: 'PROXY_REFUSED',
          message: 'the outgoing proxy answered with a head of over 16384 bytes',
        });
      }
    });

    test('is invalid if it is cut short', async () => {
      const { opened } = await ask(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n'));
      await expect(opened).rejects.toMatchObject({
        code: 'PROXY_UNREACHABLE',
        message: 'the outgoing proxy ended the connection before it answered',
      });
    });

    test('ends before the first bytes of a plain target, of which nothing is lost', async () => {
      const words = '220 smtp.example\r\n\r\n'.padEnd(40_000, 'y');
      const { opened } = await ask(say(`HTTP/1.1 200 OK\r\n\r\n${words.slice(0, 30_000)}`, words.slice(30_000)), {
        isTargetSecure: false,
      });
      expect(await readAll(await opened, words.length)).toBe(words);
    });
  });

  describe('an open tunnel', () => {
    test('has no listeners left, and none on the signal', async () => {
      const { signal } = new AbortController();
      const { opened } = await ask(say('HTTP/1.1 200 OK\r\n\r\n'), { signal });
      const socket = await opened;
      expect([socket.listenerCount('readable'), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
    });

    test('stays open after the time limit to open it', async () => {
      const abort = new AbortController();
      const { opened } = await ask(say('HTTP/1.1 200 OK\r\n\r\n', 'words'), {
        signal: abort.signal,
        isTargetSecure: false,
      });
      const socket = await opened;
      abort.abort();
      expect(await readAll(socket, 5)).toBe('words');
    });

    test('may break before its caller listens', async () => {
      const opened = Promise.withResolvers<void>();
      const asked = await ask(async ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        await opened.promise;
        socket.resetAndDestroy();
      });
      const socket = await asked.opened;
      socket.resume();
      opened.resolve();
      await once(socket, 'close').catch(() => {});
      expect(socket.destroyed).toBe(true);
    });
  });

  describe('a cancelled wait', () => {
    const late = { code: 'PROXY_UNREACHABLE', message: 'the outgoing proxy did not answer in time' };

    test('ends before the connection is made', async () => {
      const { opened, proxy } = await ask(say(''), { signal: AbortSignal.abort() });
      await expect(opened).rejects.toMatchObject(late);
      expect(proxy.heads).toEqual([]);
    });

    test('ends before the response arrives, and closes the connection', async () => {
      const abort = new AbortController();
      const closed = Promise.withResolvers<void>();
      const { opened } = await ask(
        ({ socket }) => {
          socket.on('close', closed.resolve);
          abort.abort();
        },
        { signal: abort.signal },
      );
      await expect(opened).rejects.toMatchObject(late);
      await closed.promise;
      expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
    });
  });

  test('report the code of a failed connection', async () => {
    const { opened } = await ask(say(''), { port: 70_000 });
    await expect(opened).rejects.toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: 'the outgoing proxy could not be reached (ERR_SOCKET_BAD_PORT)',
    });
  });

  describe('a proxy over TLS', () => {
    test('gets its name, and HTTP/1.1 as protocol', async () => {
      const protocols: unknown[] = [];
      const { opened, serverNames } = await ask(
        async (call) => {
          protocols.push((call.socket as TLSSocket).alpnProtocol);
          await say('HTTP/1.1 200 OK\r\n\r\n')(call);
        },
        { isSecure: true, host: 'localhost' },
      );
      expect((await opened).destroyed).toBe(false);
      expect([serverNames, protocols]).toEqual([['localhost'], ['http/1.1']]);
    });

    test('gets no name if it has none (RFC 6066 §3), but needs a certificate for its address', async () => {
      const { opened, serverNames, proxy } = await ask(say('HTTP/1.1 200 OK\r\n\r\n'), { isSecure: true });
      await expect(opened).rejects.toMatchObject({
        code: 'PROXY_UNREACHABLE',
        message: 'the outgoing proxy could not be reached (ERR_TLS_CERT_ALTNAME_INVALID)',
      });
      expect([serverNames, proxy.heads]).toEqual([[], []]);
    });
  });

  async function ask(behave: Behaviour, { target = 'a.example', isTargetSecure = true, signal, ...more }: Asked = {}) {
    const serverNames: string[] = [];
    const tls: TlsOptions = {
      ...certificate,
      ALPNProtocols: ['http/1.1'],
      SNICallback(name, choose) {
        serverNames.push(name);
        choose(null);
      },
    };
    const proxy = await startOwnProxy({ behave, ...(more.isSecure && { tls }) });
    const settings = { host: '127.0.0.1', port: proxy.port, isSecure: false, authorization: undefined, ...more };
    const opened = openTunnel(
      { bypass: [], resolvesNames: false, hosts: [], ...settings },
      { host: target, port: 443, isSecure: isTargetSecure, signal: signal ?? neverAborted },
    );
    onTestFinished(() => {
      // Not awaited: a tunnel that never opens is to fail the test, and no more.
      opened.then((socket) => socket.destroy()).catch(() => {});
      return proxy.stop();
    });
    return { proxy, opened, serverNames };
  }
});

async function ownProxy(options: Parameters<typeof startOwnProxy>[0] = {}) {
  const proxy = await startOwnProxy(options);
  onTestFinished(() => proxy.stop());
  return proxy;
}

async function readFile(outgoing: OutgoingClient, url: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of downloadFile(outgoing, { url })) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function readAll(socket: Socket, bytes: number): Promise<string> {
  let text = '';
  for await (const piece of socket) {
    text += (piece as Buffer).toString();
    if (text.length >= bytes) break;
  }
  return text;
}
