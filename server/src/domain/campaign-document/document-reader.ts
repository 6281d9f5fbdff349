import { RequestReader } from '../request-reader/request-reader.ts';
import { unavailable } from '../request-reader/reading-rules.ts';
import type { ReadingRules } from '../request-reader/reading-rules.ts';
import { quote } from '../segments/filter-members.ts';
import { sourceNames } from '../template/template-syntax.ts';
import { textFault } from '../users/user-attributes.ts';

/** Reads a part of a campaign's record; `path` is where it stands in the whole. */
export function makeDocumentReader(members: Record<string, unknown>, path = ''): RequestReader {
  return new RequestReader(members, { path, rules: documentRules });
}

/** Null, an empty text, an empty list and an empty object count as not sent: clients fill forms with them. */
const documentRules: ReadingRules = {
  tells: 'all',
  isSent,
  isAbsent: (value) => !isSent(value),
  missing: 'missing',
  maxTextCharacters: 4_096,
  textFault: (text, maxCharacters) =>
    textFault(text) ?? (text.length > maxCharacters ? `must have at most ${maxCharacters} characters` : undefined),
  toFlag: (value) =>
    typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : undefined,
  toNumber: (value) => (typeof value === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : value),
  toPairText: (value) => value,
  // Case does not matter, as the samples of the interface differ.
  isChoice: (value, word) => typeof value === 'string' && String(word).toUpperCase() === value.toUpperCase(),
  choiceFault: (value, words) => `must be one of ${words.join(', ')} in this version, not ${quote(value)}`,
  listFault: (value, maxItems) =>
    Array.isArray(value) && value.length <= maxItems ? undefined : `must be a list of at most ${maxItems} items`,
  onlyFault: (value) => `must be ${value}: ${!value} ${unavailable}`,
  templates: { mode: 'AUTO', sources: sourceNames },
};

function isSent(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
