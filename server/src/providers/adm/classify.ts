import { applyRule, classifyFailure, classifyServerFault, readJsonAnswer, readWord } from '../answer-rules.ts';
import type { AnswerRule, AnswerRules } from '../answer-rules.ts';
import type { Answer, Outcome } from '../provider.ts';

/**
 * Rules for Amazon's reasons (https://developer.amazon.com/docs/adm/send-message.html, "Response format"). A request has one
 * registration id.
 */
export const admAnswers = {
  unregistered: {
    status: '400',
    code: '`Unregistered`',
    meaning: { about: 'device', effect: 'drop' },
    reason: 'The app was uninstalled, or it unregistered.',
  },
  invalidId: {
    status: '400',
    code: '`InvalidRegistrationId`',
    meaning: { about: 'ambiguous', ifDevice: 'drop', ifAccount: 'hold' },
    reason:
      'The id is invalid if Amazon accepts others; every id of an app with another security profile is answered this way.',
  },
  message: {
    status: '400, 413',
    code: '`InvalidData`, `InvalidConsolidationKey`, `InvalidExpiration`, `InvalidChecksum`, `InvalidType`, `MessageTooLarge`',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'Amazon refuses the message.',
  },
  account: {
    status: '401, 403',
    code: '`AccessTokenExpired` after one new access token, `ADM_TOKEN_REFUSED`',
    meaning: { about: 'account', effect: 'hold' },
    reason: 'Amazon refuses the OAuth client of the security profile, or the access token that it has just issued.',
  },
  limited: {
    status: '429',
    code: '`MaxRateExceeded`, or none',
    meaning: { about: 'ambiguous', ifDevice: 'wait', ifAccount: 'pause' },
    reason: 'Amazon does not say whether the device or the account is over its limit.',
  },
  busy: {
    status: '5xx, 408, 425',
    code: 'any',
    meaning: { about: 'device', effect: 'wait' },
    reason: 'A fault of Amazon’s, with `Retry-After` for as long as it asks.',
  },
  refused: {
    status: '401, 403, 404',
    code: 'any other',
    meaning: { about: 'ambiguous', ifDevice: 'reject', ifAccount: 'hold at once' },
    reason: 'The account is refused, unless Amazon accepted another device in the last minute.',
  },
  other: {
    status: 'other 3xx and 4xx',
    code: 'any',
    meaning: { about: 'message', effect: 'reject' },
    reason: 'The message itself is at fault; with `Retry-After` the device waits.',
  },
} as const satisfies AnswerRules;

const ruleOfReason = new Map<string, AnswerRule>([
  ['Unregistered', admAnswers.unregistered],
  ['InvalidRegistrationId', admAnswers.invalidId],
  ...[
    ...['InvalidData', 'InvalidConsolidationKey', 'InvalidExpiration', 'InvalidChecksum', 'InvalidType'],
    'MessageTooLarge',
  ].map((reason) => [reason, admAnswers.message] as const),
  // A new access token was rejected as well.
  ['AccessTokenExpired', admAnswers.account],
  ['ADM_TOKEN_REFUSED', admAnswers.account],
  ['MaxRateExceeded', admAnswers.limited],
]);

type AdmBody = { reason?: unknown; message?: unknown; registrationID?: unknown };

/** Classifies Amazon's response. Pure. */
export function classifyAdmAnswer(answer: Answer, now: Date): Outcome {
  if (answer.kind === 'failure') return classifyFailure(answer);
  const { status, headers } = answer;
  const body = readBody(answer.body);
  if (status === 200) return accept(headers['x-amzn-requestid'], body?.registrationID);
  // A proxy's page has no reason, and an overloaded server may not mean it.
  if (status >= 500 || status === 408 || status === 425)
    return { ...classifyServerFault(answer, now), code: `ADM_${status}` };
  const reason = readWord(body?.reason);
  // The ledger stores the platform, not the provider, so the code names the provider.
  const known = reason === undefined ? undefined : ruleOfReason.get(reason);
  const code = known && reason !== undefined ? reason : `ADM_${status}`;
  const detail = readWord(body?.message) ?? reason ?? `HTTP ${status}`;
  const rule = known ?? ruleOfStatus(status);
  return rule ? applyRule({ rule, code, detail, answer, now }) : { kind: 'unknown', code };
}

/** Amazon names the registration id that the app has now. It differs from the one that was sent to if the id was replaced. */
function accept(requestId: string | undefined, registrationId: unknown): Outcome {
  const id = readWord(requestId);
  // A success without an id is not Amazon's: a proxy answered.
  if (typeof registrationId !== 'string' || !isAddress.test(registrationId))
    return { kind: 'unknown', code: 'ADM_200' };
  return {
    kind: 'accepted',
    ...(id === undefined ? {} : { providerMessageId: id }),
    address: registrationId,
  };
}

/** As devices are registered: printable ASCII. */
const isAddress = /^[\x21-\x7e]{1,4096}$/;

function readBody(text: string): AdmBody | undefined {
  const body = readJsonAnswer(text);
  return typeof body === 'object' && body !== null ? body : undefined;
}

function ruleOfStatus(status: number): AnswerRule | undefined {
  if (status === 429) return admAnswers.limited;
  if (status === 401 || status === 403 || status === 404) return admAnswers.refused;
  return status >= 300 ? admAnswers.other : undefined;
}

/** True if Amazon no longer accepts the access token. Its documentation has no other reason for this status. */
export function isAdmTokenExpired(answer: Answer): boolean {
  return answer.kind === 'answer' && answer.status === 401;
}
