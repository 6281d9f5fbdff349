import type { Dialect } from '../openapi/describe-operation.ts';
import { answerHeaders, requestHeaders } from '../openapi/document-headers.ts';
import { campaignV1Errors } from './present-v1.ts';
import { v1CampaignError } from './shapes.ts';

/** What every route of V1 shares. */
export const v1Dialect: Dialect = {
  tag: 'Campaigns',
  credentials: ['campaignsKey', 'bearer'],
  headers: { '*-APPKEY': requestHeaders.appKey },
  answerHeaders: answerHeaders.deprecation,
  refusals: {
    errors: campaignV1Errors,
    shape: v1CampaignError,
    codeOf: (name) => campaignV1Errors[name]?.code,
  },
  isLimited: true,
  isDeprecated: true,
};

/** Below the prefix of decision D3 the same operations are there once more. */
export function operationIdOf(id: string, base: string): string {
  return base.startsWith('/core-services/') ? `${id}CoreServices` : id;
}
