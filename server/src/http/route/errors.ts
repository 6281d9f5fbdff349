import type { FastifyError, FastifyRequest, FastifyReply } from 'fastify';
import { isDeadlock, isOutage, refusesWrites } from '../../domain/database-faults.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';

/**
 * Turns any error that a route threw into an error of the registry and records it in the call's facts. Fastify's own errors
 * and an unavailable database get their registry names here; every unknown error is an internal fault: `INTERNAL`. The
 * cause is kept for the log.
 */
export function toServiceError(error: unknown, request: FastifyRequest): ServiceError {
  const serviceError = error instanceof ServiceError ? error : translate(error as FastifyError);
  if (request.facts) {
    request.facts.errorName = serviceError.code;
    const detail = serviceError.context.detail ?? serviceError.context.reason;
    if (detail !== undefined) request.facts.errorDetail = detail;
  }
  return serviceError;
}

function translate(error: FastifyError): ServiceError {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError('MEDIA_TYPE_UNSUPPORTED');
    // Only for the method QUERY: Fastify rejects it without a content type or a body.
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return new ServiceError('MEDIA_TYPE_UNSUPPORTED');
    case 'FST_ERR_ROUTE_MISSING_CONTENT':
      return new ServiceError('BODY_EMPTY');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError('BODY_TOO_LARGE');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new ServiceError('BODY_EMPTY');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return new ServiceError('BODY_MALFORMED', { detail: error.message });
    case 'FST_ERR_VALIDATION': {
      const [first] = error.validation ?? [];
      const field =
        (first?.instancePath ?? '').replaceAll('/', '.').replace(/^\./, '') ||
        String(first?.params?.missingProperty ?? '');
      return new ServiceError('PARAMETER_INVALID', { field, reason: first?.message ?? error.message });
    }
    default:
      return ofFault(error);
  }
}

// The minimum duration of a fail-over; after a single reset the next request finds another connection at once.
const retryAfterSeconds = 2;
// The operator has to free space or to promote a replica.
const refusedRetryAfterSeconds = 30;

const deadlockRetryAfterSeconds = 1;

function ofFault(error: Error): ServiceError {
  const context = { cause: error, detail: `${error.name}: ${error.message}` };
  if (refusesWrites(error))
    return new ServiceError('STORAGE_REFUSES_WRITES', { ...context, retryAfterSeconds: refusedRetryAfterSeconds });
  // Reached only after the attempts of retryDeadlock.
  if (isDeadlock(error))
    return new ServiceError('OVERLOADED', { ...context, retryAfterSeconds: deadlockRetryAfterSeconds });
  // The request was not stored, or its result is unknown; repeating it is correct in both cases.
  return isOutage(error)
    ? new ServiceError('STORAGE_UNAVAILABLE', { ...context, retryAfterSeconds })
    : new ServiceError('INTERNAL', context);
}

/** Statuses of errors on routes that the interface does not define; the body is Problem Details (RFC 9457). */
export const defaultErrorStatuses: Partial<Record<ErrorName, number>> = {
  REQUEST_MALFORMED: 400,
  HOST_NOT_SERVED: 421,
  ADDRESS_TOO_LONG: 414,
  HEADERS_TOO_LARGE: 431,
  REQUEST_TIMED_OUT: 408,
  EXPECTATION_UNKNOWN: 417,
  BODY_MALFORMED: 400,
  BODY_EMPTY: 400,
  BODY_TOO_LARGE: 413,
  MEDIA_TYPE_UNSUPPORTED: 415,
  METHOD_NOT_ALLOWED: 405,
  ROUTE_NOT_FOUND: 404,
  NOT_FOUND: 404,
  PARAMETER_INVALID: 400,
  IDEMPOTENCY_KEY_INVALID: 400,
  IDEMPOTENCY_CONFLICT: 409,
  AUTHENTICATION_INVALID: 401,
  AUTHENTICATION_EXPIRED: 401,
  SCOPE_MISSING: 403,
  DATA_ATTRIBUTE_MISSING: 400,
  DATA_VALUE_INVALID: 400,
  DATA_USER_NOT_FOUND: 404,
  SEGMENT_FIELD_MISSING: 400,
  SEGMENT_FIELD_INVALID: 400,
  SEGMENT_NOT_OF_FILES: 400,
  SEGMENT_ARCHIVED: 400,
  SEGMENT_NOT_FOUND: 404,
  SEGMENT_NAME_TAKEN: 409,
  SEGMENT_OPERATIONS_LIMITED: 429,
  SEGMENT_ACTIVE_LIMITED: 429,
  CAMPAIGN_NOT_FOUND: 404,
  INTERACTION_TOKEN_UNKNOWN: 404,
  INTERACTION_RATE_LIMITED: 429,
  CAMPAIGN_REQUEST_INVALID: 400,
  CAMPAIGN_ACTION_INVALID: 409,
  CAMPAIGN_NOT_DRAFT: 409,
  CAMPAIGN_NOT_EDITABLE: 409,
  CAMPAIGN_CREATION_LIMITED: 429,
  ACCOUNT_SIGN_IN_FAILED: 401,
  ACCOUNT_ATTEMPTS_LIMITED: 429,
  ACCOUNT_LINK_INVALID: 401,
  ACCOUNT_EMAIL_TAKEN: 409,
  ACCOUNT_LAST_OWNER: 409,
  ACCOUNT_COMPANY_REFUSED: 403,
  ACCOUNT_PASSWORDS_OFF: 403,
  ACCOUNT_NOT_PERMITTED: 403,
  PROVIDER_KEY_INVALID: 400,
  PROVIDER_REFUSED: 422,
  PROVIDER_NOT_ASKED: 502,
  CREDENTIAL_IN_USE: 409,
  SANDBOX_NOT_LOCAL: 403,
  CLOCK_ADVANCING: 409,
  OVERLOADED: 503,
  STORAGE_UNAVAILABLE: 503,
  STORAGE_REFUSES_WRITES: 503,
  INTERNAL: 500,
};

/** Errors of families that have their own tables, with the statuses of those tables: the console gets these errors too. */
const familyErrorStatuses: Partial<Record<ErrorName, number>> = {
  DATA_LIMIT_BREACHED: 400,
  SEGMENT_BODY_INVALID: 400,
  SEGMENT_FILTERS_INVALID: 400,
  SEGMENT_ID_INVALID: 400,
  SEGMENT_UPDATE_FORBIDDEN: 403,
  SEGMENT_ID_NOT_FOUND: 404,
  SEGMENT_FILTERS_TAKEN: 409,
  SEGMENT_CYCLIC: 412,
  SEGMENT_QUERY_TOO_DEEP: 413,
  SEGMENT_QUERY_TOO_MANY_SEGMENTS: 413,
  SEGMENT_QUERY_TOO_LONG: 413,
  SEGMENT_RATE_LIMITED: 429,
  CAMPAIGN_WITHOUT_EXECUTIONS: 422,
  CAMPAIGN_REQUEST_REPEATED: 409,
  CAMPAIGN_RATE_LIMITED: 429,
  EVENT_STREAM_NOT_FOUND: 404,
};

export function presentDefaultError(error: ServiceError, reply: FastifyReply): FastifyReply {
  const { status, type, body } = describeDefaultError(error);
  if (error.context.retryAfterSeconds !== undefined)
    reply.header('retry-after', String(error.context.retryAfterSeconds));
  // RFC 9110 §15.5.6
  if (status === 405) reply.header('allow', String(error.context.members?.allow ?? ''));
  return reply.code(status).type(type).send(body);
}

/** Returns the Problem Details (RFC 9457) of an error, also for use without a reply. */
export function describeDefaultError(error: ServiceError): { status: number; type: string; body: object } {
  const status = defaultErrorStatuses[error.code] ?? familyErrorStatuses[error.code] ?? 500;
  const [fault] = error.context.faults ?? [];
  const field = error.context.field ?? fault?.field;
  const reason = error.context.reason ?? fault?.reason;
  return {
    status,
    type: 'application/problem+json; charset=utf-8',
    body: {
      type: `urn:carillon:error:${error.code}`,
      title: error.message,
      status,
      code: error.code,
      ...(field === undefined ? {} : { field }),
      ...(reason === undefined ? {} : { detail: reason }),
    },
  };
}
