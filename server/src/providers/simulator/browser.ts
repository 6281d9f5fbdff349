import type { Screen } from '../../domain/sandbox/screen.ts';

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isAddress: Check = (value) => typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value);
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isCounts: Check = (value) => Array.isArray(value) && value.every(isCount);

type Members = Record<string, Check>;

/**
 * Members of a notification, as https://notifications.spec.whatwg.org names them; the same for the worker and in a declaration.
 */
const shown: Members = {
  title: isText,
  tag: isText,
  renotify: isFlag,
  silent: isFlag,
  requireInteraction: isFlag,
  lang: isText,
  dir: (value) => ['auto', 'ltr', 'rtl'].includes(value as string),
  vibrate: isCounts,
  timestamp: isCount,
};

/** Members that client/browser/carillon-service-worker.js reads, and those that it leaves to the pages of the site. */
const workerMembers: Members = {
  ...shown,
  message: isText,
  redirectURL: isAddress,
  iconURL: isAddress,
  imageURL: isAddress,
  badgeURL: isAddress,
  autoDismiss: isFlag,
  actions: (value) => areMembers(value, { action: isText, title: isText, url: isAddress, iconURL: isAddress }),
  appBadge: isCount,
  app_id: isText,
  campaign_id: isText,
  run_id: isText,
  message_id: isText,
  inbox_expiry: isCount,
  report_token: isText,
  click_proof: isText,
  installation_id: isText,
  challenge: isText,
};

/** Members of a declarative push message (https://www.w3.org/TR/push-api/#declarative-push-message). */
const declaredMembers: Members = {
  web_push: (value) => value === 8030,
  mutable: isFlag,
  app_badge: isCount,
  notification: (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
};

const notificationMembers: Members = {
  ...shown,
  body: isText,
  navigate: isAddress,
  icon: isAddress,
  image: isAddress,
  badge: isAddress,
  actions: (value) => areMembers(value, { action: isText, title: isText, navigate: isAddress, icon: isAddress }),
  mutable: isFlag,
  app_badge: isCount,
};

/**
 * Returns the first fault in a payload: something that a browser or our worker would silently leave out, or throw for. A push
 * service cannot see it; the simulator reports it to the developer.
 */
export function findBrowserFault(payload: Record<string, unknown>): string | undefined {
  const { notification } = payload as { notification?: Record<string, unknown> };
  return (
    findWrong('', payload, { ...workerMembers, ...declaredMembers }) ??
    findClash(payload) ??
    (notification === undefined
      ? undefined
      : (findWrong('notification.', notification, notificationMembers) ?? findClash(notification))) ??
    findIncomplete(payload)
  );
}

function findWrong(path: string, given: object, members: Members): string | undefined {
  const wrong = Object.entries(given).find(([name, value]) => !Object.hasOwn(members, name) || !members[name]!(value));
  return wrong === undefined ? undefined : `no browser takes ${path}${wrong[0]} as it is`;
}

function areMembers(list: unknown, members: Members): boolean {
  return Array.isArray(list) && list.every((item: object) => findWrong('', item, members) === undefined);
}

/** Finds combinations for which `showNotification` throws a TypeError. */
function findClash({ tag, renotify, silent, vibrate }: Record<string, unknown>): string | undefined {
  if (renotify === true && (tag === undefined || tag === '')) return 'renotify needs a tag';
  return silent === true && vibrate !== undefined ? 'silent excludes vibrate' : undefined;
}

/** Finds an incomplete declaration, which declares nothing. */
function findIncomplete({ web_push, notification, ...payload }: Record<string, unknown>): string | undefined {
  const isDeclared = web_push !== undefined;
  if (!isDeclared && ['mutable', 'app_badge'].every((name) => payload[name] === undefined) && !notification)
    return undefined;
  if (!isDeclared || !notification) return 'web_push and notification need each other';
  const { title, navigate } = notification as Record<string, unknown>;
  return title === undefined || navigate === undefined ? 'a declaration needs title and navigate' : undefined;
}

/** Returns what a browser with client/browser/carillon-service-worker.js shows. */
export function screenOfBrowser(payload: Record<string, unknown>): Screen {
  if (payload.challenge !== undefined) return { shownBy: 'nobody', title: '', body: '', buttons: [], reports: [] };
  const actions = (payload.actions ?? []) as { title?: unknown }[];
  return {
    shownBy: 'worker',
    title: String(payload.title ?? ''),
    body: String(payload.message ?? ''),
    ...(typeof payload.imageURL === 'string' ? { image: payload.imageURL } : {}),
    buttons: actions.map(({ title }) => String(title ?? '')),
    reports: payload.report_token === undefined ? [] : ['impression', 'click', 'close'],
  };
}
