import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CampaignStats } from '../../app/stats/read-campaign-stats.ts';
import { areDeliveriesKnown, performanceOf } from '../../domain/campaigns/campaign-figures.ts';
import type { CampaignFigures, PlatformFigures } from '../../domain/campaigns/campaign-figures.ts';
import type { ErrorName, ServiceError } from '../../domain/errors.ts';
import { isGatewayError, presentGatewayError } from '../auth/present.ts';
import { makeRequestId } from '../request-id.ts';
import type { StatsAsked } from './parse-stats.ts';

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
  STATS_RATE_LIMITED: { status: 429, title: 'Too Many Requests' },
  OVERLOADED: { status: 503, title: 'Service Unavailable' },
  STORAGE_UNAVAILABLE: { status: 503, title: 'Service Unavailable' },
  STORAGE_REFUSES_WRITES: { status: 503, title: 'Service Unavailable' },
  INTERNAL: { status: 500, title: 'Server Error' },
};

export function presentStatsError(
  error: ServiceError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = statsErrors[error.code] ?? statsErrors.INTERNAL!;
  const { retryAfterSeconds } = error.context;
  if (wire.status === 401) reply.header('www-authenticate', 'Basic realm="carillon", charset="UTF-8"');
  if (wire.status === 405) reply.header('allow', 'POST');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(wire.status).send({ title: wire.title, description: error.message, code: makeRequestId() });
}

/** What cannot be known is null; keys of fact 7 that this service has no source for are left out. */
export function presentStats({ totalCampaigns, campaigns }: CampaignStats, asked: StatsAsked) {
  return {
    response_id: asked.requestId,
    total_campaigns: totalCampaigns,
    current_page: Math.floor(asked.offset / asked.limit) + 1,
    total_pages: Math.ceil(totalCampaigns / asked.limit),
    data: Object.fromEntries(campaigns.map((campaign) => [campaign.id, [presentCampaign(campaign, asked)]])),
  };
}

function presentCampaign({ runs, platforms }: CampaignFigures, asked: StatsAsked) {
  const present = (figures: PlatformFigures) => {
    const performance = performanceOf(figures, { runs, metric: asked.metric });
    const { attempted, sent, failed, impressions, clicks } = performance;
    return {
      performance_stats: {
        attempted,
        sent,
        failed,
        impression: impressions,
        click: clicks,
        ctr: performance.clickRate,
        sent_rate: performance.sentRate,
        failure_rate: performance.failureRate,
      },
      conversion_goal_stats: presentGoals(figures, asked),
      delivery_funnel: { sent, impressions },
      failure_breakdown: areDeliveriesKnown({ runs, metric: asked.metric }) ? figures.failures : null,
    };
  };
  return {
    platforms: Object.fromEntries(
      platforms.map((figures) => [
        figures.platform.toLowerCase(),
        { locales: { all_locales: { variations: { all_variations: present(figures) } } } },
      ]),
    ),
  };
}

/** Goals by name; a name that comes again is numbered. Which message a user saw or clicked before is not known. */
function presentGoals({ conversions }: PlatformFigures, { attribution, metric }: StatsAsked) {
  const isKnown = attribution === 'TOTAL_CONVERSIONS';
  const seen = new Map<string, number>();
  return Object.fromEntries(
    conversions.map(({ goal, counted: { total, unique } }) => {
      const nth = (seen.get(goal) ?? 0) + 1;
      seen.set(goal, nth);
      const known = { conversions: metric === 'TOTAL' ? total : unique, total, unique };
      const unknown = { conversions: null, total: null, unique: null };
      return [nth === 1 ? goal : `${goal} (${nth})`, isKnown ? known : unknown];
    }),
  );
}
