import type { WebMessage, Message } from '../../domain/content/message.ts';
import { mergePatch } from '../../domain/content/overrides.ts';

export type BrowserMessage = Extract<Message, { platform: 'WEB' }>;
export type Payload = Record<string, unknown>;

/** Returns the payload that client/browser/carillon-service-worker.js reads. */
export function makeWorkerPayload({ content, identity, report, challenge, ...message }: BrowserMessage): Payload {
  if (challenge)
    return {
      ...{ app_id: message.workspaceId, message_id: identity.id },
      ...{ installation_id: challenge.installationId, challenge: challenge.code },
    };
  const { options = {} } = content;
  const { additionalActions: actions, badgeURL, appBadge, declarative: _declarative, ...shown } = options;
  return {
    title: content.title,
    message: content.message,
    ...(content.redirectUrl === '' ? {} : { redirectURL: content.redirectUrl }),
    ...(content.iconUrl === '' ? {} : { iconURL: content.iconUrl }),
    ...(content.imageUrl === undefined ? {} : { imageURL: content.imageUrl }),
    autoDismiss: content.autoDismiss,
    // The notification's tag: a repeat replaces the first.
    tag: identity.collapseId,
    app_id: message.workspaceId,
    campaign_id: message.campaignId,
    run_id: message.runId,
    message_id: identity.id,
    ...(message.inboxExpiresAt && { inbox_expiry: Math.floor(message.inboxExpiresAt.getTime() / 1000) }),
    ...(report === undefined ? {} : { report_token: report.token }),
    ...(report?.clickProof === undefined ? {} : { click_proof: report.clickProof }),
    ...(actions === undefined ? {} : { actions }),
    ...(badgeURL === undefined ? {} : { badgeURL }),
    ...(appBadge === undefined ? {} : { appBadge: countOf(appBadge) }),
    ...shown,
    ...(message.language === undefined ? {} : { lang: message.language }),
  };
}

/**
 * Returns the payload as JSON, with the caller's override and the members of `base`; undefined if nothing is left to show.
 */
export function writeWorkerPayload(message: BrowserMessage, base: Payload = {}): string | undefined {
  const payload = { ...base, ...makeWorkerPayload(message) };
  const patch = message.content.overrides?.webpush?.payload;
  const merged = patch === undefined ? payload : (mergePatch(payload, patch) as Payload);
  const isShown = patch === undefined || (typeof merged.title === 'string' && merged.title.trim() !== '');
  return isShown ? JSON.stringify(merged) : undefined;
}

/** Returns the count of a badge; zero removes it. */
export function countOf(badge: NonNullable<NonNullable<WebMessage['content']['options']>['appBadge']>): number {
  return badge.operation === 'clear' ? 0 : badge.value;
}
