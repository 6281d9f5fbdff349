import { createHash } from 'node:crypto';
import type { ApnsCredential } from '../../../domain/provider-credential.ts';
import type { Outcome, Plan } from '../provider.ts';
import { isDeviceToken } from './plan-apns-request.ts';

/** One event of a Live Activity for one phone. */
export type LiveActivityMessage = {
  /** The same on every attempt. */
  id: string;
  token: string;
  priority: 5 | 10;
  body: string;
  /** Apple keeps it for a phone that is away until then. */
  expiresAt: Date;
};

/** Apple takes it under a topic of its own, and with no other member than `aps`. Pure. */
export function planLiveActivityRequest(
  message: LiveActivityMessage,
  { credential, origin }: { credential: ApnsCredential; origin: string },
): { plan: Plan } | { outcome: Outcome } {
  if (!isDeviceToken(message.token)) return { outcome: { kind: 'gone', code: 'BadDeviceToken' } };
  return {
    plan: {
      origin,
      path: `/3/device/${message.token.toLowerCase()}`,
      headers: {
        'content-type': 'application/json',
        'apns-topic': `${credential.topic}.push-type.liveactivity`,
        'apns-push-type': 'liveactivity',
        'apns-priority': String(message.priority),
        'apns-expiration': String(Math.floor(message.expiresAt.getTime() / 1000)),
        'apns-id': uuidOf(message.id),
      },
      body: Buffer.from(message.body),
    },
  };
}

/** Version 8 (RFC 9562 §5.8): a UUID whose bits are ours to define. */
function uuidOf(id: string): string {
  const hex = createHash('sha256').update(`live-activity:${id}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
