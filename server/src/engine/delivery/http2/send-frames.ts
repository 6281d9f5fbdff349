import type { Answer } from '../provider.ts';
import { settleStream } from './connection-state.ts';
import type { ClientStream, ConnectionState } from './connection-state.ts';
import {
  flags,
  frameBytes,
  frameHeaderBytes,
  frameTypes,
  makeFrame,
  settingIds,
  uint32,
  usualWindowBytes,
  writeFrameHead,
} from './frames.ts';
import type { Header } from './hpack-encoder.ts';

export type ClientRequest = { headers: readonly Header[]; body: Buffer };

/** What is taken on the connection before the peer is given more room; on one stream it is `streamWindowBytes`. */
export const receiveWindowBytes = 4 * 1024 * 1024;
export const streamWindowBytes = 128 * 1024;
/** A header list that is spread over more is an attack (CONTINUATION flood, CVE-2024-27316). */
export const maxBlockBytes = 64 * 1024;

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const nothing = Buffer.alloc(0);

/** Header block and, when it fits the windows, the body, in one piece of memory. */
export function sendRequest(stream: ClientStream, { headers, body }: ClientRequest): void {
  const { encoder, out } = stream.connection;
  const into = out.reserve(frameHeaderBytes + frameBytes);
  const length = encoder.encode(headers, into.subarray(frameHeaderBytes));
  writeFrameHead(into, 0, { length, type: frameTypes.headers, flags: flags.endHeaders, streamId: stream.id });
  out.commit(frameHeaderBytes + length);
  stream.pending = body;
  sendBody(stream);
}

/** Writes as much of the body as both windows take; the end of an empty one needs no window (RFC 9113 §6.9). */
export function sendBody(stream: ClientStream): void {
  const { connection } = stream;
  while (stream.pending) {
    const left = stream.pending.length;
    const allowed = Math.min(stream.sendWindowBytes, connection.sendWindowBytes, connection.peer.frameBytes, left);
    if (allowed <= 0 && left > 0) {
      connection.waiting.add(stream);
      return;
    }
    const bytes = Math.max(0, allowed);
    const isLast = bytes === left;
    const head = { type: frameTypes.data, flags: isLast ? flags.endStream : 0, streamId: stream.id };
    connection.out.add(makeFrame(head, stream.pending.subarray(0, bytes)));
    stream.sendWindowBytes -= bytes;
    connection.sendWindowBytes -= bytes;
    stream.pending = isLast ? undefined : stream.pending.subarray(bytes);
  }
  connection.waiting.delete(stream);
}

/** The window of the connection or of the streams has grown. */
export function sendWaitingBodies(connection: ConnectionState): void {
  for (const stream of connection.waiting) {
    if (connection.sendWindowBytes <= 0) return;
    sendBody(stream);
  }
}

export function sendReset(stream: ClientStream, { code, answer }: { code: number; answer: Answer }): void {
  stream.connection.out.add(makeFrame({ type: frameTypes.rstStream, flags: 0, streamId: stream.id }, uint32(code)));
  settleStream(stream, answer);
}

/** The client's greeting (RFC 9113 §3.4). */
export function sendPreface({ out }: ConnectionState): void {
  out.add(preface);
  out.add(makeFrame({ type: frameTypes.settings, flags: 0, streamId: 0 }, ownSettings()));
  const more = receiveWindowBytes - usualWindowBytes;
  out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: 0 }, uint32(more)));
}

export function sendSettingsAcknowledgement({ out }: ConnectionState): void {
  out.add(makeFrame({ type: frameTypes.settings, flags: flags.ack, streamId: 0 }, nothing));
}

/** Gives the peer the room back that it has used, once half of the connection's window is. */
export function renewConnectionWindow(connection: ConnectionState): void {
  if (connection.unacknowledgedBytes <= receiveWindowBytes / 2) return;
  const more = uint32(connection.unacknowledgedBytes);
  connection.out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: 0 }, more));
  connection.unacknowledgedBytes = 0;
}

export function renewStreamWindow(stream: ClientStream): void {
  if (stream.unacknowledgedBytes <= streamWindowBytes / 2) return;
  const more = uint32(stream.unacknowledgedBytes);
  stream.connection.out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: stream.id }, more));
  stream.unacknowledgedBytes = 0;
}

export function sendPing(connection: ConnectionState): void {
  connection.isPinging = true;
  connection.out.add(makeFrame({ type: frameTypes.ping, flags: 0, streamId: 0 }, Buffer.alloc(8)));
}

export function answerPing({ out }: ConnectionState, payload: Buffer): void {
  out.add(makeFrame({ type: frameTypes.ping, flags: flags.ack, streamId: 0 }, payload));
}

/**
 * Tells the peer immediately that no more requests will come. The peer opened no streams, so the last stream id is 0.
 */
export function sendGoaway(connection: ConnectionState, code: number): void {
  connection.isLeaving = true;
  const payload = Buffer.concat([uint32(0), uint32(code)]);
  connection.out.add(makeFrame({ type: frameTypes.goaway, flags: 0, streamId: 0 }, payload));
  connection.out.flush();
}

function ownSettings(): Buffer {
  const settings = [
    [settingIds.headerTableSize, 0],
    [settingIds.enablePush, 0],
    [settingIds.initialWindowSize, streamWindowBytes],
    [settingIds.maxHeaderListSize, maxBlockBytes],
  ] as const;
  const payload = Buffer.alloc(settings.length * 6);
  settings.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return payload;
}
