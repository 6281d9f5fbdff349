import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { readBody, headersOf, textOf } from './simulator.ts';
import type { Exchange, SimulatorServer } from './simulator.ts';

/** A certificate and its key, in PEM. */
export type SimulatorTls = { key: string; cert: string };

/**
 * Serves exchanges over HTTP/1.1 only, on loopback, as some push services do: without TLS, or with a certificate and no other
 * protocol to negotiate (ALPN, RFC 7301). HTTP/1.1 has no streams, so `goawayEvery` and `maxStreams` have no effect.
 */
export async function listenHttp1(
  onExchange: (exchange: Exchange) => void,
  tls?: SimulatorTls,
): Promise<SimulatorServer> {
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    request.on('error', () => {});
    onExchange({
      method: String(request.method),
      path: String(request.url),
      headers: request.headers,
      readBody: () => readBody(request),
      respond(answer) {
        if (response.destroyed) return;
        response.writeHead(answer.status, headersOf(answer)).end(textOf(answer));
      },
      cut: () => response.destroy(),
    });
  };
  const server = tls ? createTlsServer({ ...tls, ALPNProtocols: ['http/1.1'] }, serve) : createServer(serve);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFaults() {},
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
