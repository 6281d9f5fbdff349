import { ServiceError } from '../../domain/errors.ts';
import type { PushBodies } from '../../domain/push/push-bodies.ts';
import { notAllowed } from '../../domain/request-reader/reading-rules.ts';
import type { ReadingRules } from '../../domain/request-reader/reading-rules.ts';
import { RequestReader } from '../../domain/request-reader/request-reader.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';

export type PushReading = { mode: TemplateMode; bodies: PushBodies };

export function makePushReader(body: Record<string, unknown>, { mode, bodies }: PushReading): RequestReader {
  return new RequestReader(body, { rules: { ...rulesOf[bodies], templates: { mode, sources } } });
}

/** The refusal that comes first in decision D31. @throws ServiceError PUSH_VALUE_NOT_ALLOWED, PUSH_PARAMETER_INVALID */
export function refuseFirstFault(reader: RequestReader): void {
  const fault = reader.firstFault();
  if (!fault) return;
  const { field, reason } = fault;
  if (reason === undefined) throw new ServiceError('PUSH_VALUE_NOT_ALLOWED', { field });
  throw new ServiceError('PUSH_PARAMETER_INVALID', { field, reason });
}

type Rules = Omit<ReadingRules, 'templates'>;

/** Every kind of value as the interface shows it. Flags are also texts, as in its samples. */
const strictRules: Rules = {
  tells: 'first',
  isSent: (value) => value !== undefined,
  isAbsent: (value) => value === undefined,
  missing: 'is required',
  // A provider's whole message has 4,096 bytes; a text beyond this can never be sent.
  maxTextCharacters: 4_096,
  textFault(text, maxCharacters) {
    if (!text.isWellFormed()) return 'must be well-formed Unicode';
    return text.length > maxCharacters ? `must have at most ${maxCharacters} characters` : undefined;
  },
  toFlag: (value) =>
    value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined,
  toNumber: (value) => value,
  toPairText: (value) => value,
  isChoice: (value, word) => value === word,
  choiceFault: () => notAllowed,
  listFault(value, maxItems) {
    if (!Array.isArray(value)) return notAllowed;
    return value.length > maxItems ? `must have at most ${maxItems} items` : undefined;
  },
  onlyFault: () => 'this value is not available in this version',
};

/**
 * Every kind of value as serializers and forms send it, too; docs/bodies.md lists the kinds. What is not certain is refused as
 * ever: a text for a number of a text's, half a number, a word that is not among the words.
 */
const lenientRules: Rules = {
  ...strictRules,
  isSent: isFilled,
  isAbsent: (value) => !isFilled(value),
  toFlag(value) {
    const word = typeof value === 'string' ? value.toLowerCase() : value;
    return strictRules.toFlag(word);
  },
  toNumber: (value) => (typeof value === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : value),
  toPairText: (value) => (typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : value),
  isChoice: (value, word) =>
    value === word || (typeof value === 'string' && value.toLowerCase() === String(word).toLowerCase()),
  onlyFault: () => undefined,
};

/** Null, an empty text, an empty object, and the empty list that some send for an empty object, are not sent. */
function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

const rulesOf: Record<PushBodies, Rules> = { strict: strictRules, lenient: lenientRules };
const sources = ['UserAttribute'] as const;
