import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Scope } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import { RequestReader } from '../../domain/request-reader.ts';
import type { ReadingRules } from '../../domain/request-reader.ts';
import type { Refusals } from '../openapi/operation.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { makeRequireApiKey } from './auth.ts';
import type { BearerDependencies } from './auth.ts';
import { presentDefaultError, toServiceError, defaultErrorStatuses } from './errors.ts';
import { isGatewayError, presentGatewayError } from './gateway-errors.ts';

/** Makes the hook for a route outside the contract: the caller's key or token must have this scope. */
export function makeRequireOwnKey(deps: BearerDependencies, scope: Scope) {
  return makeRequireApiKey(deps, scope, {
    missing: 'AUTHENTICATION_INVALID',
    invalid: 'AUTHENTICATION_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
}

/** Bodies are parsed member by member, and errors are Problem Details (RFC 9457), except those of tokens. */
export function presentOwnErrors(server: FastifyInstance): void {
  server.setValidatorCompiler(() => () => true);
  server.setErrorHandler((error, request, reply) => {
    const fault = toServiceError(error, request);
    return isGatewayError(fault) ? presentGatewayError(fault, { request, reply }) : presentDefaultError(fault, reply);
  });
}

/**
 * Returns the body of a route outside the contract, to be read member by member.
 *
 * @throws ServiceError BODY_EMPTY, BODY_MALFORMED
 */
export function readOwnBody({ body }: FastifyRequest): RequestReader {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return new RequestReader(body as Record<string, unknown>, { rules });
}

/** Throws if there are faults; the response reports the first. @throws ServiceError PARAMETER_INVALID */
export function refuseOwnFaults({ faults }: RequestReader): void {
  if (faults.length > 0) throw new ServiceError('PARAMETER_INVALID', { faults });
}

const maxTextCharacters = 1_024;

/** Null and an empty text count as not sent. */
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
  // Nothing read here is rendered for a user.
  templates: { mode: 'OFF', sources: [] },
};

/** Problem Details (RFC 9457): the error body of routes outside the contract. */
const problem = named(
  'Problem',
  Type.Object({
    type: Type.String({ description: 'urn:carillon:error: and the code' }),
    title: Type.String(),
    status: Type.Integer(),
    code: codeShape(Object.keys(defaultErrorStatuses), 'The name of the error'),
    field: Type.Optional(Type.String({ description: 'What it is about' })),
    detail: Type.Optional(Type.String({ description: 'What is wrong with it' })),
  }),
);

/** @param names of the errors of such a route, in addition to those of every route */
export function problemRefusals(names: readonly (keyof typeof defaultErrorStatuses)[]): Refusals {
  const known = [...everyError, ...names].map((name) => [name, defaultErrorStatuses[name]!]);
  return {
    errors: Object.fromEntries(known) as Refusals['errors'],
    shape: problem,
    mediaType: 'application/problem+json',
  };
}

const everyError = [
  'REQUEST_MALFORMED',
  'PARAMETER_INVALID',
  'BODY_MALFORMED',
  'BODY_EMPTY',
  'BODY_TOO_LARGE',
  'MEDIA_TYPE_UNSUPPORTED',
  'HOST_NOT_SERVED',
  'OVERLOADED',
  'STORAGE_UNAVAILABLE',
  'STORAGE_REFUSES_WRITES',
  'INTERNAL',
] as const;
