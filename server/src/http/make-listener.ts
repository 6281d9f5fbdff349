import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { answerProtocolErrors } from './answer-protocol-errors.ts';
import type { ServedCertificate } from './served-certificate.ts';

/** In which a request must have arrived as a whole; looked at every five seconds. */
export const requestMilliseconds = 30_000;

// Node's own is two minutes, longer than a stop may take: nothing else ends a connection that never finishes one.
const handshakeMilliseconds = 10_000;

/** Node's server, over TLS where there is a certificate. */
export function makeListener(handle: RequestListener, certificate: ServedCertificate | undefined): Server {
  // Node would answer a request without Host with no body; refuseMalformedRequests does with one.
  const times = { requestTimeout: requestMilliseconds, keepAliveTimeout: 72_000, connectionsCheckingInterval: 5_000 };
  const options = { ...times, requireHostHeader: false };
  const server = certificate ? makeTlsListener(handle, { options, certificate }) : createServer(options, handle);
  answerProtocolErrors(server);
  return server;
}

function makeTlsListener(
  handle: RequestListener,
  { options, certificate }: { options: object; certificate: ServedCertificate },
): Server {
  const server = createTlsServer(
    { ...options, ...certificate.pair(), handshakeTimeout: handshakeMilliseconds },
    handle,
  );
  // Connections that are open keep what they were shown.
  const endTelling = certificate.onChange((pair) => server.setSecureContext(pair));
  server.once('close', endTelling);
  return server;
}
