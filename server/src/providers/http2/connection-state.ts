import type { Answer } from '../provider.ts';
import { frameBytes, usualWindowBytes, OutgoingBytes, maxWindowBytes } from './frames.ts';
import type { WriteBytes } from './frames.ts';
import { HpackEncoder } from './hpack-encoder.ts';
import type { Header, AnswerListener } from './requests.ts';

/**
 * The state of one connection. It is made once with all its members, so that the functions that send and receive, which run for
 * every frame, see one object shape. It is not used outside this folder.
 */
export type ConnectionState = {
  readonly on: ConnectionEvents;
  readonly encoder: HpackEncoder;
  readonly out: OutgoingBytes;
  readonly streams: StreamTable;
  /** Numbers of the streams that have a body waiting for a window, in order. */
  readonly waiting: Set<number>;
  /** Limits from the peer's SETTINGS. */
  readonly peer: { initialWindowBytes: number; frameBytes: number; streams: number };
  /** The last stream with a collected first frame, and the last one handed to the socket: until then nothing was sent. */
  collectedId: number;
  writtenId: number;
  /** Bytes that the peer still accepts on the connection. */
  sendWindowBytes: number;
  /** Bytes received since the peer last got more window. */
  unacknowledgedBytes: number;
  /** The peer's first SETTINGS were received. */
  isReady: boolean;
  /** No new requests are accepted: GOAWAY was received or sent, or the stream numbers are used up. */
  isLeaving: boolean;
  isEnded: boolean;
  /** A PING was not answered yet. */
  isPinging: boolean;
  /** A stream ended or a limit changed since the owner was last notified. */
  hasSpaceNews: boolean;
  /** A header list that still waits for END_HEADERS. */
  block: HeaderBlock | undefined;
};

export type ConnectionEvents = {
  /** Headers that every request of this connection begins with. */
  pseudo: readonly Header[];
  write: WriteBytes;
  /** Called when the peer's first SETTINGS were received, so its limits are known. */
  onReady: () => void;
  /** Called when streams ended or a limit changed, once for all frames that arrived together. */
  onSpace: () => void;
  /** Called when a request was given up because its time was over. */
  onTimedOut: () => void;
  /** Called when the peer violated the protocol. GOAWAY is written; the socket must be closed. */
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

/** Ends an open stream with a 2xx, for a listener that reads only the status. */
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

/** State that only some streams have, made on demand. */
export type StreamDetail = {
  /** Body that waits for a window. */
  pending: Buffer | undefined;
  headers: Record<string, string> | undefined;
  body: Buffer[];
  bodyBytes: number;
  /** Bytes received since the peer last got more window. */
  unacknowledgedBytes: number;
};

const firstSlots = 64;

/**
 * The open streams of one connection as columns of numbers. A request leaves no object behind if it is sent whole, gets a 2xx,
 * and its listener reads only the status. A stream's slot follows from its number. If a slow stream still has the slot of the
 * next number, that number is skipped, which RFC 9113 §5.1.1 allows.
 */
export class StreamTable {
  #mask = firstSlots - 1;
  /** 0 in a free slot. */
  ids = new Uint32Array(firstSlots);
  tickets = new Uint32Array(firstSlots);
  /** Milliseconds of the monotonic clock. */
  deadlines = new Float64Array(firstSlots);
  /** Bytes that the peer still accepts on the stream; SETTINGS can make it negative (RFC 9113 §6.9.2). */
  sendWindows = new Float64Array(firstSlots);
  /** 0 until the response headers were received. */
  statuses = new Uint16Array(firstSlots);
  listeners: (AnswerListener | undefined)[] = Array.from({ length: firstSlots }, () => undefined);
  details: (StreamDetail | undefined)[] = Array.from({ length: firstSlots }, () => undefined);
  size = 0;
  /** No stream with a lower number is open. */
  #oldestId = 1;
  nextId = 1;

  /** @returns the slot of a new stream, valid until the next one is opened */
  open(): number {
    if (this.size * 2 >= this.ids.length) this.#grow();
    while (this.ids[(this.nextId >>> 1) & this.#mask] !== 0) this.nextId += 2;
    const slot = (this.nextId >>> 1) & this.#mask;
    this.ids[slot] = this.nextId;
    this.statuses[slot] = 0;
    this.nextId += 2;
    this.size += 1;
    return slot;
  }

  /** True if a stream can be opened at all. Half of the slots are free, so few numbers are skipped. */
  hasNumbers(): boolean {
    return this.nextId + 2 * this.ids.length < maxWindowBytes;
  }

  /** @returns -1 if the stream is not open */
  slotOf(id: number): number {
    const slot = (id >>> 1) & this.#mask;
    return this.ids[slot] === id ? slot : -1;
  }

  close(slot: number): void {
    this.ids[slot] = 0;
    this.listeners[slot] = undefined;
    if (this.details[slot] !== undefined) this.details[slot] = undefined;
    this.size -= 1;
  }

  detailOf(slot: number): StreamDetail {
    return (this.details[slot] ??= {
      pending: undefined,
      headers: undefined,
      body: [],
      bodyBytes: 0,
      unacknowledgedBytes: 0,
    });
  }

  /** Returns the slot of the open stream with the lowest number, or -1 if there is none. */
  oldest(): number {
    if (this.size === 0) {
      this.#oldestId = this.nextId;
      return -1;
    }
    while (this.slotOf(this.#oldestId) < 0) this.#oldestId += 2;
    return this.slotOf(this.#oldestId);
  }

  /** Returns the numbers of the open streams, in ascending order. */
  openIds(): number[] {
    return [...this.ids].filter((id) => id !== 0).sort((one, other) => one - other);
  }

  /** Doubles the slots. Numbers that have different slots still have different slots in a table twice as large. */
  #grow(): void {
    const old = { ...this };
    const slots = 2 * this.ids.length;
    this.#mask = slots - 1;
    this.ids = new Uint32Array(slots);
    this.tickets = new Uint32Array(slots);
    this.deadlines = new Float64Array(slots);
    this.sendWindows = new Float64Array(slots);
    this.statuses = new Uint16Array(slots);
    this.listeners = Array.from({ length: slots }, () => undefined);
    this.details = Array.from({ length: slots }, () => undefined);
    for (let from = 0; from < old.ids.length; from += 1) {
      const id = old.ids[from]!;
      if (id === 0) continue;
      const to = (id >>> 1) & this.#mask;
      this.ids[to] = id;
      this.tickets[to] = old.tickets[from]!;
      this.deadlines[to] = old.deadlines[from]!;
      this.sendWindows[to] = old.sendWindows[from]!;
      this.statuses[to] = old.statuses[from]!;
      this.listeners[to] = old.listeners[from];
      this.details[to] = old.details[from];
    }
  }
}
