import { ServiceError } from '../../domain/errors.ts';
import { notAllowed } from '../../domain/request-reader/reading-rules.ts';
import type { ReadingRules } from '../../domain/request-reader/reading-rules.ts';
import { RequestReader } from '../../domain/request-reader/request-reader.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';

export function makePushReader(body: Record<string, unknown>, mode: TemplateMode): RequestReader {
  return new RequestReader(body, { rules: rulesOf[mode] });
}

/** The refusal that comes first in decision D31. @throws ServiceError PUSH_VALUE_NOT_ALLOWED, PUSH_PARAMETER_INVALID */
export function refuseFirstFault(reader: RequestReader): void {
  const fault = reader.firstFault();
  if (!fault) return;
  const { field, reason } = fault;
  if (reason === undefined) throw new ServiceError('PUSH_VALUE_NOT_ALLOWED', { field });
  throw new ServiceError('PUSH_PARAMETER_INVALID', { field, reason });
}

/** Flags are also taken as texts, as samples of the interface send them. */
export function toPushFlag(value: unknown): boolean | undefined {
  return value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;
}

const rules: Omit<ReadingRules, 'templates'> = {
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
  toFlag: toPushFlag,
  toNumber: (value) => value,
  isChoice: (value, word) => value === word,
  choiceFault: () => notAllowed,
  listFault(value, maxItems) {
    if (!Array.isArray(value)) return notAllowed;
    return value.length > maxItems ? `must have at most ${maxItems} items` : undefined;
  },
  onlyFault: () => 'this value is not available in this version',
};

const sources = ['UserAttribute'] as const;
const rulesOf: Record<TemplateMode, ReadingRules> = {
  ON: { ...rules, templates: { mode: 'ON', sources } },
  OFF: { ...rules, templates: { mode: 'OFF', sources } },
  AUTO: { ...rules, templates: { mode: 'AUTO', sources } },
};
