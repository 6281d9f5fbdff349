import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * An HTTP/2 server of hand-written frames on a raw socket (RFC 9113 §4), so that it can break every rule. It reads what
 * the client sends just well enough to know which requests arrived, and says nothing that its `behave` does not say.
 */
export async function startHostileServer(behave: (peer: Peer) => void): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const peers: Peer[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    const peer = makePeer(socket, peers.length + 1);
    peers.push(peer);
    behave(peer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    peers,
    openSockets: () => sockets.size,
    receipts: () => peers.flatMap((peer) => peer.receipts),
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export type HostileServer = {
  origin: string;
  peers: Peer[];
  openSockets(): number;
  /** Every request that arrived whole, on every connection. */
  receipts(): Receipt[];
  stop(): Promise<void>;
};

/** One request that arrived whole. `isRefused`: the client was promised that nothing was done with it. */
export type Receipt = { body: string; stream: number; isRefused: boolean };

export type Peer = {
  /** 1 for the first connection. */
  number: number;
  socket: Socket;
  receipts: Receipt[];
  /** Most streams that were open at once, since the count was last set. */
  maxOpen: number;
  /** Frames of the client by type, as they came. */
  frames: { type: number; flags: number; stream: number; payload: Buffer }[];
  /** False: neither SETTINGS nor PING is acknowledged, and no window is given back. */
  isPolite: boolean;
  onHeaders: (stream: number) => void;
  onRequest: (stream: number) => void;
  onFrame: (frame: { type: number; flags: number; stream: number; payload: Buffer }) => void;
  write(...pieces: Buffer[]): void;
  answer(stream: number, answer?: { status?: number; body?: string }): void;
  /** RST_STREAM; REFUSED_STREAM promises that nothing was done. */
  reset(stream: number, code: number): void;
  goaway(lastStream: number, code?: number): void;
};

export const types = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;
export const flags = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;
export const settingNames = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;
export const codes = { noError: 0, protocol: 1, internal: 2, refused: 7, cancel: 8, calm: 11 } as const;

const prefaceBytes = 24;

export function frame(type: number, options: { flags?: number; stream?: number; payload?: Buffer } = {}): Buffer {
  const { payload = Buffer.alloc(0) } = options;
  return Buffer.concat([frameHead({ ...options, type, length: payload.length }), payload]);
}

/** Nine bytes that may lie about the length of what follows. */
export function frameHead(head: { type: number; length: number; flags?: number; stream?: number }): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeUIntBE(head.length, 0, 3);
  bytes.writeUInt8(head.type, 3);
  bytes.writeUInt8(head.flags ?? 0, 4);
  bytes.writeUInt32BE((head.stream ?? 0) >>> 0, 5);
  return bytes;
}

export function settings(values: Partial<Record<keyof typeof settingNames, number>> = {}): Buffer {
  const payload = Object.entries(values).map(([name, value]) => {
    const bytes = Buffer.alloc(6);
    bytes.writeUInt16BE(settingNames[name as keyof typeof settingNames], 0);
    bytes.writeUInt32BE(value, 2);
    return bytes;
  });
  return frame(types.settings, { payload: Buffer.concat(payload) });
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  return frame(types.window, { stream, payload: uint32(bytes) });
}

/** A literal without indexing and without Huffman code (RFC 7541 §6.2.2). */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** `:status` by its index for 200 (RFC 7541 Appendix A), else as a literal. */
export function statusField(status: number): Buffer {
  return status === 200 ? Buffer.from([0x88]) : Buffer.concat([Buffer.from([8]), text(String(status))]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  // An integer with a 7-bit prefix (RFC 7541 §5.1).
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

function makePeer(socket: Socket, number: number): Peer {
  const open = new Set<number>();
  const bodies = new Map<number, Buffer[]>();
  const refused = new Set<number>();
  let highestKept = Infinity;
  let unread = Buffer.alloc(0);
  let isPrefaceRead = false;

  const peer: Peer = {
    number,
    socket,
    receipts: [],
    maxOpen: 0,
    frames: [],
    isPolite: true,
    onHeaders: () => {},
    onRequest: () => {},
    onFrame: () => {},
    write(...pieces) {
      for (const piece of pieces) noteRefusal(piece);
      if (socket.writable) socket.write(Buffer.concat(pieces));
    },
    answer(stream, { status = 200, body = '' } = {}) {
      open.delete(stream);
      const end = body === '' ? flags.endStream : 0;
      peer.write(
        frame(types.headers, { flags: flags.endHeaders | end, stream, payload: statusField(status) }),
        ...(end ? [] : [frame(types.data, { flags: flags.endStream, stream, payload: Buffer.from(body) })]),
      );
    },
    reset(stream, code) {
      open.delete(stream);
      peer.write(frame(types.reset, { stream, payload: uint32(code) }));
    },
    goaway(lastStream, code = codes.noError) {
      peer.write(frame(types.goaway, { payload: Buffer.concat([uint32(lastStream), uint32(code)]) }));
    },
  };

  /** Which streams a frame promises not to have processed (§6.8, §8.7), however it came to be written. */
  function noteRefusal(piece: Buffer): void {
    if (piece.length < 13 || piece.length !== 9 + piece.readUIntBE(0, 3)) return;
    const [type, stream] = [piece.readUInt8(3), piece.readUInt32BE(5) & 0x7fffffff];
    if (type === types.reset && piece.length === 13 && piece.readUInt32BE(9) === codes.refused) refused.add(stream);
    if (type === types.goaway && piece.length >= 17 && stream === 0)
      highestKept = Math.min(highestKept, piece.readUInt32BE(9) & 0x7fffffff);
    for (const receipt of peer.receipts) receipt.isRefused ||= isRefused(receipt.stream);
  }
  const isRefused = (stream: number): boolean => refused.has(stream) || stream > highestKept;

  function read(received: Peer['frames'][number]): void {
    const { type, flags: given, stream, payload } = received;
    peer.frames.push(received);
    peer.onFrame(received);
    if (peer.isPolite && type === types.settings && !(given & flags.ack))
      peer.write(frame(types.settings, { flags: flags.ack }));
    if (peer.isPolite && type === types.ping && !(given & flags.ack))
      peer.write(frame(types.ping, { flags: flags.ack, payload }));
    if (type === types.reset) open.delete(stream);
    if (type === types.headers) {
      open.add(stream);
      peer.maxOpen = Math.max(peer.maxOpen, open.size);
      bodies.set(stream, []);
      peer.onHeaders(stream);
    }
    if (type === types.data) {
      if (peer.isPolite && payload.length > 0) peer.write(windowUpdate(0, payload.length));
      bodies.get(stream)?.push(payload);
    }
    const isWhole = (type === types.headers || type === types.data) && (given & flags.endStream) !== 0;
    if (!isWhole) return;
    const body = Buffer.concat(bodies.get(stream) ?? []).toString();
    peer.receipts.push({ body, stream, isRefused: isRefused(stream) });
    peer.onRequest(stream);
  }

  socket.on('data', (piece: Buffer) => {
    unread = Buffer.concat([unread, piece]);
    if (!isPrefaceRead && unread.length >= prefaceBytes) {
      isPrefaceRead = true;
      unread = unread.subarray(prefaceBytes);
    }
    while (isPrefaceRead && unread.length >= 9) {
      const length = unread.readUIntBE(0, 3);
      if (unread.length < 9 + length) return;
      const received = {
        type: unread.readUInt8(3),
        flags: unread.readUInt8(4),
        stream: unread.readUInt32BE(5),
        payload: unread.subarray(9, 9 + length),
      };
      unread = unread.subarray(9 + length);
      read(received);
    }
  });
  return peer;
}
