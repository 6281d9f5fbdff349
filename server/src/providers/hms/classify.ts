import { applyRule, classifyFailure, readJsonAnswer, readWord } from '../answer-rules.ts';
import type { AnswerRule } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';
import { hmsAnswers as rules } from './answers.ts';

const tokenExpired = '80200003';

const ruleOfCode = new Map<string, AnswerRule>([
  ['80100000', rules.invalidToken],
  ['80300007', rules.invalidToken],
  ...['80100001', '80100003', '80100004', '80100013', '80100016', '80100017', '80300008', '80300010'].map(
    (code) => [code, rules.message] as const,
  ),
  ['80200001', rules.account],
  // A new one was refused as well.
  [tokenExpired, rules.account],
  ['80300002', rules.account],
  ['HMS_TOKEN_REFUSED', rules.account],
  ['80300011', rules.limited],
  ['80600003', rules.limited],
  ['81000001', rules.internal],
]);

/** What Huawei's answer means: by its `code` first, which often comes with HTTP 200. Pure. */
export function classifyHmsAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  const body = readJsonAnswer(answer.body) as { code?: unknown; msg?: unknown; requestId?: unknown } | undefined;
  const word = readWord(typeof body?.code === 'number' ? String(body.code) : body?.code);
  if (word === '80000000' && answer.status === 200) {
    const id = readWord(body?.requestId);
    return { kind: 'accepted', ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  // The ledger knows the platform and not the provider, so the code says whose status it is.
  const code = word ?? `HMS_${answer.status}`;
  const detail = readWord(body?.msg) ?? `HTTP ${answer.status}`;
  const rule = (word === undefined ? undefined : ruleOfCode.get(word)) ?? ruleOfStatus(answer.status);
  if (rule) return applyRule({ rule, code, detail, answer, now });
  // A success without a word of Huawei's.
  return word === undefined ? { kind: 'unknown', code } : { kind: 'rejected', code, detail };
}

function ruleOfStatus(status: number): AnswerRule | undefined {
  if (status === 503) return rules.trafficControl;
  if (status === 429) return rules.limited;
  if (status >= 500) return rules.internal;
  if (status === 408 || status === 425) return rules.internal;
  if (status === 401 || status === 403 || status === 404) return rules.refused;
  return status >= 300 ? rules.other : undefined;
}

/** True if Huawei does not accept the access token any more. */
export function isHmsTokenExpired(answer: Answer): boolean {
  // Nearly every answer is of another kind, and need not be read twice.
  if (answer.kind !== 'answer' || !answer.body.includes(tokenExpired)) return false;
  const body = readJsonAnswer(answer.body) as { code?: unknown } | undefined;
  return String(body?.code) === tokenExpired;
}
