import { applyRule, classifyFailure, classifyServerFault, readJsonAnswer, readWord } from '../answer-rules.ts';
import type { AnswerRule, AnswerRules } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';

/** Classifies Apple's response by its status and `reason`. Pure. */
export function classifyApnsAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  if (answer.status === 200) {
    const id = readWord(answer.headers['apns-id']);
    return { kind: 'accepted', ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  if (answer.status >= 500) return classifyServerFault(answer, now);
  const body = readJsonAnswer(answer.body) as { reason?: unknown; timestamp?: unknown } | undefined;
  const code = readWord(body?.reason) ?? String(answer.status);
  return applyRule({
    ...{ rule: ruleOf(answer.status, code), code, detail: `HTTP ${answer.status} ${code}`, answer, now },
    // When the token died, in milliseconds: an app that registered later keeps its device.
    goneSince: answer.status === 410 ? readTimestamp(body?.timestamp, now) : undefined,
  });
}

function ruleOf(status: number, code: string): AnswerRule {
  switch (status) {
    case 410:
      return apnsAnswers.ExpiredToken;
    case 403:
      return apnsAnswers.InvalidProviderToken;
    case 429:
      return code === 'TooManyProviderTokenUpdates'
        ? apnsAnswers.TooManyProviderTokenUpdates
        : apnsAnswers.TooManyRequests;
    case 408:
    case 425:
      return apnsAnswers.busy;
    case 400:
      return ruleOfBadRequest(code);
    default:
      return apnsAnswers.other;
  }
}

function ruleOfBadRequest(code: string): AnswerRule {
  switch (code) {
    case 'BadDeviceToken':
    case 'DeviceTokenNotForTopic':
      return apnsAnswers.BadDeviceToken;
    case 'TopicDisallowed':
    case 'BadTopic':
    case 'MissingTopic':
      return apnsAnswers.TopicDisallowed;
    case 'IdleTimeout':
      return apnsAnswers.IdleTimeout;
    default:
      return apnsAnswers.other;
  }
}

/** Returns a time in the past; an invalid number would later become an invalid date. */
function readTimestamp(value: unknown, now: Date): Date | undefined {
  if (typeof value !== 'number' || !(value > 0)) return undefined;
  return new Date(Math.min(value, now.getTime()));
}

/** Rules for Apple's reasons, by reason (delivery 2, field reports of November 2026). */
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
