import type { OutgoingRequest } from './answer-listener.ts';
import { makeConnectionState, settleStream } from './connection-state.ts';
import type { ConnectionEvents, ConnectionState } from './connection-state.ts';
import { breakStream } from './end-streams.ts';
import { FrameReader } from './frame-reader.ts';
import { ConnectionError, errorCodes } from './frames.ts';
import { HpackError } from './hpack-error.ts';
import { receiveFrame } from './receive-frames.ts';
import { sendGoaway, sendPing, sendPreface, sendRequest, sendReset } from './send-frames.ts';
import { timedOut, unsent } from './stream-answers.ts';

/** One HTTP/2 connection seen from the client, without its socket: bytes come in by `receive` and leave by `write`. */
export type ClientConnection = {
  /**
   * Sends a request on a stream of its own; its listener is called once, whatever happens, and never before this has
   * returned.
   *
   * @returns whether anything was written
   */
  request(request: OutgoingRequest, deadline: number): boolean;
  receive(bytes: Buffer): void;
  /** Gives up streams whose deadline has passed. */
  expire(now: number): void;
  ping(): void;
  /** Whether the peer has not answered the last ping. */
  isSilent(): boolean;
  /** Tells the peer that no more requests come. */
  leave(): void;
  /** The socket is gone: settles what is open. */
  end(detail: string): void;
  openStreams(): number;
  streamLimit(): number;
  /** What the peer takes of bodies now, all streams together. */
  sendWindowBytes(): number;
  /** Takes no new request: GOAWAY came or was sent, or the stream numbers are used up. */
  isLeaving(): boolean;
};

/** RFC 9113, as far as a client of push services needs it. */
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
        // Nothing of it was written: the header block did not come to be. Told later, because who hears it sends the next
        // one, and of thousands that cannot be sent each would be told within the one before.
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
      tellSpace(connection);
    },
    expire(now) {
      // Streams are in the order of their deadlines, because all wait equally long.
      for (let slot = streams.oldest(); slot >= 0 && streams.deadlines[slot]! <= now; slot = streams.oldest()) {
        on.onTimedOut();
        sendReset(connection, slot, { code: errorCodes.cancel, answer: timedOut });
      }
      tellSpace(connection);
    },
    ping: () => sendPing(connection),
    isSilent: () => connection.isPinging,
    leave: () => sendGoaway(connection, errorCodes.noError),
    end(detail) {
      end(connection, detail);
      tellSpace(connection);
    },
    openStreams: () => streams.size,
    streamLimit: () => (connection.isReady ? connection.peer.streams : 0),
    sendWindowBytes: () => connection.sendWindowBytes,
    isLeaving: () => connection.isLeaving,
  };
}

/** Once for all frames that came together, because telling costs more than a frame. */
function tellSpace(connection: ConnectionState): void {
  if (!connection.hasSpaceNews) return;
  connection.hasSpaceNews = false;
  connection.on.onSpace();
}

/** The peer violated the protocol: it is notified, and all open streams end. */
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
