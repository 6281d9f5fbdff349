import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { readCampaignStats, countStatsRequest } from '../../app/stats.ts';
import type { CampaignStats, StatsDependencies } from '../../app/stats.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxStatsBodyBytes, statsRequestsPerMinute } from '../../domain/limits/campaigns.ts';
import { codeShape, named, requestHeaders } from '../openapi/shapes.ts';
import { makeRequireApiKey, acrossOf, keyCallerOf } from '../route/auth.ts';
import type { BearerDependencies, KeyCaller } from '../route/auth.ts';
import { bodyErrors, declareErrors, repeatErrors, routeErrors, statusPhrases } from '../route/dialect-errors.ts';
import { isGatewayError, presentGatewayError } from '../route/gateway-errors.ts';
import { addRoutes, makeRequestId, route, setRateLimitHeaders } from '../route/route.ts';
import type { Hook, RouteDialect } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import type { AnsweredCall } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { presentFigures } from './figures.ts';
import { invalid, parseStats, statsBody } from './parse-stats.ts';
import type { StatsAsked } from './parse-stats.ts';

/** The titles that are not the reason phrase of their status. */
const titles: Partial<Record<number, string>> = {
  401: 'Authentication required',
  403: 'Forbidden Request',
  500: 'Server Error',
};

/** Statuses and titles of the statistics (fact 7); the description is the registry's text. */
export const statsErrors = declareErrors<{ title: string }>(
  {
    STATS_FIELD_INVALID: { title: 'Invalid Field Value' },
    BODY_MALFORMED: { title: 'Invalid Field Value' },
    BODY_EMPTY: { title: 'Invalid Field Value' },
    STATS_CREDENTIALS_INVALID: {},
    STATS_KEY_NOT_ALLOWED: {},
    REQUEST_MALFORMED: {},
    REPORT_FILES_LIMITED: {},
    IDEMPOTENCY_KEY_INVALID: { title: 'Invalid Field Value' },
    STATS_RATE_LIMITED: {},
  },
  {
    shared: [...bodyErrors, 'MEDIA_TYPE_MISSING', ...routeErrors, ...repeatErrors, 'INTERNAL'],
    wireOf: (status) => ({ title: titles[status] ?? statusPhrases[status] }),
  },
);

/** Errors on the address of a report file (fact 7): 401 has no body, all others explain the error in one shape. */
export const reportFileErrors = declareErrors<{ title: string }>(
  { REPORT_FILE_UNREADABLE: {}, REPORT_SIGNATURE_INVALID: {}, INTERNAL: { title: 'Server Error' } },
  { shared: routeErrors, wireOf: (status) => ({ title: statusPhrases[status] }) },
);

export function presentStatsError(error: ServiceError, { request, reply }: AnsweredCall): FastifyReply {
  if (isGatewayError(error)) return presentGatewayError(error, { request, reply });
  const wire = statsErrors[error.code] ?? statsErrors.INTERNAL!;
  const { retryAfterSeconds } = error.context;
  if (wire.status === 401) reply.header('www-authenticate', 'Basic realm="carillon", charset="UTF-8"');
  if (wire.status === 405) reply.header('allow', String(error.context.members?.['allow'] ?? 'POST'));
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(wire.status).send({ title: wire.title, description: error.message, code: makeRequestId() });
}

export function presentStats({ totalCampaigns, campaigns, form }: CampaignStats, asked: StatsAsked) {
  return {
    response_id: asked.requestId,
    total_campaigns: totalCampaigns,
    current_page: Math.floor(asked.offset / asked.limit) + 1,
    total_pages: Math.ceil(totalCampaigns / asked.limit),
    data: Object.fromEntries(
      campaigns.map((campaign) => [campaign.id, [presentFigures(campaign, { ...asked, form })]]),
    ),
  };
}

/** A number; omitted if it is unknown. */
const count = (description: string) => Type.Optional(Type.Integer({ description }));
const rate = (description: string) => Type.Optional(Type.Number({ description }));
const interval = (of: string) => ({
  [`${of}_low`]: rate(`Lower bound of the 95 % interval of ${of}`),
  [`${of}_high`]: rate(`Upper bound of the 95 % interval of ${of}`),
});

const counted = {
  conversions: Type.Integer({ description: 'total or unique, by metric_type' }),
  total: Type.Integer({ description: 'Events that fulfilled the goal, by attribution_type' }),
  unique: Type.Integer({ description: 'Users who fulfilled the goal, each counted once' }),
};
const cvr = rate('Percent of eligible_users who fulfilled the goal, each once a run');

const controlGroup = named(
  'StatsControlGroup',
  Type.Object({
    performance_stats: Type.Object({
      eligible_users: Type.Integer({ description: 'Users of the runs in the group' }),
    }),
    conversion_goal_stats: Type.Optional(
      Type.Record(Type.String(), Type.Object({ ...counted, cvr }), { description: 'For TOTAL_CONVERSIONS' }),
    ),
  }),
);

const performanceStats = Type.Object({
  attempted: count('Devices with an attempt: sent, failed, or waiting for a retry'),
  sent: count('Messages that a provider accepted'),
  failed: count('Messages that a provider permanently rejected, or that expired'),
  bounced: count('Of the failed ones: the provider no longer knows the address'),
  delivered: count('Messages that a device reported as shown, each counted once'),
  impression: count('Reports that a message was shown; UNIQUE: devices'),
  click: count('Reports that a message was clicked; UNIQUE: devices'),
  closed_click: count('Reports that a message was closed without a click; UNIQUE: devices'),
  ctr: rate('Percent: click divided by impression'),
  delivery_rate: rate('Percent: delivered divided by sent'),
  sent_rate: rate('Percent: sent divided by attempted'),
  failure_rate: rate('Percent: attempted minus sent, divided by attempted'),
  eligible_users: count('Users of the runs in no control group, each counted once per run'),
  clicked_rate: rate('Percent of the sent messages that were clicked, each counted once; for a variation or a locale'),
  ...interval('clicked_rate'),
});

const goalStats = Type.Object({
  ...counted,
  cvr,
  ...interval('cvr'),
  uplift: rate('Percent by which cvr is above that of the control group'),
  ...interval('uplift'),
  revenue: rate('Revenue of the events, if the goal has a revenue_attribute'),
  revenue_currency: Type.Optional(Type.String()),
});

const deliveryFunnel = Type.Object({
  reachable_users_in_segment: count('Users of the runs with a device of the platform that is sent to'),
  segment_after_uninstall: count('Users of the runs with a device of the platform that has the app'),
  users_after_dup: count('Reachable users in no control group; the same as eligible_users'),
  user_devices: count('Devices of the runs, whatever the outcome of their messages'),
  active_device_token: count('Of these devices, those whose address is still registered'),
  after_fc: count('Of these devices, those that no frequency cap withheld'),
  sent: count('As above'),
  impressions: count('As above'),
});

const allVariations = named(
  'StatsFigures',
  Type.Object({
    performance_stats: performanceStats,
    conversion_goal_stats: Type.Record(Type.String(), goalStats),
    delivery_funnel: deliveryFunnel,
    failure_breakdown: Type.Optional(Type.Record(Type.String(), Type.Integer())),
  }),
);

const platformStats = named(
  'PlatformStats',
  Type.Object({
    locales: Type.Object(
      {
        all_locale: Type.Optional(Type.Unknown({ description: 'The same as all_locales, as some clients spell it' })),
        all_locales: Type.Object({
          variations: Type.Object(
            {
              all_variations: allVariations,
              campaign_control_group: Type.Optional(controlGroup),
              global_control_group: Type.Optional(controlGroup),
            },
            {
              additionalProperties: allVariations,
              description: 'and variation_1, variation_2 …, if there are several',
            },
          ),
        }),
      },
      {
        additionalProperties: Type.Object({ variations: Type.Record(Type.String(), allVariations) }),
        description: 'and each locale, if the campaign has several',
      },
    ),
  }),
);

export const statsAnswer = named(
  'CampaignStats',
  Type.Object({
    response_id: Type.String(),
    total_campaigns: Type.Integer(),
    current_page: Type.Integer(),
    total_pages: Type.Integer(),
    data: Type.Record(Type.String(), Type.Array(Type.Object({ platforms: Type.Record(Type.String(), platformStats) }))),
  }),
);

export const statsError = named(
  'StatsError',
  Type.Object({
    title: codeShape(
      Object.values(statsErrors).map(({ title }) => title),
      'The kind of error',
    ),
    description: Type.String(),
    code: Type.String({ description: 'Eight letters that identify this call in the API log' }),
  }),
);

/** POST /v1/campaign-stats (fact 7), with and without the prefix (decision D3). */
export function statsRoutes(deps: StatsRouteDependencies): RouteFamily {
  const dialect = makeStatsDialect(deps);
  const addresses = [
    { url: '/v1/campaign-stats', operationId: 'readCampaignStats' },
    { url: '/core-services/v1/campaign-stats', operationId: 'readCampaignStatsCoreServices' },
  ];
  return async (server) =>
    addRoutes(
      server,
      addresses.map((address) =>
        route(dialect, {
          method: 'POST',
          ...address,
          summary: 'Read the statistics of campaigns',
          body: statsBody,
          maxBodyBytes: maxStatsBodyBytes,
          answers: { 200: statsAnswer },
          read: ({ body }) => parseStats(body),
          async handle({ input, workspaceId, warn }) {
            warn();
            return presentStats(await readCampaignStats(deps, { ...input, workspaceId }), input);
          },
        }),
      ),
    );
}

export type StatsRouteDependencies = StatsDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

/** Makes the dialect: Basic with the campaigns key or Bearer (decision D45), the limit, and SVC-APPKEY (fact 0.1). */
export function makeStatsDialect(deps: StatsRouteDependencies): RouteDialect<KeyCaller> {
  const requireKey = makeRequireApiKey(deps, 'campaign', {
    missing: 'STATS_CREDENTIALS_INVALID',
    invalid: 'STATS_CREDENTIALS_INVALID',
    notCovering: 'STATS_KEY_NOT_ALLOWED',
  });
  return {
    tag: 'Statistics',
    credentials: ['campaignsKey', 'bearer'],
    headers: { '*-APPKEY': requestHeaders.appKey },
    refusals: { errors: statsErrors, shape: statsError },
    isLimited: true,
    vendorHeaders: deps.vendorHeaders,
    onRequest: [requireKey, (request, reply) => countStats(deps, { request, reply }), makeRequireAppKey(deps)],
    callerOf: keyCallerOf,
    presentError: presentStatsError,
  };
}

/** Counts the call before the body is read, and thus before the call is bound to its workspace. */
async function countStats(deps: StatsRouteDependencies, { request, reply }: AnsweredCall): Promise<void> {
  const grant = await countStatsRequest(acrossOf(deps), keyCallerOf(request).workspaceId);
  const resetSeconds = grant.granted > 0 ? 60 : grant.retryAfterSeconds;
  setRateLimitHeaders(reply, { limit: statsRequestsPerMinute, remaining: grant.remaining, resetSeconds });
  if (grant.granted === 0) throw new ServiceError('STATS_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
}

function makeRequireAppKey({ vendorHeaders }: StatsRouteDependencies): Hook {
  return async (request) => {
    const appKey = vendorHeaders.read(request.headers, '*-appkey');
    if (appKey === undefined) throw invalid(vendorHeaders.nameOf('*-appkey').toUpperCase(), 'is required');
    if (appKey !== keyCallerOf(request).workspaceId)
      throw new ServiceError('STATS_CREDENTIALS_INVALID', { detail: 'the header names another workspace' });
  };
}
