import type { AnswerRules } from '../answer-rules.ts';

/** What Google's answers mean (delivery 1, 4, field reports of November 2026). */
export const fcmAnswers = {
  unregistered: {
    status: '404',
    code: '`UNREGISTERED` in `details`',
    meaning: { about: 'device', effect: 'drop' },
    reason: 'The app was uninstalled, or its token replaced.',
  },
  invalidToken: {
    status: '400',
    code: '`INVALID_ARGUMENT` whose field violations all name `message.token` or `message.fid`',
    meaning: { about: 'device', effect: 'drop' },
    reason: 'Google names the address as the bad field.',
  },
  bareInvalidArgument: {
    status: '400',
    code: '`INVALID_ARGUMENT` without field violations',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'none' },
    reason: 'Google answers a malformed token this way, and a bad message too.',
  },
  invalidMessage: {
    status: '400',
    code: '`INVALID_ARGUMENT` that names another field',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'Google names a field of the message.',
  },
  foreignSender: {
    status: '403',
    code: '`SENDER_ID_MISMATCH`',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'hold' },
    reason: 'The token belongs to another project; for every token it means the service account of another project.',
  },
  appleKey: {
    status: '401',
    code: '`THIRD_PARTY_AUTH_ERROR`',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold' },
    reason: 'Google has no valid key of Apple for the platform; in the field also sporadic, for a few iPhones.',
  },
  notFound: {
    status: '404',
    code: 'without `UNREGISTERED`',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold' },
    reason: 'A wrong project answers every device this way; a single answer says nothing.',
  },
  unauthenticated: {
    status: '401',
    code: 'any other, after one new access token',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold at once' },
    reason: 'The access token is refused, unless Google accepted another device of this credential in the last minute.',
  },
  permissionDenied: {
    status: '403',
    code: '`PERMISSION_DENIED` and any other',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold at once' },
    reason: 'The account lacks a right, unless Google accepted another device in the last minute.',
  },
  tokenRefused: {
    status: '403',
    code: '`TOKEN_REFUSED` (Google refuses the service account when it asks for an access token)',
    meaning: { about: 'account', effect: 'hold' },
    reason: 'No message of this service account can be sent.',
  },
  projectQuota: {
    status: '429',
    code: '`RATE_LIMIT_EXCEEDED` per project, or a quota violation that names the project',
    meaning: { about: 'account', effect: 'pause' },
    reason: 'The project sends more messages a minute than its quota allows.',
  },
  deviceQuota: {
    status: '429',
    code: '`QUOTA_EXCEEDED` with a violation that names a device or a topic',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'One device or topic got too many messages; all others are accepted.',
  },
  quota: {
    status: '429',
    code: '`QUOTA_EXCEEDED` without a violation',
    meaning: { about: 'ambiguous', ifDevice: 'wait', ifAccount: 'pause' },
    reason: 'Google does not say whether the device or the project is over its quota.',
  },
  busy: {
    status: '408, 425',
    code: 'any',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'A server or proxy on the way asks for another try.',
  },
  other: {
    status: 'other 4xx',
    code: 'any',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'The message itself is at fault; with `Retry-After` the device waits.',
  },
} as const satisfies AnswerRules;
