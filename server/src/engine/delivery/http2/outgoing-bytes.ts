export type OutgoingBytes = {
  add(bytes: Uint8Array): void;
  /** Room of at least so many bytes to write into; what is used of it is then committed. */
  reserve(bytes: number): Buffer;
  commit(bytes: number): void;
  /** Hands over what is collected now. */
  flush(): void;
};

const pieceBytes = 256 * 1024;

/**
 * Collects what is written within one round of the event loop and hands it over as one piece: a TLS record and a system
 * call for each frame would cost more than all else.
 */
export function makeOutgoingBytes(write: (bytes: Buffer) => void): OutgoingBytes {
  let piece = Buffer.allocUnsafe(pieceBytes);
  let from = 0;
  let to = 0;
  let isPlanned = false;

  function flush(): void {
    if (to === from) return;
    const bytes = piece.subarray(from, to);
    // The rest of the piece is used on; what was handed over is the socket's.
    from = to;
    write(bytes);
  }

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      flush();
    });
  }

  function reserve(bytes: number): Buffer {
    if (piece.length - to < bytes) {
      flush();
      piece = Buffer.allocUnsafe(Math.max(pieceBytes, bytes));
      from = 0;
      to = 0;
    }
    return piece.subarray(to);
  }

  return {
    add(bytes) {
      reserve(bytes.length).set(bytes);
      to += bytes.length;
      plan();
    },
    reserve,
    commit(bytes) {
      to += bytes;
      plan();
    },
    flush,
  };
}
