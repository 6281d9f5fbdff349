import { getEventListeners, once } from 'node:events';
import type { Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openTunnel } from '../../../src/outgoing/proxy.ts';
import type { ProxySettings } from '../../../src/outgoing/proxy.ts';
import { makeCertificate } from '../delivery/make-certificate.ts';
import { startOwnProxy } from './proxy-bundle.ts';
import type { Behaviour } from './proxy-bundle.ts';

const certificate = makeCertificate(['localhost']);
const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
afterAll(() => setDefaultCACertificates(before));

const neverAborted = new AbortController().signal;

type Asked = Partial<ProxySettings> & { target?: string; isTargetSecure?: boolean; signal?: AbortSignal };

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

const say =
  (...pieces: string[]): Behaviour =>
  async ({ socket }) => {
    socket.setNoDelay(true);
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };

async function readAll(socket: Socket, bytes: number): Promise<string> {
  let text = '';
  for await (const piece of socket) {
    text += (piece as Buffer).toString();
    if (text.length >= bytes) break;
  }
  return text;
}

describe('the request', () => {
  test.each([
    ['a.example', 'a.example:443'],
    ['203.0.113.7', '203.0.113.7:443'],
    ['2001:db8::1', '[2001:db8::1]:443'],
  ])('for %s names %s, and nothing else', async (target, authority) => {
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
])('%j opens the tunnel (RFC 9110 §9.3.6)', async (head) => {
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
  ['HTTP/1.1 200 OK\r\n\r\nx', 'PROXY_REFUSED', 'sent what nobody asked for'],
])('%j opens none, and the connection is closed', async (head, code, detail) => {
  const closed = Promise.withResolvers<void>();
  const { opened } = await ask(async (call) => {
    call.socket.on('close', closed.resolve);
    await say(head)(call);
  });
  await expect(opened).rejects.toMatchObject({ name: 'ProxyError', code, message: `the outgoing proxy ${detail}` });
  await closed.promise;
});

describe('the head of the answer', () => {
  const start = 'HTTP/1.1 200 OK\r\nX: ';
  const headOf = (bytes: number) => start.padEnd(bytes, 'x');

  test('may come in pieces, cut anywhere', async () => {
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

  test('that is cut short is no answer', async () => {
    const { opened } = await ask(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n'));
    await expect(opened).rejects.toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: 'the outgoing proxy ended the connection before it answered',
    });
  });

  test('ends where what a plain target says begins, of which nothing is lost', async () => {
    const words = '220 smtp.example\r\n\r\n'.padEnd(40_000, 'y');
    const { opened } = await ask(say(`HTTP/1.1 200 OK\r\n\r\n${words.slice(0, 30_000)}`, words.slice(30_000)), {
      isTargetSecure: false,
    });
    expect(await readAll(await opened, words.length)).toBe(words);
  });
});

describe('an open tunnel', () => {
  test('is its caller’s alone: nobody else listens, on the signal neither', async () => {
    const { signal } = new AbortController();
    const { opened } = await ask(say('HTTP/1.1 200 OK\r\n\r\n'), { signal });
    const socket = await opened;
    expect([socket.listenerCount('readable'), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  });

  test('stays open when the time to open it has passed', async () => {
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

describe('the wait ends with the signal', () => {
  const late = { code: 'PROXY_UNREACHABLE', message: 'the outgoing proxy did not answer in time' };

  test('before the connection is there', async () => {
    const { opened, proxy } = await ask(say(''), { signal: AbortSignal.abort() });
    await expect(opened).rejects.toMatchObject(late);
    expect(proxy.heads).toEqual([]);
  });

  test('before the answer is there, and the connection is closed', async () => {
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

test('what hinders the connection is told by its code', async () => {
  const { opened } = await ask(say(''), { port: 70_000 });
  await expect(opened).rejects.toMatchObject({
    code: 'PROXY_UNREACHABLE',
    message: 'the outgoing proxy could not be reached (ERR_SOCKET_BAD_PORT)',
  });
});

describe('a proxy that is spoken to over TLS', () => {
  test('is told its name, and that HTTP/1.1 follows', async () => {
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

  test('is told no name where it has none (RFC 6066 §3), but has to prove that it has the address', async () => {
    const { opened, serverNames, proxy } = await ask(say('HTTP/1.1 200 OK\r\n\r\n'), { isSecure: true });
    await expect(opened).rejects.toMatchObject({
      code: 'PROXY_UNREACHABLE',
      message: 'the outgoing proxy could not be reached (ERR_TLS_CERT_ALTNAME_INVALID)',
    });
    expect([serverNames, proxy.heads]).toEqual([[], []]);
  });
});
