import { createServer, STATUS_CODES } from 'node:http';
import type { RequestListener, Server, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { describeDefaultError, presentDefaultError } from '../route/errors.ts';

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

/** PEM: the certificate with those between it and its authority, and its private key. */
export type TlsPair = { cert: string; key: string };

/** What this server shows its callers; it may be renewed while it is served. */
export type ServedCertificate = {
  /** As it is now. */
  pair(): TlsPair;
  /** Returns what ends the telling. */
  onChange(tell: (pair: TlsPair) => void): () => void;
};

/**
 * Answers in our own shape (Problem Details) what is refused before there is a request that a route could see: bytes
 * that are not HTTP, a head that is too large or too slow, an expectation nobody knows, a CONNECT.
 */
function answerProtocolErrors(server: Server): void {
  // The newest exchange of a connection; those before it are answered in order by Node.
  const exchanges = new WeakMap<Duplex, { request: IncomingMessage; response: ServerResponse }>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.set(request.socket, { request, response });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const { request, response } = exchanges.get(socket) ?? {};
    exchanges.delete(socket);
    // A request that came whole still waits for its answer, which must not be taken for the answer to what follows it.
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
      .writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), connection: 'close' })
      .end(text);
  });
}

/** Fastify's own refusals of an address, for which there is no route: a wrong `%`, a parameter beyond any id's length. */
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
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
