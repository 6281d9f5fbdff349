import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { gatewayError } from '../auth/shapes.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { v5CampaignError } from './shapes.ts';

/** What every route of V5 shares. */
export const v5Base = '/v5/campaigns';
export const v5Tags = ['Campaigns'];
export const v5Security = [{ campaignsKey: [] }, { bearer: [] }];
export const v5Refusals = {
  400: v5CampaignError,
  401: Type.Union([v5CampaignError, gatewayError]),
  403: Type.Union([v5CampaignError, gatewayError]),
  429: v5CampaignError,
};

export function requestIdHeader(
  { vendorHeaders }: Pick<CampaignRouteDependencies, 'vendorHeaders'>,
  request: FastifyRequest,
): string | undefined {
  return vendorHeaders.read(request.headers, 'x-*-request-id');
}
