import fc from 'fast-check';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeHttp2Transport } from '../../../../src/providers/http2/transport.ts';
import { makeLog } from '../../../../src/log.ts';
import { listen } from '../../outgoing-http/proxy-bundle.ts';
import { propertyRuns } from '../../../property-runs.ts';
import { makeCertificate } from '../make-certificate.ts';

const certificate = makeCertificate();
const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, certificate.cert]));
afterAll(() => setDefaultCACertificates(before));

const piece = fc.oneof(
  fc.constantFrom(
    ...['HTTP/1.1 201 Created\r\n', 'HTTP/1.0 200 OK\r\n', 'HTTP/1.1 500 No\r\n', 'HTTP/1.1 204 None\r\n'],
    ...['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Hints\r\n\r\n', 'HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n'],
    ...['Content-Length: 0\r\n', 'Content-Length: 5\r\n', 'Content-Length: 70000\r\n', 'Content-Length: -1\r\n'],
    ...['Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', 'Connection: keep-alive\r\n'],
    ...['Keep-Alive: timeout=0\r\n', 'Keep-Alive: timeout=5\r\n', '__proto__: x\r\n', 'X-A: b\r\n X: folded\r\n'],
    ...['\r\n', '\r\n', '\r\n', '5\r\nhello\r\n', '0\r\n\r\n', 'ffffffffff\r\n', 'hello', 'y'.repeat(70_000)],
  ),
  fc.string({ maxLength: 20 }),
);
const conversation = fc.record({
  pieces: fc.array(piece, { maxLength: 8 }),
  end: fc.constantFrom('stay', 'end', 'destroy'),
});

test('every request settles once whatever a server of HTTP/1.1 answers, and no later one gets an answer of it', async () => {
  let hostile: { pieces: string[]; end: string };
  const sockets = new Set<TLSSocket>();
  const server = createServer(certificate, (socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    socket.on('data', (bytes) => {
      const id = /^POST \/fine\/(\d+)/.exec(bytes.toString('latin1'))?.[1];
      if (id !== undefined) {
        socket.write(`HTTP/1.1 201 Created\r\nX-Id: ${id}\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      for (const each of hostile.pieces) socket.write(each);
      if (hostile.end === 'end') socket.end();
      if (hostile.end === 'destroy') socket.destroy();
    });
  });
  const origin = `https://localhost:${await listen(server)}`;
  const transport = makeHttp2Transport({
    log: makeLog({ level: 'silent', pretty: false }),
    allowedNetworks: ['127.0.0.0/8', '::1/128'],
    requestMilliseconds: 150,
  });
  const send = (path: string) =>
    transport.request(
      { key: 'k', origin, isGuarded: true, fallback: 'http/1.1' },
      { path, headers: {}, body: Buffer.from('x') },
    );
  let number = 0;
  try {
    await fc.assert(
      fc.asyncProperty(conversation, async (given) => {
        hostile = given;
        const answer = await send('/hostile');
        if (answer.kind === 'failure') expect(answer).toMatchObject({ certainty: 'unknown' });
        else expect(answer.headers['x-id']).toBeUndefined();
        number += 1;
        // The first may still wait for an answer of its connection that does not come.
        const later = await send(`/fine/${number}`);
        if (later.kind === 'answer') expect(later.headers['x-id']).toBe(`${number}`);
        expect(await send(`/fine/${number}`)).toMatchObject({ status: 201, headers: { 'x-id': `${number}` } });
      }),
      { numRuns: propertyRuns(200) },
    );
  } finally {
    await transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});
