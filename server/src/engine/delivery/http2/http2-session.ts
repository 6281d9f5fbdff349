import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Logger } from '../../../log.ts';
import { resolveAllowedAddress } from '../../outgoing-http/resolve-allowed-address.ts';
import type { Answer } from '../provider.ts';
import { makeClientConnection } from './client-connection.ts';
import type { ClientConnection } from './client-connection.ts';
import { timedOut } from './stream-answers.ts';

export type Http2Request = { path: string; headers: Record<string, string>; body: Buffer };

export type Http2Target = {
  /** Names the pool: requests of one credential share sessions, others never see them. */
  key: string;
  /** Scheme, host and port as the provider knows it; becomes `:authority`. */
  origin: string;
  /** Where to connect instead, for the sandbox: a loopback origin. */
  connectTo?: string;
  /** The host was chosen by somebody else: every address it resolves to must be allowed (decision D29). */
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

const pingMilliseconds = 60_000;
const idleMilliseconds = 10 * 60_000;
const maxSweepMilliseconds = 250;
/** A peer that does not read must not make our output buffer grow without limit. */
const maxUnsentBytes = 16 * 1024 * 1024;

/**
 * Connects and waits for the peer's SETTINGS, because they say how many streams there may be: Apple allows one until it
 * has seen a valid token.
 *
 * @throws the connection's error, AddressBlockedError, or a time-out after `connectMilliseconds`
 */
export async function openHttp2Session(target: Http2Target, options: Http2SessionOptions): Promise<Http2Session> {
  const url = new URL(target.connectTo ?? target.origin);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = target.isGuarded ? await resolveAllowedAddress(host, options) : host;
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port || (isSecure ? 443 : 80));
  // Connecting to the checked address, under the host's own name for TLS, leaves no second resolution to attack.
  const socket = isSecure
    ? // An address has no server name (RFC 6066 §3); its certificate is compared with the address itself.
      connectTls({ host: address, port, servername: isIP(host) ? '' : host, ALPNProtocols: ['h2'] })
    : connectTcp({ host: address, port });
  // Small requests must not wait for the answer to the last packet (RFC 896), over TLS least of all: measured, a fifth
  // of the rate.
  socket.setNoDelay(true);
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => socket.destroy(new Error('no connection in time')), options.connectMilliseconds);
    const session = attach(socket, {
      ...options,
      origin: new URL(target.origin),
      onReady() {
        clearTimeout(limit);
        resolve(session);
      },
      onClosed(detail) {
        clearTimeout(limit);
        // After the session was given out this rejection is without effect.
        reject(new Error(detail));
        options.onClosed();
      },
    });
  });
}

type Attachment = Omit<Http2SessionOptions, 'onClosed'> & {
  origin: URL;
  onReady: () => void;
  onClosed: (detail: string) => void;
};

function attach(socket: Socket, options: Attachment): Http2Session {
  const { log, requestMilliseconds } = options;
  const scheme = options.origin.protocol.slice(0, -1);
  const authority = options.origin.host;
  let detail = 'the connection was closed';
  let idleSince = performance.now();
  let sweep: NodeJS.Timeout | undefined;

  const connection = makeClientConnection({
    write(bytes) {
      socket.write(bytes);
      if (socket.writableLength > maxUnsentBytes) socket.destroy(new Error('the peer reads nothing'));
    },
    onReady: options.onReady,
    onFreeStream() {
      if (connection.openStreams() === 0 && !socket.destroyed) rest();
      options.onFreeStream();
    },
    onBroken(error) {
      detail = error.message;
      socket.destroySoon();
    },
  });

  const silence = watchSilence(socket, { connection, milliseconds: options.connectMilliseconds });
  const ping = setInterval(() => {
    if (connection.openStreams() === 0 && performance.now() - idleSince > idleMilliseconds) close();
    else silence.probe();
  }, pingMilliseconds);
  ping.unref();

  function work(): void {
    const milliseconds = Math.min(maxSweepMilliseconds, Math.ceil(requestMilliseconds / 4));
    sweep = setInterval(() => connection.expire(performance.now()), milliseconds);
    socket.ref();
  }

  /** The socket of an idle session must not keep a stopping process alive. */
  function rest(): void {
    idleSince = performance.now();
    clearInterval(sweep);
    sweep = undefined;
    socket.unref();
    if (connection.isLeaving()) socket.end();
  }

  function close(): void {
    if (!connection.isLeaving()) connection.leave();
    if (connection.openStreams() === 0) socket.end();
  }

  requireHttp2(socket);
  socket.on('data', (bytes: Buffer) => connection.receive(bytes));
  socket.on('end', () => socket.end());
  socket.on('error', (error) => {
    detail = error.message;
    log.debug({ err: error, authority }, 'http2 session failed');
  });
  socket.on('close', () => {
    clearInterval(ping);
    clearInterval(sweep);
    silence.stop();
    connection.end(detail);
    options.onClosed(detail);
  });

  return {
    request({ path, headers, body }, settle) {
      const pseudo: [string, string][] = [
        [':method', 'POST'],
        [':scheme', scheme],
        [':authority', authority],
        [':path', path],
      ];
      connection.request(
        { headers: [...pseudo, ...Object.entries(headers)], body },
        {
          deadline: performance.now() + requestMilliseconds,
          settle(answer) {
            if (answer === timedOut) silence.probe();
            settle(answer);
          },
        },
      );
      if (sweep === undefined && connection.openStreams() > 0) work();
    },
    hasFreeStream: () =>
      !connection.isLeaving() && !socket.destroyed && connection.openStreams() < connection.streamLimit(),
    openStreams: () => connection.openStreams(),
    isLeaving: () => connection.isLeaving() || socket.destroyed,
    close,
    closeGracefully: (milliseconds) => closeInTime(socket, { milliseconds, close }),
  };
}

/** A peer that answers no PING is gone, though its connection may look open for ever. */
function watchSilence(socket: Socket, { connection, milliseconds }: Watched) {
  let limit: NodeJS.Timeout | undefined;
  return {
    probe(): void {
      if (limit !== undefined || socket.destroyed) return;
      limit = setTimeout(() => {
        limit = undefined;
        if (connection.isSilent()) socket.destroy(new Error('a ping without answer'));
      }, milliseconds);
      connection.ping();
    },
    stop: () => clearTimeout(limit),
  };
}

type Watched = { connection: Pick<ClientConnection, 'isSilent' | 'ping'>; milliseconds: number };

function requireHttp2(socket: Socket): void {
  if (!(socket instanceof TLSSocket)) return;
  socket.once('secureConnect', () => {
    if (socket.alpnProtocol !== 'h2') socket.destroy(new Error('the server does not speak HTTP/2'));
  });
}

type Ending = { milliseconds: number; close: () => void };

/** Lets open streams end for so long, then ends the connection under them. */
async function closeInTime(socket: Socket, { milliseconds, close }: Ending): Promise<void> {
  if (socket.destroyed) return;
  await new Promise<void>((resolve) => {
    const limit = setTimeout(() => socket.destroy(), milliseconds);
    socket.once('close', () => {
      clearTimeout(limit);
      resolve();
    });
    close();
  });
}
