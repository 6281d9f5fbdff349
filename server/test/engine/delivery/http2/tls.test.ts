import { createSecureServer } from 'node:http2';
import type { Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Server } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import type { Http2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../../src/log.ts';
import { http2Clients } from '../delivery-bundle.ts';
import { makeCertificate } from '../make-certificate.ts';

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

async function listen(server: Server | Http2SecureServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stop = () => new Promise((resolve) => server.close(() => resolve()));
  return (server.address() as AddressInfo).port;
}

const send = (origin: string, body = 'x') =>
  transport.request(
    { key: 'k', origin, isGuarded: false },
    { path: '/p', headers: { 'x-header': 'value' }, body: Buffer.from(body) },
  );

describe.each(http2Clients)('over TLS, by the HTTP/2 client %s', (client) => {
  beforeEach(() => {
    transport = makeHttp2Transport({
      log: makeLog({ level: 'silent', pretty: false }),
      allowedNetworks: [],
      client,
      connectMilliseconds: 5_000,
    });
  });

  test('requests are answered, under the name of the host and by HTTP/2', async () => {
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

  test('a server that does not speak HTTP/2 gets no request', async () => {
    let bytes = 0;
    const server = createServer(certificate, (socket) => {
      socket.on('data', (piece) => (bytes += piece.length));
      socket.on('error', () => {});
    });
    const answer = await send(`https://localhost:${await listen(server)}`);
    expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unreachable' });
    expect(bytes).toBe(0);
  });

  test('a certificate of another name is refused, and so is an address that it does not name', async () => {
    const server = createSecureServer(certificate);
    server.on('stream', (stream) => stream.respond({ ':status': 200 }, { endStream: true }));
    const port = await listen(server);
    const answer = await send(`https://127.0.0.1:${port}`);
    expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unreachable' });
    expect(answer).toMatchObject({ detail: expect.stringContaining('altnames') });
  });

  test('a certificate that nobody trusted has signed is refused', async () => {
    const server = createSecureServer(makeCertificate());
    server.on('stream', (stream) => stream.respond({ ':status': 200 }, { endStream: true }));
    const answer = await send(`https://localhost:${await listen(server)}`);
    expect(answer).toMatchObject({ kind: 'failure', certainty: 'unsent', reason: 'unreachable' });
    expect(answer).toMatchObject({ detail: expect.stringContaining('self-signed') });
  });
});
