import type { AccountEffect, DeviceEffect } from '../domain/delivery/evidence.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import type { Outcome, Answer, ProxyReason } from './provider.ts';

/**
 * What one code of a provider means. A code is about the device, about the account, about the message, or ambiguous:
 * then the answers of other devices decide (domain/delivery/evidence.ts).
 */
export type Meaning =
  | { about: 'device'; effect: 'drop' | 'wait' }
  | { about: 'account'; effect: 'hold' | 'pause' }
  | { about: 'message'; effect: 'reject' }
  | { about: 'ambiguous'; ifDevice: DeviceEffect; ifAccount: AccountEffect };

/** A row of a provider's table; docs/provider-answers.md is written from these. */
export type AnswerRule = {
  /** HTTP status, or statuses. */
  status: string;
  /** The provider's word, or a condition in plain English. */
  code: string;
  meaning: Meaning;
  /** Why, for the documentation. */
  reason: string;
};

/** The rules of a provider by the name that its classification looks up. */
export type AnswerRules = Record<string, AnswerRule>;

export type Classified = {
  rule: AnswerRule;
  /** The provider's own word, for the ledger. */
  code: string;
  /** The provider's own sentence. */
  detail: string;
  answer: HttpAnswer;
  now: Date;
  goneSince?: Date | undefined;
};

/** The outcome of an answer that a rule matches. Any 4xx with Retry-After is a wait of the device at least. Pure. */
export function applyRule({ rule: { meaning }, code, detail, answer, now, goneSince }: Classified): Outcome {
  const wait = waitOf(answer, now);
  const since = goneSince === undefined ? {} : { goneSince };
  switch (meaning.about) {
    case 'device':
      return meaning.effect === 'drop'
        ? { kind: 'gone', code, ...since }
        : { kind: 'wait', code, scope: 'device', ...wait };
    case 'account':
      return meaning.effect === 'hold'
        ? { kind: 'stopped', code, detail }
        : { kind: 'wait', code, scope: 'credential', ...wait };
    case 'message':
      return 'retryAfterSeconds' in wait
        ? { kind: 'wait', code, scope: 'device', ...wait }
        : { kind: 'rejected', code, detail };
    case 'ambiguous':
      return { kind: 'ambiguous', code, detail, ...effectsOf(meaning, wait), ...wait, ...since };
    default:
      return unknownCase(meaning);
  }
}

function effectsOf({ ifDevice, ifAccount }: Extract<Meaning, { about: 'ambiguous' }>, wait: object) {
  const isAskedToWait = 'retryAfterSeconds' in wait && ifDevice !== 'drop';
  return { ifDevice: isAskedToWait ? ('wait' as const) : ifDevice, ifAccount };
}

type HttpAnswer = Extract<Answer, { kind: 'answer' }>;
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

/**
 * Seconds that a Retry-After header asks to wait, in both of its forms (RFC 9110 §10.2.3): whole seconds or a date.
 * Undefined when it is absent or unreadable. At most a day: a longer wait outlives any message worth sending.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, now);
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(0, Math.ceil(seconds)), 86_400);
}

/** Every form of a date in HTTP begins with the name of the day; of `1.5` a date could be made as well. */
function secondsUntil(text: string, now: Date): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? (Date.parse(text) - now.getTime()) / 1000 : Number.NaN;
}
