import type { FastifyReply, FastifyRequest } from 'fastify';
import { countStatsRequest } from '../../app/stats/count-stats-request.ts';
import { readCampaignStats } from '../../app/stats/read-campaign-stats.ts';
import type { StatsDependencies } from '../../app/stats/read-campaign-stats.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import { acrossOf } from '../auth/bearer.ts';
import type { BearerDependencies } from '../auth/bearer.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { requestHeaders } from '../openapi/document-headers.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { invalid, parseStats } from './parse-stats.ts';
import { presentStats, presentStatsError, statsErrors } from './present.ts';
import { statsAnswer, statsBody, statsError } from './shapes.ts';
import { maxStatsBodyBytes, statsRequestsPerMinute } from '../../domain/stats/limits.ts';

export type StatsRouteDependencies = StatsDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

const dialect: Dialect = {
  tag: 'Statistics',
  credentials: ['campaignsKey', 'bearer'],
  headers: { '*-APPKEY': requestHeaders.appKey },
  refusals: { errors: statsErrors, shape: statsError },
  isLimited: true,
};

/** POST /v1/campaign-stats (fact 7), with and without the prefix (decision D3). */
export function statsRoutes(deps: StatsRouteDependencies): RouteFamily {
  const { vendorHeaders } = deps;
  const requireAccess = makeRequireAccess(deps);
  return async (server) => {
    // The shapes document the routes; the family's own errors come from parse-stats.ts.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentStatsError(toServiceError(error, request), { request, reply }),
    );
    for (const [url, operationId] of [
      ['/v1/campaign-stats', 'readCampaignStats'],
      ['/core-services/v1/campaign-stats', 'readCampaignStatsCoreServices'],
    ] as const) {
      const schema = describeOperation(dialect, {
        operationId,
        summary: 'Read the statistics of campaigns',
        body: statsBody,
        answers: { 200: statsAnswer },
      });
      server.post(url, { bodyLimit: maxStatsBodyBytes, schema, onRequest: requireAccess }, async (request, reply) => {
        const body = readBody(request);
        const asked = parseStats(body);
        warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: statsBody });
        const workspaceId = request.facts.workspaceId!;
        return presentStats(await readCampaignStats(deps, { ...asked, workspaceId }), asked);
      });
      refuseOtherMethods(server, url, ['POST']);
    }
  };
}

/** Basic with the campaigns key or Bearer (decision D45), the limit, and SVC-APPKEY (fact 0.1). */
function makeRequireAccess(deps: StatsRouteDependencies) {
  const { vendorHeaders } = deps;
  const requireKey = makeRequireApiKey(deps, 'campaign', {
    missing: 'STATS_CREDENTIALS_INVALID',
    invalid: 'STATS_CREDENTIALS_INVALID',
    notCovering: 'STATS_KEY_NOT_ALLOWED',
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await requireKey(request, reply);
    if (reply.sent) return;
    const workspaceId = request.facts.workspaceId!;
    // Counted before the body is read, and so before the call is bound to its workspace.
    const grant = await countStatsRequest(acrossOf(deps), workspaceId);
    reply.headers({
      'x-ratelimit-limit': String(statsRequestsPerMinute),
      'x-ratelimit-remaining': String(grant.remaining),
      // Seconds, as in the other families (fact 0.1 has both meanings).
      'x-ratelimit-reset': String(grant.granted > 0 ? 60 : grant.retryAfterSeconds),
    });
    if (grant.granted === 0)
      throw new ServiceError('STATS_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
    const appKey = vendorHeaders.read(request.headers, '*-appkey');
    if (appKey === undefined) throw invalid(vendorHeaders.nameOf('*-appkey').toUpperCase(), 'is required');
    if (appKey !== workspaceId)
      throw new ServiceError('STATS_CREDENTIALS_INVALID', { detail: 'the header names another workspace' });
  };
}

function readBody({ body }: FastifyRequest): Record<string, unknown> {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as Record<string, unknown>;
}
