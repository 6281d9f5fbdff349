import { applyRule, classifyFailure, classifyServerFault, readJsonAnswer, readWord } from '../answer-rules.ts';
import type { AnswerRule } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';
import { apnsAnswers as rules } from './answers.ts';

/** What Apple's answer means, by its status and `reason`. Pure. */
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
    // Milliseconds since which the token is dead: an app that registered later keeps its device.
    goneSince: answer.status === 410 ? readTimestamp(body?.timestamp, now) : undefined,
  });
}

function ruleOf(status: number, code: string): AnswerRule {
  switch (status) {
    case 410:
      return rules.ExpiredToken;
    case 403:
      return rules.InvalidProviderToken;
    case 429:
      return code === 'TooManyProviderTokenUpdates' ? rules.TooManyProviderTokenUpdates : rules.TooManyRequests;
    case 408:
    case 425:
      return rules.busy;
    case 400:
      return ruleOfBadRequest(code);
    default:
      return rules.other;
  }
}

function ruleOfBadRequest(code: string): AnswerRule {
  switch (code) {
    case 'BadDeviceToken':
    case 'DeviceTokenNotForTopic':
      return rules.BadDeviceToken;
    case 'TopicDisallowed':
    case 'BadTopic':
    case 'MissingTopic':
      return rules.TopicDisallowed;
    case 'IdleTimeout':
      return rules.IdleTimeout;
    default:
      return rules.other;
  }
}

/** A time in the past; an invalid number would later become an invalid date. */
function readTimestamp(value: unknown, now: Date): Date | undefined {
  if (typeof value !== 'number' || !(value > 0)) return undefined;
  return new Date(Math.min(value, now.getTime()));
}
