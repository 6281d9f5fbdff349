import { maxStreams, settleStream } from './connection-state.ts';
import type { ConnectionState } from './connection-state.ts';
import {
  broken,
  errorCodes,
  flags,
  frameBytes,
  frameTypes,
  maxWindowBytes,
  settingIds,
  withoutPadding,
} from './frames.ts';
import type { Frame } from './frames.ts';
import { receiveContinuation, receiveHeaders } from './receive-headers.ts';
import {
  answerPing,
  receiveWindowBytes,
  renewConnectionWindow,
  renewStreamWindow,
  sendBody,
  sendReset,
  sendSettingsAcknowledgement,
  sendWaitingBodies,
} from './send-frames.ts';
import { lost, maxBodyBytes, toAnswer, toBrokenAnswer, unsent } from './stream-answers.ts';

/** @throws ConnectionError, HpackError when the peer breaks the protocol */
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
      // Unknown types and PRIORITY mean nothing to a client (RFC 9113 §5.5).
      return undefined;
  }
}

function receiveData(connection: ConnectionState, frame: Frame): void {
  assertUsed(connection, frame.streamId);
  // Padding counts too (RFC 9113 §6.1), and so do streams that are closed by now.
  connection.unacknowledgedBytes += frame.payload.length;
  if (connection.unacknowledgedBytes > receiveWindowBytes)
    throw broken('more than the window', errorCodes.flowControlError);
  renewConnectionWindow(connection);
  const data = withoutPadding(frame);
  const stream = connection.streams.get(frame.streamId);
  if (!stream) return;
  if (!stream.headers)
    return sendReset(stream, { code: errorCodes.protocolError, answer: lost('a body without headers') });
  const freeBytes = maxBodyBytes - stream.bodyBytes;
  if (freeBytes > 0) stream.body.push(Buffer.from(data.subarray(0, freeBytes)));
  stream.bodyBytes += Math.min(freeBytes, data.length);
  if ((frame.flags & flags.endStream) !== 0) return settleStream(stream, toAnswer(stream));
  // What is beyond is read and dropped, as long as the request may take: some servers count the rest of a cancelled
  // answer against the connection for ever, and in the end refuse every new stream (Node's does at 10 MB).
  stream.unacknowledgedBytes += frame.payload.length;
  renewStreamWindow(stream);
}

function receiveReset(connection: ConnectionState, { streamId, payload }: Frame): void {
  assertUsed(connection, streamId);
  if (payload.length !== 4) throw broken('RST_STREAM of a wrong length', errorCodes.frameSizeError);
  const stream = connection.streams.get(streamId);
  if (!stream) return;
  const code = payload.readUInt32BE(0);
  // REFUSED_STREAM promises that nothing was processed (RFC 9113 §8.7).
  if (code === errorCodes.refusedStream) return settleStream(stream, unsent('the stream was refused'));
  settleStream(stream, toBrokenAnswer(stream, `the stream ended with code ${code}`));
}

function receiveSettings(connection: ConnectionState, { streamId, flags: given, payload }: Frame): void {
  const isAcknowledgement = (given & flags.ack) !== 0;
  if (streamId !== 0 || payload.length % 6 !== 0 || (isAcknowledgement && payload.length > 0))
    throw broken('SETTINGS of a wrong form', errorCodes.frameSizeError);
  if (isAcknowledgement) {
    if (!connection.isReady) throw broken('the first frame is an acknowledgement');
    return;
  }
  for (let place = 0; place < payload.length; place += 6)
    applySetting(connection, { id: payload.readUInt16BE(place), value: payload.readUInt32BE(place + 2) });
  sendSettingsAcknowledgement(connection);
  if (!connection.isReady) {
    connection.isReady = true;
    connection.on.onReady();
  }
  sendWaitingBodies(connection);
  connection.on.onFreeStream();
}

function applySetting({ encoder, peer, streams }: ConnectionState, { id, value }: { id: number; value: number }): void {
  switch (id) {
    case settingIds.headerTableSize:
      return encoder.limitTable(value);
    case settingIds.maxConcurrentStreams:
      peer.streams = Math.min(maxStreams, value);
      return;
    case settingIds.initialWindowSize:
      if (value > maxWindowBytes) throw broken('a window too large', errorCodes.flowControlError);
      for (const stream of streams.values()) stream.sendWindowBytes += value - peer.initialWindowBytes;
      peer.initialWindowBytes = value;
      return;
    case settingIds.maxFrameSize:
      if (value < frameBytes || value > 2 ** 24 - 1) throw broken('a frame size out of range');
      peer.frameBytes = value;
      return;
    case settingIds.enablePush:
      // A server may only say 0 (RFC 9113 §6.5.2).
      if (value !== 0) throw broken('a server that enables push');
      return;
    default:
  }
}

function receivePing(connection: ConnectionState, { streamId, flags: given, payload }: Frame): void {
  if (streamId !== 0) throw broken('PING on a stream');
  if (payload.length !== 8) throw broken('PING of a wrong length', errorCodes.frameSizeError);
  if ((given & flags.ack) !== 0) connection.isPinging = false;
  else answerPing(connection, payload);
}

function receiveGoaway(connection: ConnectionState, { streamId, payload }: Frame): void {
  if (streamId !== 0 || payload.length < 8) throw broken('GOAWAY of a wrong form', errorCodes.frameSizeError);
  const last = payload.readUInt32BE(0) & 0x7fffffff;
  connection.isLeaving = true;
  // Streams beyond the last one were not processed and go out again elsewhere (RFC 9113 §6.8).
  for (const stream of [...connection.streams.values()])
    if (stream.id > last) settleStream(stream, unsent('the peer goes away'));
  connection.on.onFreeStream();
}

function receiveWindowUpdate(connection: ConnectionState, { streamId, payload }: Frame): void {
  if (payload.length !== 4) throw broken('WINDOW_UPDATE of a wrong length', errorCodes.frameSizeError);
  const more = payload.readUInt32BE(0) & 0x7fffffff;
  if (streamId === 0) {
    connection.sendWindowBytes += more;
    if (more === 0 || connection.sendWindowBytes > maxWindowBytes)
      throw broken('a wrong window', errorCodes.flowControlError);
    sendWaitingBodies(connection);
    return;
  }
  assertUsed(connection, streamId);
  const stream = connection.streams.get(streamId);
  if (!stream) return;
  stream.sendWindowBytes += more;
  if (more === 0 || stream.sendWindowBytes > maxWindowBytes)
    return sendReset(stream, { code: errorCodes.flowControlError, answer: lost('a wrong window') });
  if (stream.pending) sendBody(stream);
}

/** Even-numbered streams belong to the peer, which has none; future streams are idle (RFC 9113 §5.1). */
function assertUsed({ nextStreamId }: ConnectionState, streamId: number): void {
  if (streamId % 2 === 0 || streamId >= nextStreamId) throw broken(`a frame on stream ${streamId}, which is idle`);
}
