import { applyRule, classifyFailure, classifyServerFault, readJsonAnswer, readWord } from '../answer-rules.ts';
import type { AnswerRule, AnswerRules } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';

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

/** Classifies FCM's response by its error code in `details`, never by message text (delivery 1, 4). Pure. */
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
  // The ledger stores the platform, not the provider, so the code names the provider.
  if (answer.status >= 500) return { ...classifyServerFault(answer, now), code: word ?? `FCM_${answer.status}` };
  const code = word ?? String(answer.status);
  const rule = ruleOf(answer.status, { code, details });
  const detail = rule === fcmAnswers.appleKey ? appleKeyDetail : (readWord(error.message) ?? `HTTP ${answer.status}`);
  const outcome = applyRule({ rule, code, detail, answer, now });
  const isPause = outcome.kind === 'wait' && outcome.scope === 'credential';
  return isPause ? { ...outcome, retryAfterSeconds: outcome.retryAfterSeconds ?? defaultRateLimitSeconds } : outcome;
}

// Google's own message is about the caller's access token, which is valid (firebase-admin-node issue 3215).
const appleKeyDetail = 'Apple or the browser’s push service refuses the key that this Firebase project has for it';

function ruleOf(status: number, { code, details }: { code: string; details: Detail[] }): AnswerRule {
  switch (status) {
    case 404:
      return code === 'UNREGISTERED' ? fcmAnswers.unregistered : fcmAnswers.notFound;
    case 400:
      return ruleOfBadRequest(code, details);
    case 401:
      return code === 'THIRD_PARTY_AUTH_ERROR' ? fcmAnswers.appleKey : fcmAnswers.unauthenticated;
    case 403:
      if (code === 'SENDER_ID_MISMATCH') return fcmAnswers.foreignSender;
      return code === 'TOKEN_REFUSED' ? fcmAnswers.tokenRefused : fcmAnswers.permissionDenied;
    case 429:
      return ruleOfQuota(details);
    case 408:
    case 425:
      return fcmAnswers.busy;
    default:
      return fcmAnswers.other;
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

/** INVALID_ARGUMENT is a bad payload or a bad token; only the violated fields show which. */
function ruleOfBadRequest(code: string, details: Detail[]): AnswerRule {
  const fields = listOf(details, 'fieldViolations');
  if (fields.length === 0) return code === 'INVALID_ARGUMENT' ? fcmAnswers.bareInvalidArgument : fcmAnswers.other;
  return fields.every(({ field }) => addressFields.has(field)) ? fcmAnswers.invalidToken : fcmAnswers.invalidMessage;
}

/** Finds the exceeded quota: Google's violation names a device or topic; the general quota of its APIs names the project. */
function ruleOfQuota(details: Detail[]): AnswerRule {
  const ofProject = details.some(({ reason, metadata }) => {
    const { quota_unit: unit, quota_limit: limit } = (metadata ?? {}) as Record<string, unknown>;
    return reason === 'RATE_LIMIT_EXCEEDED' && /\{project\}|PerProject/i.test(`${String(unit)} ${String(limit)}`);
  });
  if (ofProject) return fcmAnswers.projectQuota;
  const violations = listOf(details, 'violations');
  if (violations.length === 0) return fcmAnswers.quota;
  const namesProject = violations.some(({ subject }) => typeof subject === 'string' && /^project/i.test(subject));
  return namesProject ? fcmAnswers.projectQuota : fcmAnswers.deviceQuota;
}

function listOf(details: Detail[], member: 'fieldViolations' | 'violations'): Record<string, unknown>[] {
  return details
    .flatMap((detail): unknown[] => (Array.isArray(detail[member]) ? detail[member] : []))
    .filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null);
}

/** Rules for Google's responses (delivery 1, 4, field reports of November 2026). */
export const fcmAnswers = {
  unregistered: {
    status: '404',
    code: '`UNREGISTERED` in `details`',
    meaning: { about: 'device', effect: 'drop' },
    reason: 'The app was uninstalled, or its token replaced.',
  },
  invalidToken: {
    status: '400',
    code: '`INVALID_ARGUMENT` whose field violations all name `message.token` or `message.fid`',
    meaning: { about: 'device', effect: 'drop' },
    reason: 'Google names the address as the bad field.',
  },
  bareInvalidArgument: {
    status: '400',
    code: '`INVALID_ARGUMENT` without field violations',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'none' },
    reason: 'Google answers a malformed token this way, and a bad message too.',
  },
  invalidMessage: {
    status: '400',
    code: '`INVALID_ARGUMENT` that names another field',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'Google names a field of the message.',
  },
  foreignSender: {
    status: '403',
    code: '`SENDER_ID_MISMATCH`',
    meaning: { about: 'ambiguous', ifDevice: 'suspect', ifAccount: 'hold' },
    reason: 'The token belongs to another project; for every token it means the service account of another project.',
  },
  appleKey: {
    status: '401',
    code: '`THIRD_PARTY_AUTH_ERROR`',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold' },
    reason: 'Google has no valid key of Apple for the platform; in the field also sporadic, for a few iPhones.',
  },
  notFound: {
    status: '404',
    code: 'without `UNREGISTERED`',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold' },
    reason: 'A wrong project answers every device this way; a single answer says nothing.',
  },
  unauthenticated: {
    status: '401',
    code: 'any other, after one new access token',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold at once' },
    reason: 'The access token is refused, unless Google accepted another device of this credential in the last minute.',
  },
  permissionDenied: {
    status: '403',
    code: '`PERMISSION_DENIED` and any other',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold at once' },
    reason: 'The account lacks a right, unless Google accepted another device in the last minute.',
  },
  tokenRefused: {
    status: '403',
    code: '`TOKEN_REFUSED` (Google refuses the service account when it asks for an access token)',
    meaning: { about: 'account', effect: 'hold' },
    reason: 'No message of this service account can be sent.',
  },
  projectQuota: {
    status: '429',
    code: '`RATE_LIMIT_EXCEEDED` per project, or a quota violation that names the project',
    meaning: { about: 'account', effect: 'pause' },
    reason: 'The project sends more messages a minute than its quota allows.',
  },
  deviceQuota: {
    status: '429',
    code: '`QUOTA_EXCEEDED` with a violation that names a device or a topic',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'One device or topic got too many messages; all others are accepted.',
  },
  quota: {
    status: '429',
    code: '`QUOTA_EXCEEDED` without a violation',
    meaning: { about: 'ambiguous', ifDevice: 'wait', ifAccount: 'pause' },
    reason: 'Google does not say whether the device or the project is over its quota.',
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
