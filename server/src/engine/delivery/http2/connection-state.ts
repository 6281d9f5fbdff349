import type { Answer } from '../provider.ts';
import { frameBytes, usualWindowBytes } from './frames.ts';
import { HpackEncoder } from './hpack-encoder.ts';
import { OutgoingBytes } from './outgoing-bytes.ts';
import type { WriteBytes } from './outgoing-bytes.ts';
import type { Header } from './request-head.ts';
import { StreamTable } from './stream-table.ts';

/**
 * What one connection knows. Made once with all its members, so that the functions that send and receive, which run for
 * every frame, meet one shape of object. Nothing outside this folder sees it.
 */
export type ConnectionState = {
  readonly on: ConnectionEvents;
  readonly encoder: HpackEncoder;
  readonly out: OutgoingBytes;
  readonly streams: StreamTable;
  /** Numbers of the streams whose body waits for a window, in their order. */
  readonly waiting: Set<number>;
  /** What the peer's SETTINGS say. */
  readonly peer: { initialWindowBytes: number; frameBytes: number; streams: number };
  /** The last stream whose first frame is collected; and handed to the socket: until then nothing was sent. */
  collectedId: number;
  writtenId: number;
  /** What the peer still takes on the connection. */
  sendWindowBytes: number;
  /** Received since the peer was last given room. */
  unacknowledgedBytes: number;
  /** The peer's first SETTINGS are here. */
  isReady: boolean;
  /** Takes no new request: GOAWAY came or was sent, or the stream numbers are used up. */
  isLeaving: boolean;
  isEnded: boolean;
  /** A PING is not answered yet. */
  isPinging: boolean;
  /** A stream ended or a limit changed since the owner was last told. */
  hasSpaceNews: boolean;
  /** A header list whose END_HEADERS has not come. */
  block: HeaderBlock | undefined;
};

export type ConnectionEvents = {
  /** Headers that every request of this connection begins with. */
  pseudo: readonly Header[];
  write: WriteBytes;
  /** The peer's first SETTINGS are here, so its limits are known. */
  onReady: () => void;
  /** Streams ended or a limit changed: once for all that came together. */
  onSpace: () => void;
  /** A request was given up because its time was over. */
  onTimedOut: () => void;
  /** The peer broke the protocol; GOAWAY is written, the socket is to be closed. */
  onBroken: (error: Error) => void;
};

export type HeaderBlock = { streamId: number; isLast: boolean; pieces: Buffer[]; bytes: number };

/** Without a limit in SETTINGS a peer allows any number; this many keep a connection busy without flooding memory. */
export const maxStreams = 1_000;

export function makeConnectionState(on: ConnectionEvents): ConnectionState {
  const connection: ConnectionState = {
    on,
    encoder: new HpackEncoder(on.pseudo),
    out: new OutgoingBytes((bytes, onWritten) => {
      connection.writtenId = connection.collectedId;
      on.write(bytes, onWritten);
    }),
    streams: new StreamTable(),
    waiting: new Set(),
    peer: { initialWindowBytes: usualWindowBytes, frameBytes, streams: maxStreams },
    collectedId: 0,
    writtenId: 0,
    sendWindowBytes: usualWindowBytes,
    unacknowledgedBytes: 0,
    isReady: false,
    isLeaving: false,
    isEnded: false,
    isPinging: false,
    hasSpaceNews: false,
    block: undefined,
  };
  return connection;
}

/** Ends an open stream with the outcome of its request. */
export function settleStream(connection: ConnectionState, slot: number, answer: Answer): void {
  const { streams } = connection;
  const [listener, ticket] = [streams.listeners[slot]!, streams.tickets[slot]!];
  closeStream(connection, slot);
  listener.onAnswer(ticket, answer);
}

/** Ends an open stream whose listener reads no more of its 2xx than the status. */
export function acceptStream(connection: ConnectionState, slot: number): void {
  const { streams } = connection;
  const listener = streams.listeners[slot]!;
  const ticket = streams.tickets[slot]!;
  const status = streams.statuses[slot]!;
  closeStream(connection, slot);
  listener.onAccepted(ticket, status);
}

function closeStream(connection: ConnectionState, slot: number): void {
  const { streams, waiting } = connection;
  if (waiting.size > 0) waiting.delete(streams.ids[slot]!);
  streams.close(slot);
  connection.hasSpaceNews = true;
}
