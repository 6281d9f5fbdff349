import { Type } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { countCampaignCall } from '../../app/campaigns/authoring.ts';
import type { CampaignDependencies, AuthoringCaller } from '../../app/campaigns/authoring.ts';
import { ServiceError } from '../../domain/errors.ts';
import { campaignCallsPerMinute } from '../../domain/limits/campaigns.ts';
import type { Dialect } from '../openapi/operation.ts';
import { answerHeaders, requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from '../route/auth.ts';
import type { BearerDependencies, KeyCaller } from '../route/auth.ts';
import { setRateLimitHeaders } from '../route/route.ts';
import type { Call, Hook, RouteDialect } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';
import { v1CampaignError, v5CampaignError } from './search.ts';
import { campaignV1Errors, presentV1Error } from './v1-answers.ts';
import { campaignV5Errors, presentV5Error } from './v5-answers.ts';

/** Makes the dialect of V1 for campaigns: deprecated, and SVC-APPKEY is required (fact 4.1). */
export function makeV1Dialect(deps: CampaignAccessDependencies): RouteDialect<KeyCaller> {
  return {
    ...v1Rules,
    tag: 'Campaigns',
    headers: { '*-APPKEY': requestHeaders.appKey },
    answerHeaders: answerHeaders.deprecation,
    isDeprecated: true,
    vendorHeaders: deps.vendorHeaders,
    onEveryCall: announceDeprecation,
    onRequest: requireCampaignAccess(deps, { appKey: 'required' }),
  };
}

/** Makes the dialect of V1 for business events, which are not deprecated. */
export function makeV1EventDialect(deps: CampaignAccessDependencies): RouteDialect<KeyCaller> {
  return {
    ...v1Rules,
    tag: 'Business events',
    headers: { '*-APPKEY': Type.Optional(requestHeaders.appKey) },
    vendorHeaders: deps.vendorHeaders,
    onRequest: requireCampaignAccess(deps, { appKey: 'optional' }),
  };
}

const v1Rules = {
  credentials: ['campaignsKey', 'bearer'],
  refusals: {
    errors: campaignV1Errors,
    shape: v1CampaignError,
    codeOf: (name) => campaignV1Errors[name]?.code,
  },
  isLimited: true,
  callerOf: keyCallerOf,
  presentError: presentV1Error,
} satisfies Partial<RouteDialect<KeyCaller>>;

/** Makes the dialect of V5, also for other subjects, which may require another key. */
export function makeV5Dialect(
  deps: CampaignAccessDependencies,
  { scope, ...described }: Partial<Pick<Dialect, 'tag' | 'credentials'>> & { scope?: 'data' } = {},
): RouteDialect<V5Caller> {
  return {
    tag: 'Campaigns',
    credentials: ['campaignsKey', 'bearer'],
    headers: { '*-APPKEY': Type.Optional(requestHeaders.appKey), 'X-*-Request-Id': requestHeaders.requestId },
    refusals: {
      errors: campaignV5Errors,
      shape: v5CampaignError,
      codeOf: (name) => campaignV5Errors[name]?.code,
    },
    isLimited: true,
    ...described,
    vendorHeaders: deps.vendorHeaders,
    onRequest: requireCampaignAccess(deps, { appKey: 'optional', ...(scope === undefined ? {} : { scope }) }),
    callerOf: (request) => ({
      ...keyCallerOf(request),
      form: { version: 'V5', requestIdHeader: deps.vendorHeaders.read(request.headers, 'x-*-request-id') },
    }),
    presentError: presentV5Error,
  };
}

/** The caller, and the version of the request with the id that V5 also accepts in a header. */
export type V5Caller = KeyCaller & { form: { version: 'V5'; requestIdHeader: string | undefined } };

export const v5Base = '/v5/campaigns';

/** Dependencies of the checks before every campaign route. */
export type CampaignAccessDependencies = BearerDependencies & { vendorHeaders: VendorHeaders };

export type CampaignRouteDependencies = CampaignDependencies &
  CampaignAccessDependencies & {
    /** The Markdown guide that V1's deprecation header links to. */
    migrationGuideFile: string;
  };

/**
 * Returns the checks before every campaign route: Basic with the workspace and its campaigns key, or Bearer (decision D45);
 * the limits (decision D44), whose state every response carries (fact 4.6); SVC-APPKEY.
 *
 * @param scope the scope the key needs, for routes that use the campaign dialect for another subject
 * @param appKey whether the version requires SVC-APPKEY (fact 4.1); if sent, it must name the workspace
 */
function requireCampaignAccess(
  deps: CampaignAccessDependencies,
  { appKey: demand, scope = 'campaign' }: { appKey: 'required' | 'optional'; scope?: 'campaign' | 'data' },
): Hook[] {
  const { vendorHeaders } = deps;
  const requireKey = makeRequireApiKey(deps, scope, {
    missing: 'CAMPAIGN_CREDENTIALS_MISSING',
    invalid: 'CAMPAIGN_CREDENTIALS_INVALID',
    notCovering: 'CAMPAIGN_KEY_NOT_ALLOWED',
  });
  const appKeyName = vendorHeaders.nameOf('*-appkey').toUpperCase();
  return [
    requireKey,
    (request, reply) => count(deps, { reply, workspaceId: keyCallerOf(request).workspaceId }),
    async (request) => {
      const appKey = vendorHeaders.read(request.headers, '*-appkey');
      if (appKey === undefined && demand === 'required')
        throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults: [{ field: appKeyName, reason: 'missing' }] });
      if (appKey !== undefined && appKey !== keyCallerOf(request).workspaceId)
        throw new ServiceError('CAMPAIGN_WORKSPACE_MISMATCH', { field: appKeyName });
    },
  ];
}

type Counting = { reply: FastifyReply; workspaceId: string };

async function count(deps: CampaignAccessDependencies, { reply, workspaceId }: Counting): Promise<void> {
  const call = await countCampaignCall(deps, workspaceId);
  const { remaining, resetSeconds } = call;
  setRateLimitHeaders(reply, { limit: campaignCallsPerMinute, remaining, resetSeconds });
  if (call.outcome === 'refused')
    throw new ServiceError('CAMPAIGN_RATE_LIMITED', { retryAfterSeconds: call.resetSeconds });
}

/** Returns the caller and the data that identifies a repeated request. */
export function callerOf({ actor, workspaceId, once }: Call<KeyCaller>): AuthoringCaller {
  return { actor, workspaceId, idempotencyKey: once.key, rawBody: once.rawBody };
}

export const migrationGuideUrl = '/docs/migration-v1-v5.md';

/** 2026-01-01T00:00:00Z, the year of the first release: V1 only ever existed for existing clients. */
const deprecatedAtSeconds = 1_767_225_600;

/**
 * Announces that V1 is deprecated (RFC 9745) and links to the guide for V5 (RFC 9745 §3). Sends no Sunset (RFC 8594),
 * because no end of V1 is planned.
 */
async function announceDeprecation(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('deprecation', `@${deprecatedAtSeconds}`);
  reply.header('link', `<${migrationGuideUrl}>; rel="deprecation"; type="text/markdown"`);
}
