import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../provider.ts';
import type { ConnectionState } from './connection-state.ts';

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
