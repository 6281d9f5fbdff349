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
/** Maximum frame payload. A peer may send more only if it is allowed to, which this client never does (RFC 9113 §4.2). */
export const frameBytes = 16_384;
/** RFC 9113 §6.9.2. */
export const usualWindowBytes = 65_535;
export const maxWindowBytes = 2 ** 31 - 1;

/** One frame within received bytes: its payload is `bytes` from `from` to `to`. */
export type Frame = { type: number; flags: number; streamId: number; bytes: Buffer; from: number; to: number };

/** Reports that the whole connection is broken. It ends with GOAWAY and this code. */
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

/** Removes the padding of a payload (RFC 9113 §6.1). @throws ConnectionError */
export function dropPadding(frame: Frame): void {
  if ((frame.flags & flags.padded) === 0) return;
  const padding = frame.from < frame.to ? frame.bytes[frame.from]! : 0;
  if (frame.to - frame.from < 1 + padding) throw broken('more padding than frame');
  frame.from += 1;
  frame.to -= padding;
}

const nothing = Buffer.alloc(0);

/**
 * Splits received bytes into frames. There is one frame object, which is reused: it and its bytes are valid until `onFrame`
 * returns.
 */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #frame: Frame = { type: 0, flags: 0, streamId: 0, bytes: nothing, from: 0, to: 0 };
  /** Holds a frame that is split between two pieces. Allocated on demand. */
  #split = nothing;
  #splitBytes = 0;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** @throws ConnectionError for a frame longer than allowed, before waiting for its payload */
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
/** Pieces kept for reuse, so that a busy connection allocates none. */
const maxSpares = 4;

/** `onWritten` is called when the socket no longer needs the bytes. */
export type WriteBytes = (bytes: Buffer, onWritten: () => void) => void;

type Piece = { bytes: Buffer; writing: number };

/**
 * Collects what is written within one turn of the event loop and hands it over as one piece: a TLS record and a system call for
 * each frame would cost more than everything else. Writers reserve room, write at `to` in `bytes`, and commit.
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

  /** Writes the header of a frame before its payload of `length` bytes, which may be written later; there is room for both. */
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

  /** Makes room in `bytes` for this many more from `to` on. Bytes written there do not count until they are committed. */
  reserve(bytes: number): void {
    if (this.bytes.length - this.to < bytes) this.#nextPiece(bytes);
  }

  commit(end: number): void {
    this.to = end;
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(this.#flushPlanned);
  }

  /** Hands over the collected bytes now. */
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

  /** Reuses a piece that is no longer read; the current piece is reused from its beginning. */
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
