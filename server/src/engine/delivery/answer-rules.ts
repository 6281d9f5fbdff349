import type { AccountEffect, DeviceEffect } from '../../domain/delivery/evidence.ts';
import { waitOf } from './classify-fault.ts';
import type { HttpAnswer } from './classify-fault.ts';
import type { Outcome } from './provider.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

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
