import type { AndroidOptions, IosOptions, WebOptions } from '../content-options/content-options.ts';
import type { ProviderOverrides } from '../provider-overrides/provider-overrides.ts';

/**
 * What a campaign shows on each platform, after the edge has parsed it (interface 2.8, fact 3.3). Wire spellings such
 * as `channel_id` and `iconURL` end in http/push/shapes.ts.
 */
export type Platform = 'ANDROID' | 'IOS' | 'WEB';

export const platforms: readonly Platform[] = ['ANDROID', 'IOS', 'WEB'];

export type DefaultAction = {
  type: 'richlanding' | 'navigation' | 'deeplinking';
  value: string;
  keyValuePairs: Record<string, string>;
};

/** Texts and addresses that differ between languages, by language tag; what is missing is that of the content itself. */
export type LocaleTexts = {
  title?: string;
  message?: string;
  summary?: string;
  subtitle?: string;
  redirectUrl?: string;
  iconUrl?: string;
  imageUrl?: string;
};
export type Locales = Record<string, LocaleTexts>;

export type AndroidText = { message: string; title: string; summary?: string };

export type AndroidContent = AndroidText & {
  channelId?: string;
  /** At most 45 ASCII characters, already normalised. */
  groupKey?: string;
  collapseReplaceKey?: string;
  richContent: { type: 'image' | 'coupon' | 'sound'; value: string }[];
  defaultAction?: DefaultAction;
  /** At most two. */
  additionalActions: { type: 'call' | 'snooze' | 'copy' | 'share'; value: string; name: string; iconUrl?: string }[];
  options?: AndroidOptions;
  overrides?: ProviderOverrides;
  /** Shown instead when the personalisation of this content fails for a user. */
  fallback?: Omit<AndroidContent, 'fallback' | 'locales'>;
  locales?: Locales;
};

export type IosContent = {
  message: string;
  title: string;
  subtitle?: string;
  groupKey?: string;
  collapseReplaceKey?: string;
  enableBadge: boolean;
  /** Image, audio and video exclude each other. */
  richContent: { type: 'gif' | 'coupon' | 'sound' | 'image' | 'audio' | 'video'; value: string }[];
  defaultAction?: DefaultAction;
  /** The notification category that carries the buttons; one at most. */
  additionalActions: { category: string }[];
  options?: IosOptions;
  overrides?: ProviderOverrides;
  fallback?: Omit<IosContent, 'fallback' | 'locales'>;
  locales?: Locales;
};

export type WebContent = {
  message: string;
  title: string;
  redirectUrl: string;
  iconUrl: string;
  imageUrl?: string;
  /** Gone after 8 seconds. */
  autoDismiss: boolean;
  options?: WebOptions;
  overrides?: ProviderOverrides;
  fallback?: Omit<WebContent, 'fallback' | 'locales'>;
  locales?: Locales;
};

/** One entry per targeted platform. */
export type CampaignContent = { ANDROID?: AndroidContent; IOS?: IosContent; WEB?: WebContent };
