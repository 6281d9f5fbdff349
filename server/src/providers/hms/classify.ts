import { applyRule, classifyFailure, readJsonAnswer, readWord } from '../answer-rules.ts';
import type { AnswerRule, AnswerRules } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';

/** Rules for Huawei's codes. A request has one token, so a code about some or all tokens is about that one. */
export const hmsAnswers = {
  invalidToken: {
    status: 'any',
    code: '`80100000`, `80300007`',
    meaning: { about: 'ambiguous', ifDevice: 'drop', ifAccount: 'hold' },
    reason:
      'The token is invalid if Huawei accepts others; the credential of another app answers this way for every token.',
  },
  message: {
    status: 'any',
    code: '`80100001`, `80100003`, `80100004`, `80100013`, `80100016`, `80100017`, `80300008`, `80300010`',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'Huawei refuses the message.',
  },
  account: {
    status: 'any',
    code: '`80200001`, `80200003` after one new access token, `80300002`, `HMS_TOKEN_REFUSED`',
    meaning: { about: 'account', effect: 'hold' },
    reason: 'Huawei refuses the access token, or the account lacks a right.',
  },
  trafficControl: {
    status: '503',
    code: 'none',
    meaning: { about: 'account', effect: 'pause' },
    reason: 'Huawei documents this status as traffic control of the account.',
  },
  limited: {
    status: '429, or any',
    code: '`80300011`, `80600003`, or none',
    meaning: { about: 'ambiguous', ifDevice: 'wait', ifAccount: 'pause' },
    reason: 'Huawei does not say whether the device or the account is over its limit.',
  },
  internal: {
    status: 'other 5xx, 408, 425, or any',
    code: '`81000001`, or none',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'A fault of Huawei’s; the message is retried.',
  },
  refused: {
    status: '401, 403, 404',
    code: 'none',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold at once' },
    reason: 'The account is refused, unless Huawei accepted another device in the last minute.',
  },
  other: {
    status: 'other 3xx and 4xx',
    code: 'any',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'The message itself is at fault; with `Retry-After` the device waits.',
  },
} as const satisfies AnswerRules;

const tokenExpired = '80200003';

const ruleOfCode = new Map<string, AnswerRule>([
  ['80100000', hmsAnswers.invalidToken],
  ['80300007', hmsAnswers.invalidToken],
  ...['80100001', '80100003', '80100004', '80100013', '80100016', '80100017', '80300008', '80300010'].map(
    (code) => [code, hmsAnswers.message] as const,
  ),
  ['80200001', hmsAnswers.account],
  // A new access token was rejected as well.
  [tokenExpired, hmsAnswers.account],
  ['80300002', hmsAnswers.account],
  ['HMS_TOKEN_REFUSED', hmsAnswers.account],
  ['80300011', hmsAnswers.limited],
  ['80600003', hmsAnswers.limited],
  ['81000001', hmsAnswers.internal],
]);

/** Classifies Huawei's response, first by its `code`, which often comes with HTTP 200. Pure. */
export function classifyHmsAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  const body = readJsonAnswer(answer.body) as { code?: unknown; msg?: unknown; requestId?: unknown } | undefined;
  const word = readWord(typeof body?.code === 'number' ? String(body.code) : body?.code);
  if (word === '80000000' && answer.status === 200) {
    const id = readWord(body?.requestId);
    return { kind: 'accepted', ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  // The ledger stores the platform, not the provider, so the code names the provider.
  const code = word ?? `HMS_${answer.status}`;
  const detail = readWord(body?.msg) ?? `HTTP ${answer.status}`;
  const rule = (word === undefined ? undefined : ruleOfCode.get(word)) ?? ruleOfStatus(answer.status);
  if (rule) return applyRule({ rule, code, detail, answer, now });
  // A success status without a code from Huawei.
  return word === undefined ? { kind: 'unknown', code } : { kind: 'rejected', code, detail };
}

function ruleOfStatus(status: number): AnswerRule | undefined {
  if (status === 503) return hmsAnswers.trafficControl;
  if (status === 429) return hmsAnswers.limited;
  if (status >= 500) return hmsAnswers.internal;
  if (status === 408 || status === 425) return hmsAnswers.internal;
  if (status === 401 || status === 403 || status === 404) return hmsAnswers.refused;
  return status >= 300 ? hmsAnswers.other : undefined;
}

/** True if Huawei no longer accepts the access token. */
export function isHmsTokenExpired(answer: Answer): boolean {
  // Nearly every response has another code and need not be parsed twice.
  if (answer.kind !== 'answer' || !answer.body.includes(tokenExpired)) return false;
  const body = readJsonAnswer(answer.body) as { code?: unknown } | undefined;
  return String(body?.code) === tokenExpired;
}
