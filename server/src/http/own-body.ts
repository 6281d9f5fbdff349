import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import type { ReadingRules } from '../domain/request-reader/reading-rules.ts';
import { RequestReader } from '../domain/request-reader/request-reader.ts';

/** The body of a route that no contract knows, to be read member by member. @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readOwnBody({ body }: FastifyRequest): RequestReader {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return new RequestReader(body as Record<string, unknown>, { rules });
}

/** Tells the first. @throws ServiceError PARAMETER_INVALID */
export function refuseOwnFaults({ faults }: RequestReader): void {
  if (faults.length > 0) throw new ServiceError('PARAMETER_INVALID', { faults });
}

const maxTextCharacters = 1_024;

/** Null and an empty text are not sent. */
const rules: ReadingRules = {
  tells: 'all',
  isSent: (value) => value !== undefined && value !== null && value !== '',
  isAbsent: (value) => value === undefined || value === null || value === '',
  missing: 'is required',
  maxTextCharacters,
  textFault(text, maxCharacters) {
    if (text.length > maxCharacters) return `must have at most ${maxCharacters} characters`;
    return text.isWellFormed() ? undefined : 'must be well-formed Unicode';
  },
  toFlag: (value) => (typeof value === 'boolean' ? value : undefined),
  toNumber: (value) => value,
  toPairText: (value) => value,
  isChoice: (value, word) => value === word,
  choiceFault: (_value, words) => `must be ${words.join(', ').replace(/, ([^,]*)$/, ' or $1')}`,
  listFault: (value, maxItems) =>
    Array.isArray(value) && value.length <= maxItems ? undefined : `must be a list of at most ${maxItems}`,
  onlyFault: () => undefined,
  // Nothing that is read here is rendered for a user.
  templates: { mode: 'OFF', sources: [] },
};
