import type { Answer } from '../provider.ts';
import { settleStream } from './connection-state.ts';
import type { ConnectionState } from './connection-state.ts';
import {
  flags,
  frameBytes,
  frameHeaderBytes,
  frameTypes,
  makeFrame,
  settingIds,
  uint32,
  usualWindowBytes,
} from './frames.ts';
import type { OutgoingRequest } from './requests.ts';

/** Bytes accepted on the connection before the peer gets more window. `streamWindowBytes` is the same for one stream. */
export const receiveWindowBytes = 4 * 1024 * 1024;
export const streamWindowBytes = 128 * 1024;
/** A header list longer than this is an attack (CONTINUATION flood, CVE-2024-27316). */
export const maxBlockBytes = 64 * 1024;

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const nothing = Buffer.alloc(0);

const headersFrame = (frameTypes.headers << 8) | flags.endHeaders;
const dataFrame = frameTypes.data << 8;
const lastDataFrame = dataFrame | flags.endStream;

/**
 * Sends header block and body on a new stream. The part of the body that does not fit in the windows is copied and waits. The
 * listener gets its answer after this has returned.
 *
 * @throws TypeError, RangeError for headers that cannot be sent; then nothing is written
 */
export function sendRequest(connection: ConnectionState, request: OutgoingRequest, deadline: number): void {
  const { encoder, out, streams, peer } = connection;
  const { body } = request;
  const bodyBytes = body.length;
  const blockBytes = encoder.maxBytes(request);
  if (blockBytes > frameBytes) throw new RangeError(`headers of ${blockBytes} bytes`);
  const isWhole =
    bodyBytes <= connection.sendWindowBytes && bodyBytes <= peer.initialWindowBytes && bodyBytes <= peer.frameBytes;
  out.reserve(frameHeaderBytes + blockBytes + (isWhole ? frameHeaderBytes + bodyBytes : 0));
  const start = out.to + frameHeaderBytes;
  const end = encoder.encode(request, out.bytes, start);
  const slot = streams.open();
  const id = streams.ids[slot]!;
  streams.tickets[slot] = request.ticket;
  streams.listeners[slot] = request.listener;
  streams.deadlines[slot] = deadline;
  streams.sendWindows[slot] = peer.initialWindowBytes;
  connection.collectedId = id;
  if (!streams.hasNumbers()) connection.isLeaving = true;
  out.head(end - start, headersFrame, id);
  if (isWhole) {
    out.bytes.set(body, out.to + frameHeaderBytes);
    out.head(bodyBytes, lastDataFrame, id);
    streams.sendWindows[slot]! -= bodyBytes;
    connection.sendWindowBytes -= bodyBytes;
  } else {
    streams.detailOf(slot).pending = Buffer.from(body);
    sendBody(connection, slot);
  }
}

/** Writes as much of the body as both windows allow; the end of an empty body needs no window (RFC 9113 §6.9). */
export function sendBody(connection: ConnectionState, slot: number): void {
  const { out, streams, waiting, peer } = connection;
  const id = streams.ids[slot]!;
  const detail = streams.details[slot];
  while (detail?.pending) {
    const { pending } = detail;
    const windowBytes = Math.min(streams.sendWindows[slot]!, connection.sendWindowBytes);
    if (windowBytes <= 0 && pending.length > 0) {
      waiting.add(id);
      return;
    }
    const bytes = Math.min(pending.length, windowBytes, peer.frameBytes);
    const isLast = bytes === pending.length;
    out.reserve(frameHeaderBytes + bytes);
    out.bytes.set(pending.subarray(0, bytes), out.to + frameHeaderBytes);
    out.head(bytes, isLast ? lastDataFrame : dataFrame, id);
    streams.sendWindows[slot]! -= bytes;
    connection.sendWindowBytes -= bytes;
    detail.pending = isLast ? undefined : pending.subarray(bytes);
  }
  waiting.delete(id);
}

/** Sends waiting bodies after the window of the connection or of the streams has grown. */
export function sendWaitingBodies(connection: ConnectionState): void {
  for (const id of connection.waiting) {
    if (connection.sendWindowBytes <= 0) return;
    sendBody(connection, connection.streams.slotOf(id));
  }
}

export function sendReset(
  connection: ConnectionState,
  slot: number,
  { code, answer }: { code: number; answer: Answer },
): void {
  const streamId = connection.streams.ids[slot]!;
  connection.out.add(makeFrame({ type: frameTypes.rstStream, flags: 0, streamId }, uint32(code)));
  settleStream(connection, slot, answer);
}

/** Sends the client's connection preface (RFC 9113 §3.4). */
export function sendPreface({ out }: ConnectionState): void {
  out.add(preface);
  out.add(makeFrame({ type: frameTypes.settings, flags: 0, streamId: 0 }, ownSettings()));
  const more = receiveWindowBytes - usualWindowBytes;
  out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: 0 }, uint32(more)));
}

export function sendSettingsAcknowledgement({ out }: ConnectionState): void {
  out.add(makeFrame({ type: frameTypes.settings, flags: flags.ack, streamId: 0 }, nothing));
}

/** Returns used window to the peer, once more than half of the connection's window is used. */
export function renewConnectionWindow(connection: ConnectionState): void {
  if (connection.unacknowledgedBytes <= receiveWindowBytes / 2) return;
  const more = uint32(connection.unacknowledgedBytes);
  connection.out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: 0 }, more));
  connection.unacknowledgedBytes = 0;
}

/** Does the same for one stream, which has received this many more bytes. */
export function renewStreamWindow({ out, streams }: ConnectionState, slot: number, received: number): void {
  if (received === 0) return;
  const detail = streams.detailOf(slot);
  detail.unacknowledgedBytes += received;
  if (detail.unacknowledgedBytes <= streamWindowBytes / 2) return;
  const streamId = streams.ids[slot]!;
  out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId }, uint32(detail.unacknowledgedBytes)));
  detail.unacknowledgedBytes = 0;
}

export function sendPing(connection: ConnectionState): void {
  connection.isPinging = true;
  connection.out.add(makeFrame({ type: frameTypes.ping, flags: 0, streamId: 0 }, Buffer.alloc(8)));
}

export function answerPing({ out }: ConnectionState, payload: Buffer): void {
  out.add(makeFrame({ type: frameTypes.ping, flags: flags.ack, streamId: 0 }, payload));
}

/** Notifies the peer immediately that no more requests will come. The peer opened no streams, so the last stream id is 0. */
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
