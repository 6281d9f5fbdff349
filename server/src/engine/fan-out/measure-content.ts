import type { AndroidPayload, PhoneDefaults } from '../../domain/campaigns/android-payload.ts';
import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { makeInteractionTokens } from '../../domain/interactions/interaction-token.ts';
import { measureMessage } from '../delivery/measure-message.ts';
import type { MessageSize } from '../delivery/measure-message.ts';
import { composeMessage } from './compose-message.ts';

export type MeasuredContent = { workspaceId: string; androidPayload: AndroidPayload } & {
  [P in Platform]: { platform: P; content: OwnContent[P] };
}[Platform];

// Whatever they are, a message carries as many characters of them.
const anyId = '0'.repeat(24);
const anyTime = new Date(0);
const tokens = makeInteractionTokens(new Uint8Array(32));

/** How large the message of a rendered content is: that of a run, with ids of their true length. Pure. */
export function measureContent(
  { workspaceId, androidPayload, platform, content }: MeasuredContent,
  phoneDefaults: PhoneDefaults,
): MessageSize {
  const message = composeMessage({
    run: {
      id: anyId,
      workspaceId,
      campaignId: anyId,
      settings: {},
      content: { [platform]: content },
      createdAt: anyTime,
      androidPayload,
    },
    device: { id: anyId, bucket: 0, platform },
    tokens,
    phoneDefaults,
    // The longest that the content becomes.
    app: { criticalAlerts: true },
  });
  return measureMessage(message!);
}
