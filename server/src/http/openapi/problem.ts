import { Type } from 'typebox';
import { defaultErrorStatuses } from '../present-default-error.ts';
import { codeShape } from './code-shape.ts';
import type { Refusals } from './describe-operation.ts';
import { named } from './named.ts';

/** Problem Details (RFC 9457): how routes refuse that no contract knows. */
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

/** @param names of the errors that such a route has, besides those of every route */
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
