import type { Answer, Outcome } from '../provider.ts';
import { classifyFailure, classifyServerFault, readWord, waitOf } from '../classify-fault.ts';

/** What a push service's answer means (RFC 8030 §5, §7.3; delivery 3). Pure. */
export function classifyWebPushAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  const code = String(answer.status);
  const detail = readWord(answer.body) ?? `HTTP ${code}`;
  if (answer.status >= 500) return classifyServerFault(answer, now);
  switch (answer.status) {
    case 200:
    case 201:
    case 202: {
      const location = readWord(answer.headers.location);
      return { kind: 'accepted', ...(location === undefined ? {} : { providerMessageId: location }) };
    }
    case 404:
    case 410:
      return { kind: 'gone', code };
    case 429:
      // The limit is the push service's for this one browser or sender; other services are not concerned.
      return { kind: 'wait', code, scope: 'device', ...waitOf(answer, now) };
    case 401:
    case 403:
      // A subscription made under another VAPID key: this browser cannot be reached with ours, the others can.
      return { kind: 'rejected', code, detail };
    default:
      return { kind: 'rejected', code, detail };
  }
}
