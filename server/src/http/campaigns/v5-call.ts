import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Dialect } from '../openapi/describe-operation.ts';
import { requestHeaders } from '../openapi/document-headers.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { campaignV5Errors } from './present-v5.ts';
import { v5CampaignError } from './shapes.ts';

export const v5Base = '/v5/campaigns';

/** What every route of V5 shares. */
export const v5Dialect: Dialect = {
  tag: 'Campaigns',
  credentials: ['campaignsKey', 'bearer'],
  headers: { '*-APPKEY': Type.Optional(requestHeaders.appKey), 'X-*-Request-Id': requestHeaders.requestId },
  refusals: {
    errors: campaignV5Errors,
    shape: v5CampaignError,
    codeOf: (name) => campaignV5Errors[name]?.code,
  },
  isLimited: true,
};

export function requestIdHeader(
  { vendorHeaders }: Pick<CampaignRouteDependencies, 'vendorHeaders'>,
  request: FastifyRequest,
): string | undefined {
  return vendorHeaders.read(request.headers, 'x-*-request-id');
}
