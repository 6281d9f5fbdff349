import type { Message } from '../../domain/campaigns/message.ts';
import { measureApnsMessage } from './apns/plan-apns-request.ts';
import { measureFcmMessage } from './fcm/plan-fcm-request.ts';
import { measureWebPushMessage } from './webpush/plan-web-push-request.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

/** How large a message is for its provider. */
export type MessageSize = {
  bytes: number;
  /** The most that the provider accepts. */
  most: number;
  /** The most that every service of the platform accepts; push services of browsers differ. */
  maxEverywhere: number;
};

/** How many bytes a provider counts of a message, and the most it accepts. Pure. */
export function measureMessage(message: Message): MessageSize {
  switch (message.platform) {
    case 'ANDROID':
      return everywhere(measureFcmMessage(message));
    case 'IOS':
      return everywhere(measureApnsMessage(message));
    case 'WEB':
      return measureWebPushMessage(message);
    default:
      return unknownCase(message);
  }
}

function everywhere({ bytes, most }: { bytes: number; most: number }): MessageSize {
  return { bytes, most, maxEverywhere: most };
}
