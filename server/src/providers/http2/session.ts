import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../../log.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';
import type { Answer } from '../provider.ts';
import type { ConnectionState } from './connection-state.ts';
import type { Http2Target } from './open-socket.ts';
import type { OutgoingRequest } from './requests.ts';

/**
 * A connection that is ready for requests: HTTP/2 through our client (`http2-session.ts`) or Node's (`node-session.ts`), or
 * HTTP/1.1 (`http1-session.ts`), which counts as one stream.
 */
export type Session = {
  readonly protocol: 'h2' | 'http/1.1';
  /** Requires a free stream. */
  send(request: OutgoingRequest): void;
  hasFreeStream(): boolean;
  /** True if a stream is free and the peer accepts body bytes, so that a request is sent immediately. */
  hasSpace(): boolean;
  openStreams(): number;
  /** True if no new requests are accepted: GOAWAY was received or the session is closing. */
  isLeaving(): boolean;
  close(): void;
  closeGracefully(milliseconds: number): Promise<void>;
};

export type SessionOptions = {
  log: Logger;
  allowedNetworks: readonly string[];
  proxy: OutgoingProxy | undefined;
  /** Limit until requests can be sent; with HTTP/2, until the peer's SETTINGS were received. */
  connectMilliseconds: number;
  requestMilliseconds: number;
  /** Called when streams ended or a limit changed. */
  onSpace: () => void;
  onClosed: () => void;
};

/** @throws the connection's error, AddressBlockedError, ProxyError, or a time-out after `connectMilliseconds` */
export type OpenSession = (target: Http2Target, options: SessionOptions) => Promise<Session>;

type Ending = { milliseconds: number; close: () => void };

/** Waits this long for open streams to end, then destroys the connection. */
export async function closeInTime(socket: Socket, { milliseconds, close }: Ending): Promise<void> {
  if (socket.destroyed) return;
  await new Promise<void>((resolve) => {
    const limit = setTimeout(() => socket.destroy(), milliseconds);
    socket.once('close', () => {
      clearTimeout(limit);
      resolve();
    });
    close();
  });
}

/** Passes a complete answer to a listener, reduced to the parts that it reads. */
export function notifyListener(
  { listener, ticket }: Pick<OutgoingRequest, 'listener' | 'ticket'>,
  answer: Answer,
): void {
  if (listener.reads === 'all' || answer.kind === 'failure' || !isSuccess(answer.status))
    listener.onAnswer(ticket, answer);
  else if (listener.reads === 'failures') listener.onAccepted(ticket, answer.status);
  else listener.onAnswer(ticket, { ...answer, headers: {} });
}

/** Useful responses have a few hundred bytes; a hostile push service could send without end. */
export const maxBodyBytes = 64 * 1024;

export function toAnswer({ streams }: ConnectionState, slot: number): Answer {
  const detail = streams.details[slot];
  const body = detail === undefined || detail.body.length === 0 ? '' : textOf(detail.body);
  return { kind: 'answer', status: streams.statuses[slot]!, headers: detail?.headers ?? {}, body };
}

function textOf(pieces: Buffer[]): string {
  return (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString('utf8');
}

/** True if the status alone decides: it is a 2xx, and the listener reads no more of it. */
export function isAccepted({ streams }: ConnectionState, slot: number): boolean {
  return isSuccess(streams.statuses[slot]!) && streams.listeners[slot]!.reads === 'failures';
}

/** Joins repeated headers into one list (RFC 9110 §5.2), without those of HTTP/2 itself. */
export function joinHeaders(received: IncomingHttpHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(received))
    if (!name.startsWith(':') && name !== '__proto__' && value !== undefined)
      headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return headers;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function unsent(detail: string): Answer {
  return { kind: 'failure', certainty: 'unsent', reason: 'refused', detail };
}

export function lost(detail: string): Answer {
  return { kind: 'failure', certainty: 'unknown', reason: 'reset', detail };
}

export const timedOut = {
  kind: 'failure',
  certainty: 'unknown',
  reason: 'timeout',
  detail: 'no answer in time',
} as const satisfies Answer;
