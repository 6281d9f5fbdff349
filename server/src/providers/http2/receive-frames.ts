import { maxStreams, settleStream, acceptStream } from './connection-state.ts';
import type { ConnectionState, HeaderBlock } from './connection-state.ts';
import {
  broken,
  dropPadding,
  errorCodes,
  flags,
  frameBytes,
  frameTypes,
  maxWindowBytes,
  payloadOf,
  settingIds,
} from './frames.ts';
import type { Frame } from './frames.ts';
import { decodeHeaders, findSuccess } from './hpack-decoder.ts';
import {
  answerPing,
  receiveWindowBytes,
  renewConnectionWindow,
  renewStreamWindow,
  sendBody,
  sendReset,
  sendSettingsAcknowledgement,
  sendWaitingBodies,
  maxBlockBytes,
} from './send-frames.ts';
import { isAccepted, lost, maxBodyBytes, unsent, isSuccess, toAnswer } from './session.ts';

/** @throws ConnectionError, HpackError if the peer violates the protocol */
export function receiveFrame(connection: ConnectionState, frame: Frame): void {
  if (!connection.isReady && frame.type !== frameTypes.settings) throw broken('the first frame is not SETTINGS');
  const { block } = connection;
  if (block && (frame.type !== frameTypes.continuation || frame.streamId !== block.streamId))
    throw broken('a header block is interrupted');
  switch (frame.type) {
    case frameTypes.data:
      return receiveData(connection, frame);
    case frameTypes.headers:
      assertUsed(connection, frame.streamId);
      return receiveHeaders(connection, frame);
    case frameTypes.continuation:
      return receiveContinuation(connection, frame);
    case frameTypes.rstStream:
      return receiveReset(connection, frame);
    case frameTypes.settings:
      return receiveSettings(connection, frame);
    case frameTypes.pushPromise:
      throw broken('a push that was not allowed');
    case frameTypes.ping:
      return receivePing(connection, frame);
    case frameTypes.goaway:
      return receiveGoaway(connection, frame);
    case frameTypes.windowUpdate:
      return receiveWindowUpdate(connection, frame);
    default:
      // A client ignores unknown types and PRIORITY (RFC 9113 §5.5).
      return undefined;
  }
}

function receiveData(connection: ConnectionState, frame: Frame): void {
  assertUsed(connection, frame.streamId);
  // Padding counts too (RFC 9113 §6.1), and so does data of streams that are already closed.
  const received = frame.to - frame.from;
  connection.unacknowledgedBytes += received;
  if (connection.unacknowledgedBytes > receiveWindowBytes)
    throw broken('more than the window', errorCodes.flowControlError);
  renewConnectionWindow(connection);
  dropPadding(frame);
  const { streams } = connection;
  const slot = streams.slotOf(frame.streamId);
  if (slot < 0) return;
  if (streams.statuses[slot] === 0)
    return sendReset(connection, slot, { code: errorCodes.protocolError, answer: lost('a body without headers') });
  const isLast = (frame.flags & flags.endStream) !== 0;
  if (isLast && isWholeBody(connection, slot, frame)) return endStreamWithBody(connection, slot, frame);
  if (frame.to > frame.from && !isAccepted(connection, slot)) keepBody(connection, slot, frame);
  if (isLast) return endStream(connection, slot);
  // Data beyond the limit is read and dropped while the request has time: some servers count the rest of a cancelled response
  // against the connection for ever, and finally refuse every new stream (Node's does at 10 MB).
  renewStreamWindow(connection, slot, received);
}

/**
 * True if this frame holds the whole body, nothing was stored before, and the listener reads no headers, as for nearly every
 * response.
 */
function isWholeBody({ streams }: ConnectionState, slot: number, { from, to }: Frame): boolean {
  return (
    streams.listeners[slot]!.reads === 'bodies' && streams.details[slot] === undefined && to - from <= maxBodyBytes
  );
}

function endStreamWithBody(connection: ConnectionState, slot: number, { bytes, from, to }: Frame): void {
  const status = connection.streams.statuses[slot]!;
  settleStream(connection, slot, { kind: 'answer', status, headers: {}, body: bytes.toString('utf8', from, to) });
}

function keepBody({ streams }: ConnectionState, slot: number, { bytes, from, to }: Frame): void {
  const detail = streams.detailOf(slot);
  const kept = Math.min(maxBodyBytes - detail.bodyBytes, to - from);
  if (kept > 0) detail.body.push(Buffer.from(bytes.subarray(from, from + kept)));
  detail.bodyBytes += kept;
}

function receiveReset(connection: ConnectionState, frame: Frame): void {
  assertUsed(connection, frame.streamId);
  if (frame.to - frame.from !== 4) throw broken('RST_STREAM of a wrong length', errorCodes.frameSizeError);
  const slot = connection.streams.slotOf(frame.streamId);
  if (slot < 0) return;
  const code = frame.bytes.readUInt32BE(frame.from);
  // REFUSED_STREAM promises that nothing was processed (RFC 9113 §8.7).
  if (code === errorCodes.refusedStream) settleStream(connection, slot, unsent('the stream was refused'));
  else breakStream(connection, slot, `the stream ended with code ${code}`);
}

function receiveSettings(connection: ConnectionState, frame: Frame): void {
  const { streamId, flags: given } = frame;
  const payload = payloadOf(frame);
  const isAcknowledgement = (given & flags.ack) !== 0;
  if (streamId !== 0) throw broken('SETTINGS on a stream');
  if (payload.length % 6 !== 0 || (isAcknowledgement && payload.length > 0))
    throw broken('SETTINGS of a wrong form', errorCodes.frameSizeError);
  if (isAcknowledgement) {
    if (!connection.isReady) throw broken('the first frame is an acknowledgement');
    return;
  }
  const { initialWindowBytes } = connection.peer;
  for (let offset = 0; offset < payload.length; offset += 6)
    applySetting(connection, { id: payload.readUInt16BE(offset), value: payload.readUInt32BE(offset + 2) });
  moveWindows(connection, connection.peer.initialWindowBytes - initialWindowBytes);
  sendSettingsAcknowledgement(connection);
  if (!connection.isReady) {
    connection.isReady = true;
    connection.on.onReady();
  }
  sendWaitingBodies(connection);
  connection.hasSpaceNews = true;
}

function applySetting({ encoder, peer }: ConnectionState, { id, value }: { id: number; value: number }): void {
  switch (id) {
    case settingIds.headerTableSize:
      return encoder.limitTable(value);
    case settingIds.maxConcurrentStreams:
      peer.streams = Math.min(maxStreams, value);
      return;
    case settingIds.initialWindowSize:
      if (value > maxWindowBytes) throw broken('a window too large', errorCodes.flowControlError);
      peer.initialWindowBytes = value;
      return;
    case settingIds.maxFrameSize:
      if (value < frameBytes || value > 2 ** 24 - 1) throw broken('a frame size out of range');
      peer.frameBytes = value;
      return;
    case settingIds.enablePush:
      // A server may only send 0 (RFC 9113 §6.5.2).
      if (value !== 0) throw broken('a server that enables push');
      return;
    default:
  }
}

/**
 * Adjusts open streams to a new initial window (RFC 9113 §6.9.2). Runs once per frame, because a frame may set it thousands of
 * times.
 */
function moveWindows({ streams }: ConnectionState, bytes: number): void {
  if (bytes === 0 || streams.size === 0) return;
  const { ids, sendWindows } = streams;
  for (let slot = 0; slot < ids.length; slot += 1) {
    if (ids[slot] === 0) continue;
    sendWindows[slot]! += bytes;
    if (sendWindows[slot]! > maxWindowBytes) throw broken('a window too large', errorCodes.flowControlError);
  }
}

function receivePing(connection: ConnectionState, frame: Frame): void {
  const { streamId, flags: given } = frame;
  const payload = payloadOf(frame);
  if (streamId !== 0) throw broken('PING on a stream');
  if (payload.length !== 8) throw broken('PING of a wrong length', errorCodes.frameSizeError);
  if ((given & flags.ack) !== 0) connection.isPinging = false;
  else answerPing(connection, payload);
}

function receiveGoaway(connection: ConnectionState, frame: Frame): void {
  const { streamId } = frame;
  const payload = payloadOf(frame);
  if (streamId !== 0) throw broken('GOAWAY on a stream');
  if (payload.length < 8) throw broken('GOAWAY of a wrong length', errorCodes.frameSizeError);
  const last = payload.readUInt32BE(0) & 0x7fffffff;
  connection.isLeaving = true;
  // Streams beyond the last one were not processed and are sent again elsewhere (RFC 9113 §6.8).
  const { streams } = connection;
  for (const id of last < streams.nextId ? streams.openIds() : [])
    if (id > last) settleStream(connection, streams.slotOf(id), unsent('the peer goes away'));
  connection.hasSpaceNews = true;
}

function receiveWindowUpdate(connection: ConnectionState, { streamId, bytes, from, to }: Frame): void {
  if (to - from !== 4) throw broken('WINDOW_UPDATE of a wrong length', errorCodes.frameSizeError);
  const more = bytes.readUInt32BE(from) & 0x7fffffff;
  // RFC 9113 §6.9 and §6.9.1: an increment of 0 is a different error from an overflow.
  const code = more === 0 ? errorCodes.protocolError : errorCodes.flowControlError;
  if (streamId === 0) {
    const before = connection.sendWindowBytes;
    connection.sendWindowBytes += more;
    if (more === 0 || connection.sendWindowBytes > maxWindowBytes) throw broken('a wrong window', code);
    connection.hasSpaceNews = true;
    // While the window was open, no body waited for it.
    if (before <= 0) sendWaitingBodies(connection);
    return;
  }
  assertUsed(connection, streamId);
  const { streams } = connection;
  const slot = streams.slotOf(streamId);
  if (slot < 0) return;
  const windowBytes = streams.sendWindows[slot]! + more;
  streams.sendWindows[slot] = windowBytes;
  if (more === 0 || windowBytes > maxWindowBytes)
    return sendReset(connection, slot, { code, answer: lost('a wrong window') });
  if (streams.details[slot]?.pending) sendBody(connection, slot);
}

/**
 * Rejects a frame on an unused stream. Even-numbered streams belong to the peer, which has none; future streams are idle
 * (RFC 9113 §5.1).
 */
function assertUsed({ streams }: ConnectionState, streamId: number): void {
  if (streamId % 2 === 0 || streamId >= streams.nextId) throw broken(`a frame on stream ${streamId}, which is idle`);
}

/** @throws ConnectionError, HpackError */
function receiveHeaders(connection: ConnectionState, frame: Frame): void {
  dropPadding(frame);
  if ((frame.flags & flags.priority) !== 0) {
    if (frame.to - frame.from < 5) throw broken('HEADERS too short', errorCodes.frameSizeError);
    frame.from += 5;
  }
  const isLast = (frame.flags & flags.endStream) !== 0;
  if ((frame.flags & flags.endHeaders) === 0) {
    connection.block = { streamId: frame.streamId, isLast, pieces: [], bytes: 0 };
    addToBlock(connection.block, frame);
    return;
  }
  const slot = connection.streams.slotOf(frame.streamId);
  if (slot >= 0 && receiveSuccess(connection, slot, frame)) {
    if (isLast) endStream(connection, slot);
    return;
  }
  receiveBlock(connection, { streamId: frame.streamId, isLast, bytes: payloadOf(frame) });
}

/**
 * Stores a success status without decoding the headers, unless the listener reads them. Nearly all responses succeed.
 *
 * @returns false if the headers must be decoded
 */
function receiveSuccess({ streams }: ConnectionState, slot: number, frame: Frame): boolean {
  if (streams.statuses[slot] !== 0 || streams.listeners[slot]!.reads === 'all') return false;
  const status = findSuccess(frame.bytes, frame.from, frame.to);
  streams.statuses[slot] = status;
  return status !== 0;
}

/** @throws ConnectionError, HpackError */
function receiveContinuation(connection: ConnectionState, frame: Frame): void {
  const { block } = connection;
  if (!block) throw broken('CONTINUATION of nothing');
  addToBlock(block, frame);
  if ((frame.flags & flags.endHeaders) === 0) return;
  connection.block = undefined;
  receiveBlock(connection, { ...block, bytes: Buffer.concat(block.pieces) });
}

function addToBlock(block: HeaderBlock, frame: Frame): void {
  block.pieces.push(Buffer.from(payloadOf(frame)));
  block.bytes += frame.to - frame.from;
  if (block.bytes > maxBlockBytes || block.pieces.length > 100)
    throw broken('headers without end', errorCodes.enhanceYourCalm);
}

type WholeBlock = { streamId: number; isLast: boolean; bytes: Buffer };

function receiveBlock(connection: ConnectionState, { streamId, isLast, bytes }: WholeBlock): void {
  // Blocks of closed streams are decoded too: a fault in one breaks the connection.
  const headers = decodeHeaders(bytes);
  const { streams } = connection;
  const slot = streams.slotOf(streamId);
  if (slot < 0) return;
  // Push services do not use trailers.
  if (streams.statuses[slot] === 0) {
    const status = statusOf(headers);
    // 103 and similar responses come before the final response and do not end the stream (RFC 9113 §8.1).
    if (status === 0 || (status < 200 && isLast)) {
      const answer = lost('an answer without a status');
      return sendReset(connection, slot, { code: errorCodes.protocolError, answer });
    }
    if (status < 200) return;
    streams.statuses[slot] = status;
    if (!ignoresHeaders(connection, slot)) streams.detailOf(slot).headers = joinHeaders(headers);
  }
  if (isLast) endStream(connection, slot);
}

/** True if the listener reads no headers of this response. */
function ignoresHeaders({ streams }: ConnectionState, slot: number): boolean {
  return streams.listeners[slot]!.reads !== 'all' && isSuccess(streams.statuses[slot]!);
}

/** Returns a status of three digits (RFC 9110 §15), or 0. */
function statusOf(headers: [string, string][]): number {
  const status = headers.find(([name]) => name === ':status')?.[1] ?? '';
  return /^[1-9]\d\d$/.test(status) ? Number(status) : 0;
}

/** Joins repeated headers into one list (RFC 9110 §5.2). Header names of HTTP/2 are lower-case. */
function joinHeaders(list: [string, string][]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of list) {
    if (name.startsWith(':') || name === '__proto__') continue;
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** Ends a stream after its response is complete. */
function endStream(connection: ConnectionState, slot: number): void {
  if (isAccepted(connection, slot)) acceptStream(connection, slot);
  else settleStream(connection, slot, toAnswer(connection, slot));
}

/**
 * Ends a stream that broke off. A 2xx status is conclusive without the body. Any other response is treated as missing, because
 * its outcome depends on the body.
 */
export function breakStream(connection: ConnectionState, slot: number, detail: string): void {
  if (isSuccess(connection.streams.statuses[slot]!)) endStream(connection, slot);
  else settleStream(connection, slot, lost(detail));
}
