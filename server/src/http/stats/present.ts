import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CampaignStats } from '../../app/stats/read-campaign-stats.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';
import { isGatewayError, presentGatewayError } from '../auth/present.ts';
import { makeRequestId } from '../request-id.ts';
import type { StatsAsked } from './parse-stats.ts';
import { presentFigures } from './present-figures.ts';

type Wire = { status: number; title: string };

/** Statuses and titles of the statistics (fact 7); the description is the registry's text. */
export const statsErrors: Partial<Record<ErrorName, Wire>> = {
  STATS_FIELD_INVALID: { status: 400, title: 'Invalid Field Value' },
  BODY_MALFORMED: { status: 400, title: 'Invalid Field Value' },
  BODY_EMPTY: { status: 400, title: 'Invalid Field Value' },
  STATS_CREDENTIALS_INVALID: { status: 401, title: 'Authentication required' },
  STATS_KEY_NOT_ALLOWED: { status: 403, title: 'Forbidden Request' },
  REQUEST_MALFORMED: { status: 400, title: 'Bad Request' },
  HOST_NOT_SERVED: { status: 421, title: 'Misdirected Request' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method Not Allowed' },
  BODY_TOO_LARGE: { status: 413, title: 'Payload Too Large' },
  MEDIA_TYPE_UNSUPPORTED: { status: 415, title: 'Unsupported Media Type' },
  MEDIA_TYPE_MISSING: { status: 415, title: 'Unsupported Media Type' },
  REPORT_FILES_LIMITED: { status: 409, title: 'Conflict' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'Invalid Field Value' },
  IDEMPOTENCY_CONFLICT: { status: 409, title: 'Conflict' },
  STATS_RATE_LIMITED: { status: 429, title: 'Too Many Requests' },
  OVERLOADED: { status: 503, title: 'Service Unavailable' },
  STORAGE_UNAVAILABLE: { status: 503, title: 'Service Unavailable' },
  STORAGE_REFUSES_WRITES: { status: 503, title: 'Service Unavailable' },
  INTERNAL: { status: 500, title: 'Server Error' },
};

/** Of reading a report file (fact 7): the one says what is wrong, the other nothing. */
export const reportFileErrors: Partial<Record<ErrorName, { status: number }>> = {
  REPORT_FILE_UNREADABLE: { status: 400 },
  REPORT_SIGNATURE_INVALID: { status: 401 },
};

export function presentStatsError(
  error: ServiceError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = statsErrors[error.code] ?? statsErrors.INTERNAL!;
  const { retryAfterSeconds } = error.context;
  if (wire.status === 401) reply.header('www-authenticate', 'Basic realm="carillon", charset="UTF-8"');
  if (wire.status === 405) reply.header('allow', String(error.context.members?.['allow'] ?? 'POST'));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(wire.status).send({ title: wire.title, description: error.message, code: makeRequestId() });
}

export function presentStats({ totalCampaigns, campaigns }: CampaignStats, asked: StatsAsked) {
  return {
    response_id: asked.requestId,
    total_campaigns: totalCampaigns,
    current_page: Math.floor(asked.offset / asked.limit) + 1,
    total_pages: Math.ceil(totalCampaigns / asked.limit),
    data: Object.fromEntries(campaigns.map((campaign) => [campaign.id, [presentFigures(campaign, asked)]])),
  };
}
