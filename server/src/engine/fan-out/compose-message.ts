import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { messageIdentity } from '../../domain/campaigns/message.ts';
import type { Message } from '../../domain/campaigns/message.ts';
import type { InteractionTokens } from '../../domain/interactions/interaction-token.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Recipient } from './personalise-devices.ts';

type ComposedRun = Pick<RunToSend, 'id' | 'workspaceId' | 'campaignId' | 'content' | 'settings' | 'createdAt'>;
type ComposedDevice = Pick<Recipient, 'id' | 'bucket' | 'platform' | 'personal'>;

/**
 * The message of a run for one device, or undefined when the run has no content for the device's platform. Pure: the
 * same run and recipient give the same message on every attempt of every worker.
 */
export function composeMessage({
  run,
  device,
  tokens,
}: {
  run: ComposedRun;
  device: ComposedDevice;
  tokens: InteractionTokens;
}): Message | undefined {
  const settings = deliverySettings(run.settings);
  const base = {
    workspaceId: run.workspaceId,
    campaignId: run.campaignId,
    runId: run.id,
    ...(settings.inboxExpiryHours === null
      ? {}
      : { inboxExpiresAt: new Date(run.createdAt.getTime() + settings.inboxExpiryHours * 3_600_000) }),
  };
  const { platform, bucket, id: deviceId } = device;
  const passTo = (address: string | undefined) =>
    tokens.issue({ workspaceId: run.workspaceId, runId: run.id, bucket, deviceId, platform }, address);
  switch (device.platform) {
    case 'ANDROID': {
      const content = contentOf('ANDROID', { run, device });
      if (!content) return undefined;
      const identity = messageIdentity(run.id, device.id, content.collapseReplaceKey);
      const ttlSeconds = settings.ttlMinutes.ANDROID * 60;
      const report = passTo(content.defaultAction?.value);
      return {
        ...base,
        platform: 'ANDROID',
        content,
        identity,
        report,
        ttlSeconds,
        priority: settings.androidPriority,
      };
    }
    case 'IOS': {
      const content = contentOf('IOS', { run, device });
      if (!content) return undefined;
      const identity = messageIdentity(run.id, device.id, content.collapseReplaceKey);
      const ttlSeconds = settings.ttlMinutes.IOS * 60;
      const report = passTo(content.defaultAction?.value);
      return { ...base, platform: 'IOS', content, identity, report, ttlSeconds, priority: settings.iosPriority };
    }
    case 'WEB': {
      const content = contentOf('WEB', { run, device });
      if (!content) return undefined;
      const identity = messageIdentity(run.id, device.id);
      const ttlSeconds = settings.ttlMinutes.WEB * 60;
      const report = passTo(content.redirectUrl);
      return { ...base, platform: 'WEB', content, identity, report, ttlSeconds, urgency: settings.webUrgency };
    }
    default: {
      const never: never = device.platform;
      throw new Error(`unknown platform ${String(never)}`);
    }
  }
}

/** What the device shows: content rendered for the user, or the same content for all. The fallback stays here. */
function contentOf<P extends Platform>(
  platform: P,
  { run, device }: { run: ComposedRun; device: ComposedDevice },
): OwnContent[P] | undefined {
  if (device.personal && 'content' in device.personal) return device.personal.content as OwnContent[P];
  const content = run.content[platform];
  if (!content) return undefined;
  const { fallback: _fallback, ...own } = content;
  return own as OwnContent[P];
}
