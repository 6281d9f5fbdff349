import { once } from 'node:events';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeManualClock } from '../../src/clock.ts';
import { buildServer } from '../../src/http/server/build-server.ts';
import { makeCloseServer } from '../../src/http/server/close-server.ts';
import type { TlsPair } from '../../src/http/server/listener.ts';
import { makeLog } from '../../src/log.ts';
import { makeCertificate } from '../engine/delivery/make-certificate.ts';

/** A server that asks `answer` what it says, and shows one certificate until it is given another. */
async function serve(answer: () => string | Promise<string> = () => 'hello') {
  const told = new Set<(pair: TlsPair) => void>();
  let pair: TlsPair = makeCertificate();
  const certificate = {
    pair: () => pair,
    onChange(tell: (pair: TlsPair) => void) {
      told.add(tell);
      return () => void told.delete(tell);
    },
  };
  const options = { log: makeLog({ level: 'silent', pretty: false }), clock: makeManualClock(new Date(0)) };
  const server = await buildServer({ ...options, trustProxy: false, certificate }, [
    async (scope) => {
      scope.get('/said', async () => answer());
    },
  ]);
  const closeServer = makeCloseServer(server);
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  return {
    ...{ server, port, told },
    authority: () => pair.cert,
    renew() {
      pair = makeCertificate();
      for (const tell of told) tell(pair);
    },
    close: (maxMilliseconds = 60_000) => closeServer.close({ maxMilliseconds }),
  };
}

type Served = Awaited<ReturnType<typeof serve>>;

async function open({ port, authority }: Served): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: authority() });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

/** Asks on a connection of its own whom only the present certificate convinces. */
async function ask({ port }: Served, authority: string): Promise<string> {
  const options = { port, host: '127.0.0.1', path: '/said', ca: authority, agent: false as const };
  const asked = request({ ...options, servername: 'localhost', headers: { host: 'localhost' } }).end();
  const [answer] = await once(asked, 'response');
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece;
  return text;
}

test('serves https, and rejects plain HTTP', async () => {
  const served = await serve();
  expect(await ask(served, served.authority())).toBe('hello');
  const plain = connectTcp(served.port, '127.0.0.1');
  let heard = '';
  plain.setEncoding('latin1').on('data', (piece) => (heard += piece));
  plain.on('error', () => {});
  plain.write('GET /said HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(plain, 'close');
  expect(heard).toBe('');
  await served.close();
});

test('rejects TLS 1.1 (RFC 8996)', async () => {
  const served = await serve();
  const options = { port: served.port, host: '127.0.0.1', ca: served.authority(), servername: 'localhost' };
  const old = connectTls({ ...options, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' });
  const [error] = (await once(old, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  await served.close();
});

test('presents a renewed certificate to the next connection, and keeps open connections', async () => {
  const served = await serve();
  const first = served.authority();
  const kept = await open(served);
  served.renew();
  await expect(ask(served, first)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  expect(await ask(served, served.authority())).toBe('hello');
  kept.write('GET /said HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(String(await once(kept, 'data'))).toContain('hello');
  kept.destroy();
  await served.close();
  expect(served.told.size).toBe(0);
});

test('does not wait for a connection that sends nothing after its handshake', async () => {
  const served = await serve();
  const silent = await open(served);
  const ended = once(silent.resume(), 'close');
  await served.close(3_600_000);
  await ended;
});

test('waits for an unfinished handshake no longer than the limit', async () => {
  const served = await serve();
  const connected = once(served.server.server, 'connection') as Promise<[Socket]>;
  const halfway = connectTcp(served.port, '127.0.0.1').resume();
  halfway.on('error', () => {});
  // The first six bytes of a ClientHello of 513 (RFC 8446 §5.1).
  halfway.write(Buffer.from([0x16, 3, 1, 2, 1, 1]));
  const [socket] = await connected;
  while (socket.bytesRead < 6) await setImmediate();
  await served.close(50);
});

test('completes open requests before the server closes', async () => {
  const answer = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const served = await serve(() => {
    begun.resolve();
    return answer.promise;
  });
  const asked = ask(served, served.authority());
  await begun.promise;
  const closed = served.close();
  answer.resolve('at last');
  await closed;
  expect(await asked).toBe('at last');
});
