export { makeCarillonClient } from './carillon-client.ts';
export type { CarillonClient, CarillonClientOptions } from './carillon-client.ts';
export type { CampaignBody, CampaignTestAnswer, CarillonCampaigns } from './carillon-campaigns.ts';
export { CarillonError, toCarillonError } from './carillon-error.ts';
export type { PushAnswer, PushPayload, PushRequest } from './push-request.ts';
export { signPush } from './sign-push.ts';
export { makeAccessTokens } from './access-tokens.ts';
export type { AccessTokens, AccessTokenOptions } from './access-tokens.ts';
