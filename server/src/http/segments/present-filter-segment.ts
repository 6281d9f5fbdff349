import type { FastifyReply } from 'fastify';
import type { getSegment } from '../../app/segments/filter-segments.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';
import { isGatewayError, presentGatewayError } from '../auth/present.ts';
import { makeRequestId } from '../request-id.ts';
import { answerHeaders } from './present.ts';
import type { Answering } from './present.ts';

type Segment = Awaited<ReturnType<typeof getSegment>>;
type Wire = { status: number; code: string };

/** Statuses and codes of the v3 segment family (fact 2.3); the message is the registry's text. */
export const filterSegmentErrors: Partial<Record<ErrorName, Wire>> = {
  SEGMENT_BODY_INVALID: { status: 400, code: 'Invalid request' },
  SEGMENT_FILTERS_INVALID: { status: 400, code: 'Invalid Request' },
  SEGMENT_ID_INVALID: { status: 400, code: 'Invalid request' },
  SEGMENT_CLIENT_NOT_FOUND: { status: 400, code: 'Request Error' },
  SEGMENT_HEADER_MISSING: { status: 400, code: 'Request Error' },
  SEGMENT_CREDENTIALS_INVALID: { status: 401, code: 'Authentication required' },
  SEGMENT_KEY_NOT_ALLOWED: { status: 403, code: 'Forbidden operation' },
  SEGMENT_UPDATE_FORBIDDEN: { status: 403, code: 'Forbidden operation' },
  SEGMENT_ID_NOT_FOUND: { status: 404, code: 'Entity Not Found' },
  SEGMENT_NAME_TAKEN: { status: 409, code: 'Resource not created' },
  SEGMENT_FILTERS_TAKEN: { status: 409, code: 'Resource not created' },
  SEGMENT_CYCLIC: { status: 412, code: 'Cyclic Entity' },
  SEGMENT_QUERY_TOO_DEEP: { status: 413, code: 'Query has too many nesting levels' },
  SEGMENT_QUERY_TOO_MANY_SEGMENTS: { status: 413, code: 'Too many segments in a query' },
  SEGMENT_QUERY_TOO_LONG: { status: 413, code: 'Query length limit exceeded' },
  SEGMENT_RATE_LIMITED: { status: 429, code: 'Too Many Requests' },
  SEGMENT_ACTIVE_LIMITED: { status: 429, code: 'Too Many Requests' },
  BODY_MALFORMED: { status: 400, code: 'Invalid request' },
  BODY_EMPTY: { status: 400, code: 'Invalid request' },
  BODY_TOO_LARGE: { status: 413, code: 'Query length limit exceeded' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, code: 'Unsupported Media Type' },
  MEDIA_TYPE_MISSING: { status: 415, code: 'Unsupported Media Type' },
  REQUEST_MALFORMED: { status: 400, code: 'Invalid request' },
  HOST_NOT_SERVED: { status: 421, code: 'Misdirected Request' },
  METHOD_NOT_ALLOWED: { status: 405, code: 'Method Not Allowed' },
  PARAMETER_INVALID: { status: 400, code: 'Invalid request' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, code: 'Invalid request' },
  IDEMPOTENCY_CONFLICT: { status: 409, code: 'Resource not created' },
  OVERLOADED: { status: 503, code: 'Service Unavailable' },
  STORAGE_UNAVAILABLE: { status: 503, code: 'Service Unavailable' },
  STORAGE_REFUSES_WRITES: { status: 503, code: 'Service Unavailable' },
};

export function presentFilterSegmentError(error: ServiceError, { request, reply }: Answering): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = filterSegmentErrors[error.code];
  const status = wire?.status ?? 500;
  answerHeaders(error, { reply, status });
  const message = wire
    ? error.message
    : 'An unexpected error was encountered while processing this request. Please contact Carillon Team';
  const { reason, field, members } = error.context;
  return reply.code(status).send({
    ...envelope(),
    error: {
      code: wire?.code ?? 'Internal Server Error',
      message,
      // The exact error, in addition to the documented text.
      ...(wire && reason !== undefined && field !== undefined ? { details: `${field}: ${reason}` } : {}),
      ...(status === 405 ? {} : members),
    },
  });
}

export function presentSegmentList(segments: Segment[]) {
  return { data: segments.map(presentListed), ...envelope() };
}

export function presentSegment(segment: Segment) {
  return {
    data: {
      ...presentListed(segment),
      updated_time: timeText(segment.updatedAt),
      description: segment.description,
      included_filters: segment.includedFilters,
      excluded_filters: segment.excludedFilters,
      status: segment.state,
      user_count: segment.userCount,
    },
    ...envelope(),
  };
}

const types: Record<Segment['kind'], string> = { FILE: 'FILE', FILTER: 'ELASTIC_SEARCH', COHORT: 'COHORT' };
const sources: Record<Segment['source'], string> = { API: 'API', CONSOLE: 'DASHBOARD', PARTNER: 'PARTNER' };

function presentListed(segment: Segment) {
  return {
    name: segment.name,
    id: segment.id,
    created_time: timeText(segment.createdAt),
    type: types[segment.kind],
    source: sources[segment.source],
  };
}

/** `2022-12-01T13:17:46.409000`: UTC, microseconds, no zone (fact 2.3). */
function timeText(at: Date): string {
  return at.toISOString().replace('Z', '000');
}

function envelope() {
  return { response_id: makeRequestId(), type: 'custom_segment' as const };
}
