import type { Answer } from '../provider.ts';
import type { ClientStream } from './connection-state.ts';

/** The interesting answers have a few hundred bytes; a hostile push service could send without end. */
export const maxBodyBytes = 64 * 1024;

export function toAnswer(stream: ClientStream): Answer {
  const body = Buffer.concat(stream.body).toString('utf8');
  return { kind: 'answer', status: stream.status, headers: stream.headers!, body };
}

/**
 * The answer of a stream that broke off. A 2xx says what became of the message before its body does; of any other answer
 * the missing words decide, so it is as good as none.
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
