export { makeCarillonClient } from './carillon-client.ts';
export type { CarillonClient, CarillonClientOptions } from './carillon-client.ts';
export type {
  Attempt,
  CallHooks,
  CallOptions,
  CallService,
  CallWithReply,
  Given,
  OperationId,
  Replied,
} from './call-service.ts';
export type { CarillonBusinessEvents } from './carillon-business-events.ts';
export type { CampaignBody, CampaignTestAnswer, CarillonCampaigns } from './carillon-campaigns.ts';
export type { CarillonCampaignsV1 } from './carillon-campaigns-v1.ts';
export { CarillonError, toCarillonError } from './carillon-error.ts';
export type { CarillonFault } from './carillon-error.ts';
export type { CarillonPush, PushRequest, SentPush } from './carillon-push.ts';
export type { CarillonSegments, FileOperation } from './carillon-segments.ts';
export type { CarillonDevices, CarillonUsers } from './carillon-users.ts';
export { makeCallbackReceiver } from './callback-receiver.ts';
export type { CallbackReceiver } from './callback-receiver.ts';
export { verifyCallback } from './verify-callback.ts';
export type { CallbackHeaders } from './verify-callback.ts';
export { hostsOfDataCenter } from './service-hosts.ts';
export type { ServiceHosts } from './service-hosts.ts';
export { signPush } from './sign-push.ts';
export { signPushV2 } from './sign-push-v2.ts';
export { SubscribeBrowserError, subscribeBrowser, unsubscribeBrowser } from './subscribe-browser.ts';
export type { BrowserSubscription, SubscribeBrowserFault, SubscribeBrowserOptions } from './subscribe-browser.ts';
export { makeAccessTokens } from './access-tokens.ts';
export type { AccessTokens, AccessTokenOptions } from './access-tokens.ts';
export type * from './generated/shapes.ts';
export type { Operations } from './generated/operations.ts';
