import { settleStream } from './connection-state.ts';
import type { ClientStream, ConnectionState, HeaderBlock } from './connection-state.ts';
import { broken, errorCodes, flags, withoutPadding } from './frames.ts';
import type { Frame } from './frames.ts';
import { decodeHeaders } from './hpack-decoder.ts';
import { maxBlockBytes, sendReset } from './send-frames.ts';
import { lost, toAnswer } from './stream-answers.ts';

/** @throws ConnectionError, HpackError */
export function receiveHeaders(connection: ConnectionState, frame: Frame): void {
  let payload = withoutPadding(frame);
  if ((frame.flags & flags.priority) !== 0) {
    if (payload.length < 5) throw broken('HEADERS too short', errorCodes.frameSizeError);
    payload = payload.subarray(5);
  }
  const isLast = (frame.flags & flags.endStream) !== 0;
  connection.block = { streamId: frame.streamId, isLast, pieces: [], bytes: 0 };
  addToBlock(connection.block, payload);
  if ((frame.flags & flags.endHeaders) !== 0) endBlock(connection, connection.block);
}

/** @throws ConnectionError, HpackError */
export function receiveContinuation(connection: ConnectionState, frame: Frame): void {
  const { block } = connection;
  if (!block) throw broken('CONTINUATION of nothing');
  addToBlock(block, frame.payload);
  if ((frame.flags & flags.endHeaders) !== 0) endBlock(connection, block);
}

function addToBlock(block: HeaderBlock, piece: Buffer): void {
  block.pieces.push(Buffer.from(piece));
  block.bytes += piece.length;
  if (block.bytes > maxBlockBytes || block.pieces.length > 100)
    throw broken('headers without end', errorCodes.enhanceYourCalm);
}

function endBlock(connection: ConnectionState, { streamId, isLast, pieces }: HeaderBlock): void {
  connection.block = undefined;
  const stream = connection.streams.get(streamId);
  // Decoded for a stream that is gone as well: what it breaks is the connection's.
  const headers = decodeHeaders(Buffer.concat(pieces));
  if (stream) receiveHeaderList(stream, { headers, isLast });
}

function receiveHeaderList(
  stream: ClientStream,
  { headers, isLast }: { headers: [string, string][]; isLast: boolean },
): void {
  // Push services do not use trailers.
  if (!stream.headers) {
    const status = Number(headers.find(([name]) => name === ':status')?.[1]);
    if (!Number.isInteger(status) || status < 100 || status > 999)
      return sendReset(stream, { code: errorCodes.protocolError, answer: lost('an answer without a status') });
    // 103 and its like come before the answer (RFC 9113 §8.1).
    if (status < 200 && !isLast) return;
    stream.status = status;
    stream.headers = joinHeaders(headers);
  }
  if (isLast) settleStream(stream, toAnswer(stream));
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
