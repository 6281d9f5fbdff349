import { Type } from 'typebox';
import { gatewayError } from '../auth/shapes.ts';
import { v1CampaignError } from './shapes.ts';

/** What every route of V1 shares. */
export const v1Documented = {
  tags: ['Campaigns'],
  deprecated: true,
  security: [{ campaignsKey: [] }, { bearer: [] }],
};
export const v1Refusals = {
  400: v1CampaignError,
  401: Type.Union([v1CampaignError, gatewayError]),
  403: gatewayError,
  404: v1CampaignError,
  422: v1CampaignError,
  429: v1CampaignError,
};
