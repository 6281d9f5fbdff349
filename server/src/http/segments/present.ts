import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';
import { isGatewayError, presentGatewayError } from '../auth/present.ts';

type Wire = { status: number; title: string };

/** Statuses and titles of the v2 segment family (fact 2.1); the description is the registry's text. */
export const segmentErrors: Partial<Record<ErrorName, Wire>> = {
  SEGMENT_FIELD_MISSING: { status: 400, title: 'Invalid Request' },
  SEGMENT_FIELD_INVALID: { status: 400, title: 'Invalid Request' },
  SEGMENT_HEADER_MISSING: { status: 400, title: 'Invalid Request' },
  SEGMENT_CLIENT_NOT_FOUND: { status: 400, title: 'Invalid Request' },
  SEGMENT_NOT_OF_FILES: { status: 400, title: 'Invalid Request' },
  SEGMENT_ARCHIVED: { status: 400, title: 'Invalid Request' },
  SEGMENT_CREDENTIALS_INVALID: { status: 401, title: 'Authentication required' },
  SEGMENT_KEY_NOT_ALLOWED: { status: 403, title: 'Forbidden Request' },
  SEGMENT_NOT_FOUND: { status: 404, title: 'Entity Not Found' },
  SEGMENT_NAME_TAKEN: { status: 409, title: 'Resource not created' },
  SEGMENT_OPERATIONS_LIMITED: { status: 429, title: 'Too Many Requests' },
  SEGMENT_ACTIVE_LIMITED: { status: 429, title: 'Too Many Requests' },
  BODY_MALFORMED: { status: 400, title: 'Invalid Request' },
  BODY_EMPTY: { status: 400, title: 'Invalid Request' },
  BODY_TOO_LARGE: { status: 413, title: 'Payload Too Large' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, title: 'Unsupported Media Type' },
  MEDIA_TYPE_MISSING: { status: 415, title: 'Unsupported Media Type' },
  REQUEST_MALFORMED: { status: 400, title: 'Invalid Request' },
  HOST_NOT_SERVED: { status: 421, title: 'Misdirected Request' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method Not Allowed' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'Invalid Request' },
  IDEMPOTENCY_CONFLICT: { status: 409, title: 'Conflict' },
  OVERLOADED: { status: 503, title: 'Service Unavailable' },
  STORAGE_UNAVAILABLE: { status: 503, title: 'Service Unavailable' },
  STORAGE_REFUSES_WRITES: { status: 503, title: 'Service Unavailable' },
};

export type Answering = { request: FastifyRequest; reply: FastifyReply };

/** Two members, no code; a fault of ours has no description (fact 2.1). */
export function presentSegmentError(error: ServiceError, { request, reply }: Answering): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = segmentErrors[error.code];
  answerHeaders(error, { reply, status: wire?.status ?? 500 });
  if (!wire) return reply.code(500).send({ title: 'Internal Server Error' });
  return reply.code(wire.status).send({ title: wire.title, description: error.message });
}

/** The headers that a refusal's status asks for. */
export function answerHeaders(error: ServiceError, { reply, status }: { reply: FastifyReply; status: number }): void {
  const { retryAfterSeconds, members } = error.context;
  if (status === 401) reply.header('www-authenticate', 'Basic realm="carillon", charset="UTF-8"');
  if (status === 405) reply.header('allow', String(members?.allow ?? ''));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
}

const acceptances = {
  CREATE: 'File-segment creation request accepted',
  ADD: 'File-segment user-add request accepted',
  REMOVE: 'File-segment user-remove request accepted',
  REPLACE: 'File-segment user-replace request accepted',
  ARCHIVE: 'Successfully archived the custom segment',
  UNARCHIVE: 'Successfully unarchived the custom segment',
} as const;

/** Table 2.5 of the interface. */
export function presentSegmentAccepted(done: keyof typeof acceptances, segment: { id: string; name: string }) {
  return { message: acceptances[done], success: true, cs_name: segment.name, cs_id: segment.id };
}
