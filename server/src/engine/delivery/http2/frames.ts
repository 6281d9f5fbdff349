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
