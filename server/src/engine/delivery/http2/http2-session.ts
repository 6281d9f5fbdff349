import { connect, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Logger } from '../../../log.ts';
import { resolveAllowedAddress } from '../../outgoing-http/resolve-allowed-address.ts';
import type { Answer } from '../provider.ts';
import type { Http2Request } from './http2-transport.ts';

export type Http2Target = {
  /** Names the pool: requests of one credential share sessions, others never see them. */
  key: string;
  /** Scheme, host and port as the provider knows it; becomes `:authority`. */
  origin: string;
  /** Where to connect instead, for the sandbox: a loopback origin. */
  connectTo?: string;
  /** Somebody else chose the host: every address it resolves to must be allowed (decisions D29). */
  isGuarded: boolean;
};

export type Http2SessionOptions = {
  log: Logger;
  allowedNetworks: readonly string[];
  connectMilliseconds: number;
  requestMilliseconds: number;
  onFreeStream: () => void;
  onClosed: () => void;
};

export type Http2Session = {
  request(request: Http2Request, settle: (answer: Answer) => void): void;
  hasFreeStream(): boolean;
  openStreams(): number;
  /** Takes no new requests: GOAWAY was received or the session is closing. */
  isLeaving(): boolean;
  close(): void;
  closeGracefully(milliseconds: number): Promise<void>;
};

// The interesting answers have a few hundred bytes; a hostile push service could send without end.
const mostBodyCharacters = 64 * 1024;
const pingMilliseconds = 60_000;
const idleMilliseconds = 10 * 60_000;
// Without a limit in SETTINGS a peer allows any number; this many keep a connection busy without flooding memory.
const mostStreams = 1_000;

/**
 * Connects and waits for the peer's SETTINGS, because they say how many streams there may be: Apple allows one until it
 * has seen a valid token.
 *
 * @throws the connection's error, AddressBlockedError, or a time-out after `connectMilliseconds`
 */
export async function openHttp2Session(target: Http2Target, options: Http2SessionOptions): Promise<Http2Session> {
  const session = await connectSession(target, options);
  return wrapSession(session, options);
}

async function connectSession(target: Http2Target, options: Http2SessionOptions): Promise<ClientHttp2Session> {
  const url = new URL(target.connectTo ?? target.origin);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = target.isGuarded ? await resolveAllowedAddress(host, options) : host;
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port || (isSecure ? 443 : 80));
  const session = connect(target.origin, {
    // Connecting to the checked address, under the host's own name for TLS, leaves no second resolution to attack.
    createConnection: () =>
      isSecure
        ? connectTls({ host: address, port, servername: host, ALPNProtocols: ['h2'] })
        : connectTcp({ host: address, port, noDelay: true }),
    // Pushed streams have no place here, and a large header table costs memory per session.
    settings: { enablePush: false, initialWindowSize: 1024 * 1024 },
    peerMaxConcurrentStreams: mostStreams,
  });
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(() => {
      session.destroy();
      reject(new Error('no connection in time'));
    }, options.connectMilliseconds);
    const end = (finish: () => void): void => {
      clearTimeout(limit);
      finish();
    };
    session.once('remoteSettings', () => end(resolve));
    session.once('error', (error) => end(() => reject(error)));
    session.once('close', () => end(() => reject(new Error('the connection was closed'))));
  });
  return session;
}

function wrapSession(session: ClientHttp2Session, options: Http2SessionOptions): Http2Session {
  let open = 0;
  let isLeaving = false;
  const leave = (): void => {
    isLeaving = true;
  };
  const streamLimit = (): number => Math.min(session.remoteSettings.maxConcurrentStreams ?? mostStreams, mostStreams);

  // Not `session.setTimeout`: Node keeps that timer, and with it the session, after the session has ended.
  let usedAt = performance.now();
  const ping = setInterval(() => {
    if (session.destroyed) return;
    if (open === 0 && performance.now() - usedAt > idleMilliseconds) session.close();
    else probe();
  }, pingMilliseconds);
  ping.unref();
  let probeLimit: NodeJS.Timeout | undefined;
  /** A peer that answers no PING is gone, though its connection may look open for ever. */
  function probe(): void {
    if (probeLimit !== undefined || session.destroyed) return;
    probeLimit = setTimeout(() => session.destroy(), options.connectMilliseconds);
    session.ping((error) => {
      clearTimeout(probeLimit);
      probeLimit = undefined;
      if (error) session.destroy();
    });
  }
  session.on('goaway', leave);
  session.on('error', (error) => options.log.debug({ err: error }, 'http2 session failed'));
  session.on('remoteSettings', options.onFreeStream);
  session.on('close', () => {
    leave();
    clearInterval(ping);
    clearTimeout(probeLimit);
    options.onClosed();
  });
  // The socket of an idle session must not keep a stopping process alive.
  session.unref();

  return {
    request(request, settle) {
      open += 1;
      usedAt = performance.now();
      session.ref();
      sendRequest(session, request, {
        milliseconds: options.requestMilliseconds,
        settle(answer) {
          open -= 1;
          if (open === 0 && !session.destroyed) session.unref();
          if (answer.kind === 'failure' && answer.reason === 'timeout') probe();
          settle(answer);
          options.onFreeStream();
        },
      });
    },
    hasFreeStream: () => !isLeaving && !session.closed && !session.destroyed && open < streamLimit(),
    openStreams: () => open,
    isLeaving: () => isLeaving || session.closed || session.destroyed,
    close: () => session.close(),
    closeGracefully(milliseconds) {
      if (session.destroyed) return Promise.resolve();
      return new Promise((resolve) => {
        const limit = setTimeout(() => session.destroy(), milliseconds);
        session.once('close', () => {
          clearTimeout(limit);
          resolve();
        });
        session.close();
      });
    },
  };
}

type Sending = { milliseconds: number; settle: (answer: Answer) => void };

function sendRequest(session: ClientHttp2Session, request: Http2Request, { milliseconds, settle }: Sending): void {
  let stream: ClientHttp2Stream;
  try {
    stream = session.request({ ':method': 'POST', ':path': request.path, ...request.headers }, { endStream: false });
  } catch (error) {
    // The session ended between the look and the call; nothing was sent.
    settle({ kind: 'failure', certainty: 'unsent', reason: 'refused', detail: (error as Error).message });
    return;
  }
  let headers: IncomingHttpHeaders | undefined;
  let body = '';
  let isSettled = false;
  const settleOnce = (answer: Answer): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(limit);
    settle(answer);
  };
  const limit = setTimeout(() => {
    // Not left to the stream's end: a stream that SETTINGS hold back after all ends only when the peer lets it begin.
    settleOnce({ kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: 'no answer in time' });
    stream.close(constants.NGHTTP2_CANCEL);
  }, milliseconds);
  stream.setEncoding('utf8');
  stream.on('response', (received) => {
    headers = received;
  });
  stream.on('data', (piece: string) => {
    // What is beyond is read and dropped, as long as the request may take. Node counts the rest of a cancelled answer
    // against the session for ever, and at 10 MB refuses every new stream.
    if (body.length < mostBodyCharacters) body += piece.slice(0, mostBodyCharacters - body.length);
  });
  // Errors are told by `close` as well, with the reset code; without a listener they would end the process.
  stream.on('error', () => {});
  stream.on('close', () => settleOnce(headers ? toAnswer(headers, body) : toFailure(stream)));
  stream.end(request.body);
}

function toAnswer(received: IncomingHttpHeaders, body: string): Answer {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(received)) {
    if (!name.startsWith(':') && value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { kind: 'answer', status: Number(received[':status']), headers, body };
}

function toFailure(stream: ClientHttp2Stream): Answer {
  // REFUSED_STREAM promises that nothing was processed (RFC 9113 §8.7); a stream without an id never left this process.
  if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || stream.id === undefined) {
    return { kind: 'failure', certainty: 'unsent', reason: 'refused', detail: 'the stream was refused' };
  }
  return {
    kind: 'failure',
    certainty: 'unknown',
    reason: 'reset',
    detail: `the stream ended with code ${stream.rstCode}`,
  };
}
