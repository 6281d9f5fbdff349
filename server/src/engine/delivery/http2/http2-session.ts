import type { Socket } from 'node:net';
import type { Logger } from '../../../log.ts';
import type { OutgoingProxy } from '../../outgoing-http/outgoing-proxy.ts';
import type { OutgoingRequest } from './answer-listener.ts';
import { makeClientConnection } from './client-connection.ts';
import type { ClientConnection } from './client-connection.ts';
import { openSocket } from './open-socket.ts';
import type { Http2Target } from './open-socket.ts';

export type Http2SessionOptions = {
  log: Logger;
  allowedNetworks: readonly string[];
  proxy: OutgoingProxy | undefined;
  /** Until the peer's SETTINGS have come. */
  connectMilliseconds: number;
  requestMilliseconds: number;
  /** Streams ended, or a limit changed. */
  onSpace: () => void;
  onClosed: () => void;
};

/** A connection that is ready for requests: ours, or Node's (`open-node-session.ts`). */
export type Http2Session = {
  /** There must be a free stream. */
  send(request: OutgoingRequest): void;
  hasFreeStream(): boolean;
  /** A free stream, and the peer takes bytes of a body: what is sent now leaves now. */
  hasSpace(): boolean;
  openStreams(): number;
  /** Takes no new requests: GOAWAY was received or the session is closing. */
  isLeaving(): boolean;
  close(): void;
  closeGracefully(milliseconds: number): Promise<void>;
};

/** @throws the connection's error, AddressBlockedError, ProxyError, or a time-out after `connectMilliseconds` */
export type OpenHttp2Session = (target: Http2Target, options: Http2SessionOptions) => Promise<Http2Session>;

const pingMilliseconds = 60_000;
const idleMilliseconds = 10 * 60_000;
const maxSweepMilliseconds = 250;
/** A peer that does not read must not make our output buffer grow without limit. */
const maxUnsentBytes = 16 * 1024 * 1024;

/**
 * Connects and waits for the peer's SETTINGS, because they say how many streams there may be: Apple allows one until it
 * has seen a valid token.
 */
export const openHttp2Session: OpenHttp2Session = async (target, options) => {
  let receive: (bytes: Buffer) => void = () => {};
  const begunAt = performance.now();
  const { allowedNetworks, proxy, connectMilliseconds } = options;
  const onBytes = (bytes: Buffer): void => receive(bytes);
  const socket = await openSocket(target, { allowedNetworks, proxy, connectMilliseconds, onBytes });
  return new Promise((resolve, reject) => {
    const remaining = Math.max(0, connectMilliseconds - (performance.now() - begunAt));
    const limit = setTimeout(() => socket.destroy(new Error('no connection in time')), remaining);
    const { session, connection } = attach(socket, {
      ...options,
      origin: new URL(target.origin),
      onReady() {
        clearTimeout(limit);
        resolve(session);
      },
      onClosed(error) {
        clearTimeout(limit);
        // After the session was given out this rejection is without effect.
        reject(error);
        options.onClosed();
      },
    });
    receive = (bytes) => connection.receive(bytes);
  });
};

type Attachment = Omit<Http2SessionOptions, 'onClosed'> & {
  origin: URL;
  onReady: () => void;
  onClosed: (error: Error) => void;
};

function attach(socket: Socket, options: Attachment): { session: Http2Session; connection: ClientConnection } {
  const { log, requestMilliseconds } = options;
  const authority = options.origin.host;
  /** Kept as it is: its code says whether the host exists. */
  let failure = new Error('the connection was closed');
  let idleSince = performance.now();
  let sweep: NodeJS.Timeout | undefined;
  /** Of requests that leave with the next write: reading the clock for each would cost as much as a frame. */
  let deadline = 0;

  const connection = makeClientConnection({
    pseudo: [
      [':method', 'POST'],
      [':scheme', options.origin.protocol.slice(0, -1)],
      [':authority', authority],
    ],
    write(bytes, onWritten) {
      deadline = 0;
      socket.write(bytes, onWritten);
      if (socket.writableLength > maxUnsentBytes) socket.destroy(new Error('the peer reads nothing'));
    },
    onReady: options.onReady,
    onSpace() {
      if (connection.openStreams() === 0 && !socket.destroyed) rest();
      options.onSpace();
    },
    onTimedOut: () => silence.probe(),
    onBroken(error) {
      failure = error;
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

  // The peer answers nothing any more; what the socket still holds would keep it open, and take requests, for nothing.
  socket.on('end', () => {
    connection.end(failure.message);
    socket.destroy();
  });
  socket.on('error', (error) => {
    failure = error;
    log.debug({ err: error, authority }, 'http2 session failed');
  });
  socket.on('close', () => {
    clearInterval(ping);
    clearInterval(sweep);
    silence.stop();
    connection.end(failure.message);
    options.onClosed(failure);
  });

  const hasFreeStream = (): boolean =>
    !connection.isLeaving() && !socket.destroyed && connection.openStreams() < connection.streamLimit();
  const session: Http2Session = {
    send(request) {
      if (deadline === 0) deadline = performance.now() + requestMilliseconds;
      if (!connection.request(request, deadline)) deadline = 0;
      if (sweep === undefined && connection.openStreams() > 0) work();
    },
    hasFreeStream,
    hasSpace: () => connection.sendWindowBytes() > 0 && hasFreeStream(),
    openStreams: () => connection.openStreams(),
    isLeaving: () => connection.isLeaving() || socket.destroyed,
    close,
    closeGracefully: (milliseconds) => closeInTime(socket, { milliseconds, close }),
  };
  return { session, connection };
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
