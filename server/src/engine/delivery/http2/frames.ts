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

export type Frame = { type: number; flags: number; streamId: number; payload: Buffer };

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

/** Cuts what arrives into frames; a payload is valid until the next piece is pushed. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** @throws ConnectionError for a frame longer than allowed, before its payload is waited for */
  *push(piece: Buffer): Generator<Frame> {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let place = 0;
    while (bytes.length - place >= frameHeaderBytes) {
      const length = bytes.readUIntBE(place, 3);
      if (length > frameBytes) throw new ConnectionError(errorCodes.frameSizeError, `a frame of ${length} bytes`);
      const end = place + frameHeaderBytes + length;
      if (bytes.length < end) break;
      yield {
        type: bytes[place + 3]!,
        flags: bytes[place + 4]!,
        streamId: bytes.readUInt32BE(place + 5) & 0x7fffffff,
        payload: bytes.subarray(place + frameHeaderBytes, end),
      };
      place = end;
    }
    this.#rest = place === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(place));
  }
}

export type FrameHead = { length: number; type: number; flags: number; streamId: number };

export function writeFrameHead(into: Buffer, place: number, head: FrameHead): number {
  into.writeUIntBE(head.length, place, 3);
  into[place + 3] = head.type;
  into[place + 4] = head.flags;
  return into.writeUInt32BE(head.streamId, place + 5);
}

export function makeFrame(head: Omit<FrameHead, 'length'>, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(frameHeaderBytes + payload.length);
  frame.set(payload, writeFrameHead(frame, 0, { ...head, length: payload.length }));
  return frame;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** @returns the payload without padding (RFC 9113 §6.1) @throws ConnectionError */
export function withoutPadding({ flags: given, payload }: Frame): Buffer {
  if ((given & flags.padded) === 0) return payload;
  const padding = payload[0] ?? 0;
  if (payload.length < 1 + padding) throw broken('more padding than frame');
  return payload.subarray(1, payload.length - padding);
}
