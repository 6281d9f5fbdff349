import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { getSegment } from '../../app/segments/filter-segments.ts';
import type { SegmentDependencies } from '../../app/segments/segment-limits.ts';
import { ServiceError } from '../../domain/errors.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import type { BearerDependencies } from '../route/auth.ts';
import {
  bodyErrors,
  declareErrors,
  repeatErrors,
  routeErrors,
  setErrorHeaders,
  statusPhrases,
} from '../route/dialect-errors.ts';
import { isGatewayError, presentGatewayError } from '../route/gateway-errors.ts';
import { makeRequestId } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';

/** The titles that are not the reason phrase of their status. */
const titles: Partial<Record<number, string>> = {
  400: 'Invalid Request',
  401: 'Authentication required',
  403: 'Forbidden Request',
  404: 'Entity Not Found',
};

/** Statuses and titles of the v2 segment family (fact 2.1); the description is the registry's text. */
export const segmentErrors = declareErrors<{ title: string }>(
  {
    SEGMENT_FIELD_MISSING: {},
    SEGMENT_FIELD_INVALID: {},
    SEGMENT_HEADER_MISSING: {},
    SEGMENT_CLIENT_NOT_FOUND: {},
    SEGMENT_NOT_OF_FILES: {},
    SEGMENT_ARCHIVED: {},
    SEGMENT_CREDENTIALS_INVALID: {},
    SEGMENT_KEY_NOT_ALLOWED: {},
    SEGMENT_NOT_FOUND: {},
    SEGMENT_NAME_TAKEN: { title: 'Resource not created' },
    SEGMENT_OPERATIONS_LIMITED: {},
    SEGMENT_ACTIVE_LIMITED: {},
  },
  {
    shared: [...bodyErrors, 'MEDIA_TYPE_MISSING', ...routeErrors, ...repeatErrors],
    wireOf: (status) => ({ title: titles[status] ?? statusPhrases[status] }),
  },
);

type Answering = { request: FastifyRequest; reply: FastifyReply };

/** Sends an error with two members and no code; an internal fault has no description (fact 2.1). */
export function presentSegmentError(error: ServiceError, { request, reply }: Answering): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = segmentErrors[error.code];
  setErrorHeaders(error, { reply, status: wire?.status ?? 500 });
  if (!wire) return reply.code(500).send({ title: 'Internal Server Error' });
  return reply.code(wire.status).send({ title: wire.title, description: error.message });
}

const acceptances = {
  CREATE: 'File-segment creation request accepted',
  ADD: 'File-segment user-add request accepted',
  REMOVE: 'File-segment user-remove request accepted',
  REPLACE: 'File-segment user-replace request accepted',
  ARCHIVE: 'Successfully archived the custom segment',
  UNARCHIVE: 'Successfully unarchived the custom segment',
} as const;

/** Presents table 2.5 of the interface. */
export function presentSegmentAccepted(done: keyof typeof acceptances, segment: { id: string; name: string }) {
  return { message: acceptances[done], success: true, cs_name: segment.name, cs_id: segment.id };
}

type Segment = Awaited<ReturnType<typeof getSegment>>;

/** The codes that are not the reason phrase of their status. */
const codes: Partial<Record<number, string>> = {
  400: 'Invalid request',
  401: 'Authentication required',
  403: 'Forbidden operation',
  404: 'Entity Not Found',
  409: 'Resource not created',
  412: 'Cyclic Entity',
  413: 'Query length limit exceeded',
};

/** Statuses and codes of the v3 segment family (fact 2.3); the message is the registry's text. */
export const filterSegmentErrors = declareErrors<{ code: string }>(
  {
    SEGMENT_BODY_INVALID: {},
    SEGMENT_FILTERS_INVALID: { code: 'Invalid Request' },
    SEGMENT_ID_INVALID: {},
    SEGMENT_CLIENT_NOT_FOUND: { code: 'Request Error' },
    SEGMENT_HEADER_MISSING: { code: 'Request Error' },
    SEGMENT_CREDENTIALS_INVALID: {},
    SEGMENT_KEY_NOT_ALLOWED: {},
    SEGMENT_UPDATE_FORBIDDEN: {},
    SEGMENT_ID_NOT_FOUND: {},
    SEGMENT_NAME_TAKEN: {},
    SEGMENT_FILTERS_TAKEN: {},
    SEGMENT_CYCLIC: {},
    SEGMENT_QUERY_TOO_DEEP: { code: 'Query has too many nesting levels' },
    SEGMENT_QUERY_TOO_MANY_SEGMENTS: { code: 'Too many segments in a query' },
    SEGMENT_QUERY_TOO_LONG: {},
    SEGMENT_RATE_LIMITED: {},
    SEGMENT_ACTIVE_LIMITED: {},
  },
  {
    shared: [...bodyErrors, 'MEDIA_TYPE_MISSING', ...routeErrors, 'PARAMETER_INVALID', ...repeatErrors],
    wireOf: (status) => ({ code: codes[status] ?? statusPhrases[status] }),
  },
);

export function presentFilterSegmentError(error: ServiceError, { request, reply }: Answering): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = filterSegmentErrors[error.code];
  const status = wire?.status ?? 500;
  setErrorHeaders(error, { reply, status });
  const message = wire
    ? error.message
    : 'An unexpected error was encountered while processing this request. Please contact Carillon Team';
  const { reason, field, members } = error.context;
  return reply.code(status).send({
    ...filterSegmentEnvelope(),
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
  return { data: segments.map(presentListed), ...filterSegmentEnvelope() };
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
    ...filterSegmentEnvelope(),
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

/** Formats a time as `2022-12-01T13:17:46.409000`: UTC, microseconds, no zone (fact 2.3). */
function timeText(at: Date): string {
  return at.toISOString().replace('Z', '000');
}

function filterSegmentEnvelope() {
  return { response_id: makeRequestId(), type: 'custom_segment' as const };
}

export const segmentAccepted = named(
  'SegmentAccepted',
  Type.Object({
    message: Type.String(),
    success: Type.Boolean(),
    cs_name: Type.String(),
    cs_id: Type.String(),
  }),
);

export const segmentError = named(
  'FileSegmentError',
  Type.Object({
    title: codeShape(
      [...Object.values(segmentErrors).map(({ title }) => title), 'Internal Server Error'],
      'The kind of error',
    ),
    description: Type.Optional(Type.String({ description: 'Absent for an internal error' })),
  }),
);

const listed = {
  name: Type.String(),
  id: Type.String(),
  created_time: Type.String({ description: 'UTC, without a zone' }),
  type: codeShape(['FILE', 'ELASTIC_SEARCH', 'COHORT'], 'ELASTIC_SEARCH for a filter segment'),
  source: codeShape(['API', 'DASHBOARD', 'PARTNER'], 'Where it was created'),
};

const shown = {
  ...listed,
  updated_time: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  included_filters: Type.Unknown(),
  excluded_filters: Type.Unknown(),
  status: codeShape(
    ['FILLING', 'READY', 'FAILED', 'ARCHIVED'],
    'FILLING: the segment has none or some of its members so far',
  ),
  user_count: Type.Union([Type.Integer(), Type.Null()]),
};

const envelope = { response_id: Type.String(), type: Type.Literal('custom_segment') };
export const segmentAnswer = named('SegmentAnswer', Type.Object({ data: Type.Object(shown), ...envelope }));
export const segmentList = named('SegmentList', Type.Object({ data: Type.Array(Type.Object(listed)), ...envelope }));
export const filterSegmentError = named(
  'FilterSegmentError',
  Type.Object({
    ...envelope,
    error: Type.Object({
      code: codeShape(
        [...Object.values(filterSegmentErrors).map(({ code }) => code), 'Internal Server Error'],
        'The kind of error',
      ),
      message: Type.String(),
      details: Type.Optional(Type.String({ description: 'The reason' })),
    }),
  }),
);

/**
 * Returns the error for headers that name another workspace than the credentials, or none, with this service's header
 * names.
 */
export function clientNotFound(vendorHeaders: VendorHeaders, detail: string): ServiceError {
  const field = vendorHeaders.spell('SVC-APPKEY or SVC-DBNAME');
  return new ServiceError('SEGMENT_CLIENT_NOT_FOUND', { field, detail });
}

export type SegmentRouteDependencies = SegmentDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };
