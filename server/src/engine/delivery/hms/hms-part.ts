import { makeAndroidPart } from '../payload/android-part.ts';
import type { AndroidMessage } from '../payload/android-part.ts';
import { makeHmsNotification } from './hms-notification.ts';

/** What Huawei Push Kit carries of a message beside the address. */
export type HmsPart = { data?: string; android: Record<string, unknown> };

// Fifteen days; what lives longer elsewhere lives as long here.
const maxTtlSeconds = 1_296_000;
/** Every message is kept for a phone that is away. A repeat after a crash replaces the first by its tag. */
const keepAll = -1;

/**
 * The same for an app of Huawei's: data are one JSON text under the names that the app reads from FCM too. Where neither a
 * content nor the app chooses, the system shows it: data for an app that is not running are not delivered in China (spec of phones, 6).
 * Pure.
 */
export function makeHmsPart(message: AndroidMessage): HmsPart {
  const mode = message.content.options?.deliveryMode ?? message.payload.appMode ?? 'notification';
  const { data } = makeAndroidPart({ ...message, payload: { ...message.payload, mode } });
  const service = `${message.payload.dataPrefix}_push_service`;
  const texts = data && service in data ? { ...data, [service]: 'hms' } : data;
  return {
    ...(texts === undefined ? {} : { data: JSON.stringify(texts) }),
    android: {
      collapse_key: keepAll,
      urgency: message.priority,
      // Under this Huawei's own reports tell campaigns apart.
      bi_tag: message.campaignId,
      ttl: `${Math.min(message.ttlSeconds, maxTtlSeconds)}s`,
      ...(message.isSilent || mode === 'data' ? {} : { notification: makeHmsNotification(message) }),
    },
  };
}
