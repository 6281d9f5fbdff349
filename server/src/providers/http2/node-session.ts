import { connect, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Answer } from '../provider.ts';
import { maxStreams } from './connection-state.ts';
import { openHttp1Session } from './http1-session.ts';
import { openSocket, speaksHttp1, untilConnected } from './open-socket.ts';
import { toHeaders } from './requests.ts';
import type { OutgoingRequest } from './requests.ts';
import { notifyListener, isSuccess, joinHeaders, lost, maxBodyBytes, timedOut, unsent } from './session.ts';
import type { OpenSession, Session, SessionOptions } from './session.ts';

const pingMilliseconds = 60_000;
const idleMilliseconds = 10 * 60_000;

/** Like `openHttp2Session`, but with Node's own HTTP/2, which makes a stream object for each request. */
export const openNodeSession: OpenSession = async (target, options) => {
  const begunAt = performance.now();
  const { allowedNetworks, proxy, connectMilliseconds } = options;
  const socket = await openSocket(target, { allowedNetworks, proxy, connectMilliseconds });
  const remaining = Math.max(0, connectMilliseconds - (performance.now() - begunAt));
  const limit = setTimeout(() => socket.destroy(new Error('no connection in time')), remaining);
  try {
    await untilConnected(socket);
    if (speaksHttp1(socket)) return await openHttp1Session(socket, { ...options, origin: target.origin });
    return await greet(connect(target.origin, { createConnection: () => socket, settings: { enablePush: false } }), {
      ...options,
      authority: new URL(target.origin).host,
    });
  } finally {
    clearTimeout(limit);
  }
};

/** Waits for the peer's SETTINGS, which say how many streams it allows. Some are allowed from the start. */
async function greet(session: ClientHttp2Session, options: SessionOptions & { authority: string }): Promise<Session> {
  return new Promise((resolve, reject) => {
    let detail = 'the connection was closed';
    session.on('error', (error) => {
      detail = error.message;
      options.log.debug({ err: error, authority: options.authority }, 'http2 session failed');
    });
    session.once('remoteSettings', () => resolve(attach(session, options)));
    session.once('close', () => {
      reject(new Error(detail));
      options.onClosed();
    });
  });
}

function attach(session: ClientHttp2Session, options: SessionOptions): Session {
  const { requestMilliseconds } = options;
  let openStreams = 0;
  let idleSince = performance.now();
  let isLeaving = false;
  const isIdle = (): boolean => openStreams === 0 && performance.now() - idleSince > idleMilliseconds;
  const probe = startKeepAlive(session, { isIdle, milliseconds: options.connectMilliseconds });

  // The socket of an idle session must not keep a stopping process alive.
  session.unref();
  session.on('remoteSettings', options.onSpace);
  session.on('goaway', () => {
    isLeaving = true;
    options.onSpace();
  });

  function send(request: OutgoingRequest): void {
    const { listener, ticket } = request;
    const stream = session.request({ ':method': 'POST', ':path': request.path, ...toHeaders(request) });
    openStreams += 1;
    if (openStreams === 1) session.ref();
    const limit = setTimeout(() => {
      settle(timedOut);
      stream.close(constants.NGHTTP2_CANCEL);
      probe();
    }, requestMilliseconds);
    let isSettled = false;
    const settle = (answer: Answer): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(limit);
      notifyListener({ listener, ticket }, answer);
    };
    readAnswer(stream, settle);
    stream.once('close', () => {
      openStreams -= 1;
      idleSince = performance.now();
      if (openStreams === 0 && !session.destroyed) session.unref();
      options.onSpace();
    });
    // The caller may overwrite its bytes as soon as this returns.
    stream.end(Buffer.from(request.body));
  }

  const hasFreeStream = (): boolean =>
    !isLeaving &&
    !session.closed &&
    !session.destroyed &&
    openStreams < Math.min(maxStreams, session.remoteSettings.maxConcurrentStreams ?? maxStreams);
  return {
    protocol: 'h2',
    send(request) {
      try {
        send(request);
      } catch (error) {
        const { listener, ticket } = request;
        queueMicrotask(() => listener.onAnswer(ticket, unsent((error as Error).message)));
      }
    },
    hasFreeStream,
    hasSpace: hasFreeStream,
    openStreams: () => openStreams,
    isLeaving: () => isLeaving || session.closed || session.destroyed,
    close: () => session.close(),
    closeGracefully: (milliseconds) => closeSessionInTime(session, milliseconds),
  };
}

/**
 * Pings the peer once a minute, and closes an idle session. A session whose peer does not answer is ended: the peer is gone,
 * though its connection may look open for ever. @returns a function that pings at once
 */
function startKeepAlive(
  session: ClientHttp2Session,
  { isIdle, milliseconds }: { isIdle: () => boolean; milliseconds: number },
): () => void {
  let limit: NodeJS.Timeout | undefined;
  const ping = setInterval(() => {
    if (isIdle()) session.close();
    else probe();
  }, pingMilliseconds);
  ping.unref();
  session.once('close', () => {
    clearInterval(ping);
    clearTimeout(limit);
  });
  const probe = (): void => {
    if (limit !== undefined || session.destroyed) return;
    limit = setTimeout(() => session.destroy(new Error('a ping without answer')), milliseconds);
    session.ping(() => {
      clearTimeout(limit);
      limit = undefined;
    });
  };
  return probe;
}

/** Lets the open requests finish, and breaks off those that are left after this time. */
async function closeSessionInTime(session: ClientHttp2Session, milliseconds: number): Promise<void> {
  if (session.destroyed) return;
  await new Promise<void>((resolve) => {
    const limit = setTimeout(() => session.destroy(), milliseconds);
    session.once('close', () => {
      clearTimeout(limit);
      resolve();
    });
    session.close();
  });
}

/** Reads the response as our own client does: up to 64 KB of its body and, if the stream broke off, only what is certain. */
function readAnswer(stream: ClientHttp2Stream, settle: (answer: Answer) => void): void {
  let status = 0;
  let headers: Record<string, string> = {};
  let detail = 'the stream was closed';
  const body: Buffer[] = [];
  let bodyBytes = 0;
  const toAnswer = (): Answer => ({ kind: 'answer', status, headers, body: Buffer.concat(body).toString('utf8') });
  stream.on('response', (received) => {
    status = received[':status'] ?? 0;
    headers = joinHeaders(received);
  });
  stream.on('data', (piece: Buffer) => {
    const kept = Math.min(piece.length, maxBodyBytes - bodyBytes);
    if (kept > 0) body.push(piece.subarray(0, kept));
    bodyBytes += kept;
  });
  stream.on('error', (error) => (detail = error.message));
  stream.once('end', () => {
    if (status !== 0 && stream.rstCode === constants.NGHTTP2_NO_ERROR) settle(toAnswer());
  });
  stream.once('close', () => {
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) settle(unsent('the stream was refused'));
    else if (isSuccess(status) || (status !== 0 && stream.rstCode === constants.NGHTTP2_NO_ERROR)) settle(toAnswer());
    // Without a stream number, the request was never sent.
    else settle(stream.id === undefined ? unsent(detail) : lost(detail));
  });
}
