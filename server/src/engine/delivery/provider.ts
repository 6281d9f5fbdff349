import type { Message } from '../../domain/campaigns/message.ts';
import type { Platform } from '../../domain/campaigns/content.ts';

/** Where a message goes: the provider's own address of one device. */
export type DeviceAddress = {
  deviceId: string;
  platform: Platform;
  /** FCM registration token, APNs device token (hex), or the JSON text of a browser's PushSubscription. */
  pushId: string;
};

/** One HTTP/2 request, complete but for the authorisation that `send` adds. */
export type Plan = {
  /** Scheme, host and port. */
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
};

/** The result of a request: an HTTP response, or why there is none. */
export type Answer =
  | { kind: 'answer'; status: number; headers: Record<string, string>; body: string }
  /** `unsent`: the provider surely did not process it (refused stream, no connection); `unknown`: it may have. */
  | {
      kind: 'failure';
      certainty: 'unsent' | 'unknown';
      reason: 'timeout' | 'reset' | 'refused' | 'unreachable' | 'address-blocked';
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
  /** Our fault or the message's; retrying cannot help. */
  | { kind: 'rejected'; code: string; detail: string }
  /** The credential is refused: the run pauses and says why, in the provider's words. */
  | { kind: 'stopped'; code: string; detail: string };

/**
 * One provider, in three steps. `plan` and `classify` are pure and table-tested; `send` is the I/O. Implemented by
 * fcm/, apns/ and webpush/; the simulators receive the same requests instead of replacing them.
 */
export type DeliveryProvider<Credential> = {
  /** Either the request, or an outcome already known without one (message too large, address unreadable). */
  plan(input: PlanInput<Credential>): { plan: Plan } | { outcome: Outcome };
  /** Never rejects: a network fault is an `Answer` of kind `failure`. */
  send(plan: Plan, credential: Credential): Promise<Answer>;
  classify(answer: Answer, now: Date): Outcome;
  close(): Promise<void>;
};

export type PlanInput<Credential> = { message: Message; device: DeviceAddress; credential: Credential };
