import type { AnswerRules } from '../answer-rules.ts';

/** What Huawei's codes mean. A request has one token, so a code about some or all tokens is about that one. */
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
