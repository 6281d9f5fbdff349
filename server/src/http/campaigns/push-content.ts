import { platforms } from '../../domain/content/content.ts';
import type {
  AndroidContent,
  CampaignContent,
  DefaultAction,
  IosContent,
  WebContent,
} from '../../domain/content/content.ts';
import { collectOverrides } from '../../domain/content/overrides.ts';

/**
 * Presents the content of a push as campaign records show it: `{"push": {"android", "ios", "web"}}` (fact 6.2). Content
 * from the push API, which uses other names, gets these names. In a draft any of it may be missing.
 */
export function presentPushContent(stored: Record<string, unknown>) {
  const { ANDROID, IOS, WEB } = stored as CampaignContent;
  const overrides = collectOverrides(stored as CampaignContent);
  return {
    push: {
      ...(ANDROID ? { android: withBackup(ANDROID, presentAndroid) } : {}),
      ...(IOS ? { ios: withBackup(IOS, presentIos) } : {}),
      ...(WEB ? { web: withBackup(WEB, presentWeb) } : {}),
      ...presentLocales(stored as CampaignContent),
      ...(overrides === undefined ? {} : { providerOverrides: overrides }),
    },
  };
}

function withBackup<C extends { fallback?: object; options?: object }>(
  content: C,
  present: (content: C) => object,
): object {
  const { fallback } = content;
  const { options } = content;
  return {
    ...present(content),
    ...(options === undefined ? {} : { options }),
    ...(fallback ? { template_backup: withBackup(fallback as C, present) } : {}),
  };
}

function presentAndroid(content: AndroidContent) {
  const rich = content.richContent ?? [];
  return {
    template_type: 'BASIC',
    basic_details: {
      notification_channel: content.channelId,
      title: content.title,
      message: content.message,
      summary: content.summary,
      image_url: valueOf(rich, 'image'),
      ...presentAction(content.defaultAction),
    },
    buttons: (content.additionalActions ?? []).map(({ type, value, name, iconUrl }) => ({
      btn_name: name,
      click_action_type: type,
      click_action_value: value,
      icon_url: iconUrl,
    })),
    advanced: {
      coupon_code: valueOf(rich, 'coupon'),
      sound_file: valueOf(rich, 'sound'),
      group_key: content.groupKey,
      collapse_replace_key: content.collapseReplaceKey,
    },
  };
}

const mediaTypes = { image: 'Image', gif: 'GIF', video: 'Video', audio: 'Audio' } as const;

function presentIos(content: IosContent) {
  const rich = content.richContent ?? [];
  const media = rich.find((item) => item.type in mediaTypes);
  return {
    template_type: 'BASIC',
    basic_details: {
      title: content.title,
      message: content.message,
      subtitle: content.subtitle,
      ...(media
        ? { rich_media_type: mediaTypes[media.type as keyof typeof mediaTypes], rich_media_value: media.value }
        : {}),
      ...presentAction(content.defaultAction),
    },
    buttons: (content.additionalActions ?? []).map(({ category }) => ({ button_category: category })),
    advanced: {
      coupon_code: valueOf(rich, 'coupon'),
      sound_file: valueOf(rich, 'sound'),
      enable_ios_badge: content.enableBadge,
      group_key: content.groupKey,
      collapse_replace_key: content.collapseReplaceKey,
    },
  };
}

function presentWeb(content: WebContent) {
  return {
    template_type: 'BASIC',
    basic_details: {
      title: content.title,
      message: content.message,
      redirect_url: content.redirectUrl,
      image_url: content.imageUrl,
      auto_dismiss_notification: content.autoDismiss,
    },
    advanced: { icon_image_type: 'ICON_URL', icon_url: content.iconUrl },
  };
}

const clickActions: Record<DefaultAction['type'], string> = {
  richlanding: 'RICH_LANDING',
  navigation: 'NAVIGATE_TO_A_SCREEN',
  deeplinking: 'DEEPLINKING',
};

function presentAction(action: DefaultAction | undefined) {
  if (!action) return {};
  return {
    default_click_action: clickActions[action.type],
    default_click_action_value: action.value,
    key_value_pairs: Object.entries(action.keyValuePairs ?? {}).map(([key, value]) => ({ key, value })),
  };
}

function valueOf(items: readonly { type: string; value: string }[], type: string): string | undefined {
  return items.find((item) => item.type === type)?.value;
}

/** Returns the localised content by language and then by platform, as in the request. */
function presentLocales(content: CampaignContent): { locales?: Record<string, Record<string, object>> } {
  const locales: Record<string, Record<string, object>> = {};
  for (const platform of platforms)
    for (const [language, texts] of Object.entries(content[platform]?.locales ?? {})) {
      const { redirectUrl: redirectURL, iconUrl: iconURL, imageUrl: imageURL, ...shown } = texts;
      (locales[language] ??= {})[platform.toLowerCase()] = { ...shown, redirectURL, iconURL, imageURL };
    }
  return Object.keys(locales).length === 0 ? {} : { locales };
}
