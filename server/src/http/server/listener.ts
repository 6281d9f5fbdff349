import { createServer, STATUS_CODES } from 'node:http';
import type { RequestListener, Server, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { describeDefaultError, presentDefaultError } from '../route/errors.ts';
import { dataHeaders } from './browser-headers.ts';

/** A request must arrive completely within this time; Node checks every five seconds. */
export const requestMilliseconds = 30_000;

// Node's default is two minutes, longer than a stop may take: nothing else ends a connection that never finishes a handshake.
const handshakeMilliseconds = 10_000;

/** Makes Node's server, over TLS if there is a certificate. */
export function makeListener(handle: RequestListener, certificate: ServedCertificate | undefined): Server {
  // Node's own error for a request without Host has no body; the error of refuseMalformedRequests has one.
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
  // Open connections keep the certificate that they got.
  const endTelling = certificate.onChange((pair) => server.setSecureContext(pair));
  server.once('close', endTelling);
  return server;
}

/** PEM: the certificate with its intermediate certificates, and its private key. */
export type TlsPair = { cert: string; key: string };

/** The certificate of this server; it may be renewed while the server runs. */
export type ServedCertificate = {
  /** Returns the current pair. */
  pair(): TlsPair;
  /** Calls `tell` with each renewed pair. Returns a function that stops the calls. */
  onChange(tell: (pair: TlsPair) => void): () => void;
};

/**
 * Responds in our own shape (Problem Details) to requests that fail before a route can see them: bytes that are not HTTP, a
 * head that is too large or too slow, an unknown expectation, a CONNECT.
 */
function answerProtocolErrors(server: Server): void {
  // The newest exchange of a connection; Node responds to earlier ones in order.
  const exchanges = new WeakMap<Duplex, { request: IncomingMessage; response: ServerResponse }>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.set(request.socket, { request, response });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const { request, response } = exchanges.get(socket) ?? {};
    exchanges.delete(socket);
    // A complete request still waits for its response; the error must not be mistaken for that response.
    if (request?.complete && !response!.writableFinished) {
      socket.pause();
      response!.once('close', () => refuse(socket, protocolError(error)));
    } else if (response?.headersSent && !response.writableFinished) socket.destroy();
    else refuse(socket, protocolError(error));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    refuse(socket, new ServiceError('METHOD_NOT_ALLOWED'));
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, type, text } = writeDefaultError(new ServiceError('EXPECTATION_UNKNOWN'));
    response
      .writeHead(status, {
        'content-type': type,
        'content-length': Buffer.byteLength(text),
        ...dataHeaders,
        connection: 'close',
      })
      .end(text);
  });
}

/** Responds to addresses that Fastify itself rejects and that have no route: a wrong `%`, a parameter longer than any id. */
export function answerUnroutable(error: { code: string }, _request: FastifyRequest, reply: FastifyReply): void {
  presentDefaultError(
    error.code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? new ServiceError('ADDRESS_TOO_LONG')
      : new ServiceError('REQUEST_MALFORMED', { reason: 'the path is not percent-encoded UTF-8' }),
    reply,
  );
}

function protocolError({ code }: NodeJS.ErrnoException): ServiceError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ServiceError('REQUEST_TIMED_OUT');
    case 'HPE_HEADER_OVERFLOW':
      return new ServiceError('HEADERS_TOO_LARGE');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ServiceError('BODY_TOO_LARGE');
    default:
      return new ServiceError('REQUEST_MALFORMED', { reason: 'it is not HTTP/1.1' });
  }
}

function writeDefaultError(error: ServiceError): { status: number; type: string; text: string } {
  const { status, type, body } = describeDefaultError(error);
  return { status, type, text: JSON.stringify(body) };
}

function refuse(socket: Duplex, error: ServiceError): void {
  if (!socket.writable) return void socket.destroy();
  const { status, type, text } = writeDefaultError(error);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(dataHeaders).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
