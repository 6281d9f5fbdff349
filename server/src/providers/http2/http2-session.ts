import type { Socket } from 'node:net';
import { makeConnectionState, settleStream } from './connection-state.ts';
import type { ConnectionEvents, ConnectionState } from './connection-state.ts';
import { FrameReader, ConnectionError, errorCodes } from './frames.ts';
import { HpackError } from './hpack-tables.ts';
import { openHttp1Session } from './http1-session.ts';
import { openSocket, speaksHttp1, untilConnected } from './open-socket.ts';
import { breakStream, receiveFrame } from './receive-frames.ts';
import type { OutgoingRequest } from './requests.ts';
import { sendGoaway, sendPing, sendPreface, sendRequest, sendReset } from './send-frames.ts';
import { closeInTime, timedOut, unsent } from './session.ts';
import type { OpenSession, Session, SessionOptions } from './session.ts';

const pingMilliseconds = 60_000;
const idleMilliseconds = 10 * 60_000;
const maxSweepMilliseconds = 250;
/** A peer that does not read must not make our output buffer grow without limit. */
const maxUnsentBytes = 16 * 1024 * 1024;

/**
 * Connects and waits for the peer's SETTINGS, because they limit the streams: Apple allows one until it has seen a valid token.
 * If the target allows it and the server does not choose HTTP/2, the connection becomes an HTTP/1.1 session before anything was
 * sent over it.
 */
export const openHttp2Session: OpenSession = async (target, options) => {
  let receive: (bytes: Buffer) => void = () => {};
  const begunAt = performance.now();
  const { allowedNetworks, proxy, connectMilliseconds } = options;
  const onBytes = (bytes: Buffer): void => receive(bytes);
  const mayFallBack = target.fallback !== undefined;
  const reading = mayFallBack ? {} : { onBytes };
  const socket = await openSocket(target, { allowedNetworks, proxy, connectMilliseconds, ...reading });
  const remaining = Math.max(0, connectMilliseconds - (performance.now() - begunAt));
  const limit = setTimeout(() => socket.destroy(new Error('no connection in time')), remaining);
  try {
    if (mayFallBack) {
      await untilConnected(socket);
      if (speaksHttp1(socket)) return await openHttp1Session(socket, { ...options, origin: target.origin });
    }
    return await new Promise<Session>((resolve, reject) => {
      const { session, connection } = attach(socket, {
        ...options,
        origin: new URL(target.origin),
        onReady: () => resolve(session),
        onClosed(error) {
          // After the session was returned, this rejection has no effect.
          reject(error);
          options.onClosed();
        },
      });
      receive = (bytes) => connection.receive(bytes);
      if (mayFallBack) socket.on('data', onBytes);
    });
  } finally {
    clearTimeout(limit);
  }
};

type Attachment = Omit<SessionOptions, 'onClosed'> & {
  origin: URL;
  onReady: () => void;
  onClosed: (error: Error) => void;
};

function attach(socket: Socket, options: Attachment): { session: Session; connection: ClientConnection } {
  const { log, requestMilliseconds } = options;
  const authority = options.origin.host;
  /** The original error, because its code says whether the host exists. */
  let failure = new Error('the connection was closed');
  let idleSince = performance.now();
  let sweep: NodeJS.Timeout | undefined;
  /** Deadline of requests in the next write: reading the clock for each would cost as much as a frame. */
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

  // The peer no longer responds. Unsent bytes would keep the socket open, and accepting requests, for nothing.
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
  const session: Session = {
    protocol: 'h2',
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

/** Ends the connection of a peer that does not answer PING. The peer is gone, though its connection may look open for ever. */
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

/**
 * One HTTP/2 connection as the client sees it, without its socket: bytes arrive through `receive` and are sent through `write`.
 */
type ClientConnection = {
  /**
   * Sends a request on a new stream. Its listener is called exactly once, and never before this has returned.
   *
   * @returns true if anything was written
   */
  request(request: OutgoingRequest, deadline: number): boolean;
  receive(bytes: Buffer): void;
  /** Gives up streams whose deadline has passed. */
  expire(now: number): void;
  ping(): void;
  /** True if the peer has not answered the last PING. */
  isSilent(): boolean;
  /** Notifies the peer that no more requests will come. */
  leave(): void;
  /** Settles all open requests after the socket has closed. */
  end(detail: string): void;
  openStreams(): number;
  streamLimit(): number;
  /** Body bytes that the peer accepts now, for all streams together. */
  sendWindowBytes(): number;
  /** True if no new requests are accepted: GOAWAY was received or sent, or the stream numbers are used up. */
  isLeaving(): boolean;
};

/** Implements RFC 9113 as far as a client of push services needs it. */
export function makeClientConnection(on: ConnectionEvents): ClientConnection {
  const connection = makeConnectionState(on);
  const { streams } = connection;
  const reader = new FrameReader((frame) => receiveFrame(connection, frame));
  sendPreface(connection);
  return {
    request(request, deadline) {
      try {
        if (connection.isLeaving) throw new Error('the connection is ending');
        sendRequest(connection, request, deadline);
        return true;
      } catch (error) {
        // Nothing was written, because encoding the header block failed. The listener is notified later, because it then sends
        // its next request. Otherwise thousands of requests that cannot be sent would be reported recursively.
        const { listener, ticket } = request;
        queueMicrotask(() => listener.onAnswer(ticket, unsent((error as Error).message)));
        return false;
      }
    },
    receive(bytes) {
      if (connection.isEnded) return;
      try {
        reader.push(bytes);
      } catch (error) {
        breakOff(connection, error as Error);
      }
      announceSpace(connection);
    },
    expire(now) {
      // Streams are ordered by deadline, because all have the same time limit.
      for (let slot = streams.oldest(); slot >= 0 && streams.deadlines[slot]! <= now; slot = streams.oldest()) {
        on.onTimedOut();
        sendReset(connection, slot, { code: errorCodes.cancel, answer: timedOut });
      }
      announceSpace(connection);
    },
    ping: () => sendPing(connection),
    isSilent: () => connection.isPinging,
    leave: () => sendGoaway(connection, errorCodes.noError),
    end(detail) {
      end(connection, detail);
      announceSpace(connection);
    },
    openStreams: () => streams.size,
    streamLimit: () => (connection.isReady ? connection.peer.streams : 0),
    sendWindowBytes: () => connection.sendWindowBytes,
    isLeaving: () => connection.isLeaving,
  };
}

/** Notifies the owner once for all frames that arrived together, because a notification costs more than a frame. */
function announceSpace(connection: ConnectionState): void {
  if (!connection.hasSpaceNews) return;
  connection.hasSpaceNews = false;
  connection.on.onSpace();
}

/** Ends the connection after a protocol violation: notifies the peer and ends all open streams. */
function breakOff(connection: ConnectionState, error: Error): void {
  sendGoaway(connection, codeOf(error));
  end(connection, error.message);
  connection.on.onBroken(error);
}

function codeOf(error: Error): number {
  if (error instanceof ConnectionError) return error.code;
  return error instanceof HpackError ? errorCodes.compressionError : errorCodes.internalError;
}

function end(connection: ConnectionState, detail: string): void {
  connection.isLeaving = true;
  connection.isEnded = true;
  const { streams, writtenId } = connection;
  for (const id of streams.openIds()) {
    const slot = streams.slotOf(id);
    if (id <= writtenId) breakStream(connection, slot, detail);
    else settleStream(connection, slot, unsent(detail));
  }
}
