import type { CallOptions, CallWithReply, Replied } from './call-service.ts';
import { CarillonError } from './carillon-error.ts';
import type { PushAnswer, PushRequestV2, PushRequestV21, PushSuccess } from './generated/shapes.ts';
import { signPush } from './sign-push.ts';
import { signPushV2 } from './sign-push-v2.ts';

/** A push as the interface spells it; the client adds the workspace and the signature. Audience and delivery decide what it must have. */
export type PushRequest = Unsigned<PushRequestV21>;

/** Each alternative keeps its own members. */
type Unsigned<Push> = Push extends unknown ? Omit<Push, 'appId' | 'signature'> : never;

/** The response to a push, with the parts of the push that have no effect. */
export type SentPush = PushSuccess & { warnings: string[] };

export type CarillonPush = {
  /** Creates and sends a push (v2.1). @throws CarillonError, also for an error with status 200 */
  send(push: PushRequest, options?: CallOptions): Promise<SentPush>;
  /** Sends over v2, which has its signature in the body. @throws CarillonError */
  sendV2(push: Unsigned<PushRequestV2>, options?: CallOptions): Promise<SentPush>;
};

export function makeCarillonPush(options: {
  callWithReply: CallWithReply;
  workspaceId: string;
  headerPrefix: string;
  pushKey: string | undefined;
  /** `body` adds the stronger signature. */
  signatures: 'name' | 'body';
  now: () => number;
}): CarillonPush {
  const { callWithReply, workspaceId, headerPrefix, signatures, now } = options;
  const keyOf = (): string => {
    if (options.pushKey === undefined) throw new TypeError('pushKey is needed to send');
    return options.pushKey;
  };

  /** Called for each attempt, because an id is valid only once. */
  async function signBody(rawBody: string): Promise<Record<string, string>> {
    if (signatures === 'name') return {};
    const [id, timestamp] = [crypto.randomUUID(), Math.floor(now() / 1000)];
    return {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      [`X-${headerPrefix}-PushAPI-Signature-V2`]: await signPushV2({ id, timestamp, rawBody, pushKey: keyOf() }),
    };
  }

  return {
    async send(push, given) {
      // The signature covers the name, and a header repeats the audience: plain JavaScript may lack either.
      for (const name of ['campaignName', 'targetAudience'] as const)
        if (!push[name]) throw new TypeError(`${name} is required`);
      const signature = await signPush({ workspaceId, campaignName: push.campaignName, pushKey: keyOf() });
      const headers = {
        [`X-${headerPrefix}-PushAPI-Signature`]: signature,
        [`X-${headerPrefix}-Query-Type`]: push.targetAudience.toLowerCase(),
      };
      const sign = async (rawBody: string) => ({ ...headers, ...(await signBody(rawBody)) });
      return succeeded(await callWithReply('sendPushV21', { body: push }, { ...given, sign }));
    },
    async sendV2(push, given) {
      const signature = await signPush({ workspaceId, campaignName: push.campaignName, pushKey: keyOf() });
      const body: PushRequestV2 = { ...push, appId: workspaceId, signature };
      return succeeded(await callWithReply('sendPushV2', { body }, { ...given, sign: signBody }));
    },
  };
}

/** A business failure has status 200 (interface 2.11); callers get it as an error like any other. */
function succeeded({ body, warnings, requestId, headers }: Replied & { body: PushAnswer }): SentPush {
  if (body.status === 'Success') return { ...body, warnings };
  const message = body.Error_Message;
  throw new CarillonError({ status: 200, code: message, message, fault: { kind: 'push', body }, requestId, headers });
}
