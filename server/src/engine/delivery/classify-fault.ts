import type { Answer, Outcome, ProxyReason } from './provider.ts';
import { retryAfterSeconds } from './retry-after.ts';

export type HttpAnswer = Extract<Answer, { kind: 'answer' }>;
type Failure = Extract<Answer, { kind: 'failure' }>;

const proxyCodes: Record<ProxyReason, string> = {
  'proxy-unreachable': 'PROXY_UNREACHABLE',
  'proxy-refused': 'PROXY_REFUSED',
  'proxy-auth': 'PROXY_AUTH',
};

/**
 * What no answer means, for every provider: no connection, or no way through the proxy → unreached; surely not sent → wait;
 * maybe sent → unknown; a blocked address → dead. A host that the settings do not list is no fault of the device's.
 */
export function classifyFailure(failure: Failure): Outcome {
  if (failure.reason === 'address-blocked') return { kind: 'gone', code: 'ADDRESS_BLOCKED' };
  if (failure.reason === 'host-not-allowed')
    return { kind: 'rejected', code: 'HOST_NOT_ALLOWED', detail: failure.detail };
  if (failure.reason in proxyCodes) return { kind: 'unreached', code: proxyCodes[failure.reason as ProxyReason] };
  if (failure.reason === 'unreachable') return { kind: 'unreached', code: 'NOT_CONNECTED' };
  if (failure.reason === 'unresolved') return { kind: 'unreached', code: 'HOST_NOT_FOUND' };
  if (failure.certainty === 'unsent') return { kind: 'wait', code: 'NOT_SENT', scope: 'device' };
  return { kind: 'unknown', code: failure.reason === 'timeout' ? 'TIMEOUT' : 'RESET' };
}

/** A server's own trouble, whatever its body says (a proxy may answer with HTML): wait, as long as it asks. */
export function classifyServerFault(answer: HttpAnswer, now: Date): Extract<Outcome, { kind: 'wait' }> {
  return { kind: 'wait', code: String(answer.status), scope: 'device', ...waitOf(answer, now) };
}

/** The `retryAfterSeconds` member when the answer names a wait. */
export function waitOf(answer: HttpAnswer, now: Date): { retryAfterSeconds?: number } {
  const seconds = retryAfterSeconds(answer.headers['retry-after'], now);
  return seconds === undefined ? {} : { retryAfterSeconds: seconds };
}

/** The body as JSON, or undefined: hostile and broken answers are data, never an exception. What is in it may be anything. */
export function readJsonAnswer(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const maxWordCharacters = 300;

/**
 * A text of the provider as the ledger can keep it: short, of whole characters, with no control characters (PostgreSQL
 * takes no NUL). Undefined when it is no text, or empty.
 */
export function readWord(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value
    .slice(0, maxWordCharacters)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
}
