import type { Message } from '../../domain/campaigns/message.ts';
import { measureApnsMessage } from './apns/plan-apns-request.ts';
import { measureFcmMessage } from './fcm/plan-fcm-request.ts';
import { measureWebPushMessage } from './webpush/plan-web-push-request.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

/** How many bytes a provider would count of a message, and the most it takes. Pure. */
export function measureMessage(message: Message): { bytes: number; most: number } {
  switch (message.platform) {
    case 'ANDROID':
      return measureFcmMessage(message);
    case 'IOS':
      return measureApnsMessage(message);
    case 'WEB':
      return measureWebPushMessage(message);
    default:
      return unknownCase(message);
  }
}
