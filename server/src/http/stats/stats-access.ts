import type { FastifyReply, FastifyRequest } from 'fastify';
import { countStatsRequest } from '../../app/stats/count-stats-request.ts';
import type { StatsDependencies } from '../../app/stats/read-campaign-stats.ts';
import { ServiceError } from '../../domain/errors.ts';
import { statsRequestsPerMinute } from '../../domain/stats/limits.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import { acrossOf } from '../auth/bearer.ts';
import type { BearerDependencies } from '../auth/bearer.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { invalid } from './parse-stats.ts';
import { tellLimit } from '../tell-limit.ts';

export type StatsRouteDependencies = StatsDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

/** Basic with the campaigns key or Bearer (decision D45), the limit, and SVC-APPKEY (fact 0.1). */
export function makeRequireStatsAccess(deps: StatsRouteDependencies) {
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
    const resetSeconds = grant.granted > 0 ? 60 : grant.retryAfterSeconds;
    tellLimit(reply, { limit: statsRequestsPerMinute, remaining: grant.remaining, resetSeconds });
    if (grant.granted === 0)
      throw new ServiceError('STATS_RATE_LIMITED', { retryAfterSeconds: grant.retryAfterSeconds });
    const appKey = vendorHeaders.read(request.headers, '*-appkey');
    if (appKey === undefined) throw invalid(vendorHeaders.nameOf('*-appkey').toUpperCase(), 'is required');
    if (appKey !== workspaceId)
      throw new ServiceError('STATS_CREDENTIALS_INVALID', { detail: 'the header names another workspace' });
  };
}

/** @throws ServiceError BODY_EMPTY, BODY_MALFORMED */
export function readStatsBody({ body }: FastifyRequest): Record<string, unknown> {
  if (body === undefined) throw new ServiceError('BODY_EMPTY');
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ServiceError('BODY_MALFORMED', { detail: 'no JSON object' });
  return body as Record<string, unknown>;
}
