import type { Message } from '../domain/content/message.ts';
import type { ProviderCredentials, Reachable } from '../domain/delivery/providers.ts';
import type { AccountEffect, DeviceEffect } from '../domain/delivery/evidence.ts';
import type { Http2Target } from './http2/open-socket.ts';
import type { SubscriptionKeys } from './webpush/encrypt.ts';

/** A provider's address of one device. */
export type DeviceAddress = Reachable & {
  deviceId: string;
  /** FCM or HMS token, Firebase installation id, APNs device token (hex), or the JSON text of a browser's PushSubscription. */
  pushId: string;
};

export type DeliveryRequest = { message: Message; device: DeviceAddress; credentials: ProviderCredentials };

/** One HTTP/2 request, complete except for the authorisation that `send` adds. */
export type Plan = {
  /** Scheme, host and port. */
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Set if the body must still be encrypted, for a browser with these keys. */
  encryptFor?: SubscriptionKeys;
};

/** The reason why the outgoing proxy opened no tunnel. */
export type ProxyReason = 'proxy-unreachable' | 'proxy-refused' | 'proxy-auth';

/** The result of a request: an HTTP response, or the reason why there is none. */
export type Answer =
  | { kind: 'answer'; status: number; headers: Record<string, string>; body: string }
  /** `unsent`: the provider certainly did not process it (refused stream, no connection); `unknown`: it may have. */
  | {
      kind: 'failure';
      certainty: 'unsent' | 'unknown';
      /** `unresolved`: the host name does not exist. A failing resolver is `unreachable`. */
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
 * What the response means for the device and the run (design of delivery, outcome table). `code` is the provider's own word
 * (`UNREGISTERED`, `BadDeviceToken`, `410`), stored in the ledger.
 */
export type Outcome =
  /** `address`: the address that the device has now, if the provider says so. */
  | { kind: 'accepted'; providerMessageId?: string; address?: string }
  /** The device address is dead; it is dropped unless it was registered again after `goneSince`. */
  | { kind: 'gone'; code: string; goneSince?: Date }
  /** Retry, after `retryAfterSeconds` if the provider sent it. `scope`: whether the device or the whole credential waits. */
  | { kind: 'wait'; code: string; retryAfterSeconds?: number; scope: 'device' | 'credential' }
  /** No connection, so nothing was sent and the attempt does not count. The account is paused for a while. */
  | { kind: 'unreached'; code: string }
  /** The message may have been delivered. It is retried only under the same identity. */
  | { kind: 'unknown'; code: string }
  /**
   * The code alone does not say whether the device or the credential is to blame. The responses for other devices decide
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
  /** Carillon or the message is at fault; retrying cannot help. */
  | { kind: 'rejected'; code: string; detail: string }
  /** The provider rejects the credential. The run pauses and reports why, in the provider's words. */
  | { kind: 'stopped'; code: string; detail: string };

/** An outcome that does not depend on the responses for other devices. */
export type DecidedOutcome = Exclude<Outcome, { kind: 'ambiguous' }>;

/**
 * One provider, in three steps. `plan` and `classify` are pure and table-tested; `send` is the I/O. Implemented by
 * fcm/, apns/, webpush/ and hms/; the simulators receive the same requests instead of replacing them.
 */
export type DeliveryProvider<Credential> = {
  /** Returns the request, or an outcome already known without one (message too large, address unreadable). */
  plan(input: PlanInput<Credential>): { plan: Plan } | { outcome: Outcome };
  /** Never rejects: a network fault is an `Answer` of kind `failure`. */
  send(plan: Plan, credential: Credential): Promise<Answer>;
  classify(answer: Answer, now: Date): Outcome;
  close(): Promise<void>;
};

/** Where to send messages now, and the header that authorizes them. */
export type Route = { target: Http2Target; authorization: string };

/** How a provider authorizes the messages of a credential. */
export type Access<Credential> = {
  /** Returns the current route, or the response that refused the credential. @throws for a credential that cannot be used */
  find(credential: Credential): Promise<Route | { refusal: Answer }>;
  /** True if the provider rejects the token, not the message. */
  isRefused(answer: Answer): boolean;
  /** Returns the route that replaces one whose token was rejected; undefined if there is no other token. */
  renew(credential: Credential, refused: Route): Promise<Route | { refusal: Answer } | undefined>;
};

/** A provider that sends all messages over one route, so that many share a lane. */
export type RoutedProvider<Credential> = DeliveryProvider<Credential> & {
  access: Access<Credential>;
  /**
   * What is read from a success response. `failures`: nothing; the message id is the one that was sent. `all`: its headers and
   * its body.
   */
  reads: 'failures' | 'bodies' | 'all';
  /** `read`: other members of a message depend on what its texts contain, for example on whether a text is a URL. */
  texts: 'copied' | 'read';
  /** A body of at most this many bytes is never too large. */
  smallBodyBytes: number;
  /** Returns an address as requests contain it; undefined for an address that must be planned separately. */
  addressOf(pushId: string): string | undefined;
};

export type PlanInput<Credential> = { message: Message; device: DeviceAddress; credential: Credential };
