import type { ConnectionState, HeaderBlock } from './connection-state.ts';
import { endStream } from './end-streams.ts';
import { broken, dropPadding, errorCodes, flags, payloadOf } from './frames.ts';
import type { Frame } from './frames.ts';
import { decodeHeaders, findSuccess } from './hpack-decoder.ts';
import { maxBlockBytes, sendReset } from './send-frames.ts';
import { isSuccess, lost } from './stream-answers.ts';

/** @throws ConnectionError, HpackError */
export function receiveHeaders(connection: ConnectionState, frame: Frame): void {
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

/** The answer that nearly all requests get, when no more of it is read than that: found without decoding a text. */
function receiveSuccess({ streams }: ConnectionState, slot: number, frame: Frame): boolean {
  if (streams.statuses[slot] !== 0 || streams.listeners[slot]!.reads === 'all') return false;
  const status = findSuccess(frame.bytes, frame.from, frame.to);
  streams.statuses[slot] = status;
  return status !== 0;
}

/** @throws ConnectionError, HpackError */
export function receiveContinuation(connection: ConnectionState, frame: Frame): void {
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
  // Decoded for a stream that is gone as well: what it breaks is the connection's.
  const headers = decodeHeaders(bytes);
  const { streams } = connection;
  const slot = streams.slotOf(streamId);
  if (slot < 0) return;
  // Push services do not use trailers.
  if (streams.statuses[slot] === 0) {
    const status = statusOf(headers);
    // 103 and its like come before the answer, and end nothing (RFC 9113 §8.1).
    if (status === 0 || (status < 200 && isLast)) {
      const answer = lost('an answer without a status');
      return sendReset(connection, slot, { code: errorCodes.protocolError, answer });
    }
    if (status < 200) return;
    streams.statuses[slot] = status;
    if (!passesOver(connection, slot)) streams.detailOf(slot).headers = joinHeaders(headers);
  }
  if (isLast) endStream(connection, slot);
}

/** Whether the listener reads no headers of this answer. */
function passesOver({ streams }: ConnectionState, slot: number): boolean {
  return streams.listeners[slot]!.reads !== 'all' && isSuccess(streams.statuses[slot]!);
}

/** Three digits (RFC 9110 §15), or 0. */
function statusOf(headers: [string, string][]): number {
  const status = headers.find(([name]) => name === ':status')?.[1] ?? '';
  return /^[1-9]\d\d$/.test(status) ? Number(status) : 0;
}

/** Repeated headers as one list (RFC 9110 §5.2); names of HTTP/2 are lower-case. */
function joinHeaders(list: [string, string][]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of list) {
    if (name.startsWith(':') || name === '__proto__') continue;
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
