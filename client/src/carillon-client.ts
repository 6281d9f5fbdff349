import { makeAccessTokens } from './access-tokens.ts';
import type { AccessTokens } from './access-tokens.ts';
import { makeCarillonCampaigns } from './carillon-campaigns.ts';
import type { CarillonCampaigns } from './carillon-campaigns.ts';
import { CarillonError, toCarillonError } from './carillon-error.ts';
import type { PushAnswer, PushRequest } from './push-request.ts';
import { signPush } from './sign-push.ts';

export type CarillonClientOptions = {
  /** Origin of the service, without a trailing slash. */
  baseUrl: string;
  workspaceId: string;
  /** Secret of a push key: signs pushes. */
  pushKey?: string;
  /** Secret of a campaigns key: makes, changes and sends campaigns (V5). */
  campaignsKey?: string;
  /** Secret of an OAuth key: people and devices travel under its access token. */
  oauthKey?: string;
  /** Abbreviation in header names; default `SVC`. */
  headerPrefix?: string;
  fetch?: typeof fetch;
  /** Most times a call is repeated after 429 or 503; default 3. Each waits as long as the service asks, up to a minute. */
  maxRepeats?: number;
};

export type CarillonClient = {
  /** Creates and sends a push (v2.1). @throws CarillonError */
  sendPush(push: PushRequest, options?: { idempotencyKey?: string }): Promise<PushAnswer>;
  /** Creates or changes a user. @throws CarillonError */
  upsertUser(user: { customerId: string; attributes?: Record<string, unknown> }): Promise<void>;
  /** Creates or renews a device of a user. @throws CarillonError */
  registerDevice(device: {
    customerId: string;
    deviceId: string;
    platform: 'ANDROID' | 'iOS' | 'web';
    pushId: string | object;
    attributes?: Record<string, unknown>;
  }): Promise<void>;
  /** Undefined without a campaigns key. */
  campaigns: CarillonCampaigns | undefined;
  tokens: AccessTokens | undefined;
};

type Call = { path: string; headers: Record<string, string>; body: object };

const maxWaitSeconds = 60;

/** A typed client of the service: signature, access tokens, and patience with 429 and 503. */
export function makeCarillonClient(options: CarillonClientOptions): CarillonClient {
  const { baseUrl, workspaceId, headerPrefix = 'SVC', fetch: request = fetch, maxRepeats = 3 } = options;
  const tokens =
    options.oauthKey === undefined
      ? undefined
      : makeAccessTokens({ baseUrl, workspaceId, oauthKey: options.oauthKey, fetch: request });

  function post(path: string, headers: Record<string, string>, body: object): Promise<Response> {
    return send('POST', { path, headers, body });
  }

  async function send(method: 'POST' | 'PATCH', { path, headers, body }: Call): Promise<Response> {
    for (let repeats = 0; ; repeats += 1) {
      const answer = await request(`${baseUrl}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      const isBusy = answer.status === 429 || answer.status === 503;
      if (!isBusy || repeats >= maxRepeats) return answer;
      const seconds = Number(answer.headers.get('retry-after') ?? 1);
      await answer.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, Math.min(seconds || 1, maxWaitSeconds) * 1000));
    }
  }

  async function postData(path: string, body: object): Promise<void> {
    if (!tokens) throw new TypeError('oauthKey is needed for people and devices');
    const headers = { authorization: `Bearer ${await tokens.get()}` };
    const answer = await post(`/v1/${path}/${encodeURIComponent(workspaceId)}`, headers, body);
    if (!answer.ok) throw await toCarillonError(answer);
    await answer.body?.cancel();
  }

  return {
    tokens,
    campaigns:
      options.campaignsKey === undefined
        ? undefined
        : makeCarillonCampaigns({ workspaceId, campaignsKey: options.campaignsKey, send }),
    async sendPush(push, { idempotencyKey } = {}) {
      const { pushKey } = options;
      if (pushKey === undefined) throw new TypeError('pushKey is needed to send');
      const headers: Record<string, string> = {
        [`X-${headerPrefix}-APPKEY`]: workspaceId,
        [`X-${headerPrefix}-PushAPI-Signature`]: await signPush({
          workspaceId,
          campaignName: push.campaignName,
          pushKey,
        }),
        [`X-${headerPrefix}-Query-Type`]: push.targetAudience.toLowerCase(),
      };
      if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
      const answer = await post('/v2.1/transaction/sendpush', headers, push);
      if (!answer.ok) throw await toCarillonError(answer);
      const body = (await answer.json()) as PushAnswer | { status: 'Fail'; Error_Message: string };
      // A business failure answers 200 (interface 2.11); to a caller it is a refusal like any other.
      if (body.status === 'Fail')
        throw new CarillonError({ status: 200, code: body.Error_Message, message: body.Error_Message });
      return body;
    },
    upsertUser: ({ customerId, attributes = {} }) =>
      postData('customer', { type: 'customer', customer_id: customerId, attributes }),
    registerDevice: ({ customerId, deviceId, platform, pushId, attributes = {} }) =>
      postData('device', {
        type: 'device',
        customer_id: customerId,
        device_id: deviceId,
        attributes: { ...attributes, platform, push_id: pushId },
      }),
  };
}
