import { applyRule, classifyFailure, classifyServerFault, readWord } from '../answer-rules.ts';
import type { AnswerRule, AnswerRules } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';

/** Classifies a push service's response (RFC 8030 §5, §7.3; delivery 3). Pure. */
export function classifyWebPushAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  const code = String(answer.status);
  if (answer.status >= 500) return classifyServerFault(answer, now);
  if (answer.status === 200 || answer.status === 201 || answer.status === 202) {
    const location = readWord(answer.headers.location);
    return { kind: 'accepted', ...(location === undefined ? {} : { providerMessageId: location }) };
  }
  return applyRule({ rule: ruleOf(answer.status), code, detail: readRefusal(answer), answer, now });
}

function ruleOf(status: number): AnswerRule {
  switch (status) {
    case 404:
    case 410:
      return webPushAnswers.gone;
    case 406:
    case 408:
    case 425:
    case 429:
      return webPushAnswers.busy;
    case 400:
      return webPushAnswers.badRequest;
    case 401:
    case 403:
      return webPushAnswers.foreign;
    default:
      return webPushAnswers.other;
  }
}

/** Headers in which Windows explains a response (Push notification service request and response headers, Microsoft). */
const reasonHeaders: readonly (readonly [header: string, name: string])[] = [
  ['x-wns-status', 'status'],
  ['x-wns-notificationstatus', 'notification'],
  ['x-wns-deviceconnectionstatus', 'device'],
  ['x-wns-msg-id', 'message'],
  ['x-wns-debug-trace', 'trace'],
  ['ms-cv', 'MS-CV'],
];

/**
 * Returns why a push service refused a message, in its own words and for the ledger: its body, or Windows' headers if the body
 * is empty, followed by the values that Microsoft's support asks for.
 */
function readRefusal({ status, headers, body }: Extract<Answer, { kind: 'answer' }>): string {
  const words = readWord(body) ?? readWord(headers['x-wns-error-description']) ?? `HTTP ${status}`;
  const more = reasonHeaders.flatMap(([header, name]) => {
    const value = readWord(headers[header]);
    return value === undefined ? [] : [`${name} ${value}`];
  });
  return more.length === 0 ? words : readWord(`${words} (${more.join(', ')})`)!;
}

/** Rules for responses of push services (RFC 8030 §5, §7.3; delivery 3, field reports of November 2026). */
export const webPushAnswers = {
  gone: {
    status: '404, 410',
    code: 'any',
    meaning: { about: 'ambiguous', ifDevice: 'drop', ifAccount: 'hold' },
    reason: 'The subscription is gone if the push service accepts others; a proxy may answer 404 for all of them.',
  },
  busy: {
    status: '406, 408, 425, 429',
    code: 'any',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'The push service limits this browser or site; Windows says 406. Other push services are not concerned.',
  },
  foreign: {
    status: '401, 403',
    code: 'any',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'hold' },
    reason:
      'A browser that subscribed with another VAPID key answers this way for ever; a bad contact address of the VAPID key does so for every browser.',
  },
  badRequest: {
    status: '400',
    code: 'any',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'none' },
    reason:
      'Some push services answer this way to another VAPID key; a bad message gets it as well, from every browser.',
  },
  other: {
    status: 'other 4xx',
    code: 'any',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'The message itself is at fault; with `Retry-After` the browser waits.',
  },
} as const satisfies AnswerRules;
