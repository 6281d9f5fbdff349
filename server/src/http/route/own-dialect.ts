import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Scope } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { readMembers } from '../../fields/field.ts';
import type { Fields, Infer } from '../../fields/field.ts';
import { noTemplates } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import type { Dialect, Refusals } from '../openapi/operation.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from './auth.ts';
import type { BearerDependencies, KeyCaller } from './auth.ts';
import { bodyErrors, declareErrors, routeErrors } from './dialect-errors.ts';
import { presentDefaultError, problemErrors } from './errors.ts';
import { isGatewayError, presentGatewayError } from './gateway-errors.ts';
import type { Body, RouteDialect } from './route.ts';
import type { VendorHeaders } from './vendor-headers.ts';
import type { AnsweredCall } from './warnings.ts';

/** Makes the dialect of routes outside the contract: the caller's key or token must have the scope. */
export function makeOwnDialect(
  deps: OwnDependencies,
  { scope, errors, ...described }: OwnDialect,
): RouteDialect<KeyCaller> {
  const requireKey = makeRequireApiKey(deps, scope, {
    missing: 'AUTHENTICATION_INVALID',
    invalid: 'AUTHENTICATION_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
  return {
    ...described,
    refusals: problemRefusals(errors),
    vendorHeaders: deps.vendorHeaders,
    onRequest: [requireKey],
    callerOf: keyCallerOf,
    presentError: presentOwnError,
  };
}

export type OwnDependencies = BearerDependencies & { vendorHeaders: VendorHeaders };

type OwnDialect = Pick<Dialect, 'tag' | 'credentials'> & {
  scope: Scope;
  /** The errors of these routes, in addition to those of every route. */
  errors: readonly ErrorName[];
};

/** Sends Problem Details (RFC 9457), except for errors of tokens. */
export function presentOwnError(error: ServiceError, { request, reply }: AnsweredCall): FastifyReply {
  return isGatewayError(error) ? presentGatewayError(error, { request, reply }) : presentDefaultError(error, reply);
}

/** The rules of routes outside the contract that require no credentials. */
export const withoutCredentials = {
  credentials: [],
  callerOf: () => ({}),
  presentError: (error, { reply }) => presentDefaultError(error, reply),
} satisfies Partial<RouteDialect>;

/** Makes the reader of a body of a route outside the contract. */
export function makeOwnReader(body: Body): RequestReader {
  return new RequestReader(body, { rules });
}

/** Throws if there are faults; the response reports the first. @throws ServiceError PARAMETER_INVALID */
export function refuseOwnFaults({ faults }: RequestReader): void {
  if (faults.length > 0) throw new ServiceError('PARAMETER_INVALID', { faults });
}

/**
 * Reads parameters of a path or a query of such a route.
 *
 * @throws ServiceError PARAMETER_INVALID for the first invalid one
 */
export function readOwnParameters<F extends Fields>(sent: Record<string, unknown>, fields: F): Partial<Infer<F>> {
  const reader = new RequestReader(sent, { rules: parameterRules });
  const values = readMembers(reader, fields);
  const fault = reader.firstFault();
  if (fault) throw new ServiceError('PARAMETER_INVALID', fault);
  return values;
}

const maxTextCharacters = 1_024;

/** Null and an empty text count as not sent. */
const rules: ReadingRules = {
  reports: 'all',
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
  templates: noTemplates,
};

/** An empty text in an address is a value. */
const parameterRules: ReadingRules = {
  ...rules,
  isSent: (value) => value !== undefined,
  isAbsent: (value) => value === undefined,
};

/** Problem Details (RFC 9457): the error body of routes outside the contract. */
const problem = named(
  'Problem',
  Type.Object({
    type: Type.String({ description: 'urn:carillon:error: and the code' }),
    title: Type.String(),
    status: Type.Integer(),
    code: codeShape(problemErrors, 'The name of the error'),
    field: Type.Optional(Type.String({ description: 'The subject' })),
    detail: Type.Optional(Type.String({ description: 'The fault' })),
  }),
);

/** @param names of the errors of such a route, in addition to those of every route */
export function problemRefusals(names: readonly ErrorName[]): Refusals {
  return {
    errors: declareErrors({}, { shared: [...everyError, ...names], wireOf: () => ({}) }),
    shape: problem,
    mediaType: 'application/problem+json',
  };
}

const everyError = [...routeErrors, 'PARAMETER_INVALID', ...bodyErrors, 'INTERNAL'] as const;
