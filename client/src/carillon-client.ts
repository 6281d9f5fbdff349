import { makeAccessTokens } from './access-tokens.ts';
import type { AccessTokens } from './access-tokens.ts';
import { makeCallService } from './call-service.ts';
import type { CallHooks, CallOptions, CallService, CallWithReply } from './call-service.ts';
import { makeCarillonBusinessEvents } from './carillon-business-events.ts';
import type { CarillonBusinessEvents } from './carillon-business-events.ts';
import { makeCarillonCampaignsV1 } from './carillon-campaigns-v1.ts';
import type { CarillonCampaignsV1 } from './carillon-campaigns-v1.ts';
import { makeCarillonCampaigns } from './carillon-campaigns.ts';
import type { CarillonCampaigns } from './carillon-campaigns.ts';
import { makeCarillonPush } from './carillon-push.ts';
import type { CarillonPush, PushRequest, SentPush } from './carillon-push.ts';
import { makeCarillonSegments } from './carillon-segments.ts';
import type { CarillonSegments } from './carillon-segments.ts';
import { makeCarillonUsers } from './carillon-users.ts';
import type { CampaignStats, StatsRequest } from './generated/shapes.ts';
import { hostOf } from './service-hosts.ts';
import type { ServiceHosts } from './service-hosts.ts';

export type CarillonClientOptions = {
  /** Origin of the service, without a trailing slash; or the three hosts of a data center (`hostsOfDataCenter`). */
  baseUrl: string | ServiceHosts;
  workspaceId: string;
  /** Database name of the workspace, required for file segments. */
  dbName?: string;
  /** Secret of a push key: signs pushes. */
  pushKey?: string;
  /** Secret of a campaigns key: creates, changes and sends campaigns. */
  campaignsKey?: string;
  /** Secret of a data key: users, devices, events and segments. */
  dataKey?: string;
  /** Secret of an OAuth key: operations without a key use its access token. */
  oauthKey?: string;
  /** The contents that a push signature covers: the name, or the body and time as well. Default `name`. */
  pushSignatures?: 'name' | 'body';
  /** Abbreviation in header names; default `SVC`. */
  headerPrefix?: string;
  fetch?: typeof fetch;
  /**
   * Maximum number of retries after 429, 500, 502, 503, 504 or a broken connection; default 3. Each waits as long as the service
   * requests, up to a minute, or else for a time that doubles, with jitter. Operations that would be processed twice are retried
   * only with an Idempotency-Key, always the same one.
   */
  maxRepeats?: number;
  /** Maximum time for a response; default 60 s. */
  timeoutMilliseconds?: number;
  /** Functions that watch every call, for logs and metrics. */
  hooks?: CallHooks;
  /** Milliseconds now; for tests. */
  now?: () => number;
  /** A number from 0 to 1, for the jitter of retries; for tests. */
  random?: () => number;
};

export type CarillonClient = ReturnType<typeof makeCarillonUsers> & {
  /** Creates and sends a push (v2.1). @throws CarillonError */
  sendPush(push: PushRequest, options?: CallOptions): Promise<SentPush>;
  /** Creates or changes a user. @throws CarillonError */
  upsertUser(user: { customerId: string; attributes?: Record<string, unknown> }, options?: CallOptions): Promise<void>;
  /** Creates or renews a device of a user. @throws CarillonError */
  registerDevice(
    device: {
      customerId: string;
      deviceId: string;
      platform: 'ANDROID' | 'iOS' | 'web';
      pushId: string | object;
      attributes?: Record<string, unknown>;
    },
    options?: CallOptions,
  ): Promise<void>;
  push: CarillonPush;
  segments: CarillonSegments;
  campaigns: CarillonCampaigns;
  campaignsV1: CarillonCampaignsV1;
  businessEvents: CarillonBusinessEvents;
  stats: { read(request: StatsRequest, options?: CallOptions): Promise<CampaignStats> };
  /** Calls any operation of the API document by its `operationId`. */
  call: CallService;
  /** Like `call`, and returns `body` with `status`, `headers`, `warnings` and `requestId`. */
  callWithReply: CallWithReply;
  tokens: AccessTokens | undefined;
};

/** A typed client of the service: credentials, signatures, access tokens, and retries. */
export function makeCarillonClient(options: CarillonClientOptions): CarillonClient {
  const { baseUrl, workspaceId, headerPrefix = 'SVC', now = Date.now } = options;
  // Called without a receiver object, as browsers require.
  const request: typeof fetch = options.fetch ?? ((...given) => fetch(...given));
  const timeoutMilliseconds = options.timeoutMilliseconds ?? 60_000;
  const tokens =
    options.oauthKey === undefined
      ? undefined
      : makeAccessTokens({
          ...{ baseUrl: hostOf(baseUrl, 'Tokens'), workspaceId, oauthKey: options.oauthKey },
          ...{ fetch: request, now, timeoutMilliseconds },
        });
  const callWithReply = makeCallService({
    ...{ hosts: baseUrl, workspaceId, headerPrefix, tokens, fetch: request, timeoutMilliseconds },
    dbName: options.dbName,
    keys: { data: options.dataKey, campaigns: options.campaignsKey, push: options.pushKey },
    maxRepeats: options.maxRepeats ?? 3,
    hooks: options.hooks ?? {},
    random: options.random ?? Math.random,
  });
  const call: CallService = async (operation, given, more) => (await callWithReply(operation, given, more)).body;
  const { pushKey, pushSignatures: signatures = 'name' } = options;
  const push = makeCarillonPush({ callWithReply, workspaceId, headerPrefix, pushKey, signatures, now });
  const data = makeCarillonUsers(call);
  return {
    ...data,
    tokens,
    call,
    callWithReply,
    push,
    segments: makeCarillonSegments(call),
    campaigns: makeCarillonCampaigns(call),
    campaignsV1: makeCarillonCampaignsV1(call),
    businessEvents: makeCarillonBusinessEvents(call),
    stats: { read: (body, given) => call('readCampaignStats', { body }, given) },
    sendPush: (message, given) => push.send(message, given),
    async upsertUser({ customerId, attributes = {} }, given) {
      await data.users.upsert({ customer_id: customerId, attributes }, given);
    },
    async registerDevice({ customerId, deviceId, platform, pushId, attributes = {} }, given) {
      const all = { ...attributes, platform, push_id: pushId };
      await data.devices.register({ customer_id: customerId, device_id: deviceId, attributes: all }, given);
    },
  };
}
