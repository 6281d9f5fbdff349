import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CampaignStats } from '../../app/stats/read-campaign-stats.ts';
import {
  areDeliveriesKnown,
  conversionRate,
  conversionInterval,
  goalUplift,
  performanceOf,
  rateFigures,
} from '../../domain/campaigns/campaign-figures.ts';
import type {
  CampaignFigures,
  Counted,
  Figures,
  GroupFigures,
  PlatformFigures,
  VariantFigures,
} from '../../domain/campaigns/campaign-figures.ts';
import { variationName } from '../../domain/experiments/variants.ts';
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
  const present = (figures: Figures) => {
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
        ...presentUsers(figures.groups?.find(({ group }) => group === null)),
      },
      conversion_goal_stats: presentGoals(figures, asked),
      delivery_funnel: { sent, impressions },
      failure_breakdown:
        figures.failures && areDeliveriesKnown({ runs, metric: asked.metric }) ? presentCauses(figures.failures) : null,
    };
  };
  const presentVariant = (figures: VariantFigures) => {
    const { performance_stats: performance, ...shown } = present(figures);
    const clicked = rateFigures(figures.clickedMessages, figures.sent);
    const rates = { clicked_rate: clicked.rate, clicked_rate_low: clicked.low, clicked_rate_high: clicked.high };
    return { ...shown, performance_stats: { ...performance, ...rates } };
  };
  const presentLocale = ({ variants }: PlatformFigures, wanted: string | null) =>
    Object.fromEntries(
      variants
        .filter(({ locale }) => locale === wanted)
        .map((figures) => [
          figures.variation === null ? 'all_variations' : variationName(figures.variation),
          presentVariant(figures),
        ]),
    );
  return {
    platforms: Object.fromEntries(
      platforms.map((figures) => [
        figures.platform.toLowerCase(),
        {
          locales: {
            all_locales: {
              variations: {
                all_variations: present(figures),
                ...presentLocale(figures, null),
                ...presentGroups(figures, asked),
              },
            },
            ...Object.fromEntries(
              localesOf(figures).map((locale) => [locale, { variations: presentLocale(figures, locale) }]),
            ),
          },
        },
      ]),
    ),
  };
}

function localesOf({ variants }: PlatformFigures): string[] {
  return [...new Set(variants.flatMap(({ locale }) => (locale === null ? [] : [locale])))];
}

/** Goals by name; a name that comes again is numbered. Which message a user saw or clicked before is not known. */
function presentGoals({ conversions, groups }: Figures, asked: StatsAsked) {
  const treated = groups?.find(({ group }) => group === null);
  return nameGoals(conversions, ({ counted }, goal) => {
    const compared = groups && treated && presentComparison({ groups, treated, goal }, asked);
    return { ...presentCounted(counted, asked), ...compared };
  });
}

type Comparison = { groups: GroupFigures[]; treated: GroupFigures; goal: number };

function presentComparison({ groups, treated, goal }: Comparison, asked: StatsAsked) {
  const isKnown = areConversionsKnown(asked);
  const { rate, low, high } = isKnown ? conversionInterval(treated, goal) : rateFigures(undefined, 0);
  const rates = { cvr: rate, cvr_low: low, cvr_high: high };
  if (groups.every(({ group }) => group === null)) return rates;
  if (!isKnown) return { ...rates, uplift: null, uplift_low: null, uplift_high: null };
  const { uplift, low: upliftLow, high: upliftHigh } = goalUplift(groups, goal);
  return { ...rates, uplift, uplift_low: upliftLow, uplift_high: upliftHigh };
}

const groupMembers = {
  CAMPAIGN_CONTROL_GROUP: 'campaign_control_group',
  GLOBAL_CONTROL_GROUP: 'global_control_group',
} as const;

/** A block for each control group: how many are in it, and how often they fulfilled the goals without the message. */
function presentGroups({ conversions, groups = [] }: Figures, asked: StatsAsked) {
  return Object.fromEntries(
    groups.flatMap((figures) => {
      if (figures.group === null) return [];
      const goals = nameGoals(conversions, (_row, goal) => ({
        ...presentCounted(figures.conversions[goal]!, asked),
        cvr: areConversionsKnown(asked) ? conversionRate(figures, goal) : null,
      }));
      const block = { performance_stats: presentUsers(figures), conversion_goal_stats: goals };
      return [[groupMembers[figures.group], block]];
    }),
  );
}

function presentUsers(figures: GroupFigures | undefined): { eligible_users?: number } {
  return figures ? { eligible_users: figures.users } : {};
}

/** Fact 7 names these two causes, one of them misspelt. */
const causeNames: Record<string, string> = {
  CAMPAIGN_CONTROL_GROUP: 'user_removed_due_to_campaing_control_group',
  GLOBAL_CONTROL_GROUP: 'user_removed_due_to_global_control_group',
};

function presentCauses(failures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(failures).map(([cause, devices]) => [causeNames[cause] ?? cause, devices]));
}

function areConversionsKnown({ attribution }: StatsAsked): boolean {
  return attribution === 'TOTAL_CONVERSIONS';
}

function presentCounted({ total, unique }: Counted, asked: StatsAsked) {
  if (!areConversionsKnown(asked)) return { conversions: null, total: null, unique: null };
  return { conversions: asked.metric === 'TOTAL' ? total : unique, total, unique };
}

function nameGoals<Row extends { goal: string }, Shown>(rows: readonly Row[], show: (row: Row, goal: number) => Shown) {
  const seen = new Map<string, number>();
  return Object.fromEntries(
    rows.map((row, number) => {
      const nth = (seen.get(row.goal) ?? 0) + 1;
      seen.set(row.goal, nth);
      return [nth === 1 ? row.goal : `${row.goal} (${nth})`, show(row, number)];
    }),
  );
}
