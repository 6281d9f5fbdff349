import { defaultAppId } from '../apps/app.ts';
import type { App } from '../apps/app.ts';
import type { PayloadMode } from './android-payload.ts';
import type { AndroidContent } from './content.ts';
import type { DeliverySettings } from './delivery-settings.ts';

/** A member of an Android content that its mode does not show, under its name in a push and in words. */
export type LostMember = { field: string; words: string };

/**
 * What a person does not get of a message while the app is in the background: whatever the system shows itself has no
 * buttons, no group, no summary and no coupon, and a tap starts the app as its icon does. Pure.
 */
function lostInMode(content: Omit<AndroidContent, 'fallback'>, mode: PayloadMode): LostMember[] {
  if (mode === 'data') return [];
  const lost: LostMember[] = [];
  const lose = (isUsed: boolean, field: string, words: string): void => {
    if (isUsed) lost.push({ field, words });
  };
  lose(content.additionalActions.length > 0, 'additionalActions', 'buttons');
  lose(content.groupKey !== undefined, 'groupKey', 'the group');
  lose(content.summary !== undefined, 'summary', 'the summary');
  lose(
    content.richContent.some(({ type }) => type === 'coupon'),
    'richContent',
    'the coupon',
  );
  lose(content.defaultAction !== undefined, 'defaultAction', 'what a tap opens');
  const { options = {} } = content;
  lose(options.timeoutSeconds !== undefined, 'options.timeoutSeconds', 'the time after which it goes away');
  lose(options.badge?.operation === 'clear', 'options.badge', 'the cleared badge');
  return lost;
}

type ReachedApps = {
  /** The workspace's, which apps without one of their own have. */
  mode: PayloadMode;
  apps: readonly App[];
  settings: Pick<DeliverySettings, 'appIds' | 'isSilent'>;
};

/** `apps`: whose mode it is, where it is not the workspace's. */
export type LostInApps = { mode: PayloadMode; apps: string[]; lost: LostMember[] };

/** The same for the apps that a message is for, by mode: that of the workspace first. Pure. */
export function lostInApps(
  content: Omit<AndroidContent, 'fallback'>,
  { mode: usual, apps, settings: { appIds, isSilent } }: ReachedApps,
): LostInApps[] {
  // A silent message is data in every mode.
  if (isSilent) return [];
  const chosen = content.options?.deliveryMode;
  const isFor = (appId: string): boolean => appIds === undefined || appIds.includes(appId);
  const reached = apps.filter(({ platform, appId }) => platform === 'ANDROID' && isFor(appId));
  const own = chosen === undefined ? reached.filter(({ settings }) => settings?.mode !== undefined) : [];
  const isUsual = chosen !== undefined || isFor(defaultAppId) || own.length < reached.length;
  const byMode = Map.groupBy(own, ({ settings }) => settings!.mode!);
  return [
    ...(isUsual ? [{ mode: chosen ?? usual, apps: [] }] : []),
    ...[...byMode].map(([mode, those]) => ({ mode, apps: those.map(({ appId }) => appId) })),
  ]
    .map((one) => ({ ...one, lost: lostInMode(content, one.mode) }))
    .filter(({ lost }) => lost.length > 0);
}
