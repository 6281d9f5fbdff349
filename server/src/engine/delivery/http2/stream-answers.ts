import type { Answer } from '../provider.ts';
import type { ClientStream } from './connection-state.ts';

/** The interesting answers have a few hundred bytes; a hostile push service could send without end. */
export const maxBodyBytes = 64 * 1024;

export function toAnswer(stream: ClientStream): Answer {
  const body = Buffer.concat(stream.body).toString('utf8');
  return { kind: 'answer', status: stream.status, headers: stream.headers!, body };
}

/**
 * The response of a stream that broke off. A 2xx status is conclusive without the body; any other response is treated
 * as missing, because its body would decide.
 */
export function toBrokenAnswer(stream: ClientStream, detail: string): Answer {
  return stream.headers && stream.status >= 200 && stream.status < 300 ? toAnswer(stream) : lost(detail);
}

export function unsent(detail: string): Answer {
  return { kind: 'failure', certainty: 'unsent', reason: 'refused', detail };
}

export function lost(detail: string): Answer {
  return { kind: 'failure', certainty: 'unknown', reason: 'reset', detail };
}

export const timedOut: Answer = {
  kind: 'failure',
  certainty: 'unknown',
  reason: 'timeout',
  detail: 'no answer in time',
};
