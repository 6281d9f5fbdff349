import { overrideHeaders } from '../override-headers.ts';
import type { IosMessage } from '../payload/ios-payload.ts';
import { makeIosRequest } from '../payload/ios-request.ts';

/** FCM's `apns`: what Apple would be sent, which Firebase hands over with the key of its project. */
export type ApnsPart = { headers: Record<string, string>; payload: object; fcm_options?: { image: string } };

/** The app reads the same as on the direct way. Pure. */
export function makeApnsPart(message: IosMessage, now: Date): { apns: ApnsPart } | { fault: string } {
  const request = makeIosRequest(message, now);
  if ('fault' in request) return request;
  const { headers, changed, payload } = request;
  if ('apns-topic' in changed) return { fault: 'apns-topic is Firebase’s to name' };
  const image = message.content.richContent.find(({ type }) => type === 'image' || type === 'gif')?.value;
  return {
    apns: {
      headers: overrideHeaders(changed, headers),
      payload,
      // For apps that leave it to the SDK's own service extension.
      ...(image === undefined || message.isSilent ? {} : { fcm_options: { image } }),
    },
  };
}
