import { messageIdentity } from '../../../src/domain/content/message.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import type { Platform } from '../../../src/domain/content/content.ts';
import { makeInteractionTokens } from '../../../src/domain/events/interactions.ts';

export const workspaceId = 'WORKSPACE';
const interactionTokens = makeInteractionTokens(Buffer.alloc(32, 1));

/** The plainest message to a device of the platform, with the pass to report on it. */
export function makeMessage<P extends Platform>(platform: P, deviceId: string): Extract<Message, { platform: P }>;
export function makeMessage(platform: Platform, deviceId: string): Message {
  const base = {
    workspaceId,
    campaignId: 'c'.repeat(24),
    runId: 'a'.repeat(24),
    ttlSeconds: 129_600,
    identity: messageIdentity('a'.repeat(24), deviceId),
    report: interactionTokens.issue(
      { workspaceId, runId: 'a'.repeat(24), bucket: 7, deviceId: deviceId.padStart(24, '0'), platform },
      platform === 'WEB' ? 'https://example.com/' : undefined,
    ),
  };
  switch (platform) {
    case 'ANDROID':
      return {
        ...base,
        platform,
        priority: 'HIGH',
        payload: { mode: 'both', pushFrom: 'carillon', dataPrefix: 'svc' },
        isSilent: false,
        content: { title: 'Title', message: 'Text', richContent: [], additionalActions: [] },
      };
    case 'IOS':
      return {
        ...base,
        platform,
        priority: 10,
        dataPrefix: 'svc',
        isSilent: false,
        content: { title: 'Title', message: 'Text', enableBadge: false, richContent: [], additionalActions: [] },
      };
    case 'WEB':
      return {
        ...base,
        platform,
        urgency: 'normal',
        content: {
          title: 'Title',
          message: 'Text',
          redirectUrl: 'https://example.com/',
          iconUrl: 'https://example.com/i.png',
          autoDismiss: false,
        },
      };
  }
}
