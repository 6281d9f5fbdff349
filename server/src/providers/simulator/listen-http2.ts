import { constants, createServer } from 'node:http2';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Fault } from '../../domain/sandbox/faults.ts';
import { readBody, headersOf, textOf } from './simulator.ts';
import type { Exchange, SimulatorServer } from './simulator.ts';

export const usualStreams = 1_000;
// After this time, the server closes the session of a client that has not closed it.
const lingerMilliseconds = 5_000;

/** Serves exchanges over HTTP/2 without TLS (h2c) on loopback, with connection faults. */
export async function listenHttp2(onExchange: (exchange: Exchange) => void): Promise<SimulatorServer> {
  const sessions = new Set<Http2Session>();
  let faults: readonly Fault[] = [];
  /** Finds a fault of the connection rather than of a request. */
  const findOf = (name: 'maxStreams' | 'goawayEvery'): number | undefined =>
    faults.find((fault) => fault[name] !== undefined)?.[name];
  const server = createServer({ settings: { maxConcurrentStreams: usualStreams, initialWindowSize: 1024 * 1024 } });

  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => {});
    const maxStreams = findOf('maxStreams');
    if (maxStreams !== undefined) session.settings({ maxConcurrentStreams: maxStreams });
  });
  const streamsOf = new WeakMap<Http2Session, number>();
  const lastStreamOf = new WeakMap<Http2Session, number>();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const session = stream.session!;
    // Streams beyond the last one of a GOAWAY are not processed (RFC 9113 §6.8); Node would process them.
    if (stream.id! > (lastStreamOf.get(session) ?? Infinity)) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    const streams = (streamsOf.get(session) ?? 0) + 1;
    streamsOf.set(session, streams);
    if (streams === findOf('goawayEvery')) {
      lastStreamOf.set(session, stream.id!);
      session.goaway(constants.NGHTTP2_NO_ERROR, stream.id!);
      // The client closes first, as with real providers: closing while bytes still arrive would reset the connection
      // and lose responses on their way.
      const limit = setTimeout(() => session.close(), lingerMilliseconds);
      session.once('close', () => clearTimeout(limit));
    }
    onExchange({
      method: String(headers[':method']),
      path: String(headers[':path']),
      headers,
      readBody: () => readBody(stream),
      respond: (answer) => respond(stream, answer),
      cut: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    });
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFaults(next) {
      faults = next;
      // A destroyed session stays in the set until its close event, and would throw.
      for (const session of sessions)
        if (!session.destroyed) session.settings({ maxConcurrentStreams: findOf('maxStreams') ?? usualStreams });
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}

function respond(stream: ServerHttp2Stream, answer: Parameters<Exchange['respond']>[0]): void {
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ':status': answer.status, ...headersOf(answer) });
  stream.end(textOf(answer));
}
