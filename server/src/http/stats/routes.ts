import { readCampaignStats } from '../../app/stats/read-campaign-stats.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { requestHeaders } from '../openapi/document-headers.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { parseStats } from './parse-stats.ts';
import { presentStats, presentStatsError, statsErrors } from './present.ts';
import { makeRequireStatsAccess, readStatsBody } from './stats-access.ts';
import type { StatsRouteDependencies } from './stats-access.ts';
import { statsAnswer, statsBody, statsError } from './shapes.ts';
import { maxStatsBodyBytes } from '../../domain/stats/limits.ts';

export const statsDialect: Dialect = {
  tag: 'Statistics',
  credentials: ['campaignsKey', 'bearer'],
  headers: { '*-APPKEY': requestHeaders.appKey },
  refusals: { errors: statsErrors, shape: statsError },
  isLimited: true,
};

/** POST /v1/campaign-stats (fact 7), with and without the prefix (decision D3). */
export function statsRoutes(deps: StatsRouteDependencies): RouteFamily {
  const { vendorHeaders } = deps;
  const requireAccess = makeRequireStatsAccess(deps);
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
      const schema = describeOperation(statsDialect, {
        operationId,
        summary: 'Read the statistics of campaigns',
        body: statsBody,
        answers: { 200: statsAnswer },
      });
      server.post(url, { bodyLimit: maxStatsBodyBytes, schema, onRequest: requireAccess }, async (request, reply) => {
        const body = readStatsBody(request);
        const asked = parseStats(body);
        warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: statsBody });
        const workspaceId = request.facts.workspaceId!;
        return presentStats(await readCampaignStats(deps, { ...asked, workspaceId }), asked);
      });
      refuseOtherMethods(server, url, ['POST']);
    }
  };
}
