import { constants, createServer } from 'node:http2';
import type { Http2Server, Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { makeFaultSwitch } from '../../../domain/sandbox/fault-switch.ts';
import { reasonOf, shownHeaders } from '../../../domain/sandbox/refusal.ts';
import type { SandboxRefusal } from '../../../domain/sandbox/refusal.ts';
import type { Fault } from '../../../domain/sandbox/faults.ts';
import type { DeliveredMessage, Simulate, SimulatedAnswer, SimulatedRequest } from './simulator-account.ts';

export type SimulatorCounters = { received: number; accepted: number; refused: number };

export type ServedSimulator = {
  /** Loopback origin (h2c). */
  origin: string;
  counters: SimulatorCounters;
  setFaults(faults: Fault[]): void;
  stop(): Promise<void>;
};

export type ServeOptions = {
  simulate: Simulate;
  /** Where the same server issues access tokens. */
  tokenPath?: string | undefined;
  /** The address of the device that a request is for. */
  deviceOf: (request: { path: string; body: Buffer }) => string | undefined;
  times: () => Pick<SimulatedRequest, 'now' | 'shownAt'>;
  /** Resolves when there is room for more; the answer waits for it. */
  onDelivered: (message: DeliveredMessage) => Promise<void> | undefined;
  onRefused: (refusal: Refused) => void;
};

/** What is told of a refusal beside who refused, and when. */
export type Refused = Omit<SandboxRefusal, 'number' | 'at' | 'provider'>;

const maxBodyBytes = 64 * 1024;
export const usualStreams = 1_000;
// A client that stays is shown the door.
const lingerMilliseconds = 5_000;

/** Serves one simulated provider over real HTTP/2 (without TLS, on loopback), with its fault switch. */
export async function serveSimulator(options: ServeOptions): Promise<ServedSimulator> {
  const counters: SimulatorCounters = { received: 0, accepted: 0, refused: 0 };
  const sessions = new Set<Http2Session>();
  let faults: Fault[] = [];
  let strike = makeFaultSwitch(faults);
  /** Of the connection rather than of a request. */
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
    // Streams behind the last one of a GOAWAY are not processed (RFC 9113 §6.8); Node would.
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
    // A token endpoint shares the server but is no device.
    if (headers[':path'] !== options.tokenPath) counters.received += 1;
    void answer({ stream, headers });
  });

  type Call = { stream: ServerHttp2Stream; headers: IncomingHttpHeaders };

  async function answer({ stream, headers }: Call): Promise<void> {
    const body = await readBody(stream);
    const path = String(headers[':path']);
    const needsDevice = faults.some(({ device }) => device !== undefined);
    const struck = strike({ device: needsDevice ? options.deviceOf({ path, body }) : undefined });
    if (struck?.delayMilliseconds) await new Promise((resolve) => setTimeout(resolve, struck.delayMilliseconds));
    const refuse = (refused: Pick<Refused, 'status' | 'reason' | 'rule'>): void =>
      options.onRefused({
        ...{ path, device: options.deviceOf({ path, body }) ?? null },
        ...{ ...refused, headers: shownHeaders(headers) },
      });
    if (struck?.reset) {
      counters.refused += 1;
      refuse({ status: null, reason: 'the stream was cut', rule: 'fault' });
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      return;
    }
    const given: SimulatedAnswer =
      struck?.status === undefined
        ? await askSimulator(options, { method: String(headers[':method']), path, headers, body })
        : {
            status: struck.status,
            ...(struck.headers ? { headers: struck.headers } : {}),
            body: struck.body ?? '',
            rule: 'fault',
          };
    if (given === 'silence') {
      counters.refused += 1;
      refuse({ status: null, reason: 'no answer', rule: 'magic address' });
      return;
    }
    if (given.delivered) {
      counters.accepted += 1;
      await options.onDelivered(given.delivered);
    } else if (path !== options.tokenPath) counters.refused += 1;
    if (isRefusal(given)) refuse({ status: given.status, reason: reasonOf(given), rule: given.rule ?? 'payload' });
    respond(stream, given);
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counters,
    setFaults(next) {
      faults = next;
      strike = makeFaultSwitch(next);
      // One that was cut is still in the set until its close event, and throws.
      for (const session of sessions)
        if (!session.destroyed) session.settings({ maxConcurrentStreams: findOf('maxStreams') ?? usualStreams });
    },
    stop: () => stopServer(server, sessions),
  };
}

/** What no rule foresaw is refused too: thrown, it would end the thread, and with it every simulator. */
async function askSimulator(
  { simulate, times }: Pick<ServeOptions, 'simulate' | 'times'>,
  request: Omit<SimulatedRequest, 'now' | 'shownAt'>,
): Promise<SimulatedAnswer> {
  try {
    return await simulate({ ...request, ...times() });
  } catch (error) {
    return { status: 400, body: `The request cannot be read: ${(error as Error).message}`, rule: 'payload' };
  }
}

/** Some services refuse with a success, and say so in the body. */
function isRefusal({ status, rule }: Exclude<SimulatedAnswer, 'silence'>): boolean {
  return status >= 400 || rule !== undefined;
}

function readBody(stream: ServerHttp2Stream): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= maxBodyBytes) pieces.push(piece);
    });
    stream.on('end', () => resolve(Buffer.concat(pieces)));
    // A stream that ends early has no end event; its response is discarded.
    stream.on('close', () => resolve(Buffer.concat(pieces)));
  });
}

function respond(stream: ServerHttp2Stream, answer: Exclude<SimulatedAnswer, 'silence'>): void {
  if (stream.destroyed || stream.closed) return;
  const isText = typeof answer.body === 'string';
  stream.respond({
    ':status': answer.status,
    ...(answer.body === undefined || isText ? {} : { 'content-type': 'application/json' }),
    ...answer.headers,
  });
  stream.end(answer.body === undefined ? '' : isText ? (answer.body as string) : JSON.stringify(answer.body));
}

function stopServer(server: Http2Server, sessions: Set<Http2Session>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const session of sessions) session.destroy();
  });
}
