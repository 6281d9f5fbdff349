import { applyRule, classifyFailure, classifyServerFault, readJsonAnswer, readWord } from '../answer-rules.ts';
import type { AnswerRule } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';
import { fcmAnswers as rules } from './answers.ts';

type Detail = {
  '@type'?: unknown;
  errorCode?: unknown;
  reason?: unknown;
  fieldViolations?: unknown;
  violations?: unknown;
  metadata?: unknown;
};
type FcmError = { status?: unknown; message?: unknown; details?: unknown };

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
  const details = detailsOf(error);
  const word = errorCode(details) ?? readWord(error.status);
  // The ledger knows the platform and not the provider, so the code says whose status it is.
  if (answer.status >= 500) return { ...classifyServerFault(answer, now), code: word ?? `FCM_${answer.status}` };
  const code = word ?? String(answer.status);
  const rule = ruleOf(answer.status, { code, details });
  const detail = rule === rules.appleKey ? appleKeyDetail : (readWord(error.message) ?? `HTTP ${answer.status}`);
  const outcome = applyRule({ rule, code, detail, answer, now });
  const isPause = outcome.kind === 'wait' && outcome.scope === 'credential';
  return isPause ? { ...outcome, retryAfterSeconds: outcome.retryAfterSeconds ?? defaultRateLimitSeconds } : outcome;
}

// Google's own sentence speaks of the caller's access token, which is in order (firebase-admin-node issue 3215).
const appleKeyDetail = 'Apple or the browser’s push service refuses the key that this Firebase project has for it';

function ruleOf(status: number, { code, details }: { code: string; details: Detail[] }): AnswerRule {
  switch (status) {
    case 404:
      return code === 'UNREGISTERED' ? rules.unregistered : rules.notFound;
    case 400:
      return ruleOfBadRequest(code, details);
    case 401:
      return code === 'THIRD_PARTY_AUTH_ERROR' ? rules.appleKey : rules.unauthenticated;
    case 403:
      if (code === 'SENDER_ID_MISMATCH') return rules.foreignSender;
      return code === 'TOKEN_REFUSED' ? rules.tokenRefused : rules.permissionDenied;
    case 429:
      return ruleOfQuota(details);
    case 408:
    case 425:
      return rules.busy;
    default:
      return rules.other;
  }
}

function detailsOf({ details }: FcmError): Detail[] {
  if (!Array.isArray(details)) return [];
  return details.filter((detail): detail is Detail => typeof detail === 'object' && detail !== null);
}

function errorCode(details: Detail[]): string | undefined {
  return readWord(details.find(({ errorCode: word }) => typeof word === 'string')?.errorCode);
}

const addressFields = new Set<unknown>(['message.token', 'message.fid']);

/** INVALID_ARGUMENT is a bad payload or a bad token; only the violated fields tell. */
function ruleOfBadRequest(code: string, details: Detail[]): AnswerRule {
  const fields = listOf(details, 'fieldViolations');
  if (fields.length === 0) return code === 'INVALID_ARGUMENT' ? rules.bareInvalidArgument : rules.other;
  return fields.every(({ field }) => addressFields.has(field)) ? rules.invalidToken : rules.invalidMessage;
}

/** Whose quota is exceeded: Google's violation names a device or topic, the general quota of its APIs the project. */
function ruleOfQuota(details: Detail[]): AnswerRule {
  const ofProject = details.some(({ reason, metadata }) => {
    const { quota_unit: unit, quota_limit: limit } = (metadata ?? {}) as Record<string, unknown>;
    return reason === 'RATE_LIMIT_EXCEEDED' && /\{project\}|PerProject/i.test(`${String(unit)} ${String(limit)}`);
  });
  if (ofProject) return rules.projectQuota;
  const violations = listOf(details, 'violations');
  if (violations.length === 0) return rules.quota;
  const namesProject = violations.some(({ subject }) => typeof subject === 'string' && /^project/i.test(subject));
  return namesProject ? rules.projectQuota : rules.deviceQuota;
}

function listOf(details: Detail[], member: 'fieldViolations' | 'violations'): Record<string, unknown>[] {
  return details
    .flatMap((detail): unknown[] => (Array.isArray(detail[member]) ? detail[member] : []))
    .filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null);
}
