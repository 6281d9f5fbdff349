import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ExportedUser, ExportUsersQuery } from '../../app/users/users.ts';
import type { ServiceError } from '../../domain/errors.ts';
import { storedNameOf } from '../../domain/users/standard-attributes.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { declareErrors, routeErrors, statusPhrases } from '../route/dialect-errors.ts';
import { isGatewayError, presentGatewayError } from '../route/gateway-errors.ts';
import { makeRequestId } from '../route/route.ts';

type Wire = {
  type: string;
  /** Absent: the text of the registry is used. */
  message?: (error: ServiceError, request?: FastifyRequest) => string;
};

const fieldOf = (error: ServiceError): string => error.context.field ?? '';

/** The types that differ from the reason phrase of their status. */
const types: Partial<Record<number, string>> = {
  400: 'ValueError',
  401: 'Authentication required',
  415: 'MediaTypeError',
  429: 'RateLimitError',
};

/** Statuses, types and messages of the data family (fact 5). */
export const dataErrors = declareErrors<Wire>(
  {
    DATA_ATTRIBUTE_MISSING: {
      type: 'MissingAttributeError',
      message: (error) =>
        fieldOf(error) === 'customer_id'
          ? 'customer_id is not found in the payload'
          : `'${fieldOf(error)}' is not found in payload`,
    },
    DATA_ACTIONS_EMPTY: { type: 'MissingAttributeError' },
    DATA_VALUE_INVALID: { message: (error) => `'${fieldOf(error)}' ${error.context.reason ?? 'is not valid'}` },
    DATA_USER_NOT_FOUND: { status: 400, message: (error) => `'${fieldOf(error)}' must exist` },
    DATA_LIMIT_BREACHED: { type: 'LimitBreached' },
    DATA_WORKSPACE_MISSING: { type: 'ParamsRequired' },
    DATA_WORKSPACE_INVALID: { type: 'InvalidParams' },
    DATA_HEADER_MISSING: { type: 'Missing header value' },
    DATA_WORKSPACE_MISMATCH: { type: 'Authentication Mismatch' },
    DATA_CREDENTIALS_MISSING: {},
    DATA_CREDENTIALS_INVALID: {},
    DATA_IDENTITY_MISSING: {},
    DATA_IDENTITY_INVALID: {},
    DATA_APP_KEY_MISSING: {},
    DATA_APP_SECRET_MISSING: {},
    DATA_APP_ID_INVALID: {},
    DATA_RATE_LIMITED: {},
    SEGMENT_NAME_TAKEN: { type: 'Resource not created' },
    SEGMENT_ARCHIVED: {},
    SEGMENT_ACTIVE_LIMITED: {},
    SEGMENT_CLIENT_NOT_FOUND: { type: 'InvalidParams' },
    BODY_MALFORMED: {
      type: 'Malformed JSON',
      message: () => 'Could not decode the request body. The JSON was incorrect or not encoded as UTF-8.',
    },
    BODY_EMPTY: { type: 'Empty request body', message: () => 'A valid JSON document is required' },
    BODY_TOO_LARGE: {
      message: (_error, request) =>
        `The payload can not exceed ${(request?.routeOptions.bodyLimit ?? 131_072) / 1024}KB`,
    },
    MEDIA_TYPE_UNSUPPORTED: { message: () => 'Unsupported Media Type' },
    MEDIA_TYPE_MISSING: { status: 400, type: 'Missing header value' },
    REQUEST_MALFORMED: { type: 'InvalidRequest' },
    IDEMPOTENCY_KEY_INVALID: { type: 'InvalidParams' },
    IDEMPOTENCY_CONFLICT: { type: 'IdempotencyConflict' },
  },
  {
    shared: [...routeErrors, 'INTERNAL'],
    wireOf: (status) => ({ type: types[status] ?? statusPhrases[status].replaceAll(' ', '') }),
  },
);

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
    error: {
      ...attribute,
      message: wire.message?.(error, request) ?? error.message,
      type: wire.type,
      request_id: makeRequestId(),
    },
  });
}

/** Describes a fault of one element of a bulk request, for the API log. */
export function describeElementFault(error: ServiceError): string {
  const wire = dataErrors[error.code] ?? dataErrors.INTERNAL!;
  const message = wire.message?.(error) ?? error.message;
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

/** Returns the requested fields under the requested names, and always `customer_id`, so that each user can be identified. */
function selectFields({ id, customerId, attributes }: ExportedUser, fields: string[] | undefined) {
  const all: Record<string, unknown> = { ...attributes, id, customer_id: customerId };
  if (!fields) return all;
  const asked = [...fields, 'customer_id'].filter((name) => Object.hasOwn(all, storedNameOf(name)));
  return Object.fromEntries(asked.map((name) => [name, all[storedNameOf(name)]]));
}

export function presentAccepted({ requestId }: { requestId: string }) {
  return {
    status: 'success',
    message: 'Your request has been accepted and will be processed soon.',
    request_id: requestId,
  };
}

/* Shapes of the responses. */

export const exportAnswer = named(
  'ExportAnswer',
  Type.Object({
    status: Type.String(),
    type: Type.String(),
    data: Type.Object({
      users_not_found: Type.Array(Type.Object({ identifier_type: Type.String(), identifier: Type.String() })),
      users: Type.Array(Type.Object({ user_attributes: Type.Record(Type.String(), Type.Any()) })),
    }),
  }),
);

export const mergeAnswer = named('MergeAnswer', Type.Object({ status: Type.String(), operation: Type.String() }));

export const authenticationAnswer = named(
  'ConnectionTestAnswer',
  Type.Object({ status: Type.String(), app_name: Type.String() }),
);

export const dataAnswer = named(
  'DataAccepted',
  Type.Object({
    status: Type.Literal('success'),
    message: Type.String(),
    request_id: Type.String({ description: 'Identifies this call in the API log' }),
  }),
);
export const dataError = named(
  'DataError',
  Type.Object({
    status: Type.Literal('fail'),
    error: Type.Object({
      attribute: Type.Optional(Type.String()),
      message: Type.String(),
      type: codeShape(
        Object.values(dataErrors).map(({ type }) => type),
        'The kind of error',
      ),
      request_id: Type.String(),
    }),
  }),
);
