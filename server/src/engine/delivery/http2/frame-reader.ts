import { ConnectionError, errorCodes, frameBytes, frameHeaderBytes } from './frames.ts';
import type { Frame } from './frames.ts';

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
