import { frameHeaderBytes } from './frames.ts';

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
