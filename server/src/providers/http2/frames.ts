/** Frame types and flags of RFC 9113 §6, as far as a client encounters them. */
export const frameTypes = {
  data: 0x0,
  headers: 0x1,
  priority: 0x2,
  rstStream: 0x3,
  settings: 0x4,
  pushPromise: 0x5,
  ping: 0x6,
  goaway: 0x7,
  windowUpdate: 0x8,
  continuation: 0x9,
} as const;

export const flags = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const settingIds = {
  headerTableSize: 0x1,
  enablePush: 0x2,
  maxConcurrentStreams: 0x3,
  initialWindowSize: 0x4,
  maxFrameSize: 0x5,
  maxHeaderListSize: 0x6,
} as const;

export const errorCodes = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const;

export const frameHeaderBytes = 9;
/** What a peer may send until it is allowed more, which this client never does (RFC 9113 §4.2). */
export const frameBytes = 16_384;
/** RFC 9113 §6.9.2. */
export const usualWindowBytes = 65_535;
export const maxWindowBytes = 2 ** 31 - 1;

/** One frame within what arrived: its payload is `bytes` from `from` to `to`. */
export type Frame = { type: number; flags: number; streamId: number; bytes: Buffer; from: number; to: number };

/** The whole connection is broken: it ends with GOAWAY and this code. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function broken(message: string, code: number = errorCodes.protocolError): ConnectionError {
  return new ConnectionError(code, message);
}

export function payloadOf({ bytes, from, to }: Frame): Buffer {
  return bytes.subarray(from, to);
}

export function makeFrame(
  { type, flags, streamId }: { type: number; flags: number; streamId: number },
  payload: Uint8Array,
): Buffer {
  const frame = Buffer.alloc(frameHeaderBytes + payload.length);
  frame.writeUIntBE(payload.length, 0, 3);
  frame[3] = type;
  frame[4] = flags;
  frame.writeUInt32BE(streamId, 5);
  frame.set(payload, frameHeaderBytes);
  return frame;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Leaves out the padding of a payload (RFC 9113 §6.1). @throws ConnectionError */
export function dropPadding(frame: Frame): void {
  if ((frame.flags & flags.padded) === 0) return;
  const padding = frame.from < frame.to ? frame.bytes[frame.from]! : 0;
  if (frame.to - frame.from < 1 + padding) throw broken('more padding than frame');
  frame.from += 1;
  frame.to -= padding;
}

const nothing = Buffer.alloc(0);

/**
 * Cuts what arrives into frames. There is one frame object, filled anew for each: it and its bytes are valid until
 * `onFrame` returns.
 */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #frame: Frame = { type: 0, flags: 0, streamId: 0, bytes: nothing, from: 0, to: 0 };
  /** A frame that one piece ended within. Made when the first one does. */
  #split = nothing;
  #splitBytes = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** @throws ConnectionError for a frame longer than allowed, before its payload is waited for */
  push(piece: Buffer): void {
    let place = this.#splitBytes > 0 ? this.#endSplit(piece) : 0;
    while (piece.length - place >= frameHeaderBytes) {
      const end = place + frameHeaderBytes + lengthAt(piece, place);
      if (end > piece.length) break;
      this.#hand(piece, place, end);
      place = end;
    }
    if (place === piece.length) return;
    if (this.#split.length === 0) this.#split = Buffer.allocUnsafe(frameHeaderBytes + frameBytes);
    this.#splitBytes += piece.copy(this.#split, this.#splitBytes, place);
  }

  /** @returns where the next frame begins */
  #endSplit(piece: Buffer): number {
    let place = 0;
    for (let wanted = frameHeaderBytes; ;) {
      const missing = wanted - this.#splitBytes;
      if (missing > 0) {
        const copied = piece.copy(this.#split, this.#splitBytes, place, place + missing);
        place += copied;
        this.#splitBytes += copied;
        if (copied < missing) return place;
      }
      const whole = frameHeaderBytes + lengthAt(this.#split, 0);
      if (this.#splitBytes >= whole) break;
      wanted = whole;
    }
    const end = this.#splitBytes;
    this.#splitBytes = 0;
    this.#hand(this.#split, 0, end);
    return place;
  }

  #hand(bytes: Buffer, place: number, end: number): void {
    const frame = this.#frame;
    frame.type = bytes[place + 3]!;
    frame.flags = bytes[place + 4]!;
    frame.streamId =
      ((bytes[place + 5]! & 0x7f) << 24) | (bytes[place + 6]! << 16) | (bytes[place + 7]! << 8) | bytes[place + 8]!;
    frame.bytes = bytes;
    frame.from = place + frameHeaderBytes;
    frame.to = end;
    this.#onFrame(frame);
  }
}

function lengthAt(bytes: Buffer, place: number): number {
  const length = (bytes[place]! << 16) | (bytes[place + 1]! << 8) | bytes[place + 2]!;
  if (length > frameBytes) throw new ConnectionError(errorCodes.frameSizeError, `a frame of ${length} bytes`);
  return length;
}

const firstPieceBytes = 16 * 1024;
const maxPieceBytes = 256 * 1024;
/** Pieces that are kept to be written again, so that a busy connection allocates none. */
const maxSpares = 4;

/** Called when the socket is done with the bytes. */
export type WriteBytes = (bytes: Buffer, onWritten: () => void) => void;

type Piece = { bytes: Buffer; writing: number };

/**
 * Collects what is written within one turn of the event loop and hands it over as one piece: a TLS record and a system
 * call for each frame would cost more than all else. Writers reserve room, write at `to` in `bytes`, and commit.
 */
export class OutgoingBytes {
  readonly #write: WriteBytes;
  #piece: Piece = makePiece(firstPieceBytes);
  readonly #spares: Piece[] = [];
  #from = 0;
  #isPlanned = false;
  readonly #flushPlanned = (): void => {
    this.#isPlanned = false;
    this.flush();
  };
  bytes: Buffer = this.#piece.bytes;
  to = 0;

  constructor(write: WriteBytes) {
    this.#write = write;
  }

  add(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.to);
    this.commit(this.to + bytes.length);
  }

  /** Writes the head of a frame whose payload of `length` bytes is there, or comes, behind it; there is room for both. */
  head(length: number, typeAndFlags: number, streamId: number): void {
    const { bytes, to } = this;
    bytes[to] = length >>> 16;
    bytes[to + 1] = length >>> 8;
    bytes[to + 2] = length;
    bytes[to + 3] = typeAndFlags >>> 8;
    bytes[to + 4] = typeAndFlags;
    bytes[to + 5] = streamId >>> 24;
    bytes[to + 6] = streamId >>> 16;
    bytes[to + 7] = streamId >>> 8;
    bytes[to + 8] = streamId;
    this.commit(to + frameHeaderBytes + length);
  }

  /** Makes `bytes` have room for so many more from `to` on. What is written there is nothing until it is committed. */
  reserve(bytes: number): void {
    if (this.bytes.length - this.to < bytes) this.#nextPiece(bytes);
  }

  commit(end: number): void {
    this.to = end;
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(this.#flushPlanned);
  }

  /** Hands over what is collected now. */
  flush(): void {
    if (this.to === this.#from) return;
    const piece = this.#piece;
    const bytes = piece.bytes.subarray(this.#from, this.to);
    this.#from = this.to;
    piece.writing += 1;
    this.#write(bytes, () => {
      piece.writing -= 1;
      this.#keep(piece);
    });
  }

  #nextPiece(bytes: number): void {
    this.flush();
    const old = this.#piece;
    const wanted = Math.max(bytes, Math.min(2 * old.bytes.length, maxPieceBytes));
    const spare = this.#spares.at(-1);
    this.#piece = spare && spare.bytes.length >= wanted ? this.#spares.pop()! : makePiece(wanted);
    this.bytes = this.#piece.bytes;
    this.#from = 0;
    this.to = 0;
    this.#keep(old);
  }

  /** A piece that nobody reads any more is written again: from its beginning if it is the present one. */
  #keep(piece: Piece): void {
    if (piece.writing > 0) return;
    if (piece === this.#piece) {
      if (this.#from !== this.to) return;
      this.#from = 0;
      this.to = 0;
    } else if (piece.bytes.length === maxPieceBytes && this.#spares.length < maxSpares) this.#spares.push(piece);
  }
}

function makePiece(bytes: number): Piece {
  return { bytes: Buffer.allocUnsafeSlow(bytes), writing: 0 };
}
