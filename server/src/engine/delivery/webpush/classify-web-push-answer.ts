import type { Answer, Outcome } from '../provider.ts';
import { applyRule } from '../answer-rules.ts';
import type { AnswerRule } from '../answer-rules.ts';
import { classifyFailure, classifyServerFault, readWord } from '../classify-fault.ts';
import { webPushAnswers as rules } from './web-push-answers.ts';
import { readRefusal } from './read-refusal.ts';

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
