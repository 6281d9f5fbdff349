import type { Message } from '../domain/content/message.ts';
import type { ProviderCredentials } from '../domain/credentials/credentials.ts';
import type { AccountEffect, DeviceEffect } from '../domain/delivery/evidence.ts';
import type { Reachable } from '../domain/delivery/providers.ts';
import type { Http2Target } from './http2/open-socket.ts';
import type { SubscriptionKeys } from './webpush/encrypt.ts';

/** Where a message goes: the provider's own address of one device. */
export type DeviceAddress = Reachable & {
  deviceId: string;
  /** FCM or HMS token, Firebase installation id, APNs device token (hex), or the JSON text of a browser's PushSubscription. */
  pushId: string;
};

export type DeliveryRequest = { message: Message; device: DeviceAddress; credentials: ProviderCredentials };

/** One HTTP/2 request, complete but for the authorisation that `send` adds. */
export type Plan = {
  /** Scheme, host and port. */
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** The body is still to be encrypted, for a browser with these keys. */
  encryptFor?: SubscriptionKeys;
};

/** The outgoing proxy opened no tunnel. */
export type ProxyReason = 'proxy-unreachable' | 'proxy-refused' | 'proxy-auth';

/** The result of a request: an HTTP response, or why there is none. */
export type Answer =
  | { kind: 'answer'; status: number; headers: Record<string, string>; body: string }
  /** `unsent`: the provider surely did not process it (refused stream, no connection); `unknown`: it may have. */
  | {
      kind: 'failure';
      certainty: 'unsent' | 'unknown';
      /** `unresolved`: the host name does not exist. A resolver that is out of order is `unreachable`. */
      reason:
        | 'timeout'
        | 'reset'
        | 'refused'
        | 'unreachable'
        | 'unresolved'
        | 'address-blocked'
        | 'host-not-allowed'
        | ProxyReason;
      detail: string;
    };

/**
 * What the answer means for the device and the run (design of delivery, outcome table). `code` is the provider's own
 * word (`UNREGISTERED`, `BadDeviceToken`, `410`), kept in the ledger.
 */
export type Outcome =
  | { kind: 'accepted'; providerMessageId?: string }
  /** The device address is dead; it is dropped unless it was registered again after `goneSince`. */
  | { kind: 'gone'; code: string; goneSince?: Date }
  /** Try again; `retryAfterSeconds` when the provider said so. `scope`: how far the wait reaches. */
  | { kind: 'wait'; code: string; retryAfterSeconds?: number; scope: 'device' | 'credential' }
  /** No connection, so nothing was sent and no attempt counts; the account is paused for a while. */
  | { kind: 'unreached'; code: string }
  /** It may have been delivered: retried under the same identity only. */
  | { kind: 'unknown'; code: string }
  /**
   * The code alone does not say whether the device or the credential is to blame: the answers of other devices decide
   * (domain/delivery/evidence.ts).
   */
  | {
      kind: 'ambiguous';
      code: string;
      detail: string;
      ifDevice: DeviceEffect;
      ifAccount: AccountEffect;
      retryAfterSeconds?: number;
      goneSince?: Date;
    }
  /** Our fault or the message's; retrying cannot help. */
  | { kind: 'rejected'; code: string; detail: string }
  /** The credential is refused: the run pauses and says why, in the provider's words. */
  | { kind: 'stopped'; code: string; detail: string };

/** An outcome that needs no other device's answer. */
export type DecidedOutcome = Exclude<Outcome, { kind: 'ambiguous' }>;

/**
 * One provider, in three steps. `plan` and `classify` are pure and table-tested; `send` is the I/O. Implemented by
 * fcm/, apns/, webpush/ and hms/; the simulators receive the same requests instead of replacing them.
 */
export type DeliveryProvider<Credential> = {
  /** Either the request, or an outcome already known without one (message too large, address unreadable). */
  plan(input: PlanInput<Credential>): { plan: Plan } | { outcome: Outcome };
  /** Never rejects: a network fault is an `Answer` of kind `failure`. */
  send(plan: Plan, credential: Credential): Promise<Answer>;
  classify(answer: Answer, now: Date): Outcome;
  close(): Promise<void>;
};

/** Where messages go now, and the header that lets them in. */
export type Route = { target: Http2Target; authorization: string };

/** With what a provider lets the messages of a credential in. */
export type Access<Credential> = {
  /** The route now, or the answer of who refuses the credential. @throws for a credential that cannot be used */
  find(credential: Credential): Promise<Route | { refusal: Answer }>;
  /** Whether it is the token that the provider does not take, and not the message. */
  isRefused(answer: Answer): boolean;
  /** The route in the place of one whose token was refused; undefined when there is no other token. */
  renew(credential: Credential, refused: Route): Promise<Route | { refusal: Answer } | undefined>;
};

/** A provider whose messages all take one route, so that many are sent through a lane. */
export type RoutedProvider<Credential> = DeliveryProvider<Credential> & {
  access: Access<Credential>;
  /** What is read of the answer to a message that was accepted. `failures`: nothing, its id is the one it was sent with. */
  reads: 'failures' | 'bodies';
  /** `read`: what else stands in a message depends on what a text of it says, as whether it is an address. */
  texts: 'copied' | 'read';
  /** A body of at most so many bytes is never too large. */
  smallBodyBytes: number;
  /** An address as it stands in requests; undefined for one that has to be planned by itself. */
  addressOf(pushId: string): string | undefined;
};

export type PlanInput<Credential> = { message: Message; device: DeviceAddress; credential: Credential };
