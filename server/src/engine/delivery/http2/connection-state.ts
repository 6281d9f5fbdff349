import type { Answer } from '../provider.ts';
import { frameBytes, maxWindowBytes, usualWindowBytes } from './frames.ts';
import { makeHpackEncoder } from './hpack-encoder.ts';
import type { HpackEncoder } from './hpack-encoder.ts';
import { makeOutgoingBytes } from './outgoing-bytes.ts';
import type { OutgoingBytes } from './outgoing-bytes.ts';

/**
 * What one connection knows. Made once with all its members, so that the functions that send and receive, which run for
 * every frame, meet one shape of object. Nothing outside this folder sees it.
 */
export type ConnectionState = {
  readonly on: ConnectionEvents;
  readonly encoder: HpackEncoder;
  readonly out: OutgoingBytes;
  /** Open streams in the order of their requests. */
  readonly streams: Map<number, ClientStream>;
  /** Streams whose body waits for a window. */
  readonly waiting: Set<ClientStream>;
  /** Streams whose first frame is collected and not yet handed to the socket. */
  readonly collected: ClientStream[];
  /** What the peer's SETTINGS say. */
  readonly peer: { initialWindowBytes: number; frameBytes: number; streams: number };
  nextStreamId: number;
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
  /** A header list whose END_HEADERS has not come. */
  block: HeaderBlock | undefined;
};

export type ConnectionEvents = {
  write: (bytes: Buffer) => void;
  /** The peer's first SETTINGS are here, so its limits are known. */
  onReady: () => void;
  /** A stream ended or a limit changed. */
  onFreeStream: () => void;
  /** The peer broke the protocol; GOAWAY is written, the socket is to be closed. */
  onBroken: (error: Error) => void;
};

/** One request on its way. */
export type ClientStream = {
  readonly connection: ConnectionState;
  readonly id: number;
  readonly settle: (answer: Answer) => void;
  /** Milliseconds of the monotonic clock. */
  readonly deadline: number;
  /** What the peer still takes on this stream. */
  sendWindowBytes: number;
  /** Body that waits for a window. */
  pending: Buffer | undefined;
  /** Whether its first frame has been handed to the socket: until then nothing was sent. */
  isWritten: boolean;
  status: number;
  headers: Record<string, string> | undefined;
  readonly body: Buffer[];
  bodyBytes: number;
  /** Received since the peer was last given room. */
  unacknowledgedBytes: number;
};

export type HeaderBlock = { streamId: number; isLast: boolean; pieces: Buffer[]; bytes: number };

/** Without a limit in SETTINGS a peer allows any number; this many keep a connection busy without flooding memory. */
export const maxStreams = 1_000;

export function makeConnectionState(on: ConnectionEvents): ConnectionState {
  const collected: ClientStream[] = [];
  const out = makeOutgoingBytes((bytes) => {
    for (const stream of collected.splice(0)) stream.isWritten = true;
    on.write(bytes);
  });
  return {
    on,
    encoder: makeHpackEncoder(),
    out,
    streams: new Map(),
    waiting: new Set(),
    collected,
    peer: { initialWindowBytes: usualWindowBytes, frameBytes, streams: maxStreams },
    nextStreamId: 1,
    sendWindowBytes: usualWindowBytes,
    unacknowledgedBytes: 0,
    isReady: false,
    isLeaving: false,
    isEnded: false,
    isPinging: false,
    block: undefined,
  };
}

/** @throws Error when the connection takes no more requests */
export function openStream(
  connection: ConnectionState,
  { deadline, settle }: Pick<ClientStream, 'deadline' | 'settle'>,
): ClientStream {
  if (connection.isLeaving) throw new Error('the connection is ending');
  const stream: ClientStream = {
    connection,
    id: connection.nextStreamId,
    settle,
    deadline,
    sendWindowBytes: connection.peer.initialWindowBytes,
    pending: undefined,
    isWritten: false,
    status: 0,
    headers: undefined,
    body: [],
    bodyBytes: 0,
    unacknowledgedBytes: 0,
  };
  connection.nextStreamId += 2;
  if (connection.nextStreamId > maxWindowBytes) connection.isLeaving = true;
  connection.streams.set(stream.id, stream);
  connection.collected.push(stream);
  return stream;
}

/** Ends a stream with the outcome of its request; a second call has no effect. */
export function settleStream(stream: ClientStream, answer: Answer): void {
  const { streams, waiting, on } = stream.connection;
  if (!streams.delete(stream.id)) return;
  waiting.delete(stream);
  stream.settle(answer);
  on.onFreeStream();
}
