import { createSecureServer, createServer } from 'node:http2';
import type { Http2SecureServer, Http2Server, ServerHttp2Session } from 'node:http2';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Server } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2Target } from '../../../../src/providers/http2/open-socket.ts';
import { makeOutgoingProxy, parseProxySettings } from '../../../../src/outgoing/proxy.ts';
import { makeLog } from '../../../../src/log.ts';
import { listen, serveAll, startOwnProxy } from '../../outgoing-http/proxy-bundle.ts';
import type { Behaviour } from '../../outgoing-http/proxy-bundle.ts';
import { http2Clients } from '../delivery-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';

const certificate = makeCertificate(['provider.example', 'localhost']);
const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
afterAll(() => setDefaultCACertificates(before));

async function ownProxy(options: Parameters<typeof startOwnProxy>[0] = {}) {
  const proxy = await startOwnProxy(options);
  onTestFinished(() => proxy.stop());
  return proxy;
}

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
  const port = await listen(server as unknown as Server);
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return port;
}

describe.each(http2Clients)('through the proxy, by the HTTP/2 client %s', (client) => {
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

  test.each(['http', 'https'])('messages arrive over TLS inside its tunnel, the proxy called by %s', async (scheme) => {
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

  test('without TLS inside, a greeting that comes with the proxy’s own answer is read', async () => {
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

  test('the certificate is compared with the provider’s name, and HTTP/2 is insisted on', async () => {
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

  test('simulators, this machine and excepted hosts are connected directly', async () => {
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

  test('a guarded host is checked here: no private address is asked for, nor an unlisted name', async () => {
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
    'a proxy’s fault is %s: nothing was sent, and the next call finds it well again',
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

  test('a proxy that says nothing, or whose tunnel does not, costs the time for a connection and no more', async () => {
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

  test('a tunnel that is cut answers what was in it, and the next message opens another', async () => {
    const proxy = await ownProxy();
    const server = createSecureServer(certificate);
    const asked = Promise.withResolvers<void>();
    server.once('stream', () => asked.resolve());
    const mute = await listen(server as unknown as Server);
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
