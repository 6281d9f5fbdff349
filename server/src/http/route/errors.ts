import type { FastifyError, FastifyRequest, FastifyReply } from 'fastify';
import { isDeadlock, isOutage, refusesWrites } from '../../domain/database-faults.ts';
import { accountRegistry } from '../../domain/errors/access.ts';
import { installationRegistry } from '../../domain/errors/installations.ts';
import { pictureRegistry } from '../../domain/errors/pictures.ts';
import { requestRegistry } from '../../domain/errors/requests.ts';
import { topicRegistry } from '../../domain/errors/topics.ts';
import { errorRegistry, ServiceError } from '../../domain/errors.ts';
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

/** Errors of routes outside the contract. The body is Problem Details (RFC 9457). */
export const problemErrors: readonly ErrorName[] = [
  // The families of the contract distinguish a missing media type from an unsupported one.
  ...namesOf(requestRegistry).filter((name) => name !== 'MEDIA_TYPE_MISSING'),
  ...namesOf(accountRegistry),
  ...namesOf(installationRegistry),
  ...namesOf(pictureRegistry),
  ...namesOf(topicRegistry),
  'AUTHENTICATION_INVALID',
  'AUTHENTICATION_EXPIRED',
  'SCOPE_MISSING',
  'DATA_ATTRIBUTE_MISSING',
  'DATA_VALUE_INVALID',
  'DATA_USER_NOT_FOUND',
  'SEGMENT_FIELD_MISSING',
  'SEGMENT_FIELD_INVALID',
  'SEGMENT_NOT_OF_FILES',
  'SEGMENT_ARCHIVED',
  'SEGMENT_NOT_FOUND',
  'SEGMENT_NAME_TAKEN',
  'SEGMENT_OPERATIONS_LIMITED',
  'SEGMENT_ACTIVE_LIMITED',
  'CAMPAIGN_NOT_FOUND',
  'CAMPAIGN_REQUEST_INVALID',
  'CAMPAIGN_ACTION_INVALID',
  'CAMPAIGN_NOT_DRAFT',
  'CAMPAIGN_NOT_EDITABLE',
  'CAMPAIGN_CREATION_LIMITED',
  'INTERACTION_TOKEN_UNKNOWN',
  'INTERACTION_RATE_LIMITED',
];

function namesOf<Name extends ErrorName>(registry: Record<Name, unknown>): Name[] {
  return Object.keys(registry) as Name[];
}

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
  const status = errorRegistry[error.code].status;
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
