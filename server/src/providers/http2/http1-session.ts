import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
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
 * As many connections as a target may have where each carries one request at a time: at a round trip of 50 ms some 80
 * messages a second, and less than the six that browsers open to a host.
 */
export const http1SessionsPerTarget = 4;
/** A connection that no request needed any more. undici closes a used one after as long, or as the server's Keep-Alive says. */
const unusedMilliseconds = 4_000;

/**
 * Sends requests by undici's HTTP/1.1 over a connection that is established, one after another. undici never opens a
 * connection itself: addresses are checked where the socket comes from.
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
  // At the first such server: a hundred modules, which a start would wait for.
  const { Client } = await import('undici');
  if (socket.destroyed) throw failure;
  let given: Socket | undefined = socket;
  const client = new Client(origin, {
    connect(_target, callback) {
      const first = given;
      given = undefined;
      // Later, because undici does not go on with what it has where it is called back at once.
      queueMicrotask(() => {
        // undici wants another connection for what it has not sent; the pool opens those.
        if (first === undefined || first.destroyed) callback(failure, null);
        else callback(null, first);
      });
    },
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
        // Later, because undici is in the middle of the answer, and `send` may not have returned.
        queueMicrotask(() => {
          notifyListener({ listener, ticket }, answer);
          onSpace();
        });
      });
      const limit = setTimeout(() => exchange.expire(), requestMilliseconds);
      try {
        const headers = toHeaders(request);
        // The caller may write over its bytes as soon as this returns.
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

type Exchange = {
  handler: Dispatcher.DispatchHandler;
  /** The time for the request is over. */
  expire(): void;
  /** The request is not one that can be sent. */
  refuse(error: Error): void;
};

/** Reads the answer to one request: 64 KB of its body, and of a connection that broke what is certain. Settles once. */
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
        // 103 and its like come before the answer (RFC 9110 §15.2).
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
        // A 2xx is conclusive without its body; any other answer is treated as missing, because its body would decide.
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
