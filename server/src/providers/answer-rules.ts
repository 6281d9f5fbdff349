import type { AccountEffect, DeviceEffect } from '../domain/delivery/evidence.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import type { Outcome, Answer, ProxyReason } from './provider.ts';

/**
 * What one code of a provider means. A code is about the device, about the account, about the message, or ambiguous. If it is
 * ambiguous, the responses for other devices decide (domain/delivery/evidence.ts).
 */
export type Meaning =
  | { about: 'device'; effect: 'drop' | 'wait' }
  | { about: 'account'; effect: 'hold' | 'pause' }
  | { about: 'message'; effect: 'reject' }
  | { about: 'ambiguous'; ifDevice: DeviceEffect; ifAccount: AccountEffect };

/** A row of a provider's table; docs/provider-answers.md is generated from these. */
export type AnswerRule = {
  /** HTTP status, or statuses. */
  status: string;
  /** The provider's word, or a condition in plain English. */
  code: string;
  meaning: Meaning;
  /** The reason, for the documentation. */
  reason: string;
};

/** The rules of a provider, by the name that its classifier looks up. */
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

/** Returns the outcome of a response that matches a rule. With Retry-After, any 4xx makes at least the device wait. Pure. */
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
 * Classifies a request without a response, for every provider: no connection, or no tunnel through the proxy → unreached;
 * certainly not sent → wait; maybe sent → unknown; a blocked address → gone. A host that the settings do not list is not the
 * device's fault.
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

/**
 * Returns a wait for a server error, whatever its body says (a proxy may respond with HTML), for as long as the server asks.
 */
export function classifyServerFault(answer: HttpAnswer, now: Date): Extract<Outcome, { kind: 'wait' }> {
  return { kind: 'wait', code: String(answer.status), scope: 'device', ...waitOf(answer, now) };
}

/** Returns `retryAfterSeconds` if the response names a wait, otherwise an empty object. */
export function waitOf(answer: HttpAnswer, now: Date): { retryAfterSeconds?: number } {
  const seconds = retryAfterSeconds(answer.headers['retry-after'], now);
  return seconds === undefined ? {} : { retryAfterSeconds: seconds };
}

/**
 * Parses a body as JSON, or returns undefined: hostile and broken responses are data, never an exception. The result may be any
 * value.
 */
export function readJsonAnswer(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const maxWordCharacters = 300;

/**
 * Returns a provider's text as the ledger can store it: short, well-formed, and without control characters (PostgreSQL rejects
 * NUL). Undefined if the value is not a string, or is empty.
 */
export function readWord(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value
    .slice(0, maxWordCharacters)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
}

/**
 * Returns how many seconds a Retry-After header asks to wait, in both of its forms (RFC 9110 §10.2.3): whole seconds or a date.
 * Undefined if it is absent or unreadable. At most a day: a longer wait outlives any message worth sending.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, now);
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(0, Math.ceil(seconds)), 86_400);
}

/** Every HTTP date begins with the name of the day. Without this check, `1.5` would be parsed as a date. */
function secondsUntil(text: string, now: Date): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? (Date.parse(text) - now.getTime()) / 1000 : Number.NaN;
}
