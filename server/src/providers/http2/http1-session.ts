import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import type { Answer } from '../provider.ts';
import { toHeaders } from './requests.ts';
import { maxBlockBytes } from './send-frames.ts';
import {
  closeInTime,
  notifyListener,
  isSuccess,
  joinHeaders,
  lost,
  maxBodyBytes,
  timedOut,
  unsent,
} from './session.ts';
import type { Session, SessionOptions } from './session.ts';

/**
 * Maximum number of connections to a target, each of which carries one request at a time. With a round trip of 50 ms this
 * allows some 80 messages a second. Browsers open six connections to a host.
 */
export const http1SessionsPerTarget = 4;
/**
 * Time until a connection without requests is closed. undici closes a used one after the same time, or as the server's
 * Keep-Alive says.
 */
const unusedMilliseconds = 4_000;

/**
 * Sends requests one after another over an established connection, with undici's HTTP/1.1. undici never opens a connection
 * itself: addresses are checked where the socket is opened.
 *
 * @throws the connection's error if it ended meanwhile
 */
export async function openHttp1Session(
  socket: Socket,
  { origin, log, requestMilliseconds, onSpace, onClosed }: SessionOptions & { origin: string },
): Promise<Session> {
  let failure = new Error('the connection was closed');
  socket.on('error', (error) => {
    failure = error;
    log.debug({ err: error, authority: new URL(origin).host }, 'http1 session failed');
  });
  // Imported for the first HTTP/1.1 server, because a hundred modules would delay the start.
  const { Client } = await import('undici');
  if (socket.destroyed) throw failure;
  const client = new Client(origin, {
    connect: connectOnce(socket, () => failure),
    maxHeaderSize: maxBlockBytes,
    // One limit covers a request as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const unused = setTimeout(() => socket.destroySoon(), unusedMilliseconds);
  unused.unref();
  let isBusy = false;
  let isClosing = false;
  socket.on('close', () => {
    clearTimeout(unused);
    onClosed();
  });

  function close(): void {
    isClosing = true;
    if (!isBusy) socket.destroySoon();
  }
  const hasFreeStream = (): boolean => !isBusy && !isClosing && !socket.destroyed;
  return {
    protocol: 'http/1.1',
    send(request) {
      clearTimeout(unused);
      isBusy = true;
      const { listener, ticket, path } = request;
      const exchange = makeExchange((answer) => {
        clearTimeout(limit);
        isBusy = false;
        if (isClosing) close();
        // Deferred, because undici is still reading the response, and `send` may not have returned.
        queueMicrotask(() => {
          notifyListener({ listener, ticket }, answer);
          onSpace();
        });
      });
      const limit = setTimeout(() => exchange.expire(), requestMilliseconds);
      try {
        const headers = toHeaders(request);
        // The caller may overwrite its bytes as soon as this returns.
        client.dispatch({ method: 'POST', path, headers, body: Buffer.from(request.body) }, exchange.handler);
      } catch (error) {
        exchange.refuse(error as Error);
      }
    },
    hasFreeStream,
    hasSpace: hasFreeStream,
    openStreams: () => Number(isBusy),
    isLeaving: () => isClosing || socket.destroyed,
    close,
    closeGracefully: (milliseconds) => closeInTime(socket, { milliseconds, close }),
  };
}

/** Passes the socket to undici. Each further connection that undici requests fails. */
function connectOnce(socket: Socket, findFailure: () => Error): buildConnector.connector {
  let given: Socket | undefined = socket;
  return (_target, callback) => {
    const first = given;
    given = undefined;
    // Deferred, because undici does not continue with its queue if it is called back synchronously.
    queueMicrotask(() => {
      // undici requests another connection for requests it has not sent, but only the pool opens connections.
      if (first === undefined || first.destroyed) callback(findFailure(), null);
      else callback(null, first);
    });
  };
}

type Exchange = {
  handler: Dispatcher.DispatchHandler;
  /** Ends the exchange because the request's time is over. */
  expire(): void;
  /** Ends the exchange because the request cannot be sent. */
  refuse(error: Error): void;
};

/**
 * Reads the response to one request: up to 64 KB of its body and, if the connection broke, only what is certain. Settles once.
 */
function makeExchange(onAnswer: (answer: Answer) => void): Exchange {
  /** Set once undici writes the request. */
  let sent: Dispatcher.DispatchController | undefined;
  let status = 0;
  let headers: Record<string, string> = {};
  const body: Buffer[] = [];
  let bodyBytes = 0;
  let isSettled = false;
  const settle = (answer: Answer): void => {
    if (isSettled) return;
    isSettled = true;
    onAnswer(answer);
  };
  const toAnswer = (): Answer => ({ kind: 'answer', status, headers, body: Buffer.concat(body).toString('utf8') });
  const refuse = (error: Error): void => settle(unsent(error.message));
  return {
    handler: {
      onRequestStart(controller) {
        sent = controller;
      },
      onResponseStart(_controller, code, received) {
        // 103 and similar responses come before the final response (RFC 9110 §15.2).
        if (code < 200) return;
        status = code;
        headers = joinHeaders(received);
      },
      onResponseData(controller, piece) {
        const kept = piece.subarray(0, maxBodyBytes - bodyBytes);
        body.push(kept);
        bodyBytes += kept.length;
        if (kept.length === piece.length) return;
        settle(toAnswer());
        controller.abort(new Error('the answer is too long'));
      },
      onResponseEnd: () => settle(toAnswer()),
      onResponseError(_controller, error) {
        if (sent === undefined) refuse(error);
        // A 2xx is conclusive without its body. Any other response is treated as missing, because its body would decide.
        else settle(isSuccess(status) ? toAnswer() : lost(error.message));
      },
    },
    expire() {
      settle(isSuccess(status) ? toAnswer() : timedOut);
      sent?.abort(new Error(timedOut.detail));
    },
    refuse,
  };
}
