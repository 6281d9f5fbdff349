import type { Screen } from '../../domain/sandbox/screen.ts';

export type ApnsPayload = {
  aps: {
    alert?: { title?: string; body?: string } | string;
    badge?: number;
    sound?: unknown;
    category?: string;
    'mutable-content'?: number;
    'content-available'?: number;
  };
  /** The app's own members, under the prefix that it was built with. */
  [prefix: string]: unknown;
};

export type AppPart = {
  campaign_id?: string;
  message_id?: string;
  report_token?: string;
  media?: { type: string; value: string }[];
  actions?: { name: string }[];
};

/** Returns the app's own part next to `aps`, whatever abbreviation the app was built with. */
export function appPartOf({ aps: _aps, ...payload }: ApnsPayload): AppPart | undefined {
  return Object.values(payload).find((part) => part !== null && typeof part === 'object') as AppPart | undefined;
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isOne: Check = (value) => value === 1;

const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isShare: Check = (value) => typeof value === 'number' && value >= 0 && value <= 1;
const holds =
  (members: Record<string, Check>): Check =>
  (value) =>
    value !== null &&
    typeof value === 'object' &&
    Object.entries(value).every(([name, member]) => Object.hasOwn(members, name) && members[name]!(member));

const isAlert = holds({
  title: isText,
  subtitle: isText,
  body: isText,
  'launch-image': isText,
  'title-loc-key': isText,
  'title-loc-args': isTexts,
  'subtitle-loc-key': isText,
  'subtitle-loc-args': isTexts,
  'loc-key': isText,
  'loc-args': isTexts,
});
const isCriticalSound = holds({ critical: isOne, name: isText, volume: isShare });

/** Members of `aps`, and the values that each accepts. Apple silently drops unknown members; a simulator can report them. */
const isAps = holds({
  alert: (value) => isText(value) || isAlert(value),
  badge: (value) => Number.isInteger(value) && (value as number) >= 0,
  sound: (value) => isText(value) || isCriticalSound(value),
  'thread-id': isText,
  category: isText,
  'content-available': isOne,
  'mutable-content': isOne,
  'target-content-id': isText,
  'interruption-level': (value) => ['passive', 'active', 'time-sensitive', 'critical'].includes(value as string),
  'relevance-score': isShare,
  'filter-criteria': isText,
});

/** Returns the reason why Apple rejects a payload with content and headers that do not match. */
export function checkApnsContent(
  aps: ApnsPayload['aps'],
  headers: Record<string, string | string[] | undefined>,
): string | undefined {
  if (!isAps(aps)) return 'BadMessage';
  const isSeen = aps.alert !== undefined || aps.badge !== undefined || aps.sound !== undefined;
  switch (headers['apns-push-type']) {
    case 'background':
      if (isSeen || aps['content-available'] !== 1) return 'InvalidPushType';
      return headers['apns-priority'] === '5' ? undefined : 'BadPriority';
    case 'alert':
      return isSeen ? undefined : 'InvalidPushType';
    default:
      return undefined;
  }
}

/** Returns what an iPhone shows for an app that has a notification service extension. */
export function screenOfIphone(payload: ApnsPayload): Screen {
  const { aps } = payload;
  const own = appPartOf(payload);
  const { alert } = aps;
  const isExtended = alert !== undefined && aps['mutable-content'] === 1;
  const image = own?.media?.find(({ type }) => type === 'image' || type === 'gif')?.value;
  const canReport = own?.report_token !== undefined;
  return {
    shownBy: isExtended ? 'extension' : alert === undefined ? 'nobody' : 'system',
    title: typeof alert === 'object' ? (alert.title ?? '') : '',
    body: typeof alert === 'object' ? (alert.body ?? '') : (alert ?? ''),
    ...(isExtended && image !== undefined ? { image } : {}),
    buttons: [
      ...(aps.category === undefined ? [] : [aps.category]),
      // The extension registers the buttons before the message is shown.
      ...(isExtended ? (own?.actions ?? []).map(({ name }) => name) : []),
    ],
    // Only the extension runs when the message is shown. A tap starts the app; its category may notify it of a dismissal.
    reports: canReport ? [...(isExtended ? (['impression'] as const) : []), 'click', 'close'] : [],
  };
}
