import type { OfferedAction } from '../../../domain/content-options/content-options.ts';
import { countOf, makeWorkerPayload, writeWorkerPayload } from '../payload/worker-payload.ts';
import type { BrowserMessage, Payload } from '../payload/worker-payload.ts';
import { maxPlainBytes } from './encrypt-web-push.ts';

/**
 * What the service worker reads, as JSON. Where a declarative notification was asked for, it stands beside that: a browser
 * that knows it needs no worker, every other ignores it. If both do not fit, it is left out. Undefined: the caller's override
 * leaves nothing to show.
 */
export function makeWebPayload(message: BrowserMessage, endpoint: URL | undefined): Buffer | undefined {
  const plain = writeWorkerPayload(message);
  if (plain === undefined) return undefined;
  const declared = isDeclarative(message, endpoint)
    ? writeWorkerPayload(message, makeDeclaration(message, makeWorkerPayload(message)))
    : undefined;
  return Buffer.from(declared !== undefined && Buffer.byteLength(declared) <= maxPlainBytes ? declared : plain);
}

/** Safari is the browser that knows declarative web push. */
function isDeclarative({ content }: BrowserMessage, endpoint: URL | undefined): boolean {
  const wanted = content.options?.declarative ?? 'never';
  return wanted === 'always' || (wanted === 'auto' && /(^|\.)push\.apple\.com$/.test(endpoint?.hostname ?? ''));
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
