import type { Answer, Outcome } from '../provider.ts';
import { classifyFailure, classifyServerFault, readJsonAnswer, readWord, waitOf } from '../classify-fault.ts';

type FcmError = {
  status?: unknown;
  message?: unknown;
  details?: { '@type'?: string; errorCode?: string; fieldViolations?: { field?: string }[] }[];
};

const defaultRateLimitSeconds = 60;

/** What FCM's answer means, by its error code in `details`, never by message text (delivery 1, 4). Pure. */
export function classifyFcmAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  const body = readJsonAnswer(answer.body) as { name?: unknown; error?: FcmError } | undefined;
  if (answer.status === 200) {
    const id = readWord(body?.name);
    return { kind: 'accepted', ...(id === undefined ? {} : { providerMessageId: id }) };
  }
  const error = body?.error ?? {};
  const word = errorCode(error) ?? readWord(error.status);
  // The ledger knows the platform and not the provider, so the code says whose status it is.
  if (answer.status >= 500) return { ...classifyServerFault(answer, now), code: word ?? `FCM_${answer.status}` };
  const code = word ?? String(answer.status);
  const detail = readWord(error.message) ?? `HTTP ${answer.status}`;
  switch (answer.status) {
    case 404:
      // A 404 without FCM's own code is a wrong path or project, not a dead token.
      return code === 'UNREGISTERED' ? { kind: 'gone', code } : { kind: 'stopped', code, detail };
    case 400:
      return isTokenFault(error) ? { kind: 'gone', code } : { kind: 'rejected', code, detail };
    case 429:
      return {
        kind: 'wait',
        code,
        scope: 'credential',
        retryAfterSeconds: defaultRateLimitSeconds,
        ...waitOf(answer, now),
      };
    case 403:
      // One token of another sender must not pause a million others; a wholly foreign list shows as rejected devices.
      return code === 'SENDER_ID_MISMATCH' ? { kind: 'rejected', code, detail } : { kind: 'stopped', code, detail };
    case 401:
      return { kind: 'stopped', code, detail };
    default:
      return { kind: 'rejected', code, detail };
  }
}

function errorCode(error: FcmError): string | undefined {
  if (!Array.isArray(error.details)) return undefined;
  return readWord(error.details.find((detail) => typeof detail?.errorCode === 'string')?.errorCode);
}

const addressFields = new Set<unknown>(['message.token', 'message.fid']);

/** INVALID_ARGUMENT is a bad payload *or* a bad token; only the violated fields tell. */
function isTokenFault(error: FcmError): boolean {
  if (!Array.isArray(error.details)) return false;
  const fields = error.details.flatMap((detail) =>
    Array.isArray(detail?.fieldViolations) ? detail.fieldViolations : [],
  );
  return fields.length > 0 && fields.every((violation) => addressFields.has(violation?.field));
}
