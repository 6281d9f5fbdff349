import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Scope } from '../../domain/access/keys.ts';
import type { ServiceError } from '../../domain/errors.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { declareErrors } from './dialect-errors.ts';
import { toServiceError } from './errors.ts';

/** Responses of the gateway, the same in every family (decision D16), with the error of RFC 6750 §3.1 for the challenge. */
export const gatewayErrors = declareErrors<{ code: string; target: string; challenge: string }>({
  AUTHENTICATION_INVALID: { code: 'ER001', target: 'Authentication Invalid', challenge: 'invalid_token' },
  AUTHENTICATION_EXPIRED: { code: 'ER008', target: 'Authentication Expired', challenge: 'invalid_token' },
  SCOPE_MISSING: { code: 'ER007', target: 'Authorization Invalid', challenge: 'insufficient_scope' },
});

export function isGatewayError(error: ServiceError): boolean {
  return gatewayErrors[error.code] !== undefined;
}

/**
 * Sends one of the gatewayErrors with `{"code","target","message"}`; passes any other error to the family's handler.
 *
 * @throws the error itself when it is not the gateway's
 */
export function presentGatewayError(
  error: ServiceError,
  { request, reply, scope }: { request: FastifyRequest; reply: FastifyReply; scope?: Scope },
): FastifyReply {
  const wire = gatewayErrors[error.code];
  if (!wire) throw error;
  toServiceError(error, request);
  const { status, code, target, challenge } = wire;
  const parts = ['realm="Carillon"'];
  // RFC 6750 §3.1: without any credentials the challenge contains no error.
  if (request.headers.authorization !== undefined) {
    parts.push(`error="${challenge}"`, `error_description="${error.message}"`);
    if (status === 403 && scope !== undefined) parts.push(`scope="${scope}"`);
  }
  return reply
    .code(status)
    .header('www-authenticate', `Bearer ${parts.join(', ')}`)
    .type('application/json')
    .send({ code, target, message: error.message });
}

const refusals = Object.values(gatewayErrors);

/** An error of the gateway, the same for every family (decision D16). */
export const gatewayError = named(
  'GatewayError',
  Type.Object({
    code: codeShape(
      refusals.map(({ code }) => code),
      'ER001 invalid, ER007 scope missing, ER008 expired',
    ),
    target: codeShape(
      refusals.map(({ target }) => target),
      'The rejected request',
    ),
    message: Type.String(),
  }),
);
