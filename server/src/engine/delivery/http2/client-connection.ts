import type { Answer } from '../provider.ts';
import { lost, maxBodyBytes, timedOut, toAnswer, toBrokenAnswer, unsent } from './client-streams.ts';
import type { ClientStream } from './client-streams.ts';
import {
  ConnectionError,
  FrameReader,
  errorCodes,
  flags,
  frameBytes,
  frameHeaderBytes,
  frameTypes,
  makeFrame,
  maxWindowBytes,
  settingIds,
  usualWindowBytes,
  withoutPadding,
  writeFrameHead,
} from './frames.ts';
import type { Frame } from './frames.ts';
import { HpackError, decodeHeaders } from './hpack-decoder.ts';
import { makeHpackEncoder } from './hpack-encoder.ts';
import type { Header } from './hpack-encoder.ts';
import { makeOutgoingBytes } from './outgoing-bytes.ts';

export type ClientRequest = { headers: readonly Header[]; body: Buffer };

/** One HTTP/2 connection seen from the client, without its socket: bytes come in by `receive` and leave by `write`. */
export type ClientConnection = {
  /** Sends a request on a stream of its own; `settle` is called once, whatever happens. */
  request(request: ClientRequest, on: { deadline: number; settle: (answer: Answer) => void }): void;
  receive(bytes: Buffer): void;
  /** Gives up streams whose deadline has passed. */
  expire(now: number): void;
  ping(): void;
  /** Whether the peer has not answered the last ping. */
  isSilent(): boolean;
  /** Tells the peer that no more requests come. */
  leave(): void;
  /** The socket is gone: settles what is open. */
  end(detail: string): void;
  openStreams(): number;
  streamLimit(): number;
  /** Takes no new request: GOAWAY came or was sent, or the stream numbers are used up. */
  isLeaving(): boolean;
};

export type ClientConnectionOptions = {
  write: (bytes: Buffer) => void;
  /** The peer's first SETTINGS are here, so its limits are known. */
  onReady: () => void;
  /** A stream ended or a limit changed. */
  onFreeStream: () => void;
  /** The peer broke the protocol; GOAWAY is written, the socket is to be closed. */
  onBroken: (error: Error) => void;
};

// Without a limit in SETTINGS a peer allows any number; this many keep a connection busy without flooding memory.
const maxStreams = 1_000;
const receiveWindowBytes = 4 * 1024 * 1024;
const streamWindowBytes = 128 * 1024;
/** A header list that is spread over more is an attack (CONTINUATION flood, CVE-2024-27316). */
const maxBlockBytes = 64 * 1024;
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** RFC 9113, as far as a client of push services needs it. */
export function makeClientConnection(options: ClientConnectionOptions): ClientConnection {
  const reader = new FrameReader();
  const encoder = makeHpackEncoder();
  const streams = new Map<number, ClientStream>();
  const written: ClientStream[] = [];
  const out = makeOutgoingBytes((bytes) => {
    for (const stream of written.splice(0)) stream.isWritten = true;
    options.write(bytes);
  });
  const waiting = new Set<ClientStream>();
  const peer = { initialWindow: usualWindowBytes, frameBytes, streams: maxStreams };
  let nextId = 1;
  let sendWindow = usualWindowBytes;
  let unacknowledged = 0;
  let isReady = false;
  let isLeaving = false;
  let isEnded = false;
  let isPinging = false;
  let block: { streamId: number; flags: number; pieces: Buffer[]; bytes: number } | undefined;

  function settle(stream: ClientStream, answer: Answer): void {
    if (!streams.delete(stream.id)) return;
    waiting.delete(stream);
    stream.settle(answer);
    options.onFreeStream();
  }

  function reset(stream: ClientStream, { code, answer }: { code: number; answer: Answer }): void {
    out.add(makeFrame({ type: frameTypes.rstStream, flags: 0, streamId: stream.id }, uint32(code)));
    settle(stream, answer);
  }

  /** Writes as much of the body as both windows take; the end of an empty one needs no window (RFC 9113 §6.9). */
  function sendBody(stream: ClientStream): void {
    while (stream.pending) {
      const room = Math.min(stream.sendWindow, sendWindow, peer.frameBytes, stream.pending.length);
      if (room <= 0 && stream.pending.length > 0) {
        waiting.add(stream);
        return;
      }
      const bytes = Math.max(0, room);
      const isLast = bytes === stream.pending.length;
      const head = { type: frameTypes.data, flags: isLast ? flags.endStream : 0, streamId: stream.id };
      out.add(makeFrame(head, stream.pending.subarray(0, bytes)));
      stream.sendWindow -= bytes;
      sendWindow -= bytes;
      stream.pending = isLast ? undefined : stream.pending.subarray(bytes);
    }
    waiting.delete(stream);
  }

  function sendWaiting(): void {
    for (const stream of waiting) {
      if (sendWindow <= 0) return;
      sendBody(stream);
    }
  }

  /** Header block and, when it fits the windows, the body, in one piece of memory. */
  function sendRequest(stream: ClientStream, { headers, body }: ClientRequest): void {
    const into = out.reserve(frameHeaderBytes + frameBytes);
    const length = encoder.encode(headers, into.subarray(frameHeaderBytes));
    writeFrameHead(into, 0, { length, type: frameTypes.headers, flags: flags.endHeaders, streamId: stream.id });
    out.commit(frameHeaderBytes + length);
    stream.pending = body;
    sendBody(stream);
  }

  function onFrame(frame: Frame): void {
    if (!isReady && frame.type !== frameTypes.settings) throw broken('the first frame is not SETTINGS');
    if (block && (frame.type !== frameTypes.continuation || frame.streamId !== block.streamId))
      throw broken('a header block is interrupted');
    switch (frame.type) {
      case frameTypes.data:
        return onData(frame);
      case frameTypes.headers:
        return onHeaders(frame);
      case frameTypes.continuation:
        if (!block) throw broken('CONTINUATION of nothing');
        return addToBlock(frame.payload, frame.flags);
      case frameTypes.rstStream:
        return onReset(frame);
      case frameTypes.settings:
        return onSettings(frame);
      case frameTypes.pushPromise:
        throw broken('a push that was not allowed');
      case frameTypes.ping:
        return onPing(frame);
      case frameTypes.goaway:
        return onGoaway(frame);
      case frameTypes.windowUpdate:
        return onWindowUpdate(frame);
      default:
        // Unknown types and PRIORITY mean nothing to a client (RFC 9113 §5.5).
        return undefined;
    }
  }

  function onData(frame: Frame): void {
    assertUsed(frame.streamId);
    // Padding counts too (RFC 9113 §6.1), and so do streams that are closed by now.
    unacknowledged += frame.payload.length;
    if (unacknowledged > receiveWindowBytes) throw broken('more than the window', errorCodes.flowControlError);
    if (unacknowledged > receiveWindowBytes / 2) {
      out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: 0 }, uint32(unacknowledged)));
      unacknowledged = 0;
    }
    const data = withoutPadding(frame);
    const stream = streams.get(frame.streamId);
    if (!stream) return;
    if (!stream.headers)
      return reset(stream, { code: errorCodes.protocolError, answer: lost('a body without headers') });
    const room = maxBodyBytes - stream.bodyBytes;
    if (room > 0) stream.body.push(Buffer.from(data.subarray(0, room)));
    stream.bodyBytes += Math.min(room, data.length);
    if ((frame.flags & flags.endStream) !== 0) return settle(stream, toAnswer(stream));
    // What is beyond is read and dropped, as long as the request may take: some servers count the rest of a cancelled
    // answer against the connection for ever, and in the end refuse every new stream (Node's does at 10 MB).
    stream.unacknowledged += frame.payload.length;
    if (stream.unacknowledged <= streamWindowBytes / 2) return;
    const more = uint32(stream.unacknowledged);
    out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: stream.id }, more));
    stream.unacknowledged = 0;
  }

  function onHeaders(frame: Frame): void {
    assertUsed(frame.streamId);
    let payload = withoutPadding(frame);
    if ((frame.flags & flags.priority) !== 0) {
      if (payload.length < 5) throw broken('HEADERS too short', errorCodes.frameSizeError);
      payload = payload.subarray(5);
    }
    block = { streamId: frame.streamId, flags: frame.flags, pieces: [], bytes: 0 };
    addToBlock(payload, frame.flags);
  }

  function addToBlock(piece: Buffer, given: number): void {
    block!.pieces.push(Buffer.from(piece));
    block!.bytes += piece.length;
    if (block!.bytes > maxBlockBytes || block!.pieces.length > 100)
      throw broken('headers without end', errorCodes.enhanceYourCalm);
    if ((given & flags.endHeaders) === 0) return;
    const { streamId, pieces, flags: first } = block!;
    block = undefined;
    const stream = streams.get(streamId);
    const headers = decodeHeaders(Buffer.concat(pieces));
    if (stream) onHeaderList(stream, { headers, isLast: (first & flags.endStream) !== 0 });
  }

  function onHeaderList(
    stream: ClientStream,
    { headers, isLast }: { headers: [string, string][]; isLast: boolean },
  ): void {
    // Trailers say nothing that a push service uses.
    if (!stream.headers) {
      const status = Number(headers.find(([name]) => name === ':status')?.[1]);
      if (!Number.isInteger(status) || status < 100 || status > 999)
        return reset(stream, { code: errorCodes.protocolError, answer: lost('an answer without a status') });
      // 103 and its like come before the answer (RFC 9113 §8.1).
      if (status < 200 && !isLast) return;
      stream.status = status;
      stream.headers = joinHeaders(headers);
    }
    if (isLast) settle(stream, toAnswer(stream));
  }

  function onReset({ streamId, payload }: Frame): void {
    assertUsed(streamId);
    if (payload.length !== 4) throw broken('RST_STREAM of a wrong length', errorCodes.frameSizeError);
    const stream = streams.get(streamId);
    if (!stream) return;
    const code = payload.readUInt32BE(0);
    // REFUSED_STREAM promises that nothing was processed (RFC 9113 §8.7).
    if (code === errorCodes.refusedStream) return settle(stream, unsent('the stream was refused'));
    settle(stream, toBrokenAnswer(stream, `the stream ended with code ${code}`));
  }

  function onSettings({ streamId, flags: given, payload }: Frame): void {
    if (streamId !== 0 || payload.length % 6 !== 0 || ((given & flags.ack) !== 0 && payload.length > 0))
      throw broken('SETTINGS of a wrong form', errorCodes.frameSizeError);
    if ((given & flags.ack) !== 0) {
      if (!isReady) throw broken('the first frame is an acknowledgement');
      return;
    }
    for (let place = 0; place < payload.length; place += 6)
      applySetting(payload.readUInt16BE(place), payload.readUInt32BE(place + 2));
    out.add(makeFrame({ type: frameTypes.settings, flags: flags.ack, streamId: 0 }, Buffer.alloc(0)));
    if (!isReady) {
      isReady = true;
      options.onReady();
    }
    sendWaiting();
    options.onFreeStream();
  }

  function applySetting(id: number, value: number): void {
    switch (id) {
      case settingIds.headerTableSize:
        return encoder.limitTable(value);
      case settingIds.maxConcurrentStreams:
        peer.streams = Math.min(maxStreams, value);
        return;
      case settingIds.initialWindowSize:
        if (value > maxWindowBytes) throw broken('a window too large', errorCodes.flowControlError);
        for (const stream of streams.values()) stream.sendWindow += value - peer.initialWindow;
        peer.initialWindow = value;
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

  function onPing({ streamId, flags: given, payload }: Frame): void {
    if (streamId !== 0) throw broken('PING on a stream');
    if (payload.length !== 8) throw broken('PING of a wrong length', errorCodes.frameSizeError);
    if ((given & flags.ack) !== 0) isPinging = false;
    else out.add(makeFrame({ type: frameTypes.ping, flags: flags.ack, streamId: 0 }, payload));
  }

  function onGoaway({ streamId, payload }: Frame): void {
    if (streamId !== 0 || payload.length < 8) throw broken('GOAWAY of a wrong form', errorCodes.frameSizeError);
    const last = payload.readUInt32BE(0) & 0x7fffffff;
    isLeaving = true;
    // Streams beyond the last one were not processed and go out again elsewhere (RFC 9113 §6.8).
    for (const stream of [...streams.values()]) if (stream.id > last) settle(stream, unsent('the peer goes away'));
    options.onFreeStream();
  }

  function onWindowUpdate({ streamId, payload }: Frame): void {
    if (payload.length !== 4) throw broken('WINDOW_UPDATE of a wrong length', errorCodes.frameSizeError);
    const more = payload.readUInt32BE(0) & 0x7fffffff;
    if (streamId === 0) {
      sendWindow += more;
      if (more === 0 || sendWindow > maxWindowBytes) throw broken('a wrong window', errorCodes.flowControlError);
      sendWaiting();
      return;
    }
    assertUsed(streamId);
    const stream = streams.get(streamId);
    if (!stream) return;
    stream.sendWindow += more;
    if (more === 0 || stream.sendWindow > maxWindowBytes)
      return reset(stream, { code: errorCodes.flowControlError, answer: lost('a wrong window') });
    if (stream.pending) sendBody(stream);
  }

  /** Streams of even number are the peer's, which has none; those to come are idle (RFC 9113 §5.1). */
  function assertUsed(streamId: number): void {
    if (streamId % 2 === 0 || streamId >= nextId) throw broken(`a frame on stream ${streamId}, which is idle`);
  }

  function breakOff(error: Error): void {
    const code =
      error instanceof ConnectionError
        ? error.code
        : error instanceof HpackError
          ? errorCodes.compressionError
          : errorCodes.internalError;
    goAway(code);
    out.flush();
    end(error.message);
    options.onBroken(error);
  }

  function goAway(code: number): void {
    isLeaving = true;
    const payload = Buffer.concat([uint32(0), uint32(code)]);
    out.add(makeFrame({ type: frameTypes.goaway, flags: 0, streamId: 0 }, payload));
  }

  function end(detail: string): void {
    isLeaving = true;
    isEnded = true;
    for (const stream of [...streams.values()])
      settle(stream, stream.isWritten ? toBrokenAnswer(stream, detail) : unsent(detail));
  }

  out.add(preface);
  out.add(makeFrame({ type: frameTypes.settings, flags: 0, streamId: 0 }, ownSettings()));
  const more = receiveWindowBytes - usualWindowBytes;
  out.add(makeFrame({ type: frameTypes.windowUpdate, flags: 0, streamId: 0 }, uint32(more)));

  return {
    request(request, { deadline, settle: settleRequest }) {
      const stream: ClientStream = {
        id: nextId,
        settle: settleRequest,
        deadline,
        sendWindow: peer.initialWindow,
        pending: undefined,
        isWritten: false,
        status: 0,
        headers: undefined,
        body: [],
        bodyBytes: 0,
        unacknowledged: 0,
      };
      try {
        if (isLeaving) throw new Error('the connection is ending');
        nextId += 2;
        if (nextId > maxWindowBytes) isLeaving = true;
        streams.set(stream.id, stream);
        written.push(stream);
        sendRequest(stream, request);
      } catch (error) {
        // Nothing of it was written: the header block did not come to be.
        streams.delete(stream.id);
        settleRequest(unsent((error as Error).message));
      }
    },
    receive(bytes) {
      if (isEnded) return;
      try {
        for (const frame of reader.push(bytes)) onFrame(frame);
      } catch (error) {
        breakOff(error as Error);
      }
    },
    expire(now) {
      // Streams are in the order of their deadlines, because all wait equally long.
      for (const stream of streams.values()) {
        if (stream.deadline > now) return;
        reset(stream, { code: errorCodes.cancel, answer: timedOut });
      }
    },
    ping() {
      isPinging = true;
      out.add(makeFrame({ type: frameTypes.ping, flags: 0, streamId: 0 }, Buffer.alloc(8)));
    },
    isSilent: () => isPinging,
    leave() {
      goAway(errorCodes.noError);
      out.flush();
    },
    end,
    openStreams: () => streams.size,
    streamLimit: () => (isReady ? peer.streams : 0),
    isLeaving: () => isLeaving,
  };
}

function broken(message: string, code: number = errorCodes.protocolError): ConnectionError {
  return new ConnectionError(code, message);
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

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
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
