import { applyRule, classifyFailure, classifyServerFault, readWord } from '../answer-rules.ts';
import type { AnswerRule } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';
import { webPushAnswers as rules } from './answers.ts';

/** What a push service's answer means (RFC 8030 §5, §7.3; delivery 3). Pure. */
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
      return rules.gone;
    case 406:
    case 408:
    case 425:
    case 429:
      return rules.busy;
    case 400:
      return rules.badRequest;
    case 401:
    case 403:
      return rules.foreign;
    default:
      return rules.other;
  }
}

/** Headers in which Windows explains an answer (Push notification service request and response headers, Microsoft). */
const reasonHeaders: readonly (readonly [header: string, name: string])[] = [
  ['x-wns-status', 'status'],
  ['x-wns-notificationstatus', 'notification'],
  ['x-wns-deviceconnectionstatus', 'device'],
  ['x-wns-msg-id', 'message'],
  ['x-wns-debug-trace', 'trace'],
  ['ms-cv', 'MS-CV'],
];

/**
 * Why a push service refused a message, in its own words and for the ledger: its body, or what Windows says in headers
 * while its body is empty, followed by what Microsoft's support asks for.
 */
function readRefusal({ status, headers, body }: Extract<Answer, { kind: 'answer' }>): string {
  const words = readWord(body) ?? readWord(headers['x-wns-error-description']) ?? `HTTP ${status}`;
  const more = reasonHeaders.flatMap(([header, name]) => {
    const value = readWord(headers[header]);
    return value === undefined ? [] : [`${name} ${value}`];
  });
  return more.length === 0 ? words : readWord(`${words} (${more.join(', ')})`)!;
}
