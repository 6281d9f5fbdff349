import type { FastifyReply, FastifyRequest } from 'fastify';
import { countCampaignCall } from '../../app/campaigns/authoring.ts';
import type { CampaignDependencies, AuthoringCaller } from '../../app/campaigns/authoring.ts';
import { readCampaign } from '../../domain/campaign-document/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { campaignCallsPerMinute } from '../../domain/limits/campaigns.ts';
import { makeRequireApiKey } from '../route/auth.ts';
import type { BearerDependencies } from '../route/auth.ts';
import { setRateLimitHeaders } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import { warnOfUnknownFields, warnOfUnknownNames } from '../route/warnings.ts';
import type { AnsweredCall } from '../route/warnings.ts';
import { takeParts } from './authoring.ts';
import { readBody } from './search.ts';

/**
 * Makes the hook that runs before every campaign route. It checks Basic with the workspace and its campaigns key, or Bearer
 * (decision D45), and SVC-APPKEY. It also counts the call against the limits (decision D44); every response carries their
 * state (fact 4.6).
 *
 * @param scope the scope the key needs, for routes that use the campaign dialect for another subject
 * @param appKey whether the version requires SVC-APPKEY (fact 4.1); if sent, it must name the workspace
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
    // The routes that reject other methods need no credentials: they disclose nothing.
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
  setRateLimitHeaders(reply, { limit: campaignCallsPerMinute, remaining, resetSeconds });
  if (call.outcome === 'refused')
    throw new ServiceError('CAMPAIGN_RATE_LIMITED', { retryAfterSeconds: call.resetSeconds });
}

/** Dependencies of the hook before every campaign route. */
export type CampaignAccessDependencies = BearerDependencies & { vendorHeaders: VendorHeaders };

export type CampaignRouteDependencies = CampaignDependencies &
  CampaignAccessDependencies & {
    /** The Markdown guide that V1's deprecation header links to. */
    migrationGuideFile: string;
  };

type Warning = AnsweredCall & { shape: object };

/** Warns of unknown members of the body and of its filters, in one header (decision D5). */
export function warnOfParts(
  { vendorHeaders }: Pick<CampaignRouteDependencies, 'vendorHeaders'>,
  { request, reply, shape }: Warning,
): void {
  const body = readBody(request);
  warnOfUnknownFields(vendorHeaders, body, { request, reply, shape });
  const { unknownFields } = readCampaign(takeParts(body));
  warnOfUnknownNames(vendorHeaders, { request, reply }, unknownFields);
}

/** Returns the caller and the data that identifies a repeated request. */
export function callerOf(request: FastifyRequest): AuthoringCaller {
  return {
    workspaceId: request.facts.workspaceId!,
    requestedBy: request.callerKey!.name,
    idempotencyKey: request.headers['idempotency-key'] as string | undefined,
    rawBody: request.rawBody,
  };
}
