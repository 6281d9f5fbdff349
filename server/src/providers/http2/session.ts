import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../../log.ts';
import type { OutgoingProxy } from '../../outgoing/proxy.ts';
import type { Answer } from '../provider.ts';
import type { ConnectionState } from './connection-state.ts';
import type { Http2Target } from './open-socket.ts';
import type { OutgoingRequest } from './requests.ts';

/**
 * A connection that is ready for requests: HTTP/2 of ours (`http2-session.ts`) or of Node (`open-node-session.ts`), or
 * HTTP/1.1 (`http1-session.ts`), which counts as one stream.
 */
export type Session = {
  readonly protocol: 'h2' | 'http/1.1';
  /** There must be a free stream. */
  send(request: OutgoingRequest): void;
  hasFreeStream(): boolean;
  /** A free stream, and the peer takes bytes of a body: what is sent now leaves now. */
  hasSpace(): boolean;
  openStreams(): number;
  /** Takes no new requests: GOAWAY was received or the session is closing. */
  isLeaving(): boolean;
  close(): void;
  closeGracefully(milliseconds: number): Promise<void>;
};

export type SessionOptions = {
  log: Logger;
  allowedNetworks: readonly string[];
  proxy: OutgoingProxy | undefined;
  /** Until requests can be sent: with HTTP/2 until the peer's SETTINGS have come. */
  connectMilliseconds: number;
  requestMilliseconds: number;
  /** Streams ended, or a limit changed. */
  onSpace: () => void;
  onClosed: () => void;
};

/** @throws the connection's error, AddressBlockedError, ProxyError, or a time-out after `connectMilliseconds` */
export type OpenSession = (target: Http2Target, options: SessionOptions) => Promise<Session>;

type Ending = { milliseconds: number; close: () => void };

/** Lets open streams end for so long, then ends the connection under them. */
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

/** Gives a listener as much of an answer that was read as a whole as it reads. */
export function notifyListener(
  { listener, ticket }: Pick<OutgoingRequest, 'listener' | 'ticket'>,
  answer: Answer,
): void {
  if (listener.reads === 'all' || answer.kind === 'failure' || !isSuccess(answer.status))
    listener.onAnswer(ticket, answer);
  else if (listener.reads === 'failures') listener.onAccepted(ticket, answer.status);
  else listener.onAnswer(ticket, { ...answer, headers: {} });
}

/** The interesting answers have a few hundred bytes; a hostile push service could send without end. */
export const maxBodyBytes = 64 * 1024;

export function toAnswer({ streams }: ConnectionState, slot: number): Answer {
  const detail = streams.details[slot];
  const body = detail === undefined || detail.body.length === 0 ? '' : textOf(detail.body);
  return { kind: 'answer', status: streams.statuses[slot]!, headers: detail?.headers ?? {}, body };
}

function textOf(pieces: Buffer[]): string {
  return (pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)).toString('utf8');
}

/** Whether the status alone decides: the listener reads no more of a 2xx. */
export function isAccepted({ streams }: ConnectionState, slot: number): boolean {
  return isSuccess(streams.statuses[slot]!) && streams.listeners[slot]!.reads === 'failures';
}

/** Repeated headers as one list (RFC 9110 §5.2), without those of HTTP/2 itself. */
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
