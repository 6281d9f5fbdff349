import type { AndroidContent, DefaultAction } from '../../../domain/campaigns/content.ts';
import type { AndroidOptions, LocKeys } from '../../../domain/content-options/content-options.ts';
import type { AndroidMessage } from '../payload/android-part.ts';

type Members = Record<string, unknown>;

/** What the system of a Huawei phone shows: `android.notification` of its Push Kit. It has no buttons. */
export function makeHmsNotification({ content, identity }: AndroidMessage): Members {
  const { options = {} } = content;
  const [image, sound] = [richValue(content, 'image'), richValue(content, 'sound')];
  return {
    title: content.title,
    body: content.message,
    // A repeat after a crash has the same tag and replaces the first on the screen.
    tag: identity.collapseId,
    click_action: makeClickAction(content.defaultAction),
    // One of the two is required.
    ...(sound === undefined ? { default_sound: true } : { sound }),
    // Huawei refuses the whole message for another address.
    ...(image?.startsWith('https:') ? { image } : {}),
    ...(content.summary === undefined ? {} : { notify_summary: content.summary }),
    ...(content.channelId === undefined ? {} : { channel_id: content.channelId }),
    ...(content.groupKey === undefined ? {} : { group: content.groupKey }),
    ...makeLook(options),
    ...makeLocKeys(options.locKeys),
  };
}

const clickKinds = { intent: 1, url: 2, openApp: 3 } as const;

/** A tap opens a page, a link that the app has registered, or the app. A screen is known to the app alone. */
function makeClickAction(action: DefaultAction | undefined): Members {
  if (action?.type === 'richlanding' && action.value.startsWith('https:'))
    return { type: clickKinds.url, url: action.value };
  if (action?.type === 'deeplinking' && URL.canParse(action.value))
    return { type: clickKinds.intent, intent: makeIntent(action.value) };
  return { type: clickKinds.openApp };
}

/** The address as Android writes an intent (Intent.URI_INTENT_SCHEME): what is behind the scheme, and the scheme by itself. */
function makeIntent(address: string): string {
  const end = address.indexOf(':');
  return `intent:${address.slice(end + 1)}#Intent;scheme=${address.slice(0, end)};end`;
}

function makeLook({ visibility, color, icon, timeoutSeconds, badge }: AndroidOptions): Members {
  return {
    ...(icon === undefined ? {} : { icon }),
    ...(color === undefined ? {} : { color }),
    ...(visibility === undefined ? {} : { visibility: visibility.toUpperCase() }),
    ...(timeoutSeconds === undefined ? {} : { auto_clear: timeoutSeconds * 1000 }),
    ...(badge === undefined ? {} : { badge: { set_num: badge.operation === 'clear' ? 0 : Math.min(badge.value, 99) } }),
  };
}

function makeLocKeys(keys: LocKeys = {}): Members {
  return {
    ...(keys.titleLocKey === undefined ? {} : { title_loc_key: keys.titleLocKey }),
    ...(keys.titleLocArgs === undefined ? {} : { title_loc_args: keys.titleLocArgs }),
    ...(keys.bodyLocKey === undefined ? {} : { body_loc_key: keys.bodyLocKey }),
    ...(keys.bodyLocArgs === undefined ? {} : { body_loc_args: keys.bodyLocArgs }),
  };
}

function richValue(content: AndroidContent, wanted: 'image' | 'sound'): string | undefined {
  return content.richContent.find(({ type }) => type === wanted)?.value;
}
