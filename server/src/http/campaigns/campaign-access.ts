import type { FastifyReply, FastifyRequest } from 'fastify';
import { campaignCallsPerMinute } from '../../domain/campaigns/limits.ts';
import { countCampaignCall } from '../../app/campaigns/count-campaign-call.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import type { CampaignAccessDependencies } from './campaign-route-dependencies.ts';
import { tellLimit } from '../tell-limit.ts';

/**
 * Makes the hook before every campaign route: Basic with the workspace and its campaigns key, or Bearer (decision
 * D45); SVC-APPKEY; the limits (decision D44), whose state every answer carries (fact 4.6).
 *
 * @param scope what the key is for, where a route has the dialect of campaigns and is about something else
 * @param appKey whether the version demands SVC-APPKEY (fact 4.1); one that is sent must name the workspace
 */
export function makeRequireCampaignAccess(
  deps: CampaignAccessDependencies,
  { appKey: demand, scope = 'campaign' }: { appKey: 'required' | 'optional'; scope?: 'campaign' | 'data' },
) {
  const { vendorHeaders } = deps;
  const requireKey = makeRequireApiKey(deps, scope, {
    missing: 'CAMPAIGN_CREDENTIALS_MISSING',
    invalid: 'CAMPAIGN_CREDENTIALS_INVALID',
    notCovering: 'CAMPAIGN_KEY_NOT_ALLOWED',
  });
  const appKeyName = vendorHeaders.nameOf('*-appkey').toUpperCase();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // The routes that refuse other methods need no credentials: they disclose nothing.
    if (request.routeOptions.schema?.hide) return;
    await requireKey(request, reply);
    if (reply.sent) return;
    const workspaceId = request.facts.workspaceId!;
    await count(deps, { reply, workspaceId });
    const appKey = vendorHeaders.read(request.headers, '*-appkey');
    if (appKey === undefined && demand === 'required')
      throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults: [{ field: appKeyName, reason: 'missing' }] });
    if (appKey !== undefined && appKey !== workspaceId)
      throw new ServiceError('CAMPAIGN_WORKSPACE_MISMATCH', { field: appKeyName });
  };
}

type Counting = { reply: FastifyReply; workspaceId: string };

async function count(deps: CampaignAccessDependencies, { reply, workspaceId }: Counting): Promise<void> {
  const call = await countCampaignCall(deps, workspaceId);
  const { remaining, resetSeconds } = call;
  tellLimit(reply, { limit: campaignCallsPerMinute, remaining, resetSeconds });
  if (call.outcome === 'refused')
    throw new ServiceError('CAMPAIGN_RATE_LIMITED', { retryAfterSeconds: call.resetSeconds });
}
