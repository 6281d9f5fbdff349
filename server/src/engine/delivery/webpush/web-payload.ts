import type { OfferedAction } from '../../../domain/content-options/content-options.ts';
import type { WebMessage, Message } from '../../../domain/campaigns/message.ts';
import { mergePatch } from '../../../domain/provider-overrides/merge-patch.ts';
import { maxPlainBytes } from './encrypt-web-push.ts';

export type BrowserMessage = Extract<Message, { platform: 'WEB' }>;

/**
 * What the service worker reads, as JSON. Where a declarative notification was asked for, it stands beside that: a browser
 * that knows it needs no worker, every other ignores it. If both do not fit, it is left out. Undefined: the caller's override
 * leaves nothing to show.
 */
export function makeWebPayload(message: BrowserMessage, endpoint: URL | undefined): Buffer | undefined {
  const payload = makePayload(message);
  const plain = override(payload, message);
  if (plain === undefined || !isDeclarative(message, endpoint)) return plain;
  const both = override({ ...makeDeclaration(message, payload), ...payload }, message);
  return both !== undefined && both.length <= maxPlainBytes ? both : plain;
}

/** With the caller's override; undefined if that leaves nothing to show. */
function override(payload: Payload, { content }: BrowserMessage): Buffer | undefined {
  const patch = content.overrides?.webpush?.payload;
  const merged = patch === undefined ? payload : (mergePatch(payload, patch) as Payload);
  const isShown = patch === undefined || (typeof merged.title === 'string' && merged.title.trim() !== '');
  return isShown ? Buffer.from(JSON.stringify(merged)) : undefined;
}

/** Safari is the browser that knows declarative web push. */
function isDeclarative({ content }: BrowserMessage, endpoint: URL | undefined): boolean {
  const wanted = content.options?.declarative ?? 'never';
  return wanted === 'always' || (wanted === 'auto' && /(^|\.)push\.apple\.com$/.test(endpoint?.hostname ?? ''));
}

type Payload = Record<string, unknown>;

function makePayload({ content, identity, report, ...message }: BrowserMessage): Payload {
  const { options = {} } = content;
  const { additionalActions: actions, badgeURL, appBadge, declarative: _declarative, ...shown } = options;
  return {
    title: content.title,
    message: content.message,
    redirectURL: content.redirectUrl,
    iconURL: content.iconUrl,
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

/** Members that browsers read by themselves (https://webkit.org/blog/16535/meet-declarative-web-push/). */
function makeDeclaration({ content, link, language }: BrowserMessage, payload: Payload): Payload {
  const { options = {} } = content;
  const { additionalActions: actions, badgeURL, appBadge, renotify, silent, requireInteraction, dir } = options;
  const lang = language ?? options.lang;
  const badge = appBadge === undefined ? {} : { app_badge: countOf(appBadge) };
  return {
    web_push: 8030,
    // The worker's push event comes first, and shows it with what only a worker can do.
    mutable: true,
    ...badge,
    notification: {
      title: content.title,
      body: content.message,
      navigate: link ?? content.redirectUrl,
      icon: content.iconUrl,
      ...(content.imageUrl === undefined ? {} : { image: content.imageUrl }),
      ...(badgeURL === undefined ? {} : { badge: badgeURL }),
      tag: payload.tag,
      ...(lang === undefined ? {} : { lang }),
      ...(dir === undefined ? {} : { dir }),
      ...(renotify === undefined ? {} : { renotify }),
      ...(silent === undefined ? {} : { silent }),
      ...(requireInteraction === undefined ? {} : { requireInteraction }),
      ...(options.vibrate === undefined ? {} : { vibrate: options.vibrate }),
      ...(options.timestamp === undefined ? {} : { timestamp: options.timestamp }),
      ...(actions === undefined ? {} : { actions: actions.map(declareAction) }),
      mutable: true,
      ...badge,
    },
  };
}

function declareAction({ action, title, url, iconURL }: OfferedAction): Payload {
  return { action, title, navigate: url, ...(iconURL === undefined ? {} : { icon: iconURL }) };
}

/** Zero takes the badge away. */
function countOf(badge: NonNullable<NonNullable<WebMessage['content']['options']>['appBadge']>): number {
  return badge.operation === 'clear' ? 0 : badge.value;
}
