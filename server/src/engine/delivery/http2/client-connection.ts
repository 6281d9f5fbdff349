import { makeConnectionState, openStream, settleStream } from './connection-state.ts';
import type { ClientStream, ConnectionEvents, ConnectionState } from './connection-state.ts';
import { ConnectionError, FrameReader, errorCodes } from './frames.ts';
import { HpackError } from './hpack-decoder.ts';
import { receiveFrame } from './receive-frames.ts';
import { sendGoaway, sendPing, sendPreface, sendRequest, sendReset } from './send-frames.ts';
import type { ClientRequest } from './send-frames.ts';
import { timedOut, toBrokenAnswer, unsent } from './stream-answers.ts';

/** One HTTP/2 connection seen from the client, without its socket: bytes come in by `receive` and leave by `write`. */
export type ClientConnection = {
  /** Sends a request on a stream of its own; `settle` is called once, whatever happens. */
  request(request: ClientRequest, on: Pick<ClientStream, 'deadline' | 'settle'>): void;
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
  /** Takes no new request: GOAWAY came or was sent, or the stream numbers are used up. */
  isLeaving(): boolean;
};

/** RFC 9113, as far as a client of push services needs it. */
export function makeClientConnection(on: ConnectionEvents): ClientConnection {
  const connection = makeConnectionState(on);
  const reader = new FrameReader();
  sendPreface(connection);
  return {
    request(request, { deadline, settle }) {
      let stream: ClientStream | undefined;
      try {
        stream = openStream(connection, { deadline, settle });
        sendRequest(stream, request);
      } catch (error) {
        // Nothing of it was written: the header block did not come to be.
        if (stream) connection.streams.delete(stream.id);
        settle(unsent((error as Error).message));
      }
    },
    receive(bytes) {
      if (connection.isEnded) return;
      try {
        for (const frame of reader.push(bytes)) receiveFrame(connection, frame);
      } catch (error) {
        breakOff(connection, error as Error);
      }
    },
    expire(now) {
      // Streams are in the order of their deadlines, because all wait equally long.
      for (const stream of connection.streams.values()) {
        if (stream.deadline > now) return;
        sendReset(stream, { code: errorCodes.cancel, answer: timedOut });
      }
    },
    ping: () => sendPing(connection),
    isSilent: () => connection.isPinging,
    leave: () => sendGoaway(connection, errorCodes.noError),
    end: (detail) => end(connection, detail),
    openStreams: () => connection.streams.size,
    streamLimit: () => (connection.isReady ? connection.peer.streams : 0),
    isLeaving: () => connection.isLeaving,
  };
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
  for (const stream of [...connection.streams.values()])
    settleStream(stream, stream.isWritten ? toBrokenAnswer(stream, detail) : unsent(detail));
}
