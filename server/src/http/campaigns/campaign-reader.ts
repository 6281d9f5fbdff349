import { ServiceError } from '../../domain/errors.ts';
import type { RequestFault } from '../../fields/reading-rules.ts';
import { noTemplates, unavailable } from '../../fields/reading-rules.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';

export type Body = Record<string, unknown>;

export function makeCampaignReader(body: Body): RequestReader {
  return new RequestReader(body, { rules: campaignRules });
}

/** Makes the reader of a query, where numbers are texts. */
export function makeCampaignQueryReader(query: Record<string, unknown>): RequestReader {
  return new RequestReader(query, { rules: queryRules });
}

/** @throws ServiceError CAMPAIGN_REQUEST_INVALID with all faults */
export function refuseFaults({ faults }: RequestReader): void {
  if (faults.length > 0) throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults, detail: describe(faults) });
}

const maxTextCharacters = 256;

/** Null counts as not sent. An empty text is a missing field, as in the other families, and not a valid filter value. */
const campaignRules: ReadingRules = {
  reports: 'all',
  isSent: (value) => value !== undefined && value !== null,
  isAbsent: (value) => value === undefined || value === null || value === '',
  missing: 'missing',
  maxTextCharacters,
  textFault,
  toFlag: (value) => (typeof value === 'boolean' ? value : undefined),
  toNumber: (value) => value,
  toPairText: (value) => value,
  isChoice: (value, word) => value === word,
  choiceFault: (value, words) =>
    typeof value === 'string' && textFault(value, maxTextCharacters) === undefined
      ? `must hold only ${words.join(', ')}`
      : `must hold texts of 1 to ${maxTextCharacters} characters`,
  listFault: (value, maxItems) =>
    Array.isArray(value) && value.length > 0 && value.length <= maxItems
      ? undefined
      : `must be a list of 1 to ${maxItems} texts`,
  onlyFault: (value) => `must be ${value}: ${!value} ${unavailable}`,
  templates: noTemplates,
};

const queryRules: ReadingRules = {
  ...campaignRules,
  toNumber: (value) => (typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value),
};

function textFault(text: string, maxCharacters: number): string | undefined {
  if (text === '' || text.length > maxCharacters) return `must have 1 to ${maxCharacters} characters`;
  return text.isWellFormed() ? undefined : 'must be well-formed Unicode';
}

function describe(faults: RequestFault[]): string {
  return faults.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
}
