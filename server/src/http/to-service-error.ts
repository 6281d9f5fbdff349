import type { FastifyError, FastifyRequest } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { isDeadlock, isOutage, refusesWrites } from '../domain/outage.ts';

/**
 * Turns whatever a route threw into an error of the registry and notes it in the call's facts. Fastify's own refusals
 * get their names here, and so does a database that is away; everything unknown is an internal fault: `INTERNAL`. The
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
    // Of the method QUERY, which Fastify does not let through without either.
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

// As long as a fail-over takes at least; what was cut by a single reset finds another connection at once.
const retryAfterSeconds = 2;
// Somebody has to make space, or to promote a copy.
const refusedRetryAfterSeconds = 30;

const deadlockRetryAfterSeconds = 1;

function ofFault(error: Error): ServiceError {
  const context = { cause: error, detail: `${error.name}: ${error.message}` };
  if (refusesWrites(error))
    return new ServiceError('STORAGE_REFUSES_WRITES', { ...context, retryAfterSeconds: refusedRetryAfterSeconds });
  // After what retryDeadlock tries.
  if (isDeadlock(error))
    return new ServiceError('OVERLOADED', { ...context, retryAfterSeconds: deadlockRetryAfterSeconds });
  // Nothing of the request is stored, or nobody knows; repeating it is right in both cases.
  return isOutage(error)
    ? new ServiceError('STORAGE_UNAVAILABLE', { ...context, retryAfterSeconds })
    : new ServiceError('INTERNAL', context);
}
