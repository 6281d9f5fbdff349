/**
 * What a campaign shows on each platform, after the edge has parsed it (interface 2.8, fact 3.3). Wire spellings such as
 * `channel_id` and `iconURL` are converted in http/push/answers.ts.
 */
export type Platform = 'ANDROID' | 'IOS' | 'WEB';

export const platforms: readonly Platform[] = ['ANDROID', 'IOS', 'WEB'];

export type DefaultAction = {
  type: 'richlanding' | 'navigation' | 'deeplinking';
  value: string;
  keyValuePairs: Record<string, string>;
};

/** Texts and addresses that differ between languages, by language tag. Missing ones are those of the content itself. */
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
  /** The notification category with the buttons; at most one. */
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
  /** True if the notification disappears after 8 seconds. */
  autoDismiss: boolean;
  options?: WebOptions;
  overrides?: ProviderOverrides;
  fallback?: Omit<WebContent, 'fallback' | 'locales'>;
  locales?: Locales;
};

/** One entry per targeted platform. */
export type CampaignContent = { ANDROID?: AndroidContent; IOS?: IosContent; WEB?: WebContent };

/** Extensions of the interface, under their wire names: `options` of each platform. */
export type ContentOptions = { ANDROID: AndroidOptions; IOS: IosOptions; WEB: WebOptions };

/** A change of the badge that a phone can carry out. */
export type BadgeSetting = { operation: 'set'; value: number } | { operation: 'clear' };

/** `increment` counts separately for each device; without a known device it counts from zero. */
export type BadgeChange = BadgeSetting | { operation: 'increment'; value: number };

/** Keys of texts that the app looks up in its own language. The literal texts are sent as well. */
export type LocKeys = {
  titleLocKey?: string;
  titleLocArgs?: string[];
  /** iPhones only. */
  subtitleLocKey?: string;
  subtitleLocArgs?: string[];
  bodyLocKey?: string;
  bodyLocArgs?: string[];
};

export type AndroidOptions = {
  deliveryMode?: PayloadMode;
  visibility?: 'private' | 'public' | 'secret';
  color?: string;
  /** Name of a drawable of the app. */
  icon?: string;
  sticky?: boolean;
  timeoutSeconds?: number;
  badge?: BadgeChange;
  locKeys?: LocKeys;
  directBootOk?: boolean;
  bandwidthConstrainedOk?: boolean;
  restrictedSatelliteOk?: boolean;
  analyticsLabel?: string;
};

/** A button; `action` is its name in reports. */
export type OfferedAction = { action: string; title: string; url: string; iconURL?: string };

/** A critical sound plays at its volume even if the phone is muted. Apple permits it to few apps. */
export type IosSound = { name: string } | { name: string; critical: true; volume?: number };

export type IosOptions = {
  interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
  relevanceScore?: number;
  targetContentId?: string;
  filterCriteria?: string;
  sound?: IosSound;
  badge?: BadgeChange;
  contentAvailable?: boolean;
  launchImage?: string;
  locKeys?: LocKeys;
  additionalActions?: OfferedAction[];
};

export type WebOptions = {
  additionalActions?: OfferedAction[];
  badgeURL?: string;
  tag?: string;
  renotify?: boolean;
  silent?: boolean;
  requireInteraction?: boolean;
  lang?: string;
  dir?: 'auto' | 'ltr' | 'rtl';
  /** Milliseconds of vibration and pause in turn. */
  vibrate?: number[];
  /** Milliseconds since 1970. */
  timestamp?: number;
  declarative?: 'auto' | 'always' | 'never';
  appBadge?: BadgeChange;
};

/**
 * The form of a message to an Android phone. `data`: the app's code runs and shows it. `notification`: the system shows it,
 * and the app does not receive it before a tap. `both`: the system shows it while the app is in the background, the app
 * while it is in the foreground.
 */
export const payloadModes = ['data', 'notification', 'both'] as const;
export type PayloadMode = (typeof payloadModes)[number];

/** The format of a workspace's Android messages, which depends on what its app can read. */
export type AndroidPayload = {
  mode: PayloadMode;
  /** Value of `push_from`, by which an app recognises the sender. */
  pushFrom: string;
  /** Prefix of our own keys, as in `svc_message_id`. Null: the installation's prefix. */
  dataPrefix: string | null;
};

/** The values that an installation sends to phones if a workspace does not set them. */
export type PhoneDefaults = {
  /** The header prefix, in lower case. */
  dataPrefix: string;
  /** The origin of this service; undefined if the installation does not know its own address. */
  publicUrl: string | undefined;
};

/** The same, with all defaults filled in. */
export type SettledPayload = {
  mode: PayloadMode;
  pushFrom: string;
  dataPrefix: string;
  reportUrl?: string;
  /** The app's own mode, which applies to messages through Huawei Push Kit too. */
  appMode?: PayloadMode;
};

export function settlePayload({ mode, pushFrom, dataPrefix }: AndroidPayload, defaults: PhoneDefaults): SettledPayload {
  return {
    mode,
    pushFrom,
    dataPrefix: dataPrefix ?? defaults.dataPrefix,
    ...(defaults.publicUrl === undefined ? {} : { reportUrl: `${defaults.publicUrl}/v1/interactions` }),
  };
}

export function isPushFrom(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text);
}

/** `gcm_` and `kv_` begin other keys of a message; FCM rejects `google`. */
export function isDataPrefix(text: string): boolean {
  return /^[a-z][a-z0-9]{0,15}$/.test(text) && !['gcm', 'google', 'kv'].includes(text);
}

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [name: string]: JsonValue };

/** Header names are in lower case; null removes a header. */
export type RequestPatch = { headers?: Record<string, string | null>; payload?: JsonObject };

/** Changes to finished requests, as merge patches (RFC 7386), by provider. */
export type ProviderOverrides = { fcm?: JsonObject; hms?: JsonObject; apns?: RequestPatch; webpush?: RequestPatch };

export type OverriddenProvider = keyof ProviderOverrides;
