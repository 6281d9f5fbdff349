import type { Answer, Outcome } from '../provider.ts';
import { classifyFailure, readJsonAnswer, readWord, waitOf } from '../classify-fault.ts';
import { unknownCase } from '../../../domain/unknown-case.ts';

const tokenExpired = '80200003';

type Meaning = 'gone' | 'stopped' | 'rejected' | 'wait';

/** Huawei's codes that are no success. A request has one token, so what is said of some of them is said of it. */
const meanings = new Map<string, Meaning>([
  // Parts of the tokens, or all of them, are invalid.
  ['80100000', 'gone'],
  ['80300007', 'gone'],
  ['80100001', 'rejected'],
  ['80100003', 'rejected'],
  ['80100004', 'rejected'],
  ['80100013', 'rejected'],
  ['80100016', 'rejected'],
  ['80100017', 'rejected'],
  ['80200001', 'stopped'],
  // A fresh one was refused as well.
  [tokenExpired, 'stopped'],
  ['80300002', 'stopped'],
  ['80300008', 'rejected'],
  ['80300010', 'rejected'],
  ['80300011', 'wait'],
  ['80600003', 'wait'],
  ['81000001', 'wait'],
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
  const meaning = (word === undefined ? undefined : meanings.get(word)) ?? meaningOfStatus(answer.status);
  switch (meaning) {
    case 'gone':
      return { kind: 'gone', code };
    case 'wait':
      // Its limits are those of the account.
      return { kind: 'wait', code, scope: 'credential', ...waitOf(answer, now) };
    case 'stopped':
    case 'rejected':
      return { kind: meaning, code, detail };
    // A success without a word of Huawei's.
    case undefined:
      return word === undefined ? { kind: 'unknown', code } : { kind: 'rejected', code, detail };
    default:
      return unknownCase(meaning);
  }
}

function meaningOfStatus(status: number): Meaning | undefined {
  if (status >= 500 || status === 429) return 'wait';
  if (status === 401 || status === 403 || status === 404) return 'stopped';
  return status >= 300 ? 'rejected' : undefined;
}

/** Whether it is the access token that is not taken any more. */
export function isHmsTokenExpired(answer: Answer): boolean {
  // Nearly every answer is of another kind, and need not be read twice.
  if (answer.kind !== 'answer' || !answer.body.includes(tokenExpired)) return false;
  const body = readJsonAnswer(answer.body) as { code?: unknown } | undefined;
  return String(body?.code) === tokenExpired;
}
