import type { PushBodies } from '../../domain/push.ts';
import { makeTemplateRules } from '../../domain/template/parser.ts';
import type { TemplateMode } from '../../domain/template/parser.ts';
import { notAllowed } from '../../fields/reading-rules.ts';
import type { ReadingRules, TemplateRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';

export type PushReading = { mode: TemplateMode; bodies: PushBodies };

export function makePushReader(body: Record<string, unknown>, { mode, bodies }: PushReading): RequestReader {
  return new RequestReader(body, { rules: { ...rulesOf[bodies], templates: templateRules[mode] } });
}

type Rules = Omit<ReadingRules, 'templates'>;

/** Accepts every kind of value as the interface shows it. Flags may also be texts, as in its samples. */
const strictRules: Rules = {
  reports: 'first',
  isSent: (value) => value !== undefined,
  isAbsent: (value) => value === undefined,
  missing: 'is required',
  // A provider's whole message has 4,096 bytes; a longer text can never be sent.
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
 * Also accepts every kind of value as serializers and forms send it; docs/bodies.md lists the kinds. Ambiguous values are
 * still rejected: a number where a text is expected, half a number, a word that is not in the list.
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
  dropsUnknownMedia: true,
};

/** False for null, an empty text, an empty object, and the empty list that some clients send for an empty object. */
function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

const rulesOf: Record<PushBodies, Rules> = { strict: strictRules, lenient: lenientRules };

const sources = ['UserAttribute'] as const;
const templateRules: Record<TemplateMode, TemplateRules> = {
  ON: makeTemplateRules({ mode: 'ON', sources }),
  OFF: makeTemplateRules({ mode: 'OFF', sources }),
  AUTO: makeTemplateRules({ mode: 'AUTO', sources }),
};
