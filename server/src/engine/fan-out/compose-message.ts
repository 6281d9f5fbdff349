import { messageIdentity } from '../../domain/campaign/message.ts';
import type { Message } from '../../domain/campaign/message.ts';
import { deliverySettings } from '../../domain/campaign/delivery-settings.ts';
import type { AudienceDevice } from '../../storage/sql/audience-pages.ts';
import type { RunToSend } from '../../storage/sql/run-states.ts';

/**
 * The message of a run for one device, or undefined when the run has no content for the device's platform. Pure: the
 * same run and device give the same message on every attempt of every worker.
 */
export function composeMessage({ run, device }: { run: RunToSend; device: AudienceDevice }): Message | undefined {
  const settings = deliverySettings(run.settings);
  const base = { workspaceId: run.workspaceId, campaignId: run.campaignId, runId: run.id };
  switch (device.platform) {
    case 'ANDROID': {
      if (!run.content.ANDROID) return undefined;
      const { fallback: _fallback, ...content } = run.content.ANDROID;
      const identity = messageIdentity(run.id, device.id, content.collapseReplaceKey);
      const ttlSeconds = settings.ttlMinutes.ANDROID * 60;
      return { ...base, platform: 'ANDROID', content, identity, ttlSeconds, priority: settings.androidPriority };
    }
    case 'IOS': {
      if (!run.content.IOS) return undefined;
      const { fallback: _fallback, ...content } = run.content.IOS;
      const identity = messageIdentity(run.id, device.id, content.collapseReplaceKey);
      const ttlSeconds = settings.ttlMinutes.IOS * 60;
      return { ...base, platform: 'IOS', content, identity, ttlSeconds, priority: settings.iosPriority };
    }
    case 'WEB': {
      if (!run.content.WEB) return undefined;
      const { fallback: _fallback, ...content } = run.content.WEB;
      const identity = messageIdentity(run.id, device.id);
      const ttlSeconds = settings.ttlMinutes.WEB * 60;
      return { ...base, platform: 'WEB', content, identity, ttlSeconds, urgency: settings.webUrgency };
    }
    default: {
      const never: never = device.platform;
      throw new Error(`unknown platform ${String(never)}`);
    }
  }
}
