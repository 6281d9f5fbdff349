import type { AnswerRules } from '../answer-rules.ts';

/** What Apple's reasons mean, by reason (delivery 2, field reports of November 2026). */
export const apnsAnswers = {
  ExpiredToken: {
    status: '410',
    code: '`Unregistered`, `ExpiredToken`, any other reason',
    meaning: { about: 'device', effect: 'drop' },
    reason: 'Apple names the instant since which the token is dead; a device that registered later stays.',
  },
  BadDeviceToken: {
    status: '400',
    code: '`BadDeviceToken`, `DeviceTokenNotForTopic`',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'hold' },
    reason: 'A wrong environment or bundle id of the credential makes Apple give this answer for every token.',
  },
  TopicDisallowed: {
    status: '400',
    code: '`TopicDisallowed`, `BadTopic`, `MissingTopic`',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold' },
    reason: 'The key does not cover this bundle id; every device of the app gets the same answer.',
  },
  IdleTimeout: {
    status: '400',
    code: '`IdleTimeout`',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'Apple closed an idle connection; the message was not processed.',
  },
  InvalidProviderToken: {
    status: '403',
    code: '`InvalidProviderToken` and every other reason, after one new provider token',
    meaning: { about: 'account', effect: 'hold' },
    reason: 'Apple refuses the provider token itself.',
  },
  TooManyProviderTokenUpdates: {
    status: '429',
    code: '`TooManyProviderTokenUpdates`',
    meaning: { about: 'account', effect: 'pause' },
    reason: 'Apple counts new provider tokens per team.',
  },
  TooManyRequests: {
    status: '429',
    code: '`TooManyRequests`',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'Too many messages to the same device in a short time.',
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
