import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ExportedUser, ExportUsersQuery } from '../../app/users/users.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import { isGatewayError, presentGatewayError } from '../route/gateway-errors.ts';
import { makeRequestId } from '../route/route.ts';

type Wire = { status: number; type: string; message: (error: ServiceError, request?: FastifyRequest) => string };

const fieldOf = (error: ServiceError): string => error.context.field ?? '';

/** Statuses, types and messages of the data family (fact 5). */
export const dataErrors: Partial<Record<ErrorName, Wire>> = {
  DATA_ATTRIBUTE_MISSING: {
    status: 400,
    type: 'MissingAttributeError',
    message: (error) =>
      fieldOf(error) === 'customer_id'
        ? 'customer_id is not found in the payload'
        : `'${fieldOf(error)}' is not found in payload`,
  },
  DATA_ACTIONS_EMPTY: { status: 400, type: 'MissingAttributeError', message: (error) => error.message },
  DATA_VALUE_INVALID: {
    status: 400,
    type: 'ValueError',
    message: (error) => `'${fieldOf(error)}' ${error.context.reason ?? 'is not valid'}`,
  },
  DATA_USER_NOT_FOUND: { status: 400, type: 'ValueError', message: (error) => `'${fieldOf(error)}' must exist` },
  DATA_LIMIT_BREACHED: { status: 400, type: 'LimitBreached', message: (error) => error.message },
  DATA_WORKSPACE_MISSING: { status: 400, type: 'ParamsRequired', message: (error) => error.message },
  DATA_WORKSPACE_INVALID: { status: 400, type: 'InvalidParams', message: (error) => error.message },
  DATA_HEADER_MISSING: { status: 400, type: 'Missing header value', message: (error) => error.message },
  DATA_WORKSPACE_MISMATCH: { status: 409, type: 'Authentication Mismatch', message: (error) => error.message },
  DATA_CREDENTIALS_MISSING: { status: 401, type: 'Authentication required', message: (error) => error.message },
  DATA_CREDENTIALS_INVALID: { status: 401, type: 'Authentication required', message: (error) => error.message },
  DATA_IDENTITY_MISSING: { status: 401, type: 'Authentication required', message: (error) => error.message },
  DATA_IDENTITY_INVALID: { status: 401, type: 'Authentication required', message: (error) => error.message },
  DATA_APP_KEY_MISSING: { status: 401, type: 'Authentication required', message: (error) => error.message },
  DATA_APP_SECRET_MISSING: { status: 401, type: 'Authentication required', message: (error) => error.message },
  DATA_APP_ID_INVALID: { status: 401, type: 'Authentication required', message: (error) => error.message },
  DATA_RATE_LIMITED: { status: 429, type: 'RateLimitError', message: (error) => error.message },
  SEGMENT_NAME_TAKEN: { status: 409, type: 'Resource not created', message: (error) => error.message },
  SEGMENT_ARCHIVED: { status: 400, type: 'ValueError', message: (error) => error.message },
  SEGMENT_ACTIVE_LIMITED: { status: 429, type: 'RateLimitError', message: (error) => error.message },
  SEGMENT_CLIENT_NOT_FOUND: { status: 400, type: 'InvalidParams', message: (error) => error.message },
  BODY_MALFORMED: {
    status: 400,
    type: 'Malformed JSON',
    message: () => 'Could not decode the request body. The JSON was incorrect or not encoded as UTF-8.',
  },
  BODY_EMPTY: { status: 400, type: 'Empty request body', message: () => 'A valid JSON document is required' },
  BODY_TOO_LARGE: {
    status: 413,
    type: 'PayloadTooLarge',
    message: (_error, request) => `The payload can not exceed ${(request?.routeOptions.bodyLimit ?? 131_072) / 1024}KB`,
  },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, type: 'MediaTypeError', message: () => 'Unsupported Media Type' },
  MEDIA_TYPE_MISSING: {
    status: 400,
    type: 'Missing header value',
    message: () => 'The Content-Type Header is required',
  },
  REQUEST_MALFORMED: { status: 400, type: 'InvalidRequest', message: (error) => error.message },
  HOST_NOT_SERVED: { status: 421, type: 'MisdirectedRequest', message: (error) => error.message },
  METHOD_NOT_ALLOWED: { status: 405, type: 'MethodNotAllowed', message: (error) => error.message },
  IDEMPOTENCY_KEY_INVALID: { status: 400, type: 'InvalidParams', message: (error) => error.message },
  IDEMPOTENCY_CONFLICT: { status: 409, type: 'IdempotencyConflict', message: (error) => error.message },
  OVERLOADED: { status: 503, type: 'ServiceUnavailable', message: (error) => error.message },
  STORAGE_UNAVAILABLE: { status: 503, type: 'ServiceUnavailable', message: (error) => error.message },
  STORAGE_REFUSES_WRITES: { status: 503, type: 'ServiceUnavailable', message: (error) => error.message },
  INTERNAL: { status: 500, type: 'InternalServerError', message: (error) => error.message },
};

export function presentDataError(
  error: ServiceError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
) {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = dataErrors[error.code] ?? dataErrors.INTERNAL!;
  if (wire.status === 401) reply.header('www-authenticate', 'Basic realm="carillon", charset="UTF-8"');
  if (wire.status === 405) reply.header('allow', 'POST');
  if (error.context.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(error.context.retryAfterSeconds));
  const attribute = error.context.field === undefined ? {} : { attribute: error.context.field };
  return reply.code(wire.status).send({
    status: 'fail',
    error: { ...attribute, message: wire.message(error, request), type: wire.type, request_id: makeRequestId() },
  });
}

/** Describes a fault of one element of a bulk request, for the API log. */
export function describeElementFault(error: ServiceError): string {
  const wire = dataErrors[error.code] ?? dataErrors.INTERNAL!;
  const message = wire.message(error);
  return `${wire.type}: ${message}`;
}

/** Presents the users found, with the requested fields, and the identifiers of those not found. */
export function presentExport(
  { identities, fields }: Pick<ExportUsersQuery, 'identities' | 'fields'>,
  found: (ExportedUser | undefined)[],
) {
  return {
    status: 'success',
    type: 'export_users',
    data: {
      users_not_found: identities.filter((_identity, index) => !found[index]).map(presentIdentity),
      users: found
        .filter((user) => user !== undefined)
        .map((user) => ({ user_attributes: selectFields(user, fields) })),
    },
  };
}

function presentIdentity({ kind, value }: UserIdentity) {
  return { identifier_type: kind === 'id' ? 'id' : 'customer_id', identifier: value };
}

/** Always includes `customer_id`, so that each user can be identified. */
function selectFields({ id, customerId, attributes }: ExportedUser, fields: string[] | undefined) {
  const all: Record<string, unknown> = { ...attributes, id, customer_id: customerId };
  if (!fields) return all;
  return Object.fromEntries(Object.entries(all).filter(([name]) => name === 'customer_id' || fields.includes(name)));
}

export function presentAccepted({ requestId }: { requestId: string }) {
  return {
    status: 'success',
    message: 'Your request has been accepted and will be processed soon.',
    request_id: requestId,
  };
}
