import {
  choice,
  flagOrText,
  list,
  matching,
  part,
  partAs,
  plain,
  readWith,
  required,
  requiredPlain,
  requiredTemplate,
  share,
  template,
  templateUrl,
  whole,
  withDefault,
} from '../../fields/combinators.ts';
import type { Part } from '../../fields/combinators.ts';
import { reading } from '../../fields/field.ts';
import type { Field, Infer } from '../../fields/field.ts';
import type { RequestReader, Schemes } from '../../fields/request-reader.ts';
import {
  maxActionNameCharacters,
  maxActionTitleCharacters,
  maxBadge,
  maxBadgeIncrement,
  maxLocArgs,
  maxOfferedActions,
  maxTimeoutSeconds,
  maxVibrateMilliseconds,
  maxVibrateSteps,
} from '../limits/push.ts';

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

/** Texts and addresses that differ between languages, by language tag. Missing ones are taken from the content itself. */
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
  /** Empty: a click opens the site. */
  redirectUrl: string;
  /** Empty: the browser's own icon. */
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

/**
 * The form of a message to an Android phone. `data`: the app's code runs and shows it. `notification`: the system shows it,
 * and the app does not receive it before a tap. `both`: the system shows it while the app is in the background, the app
 * while it is in the foreground.
 */
export const payloadModes = ['data', 'notification', 'both'] as const;
export type PayloadMode = (typeof payloadModes)[number];

const maxName = 256;
const web = ['https:', 'http:'];

/** A change of the badge that a phone can carry out. */
export type BadgeSetting = { operation: 'set'; value: number } | { operation: 'clear' };

/** `increment` counts separately for each device; without a known device it counts from zero. */
export type BadgeChange = BadgeSetting | { operation: 'increment'; value: number };

const badge = partAs(
  {
    operation: required(choice(['set', 'clear', 'increment'])),
    value: whole(0, maxBadge, "The number to set, or 1 to 99 to add to the device's count"),
  },
  {
    description: 'The number on the icon of the app',
    read(members, read): BadgeChange | undefined {
      const operation = read('operation');
      if (operation === 'clear') {
        if (!members.isAbsent('value')) members.invalid('value', 'must be absent for clear');
        return { operation };
      }
      if (operation !== undefined) members.requires('value');
      const value = operation === 'increment' ? whole(1, maxBadgeIncrement).read(members, 'value') : read('value');
      return operation !== undefined && value !== undefined ? { operation, value } : undefined;
    },
  },
);

const localisedArguments = list(withDefault(template({ max: 1_024 }), ''), { maxItems: maxLocArgs });
const localisationKeys = {
  titleLocKey: plain({ max: maxName, description: 'Key of a text in the app; required for its arguments' }),
  titleLocArgs: localisedArguments,
  bodyLocKey: plain({ max: maxName }),
  bodyLocArgs: localisedArguments,
};
const iosLocalisationKeys = {
  ...localisationKeys,
  subtitleLocKey: plain({ max: maxName }),
  subtitleLocArgs: localisedArguments,
};

/** Keys of texts that the app looks up in its own language. The literal texts are sent as well. Subtitles: iPhones only. */
export type LocKeys = Infer<typeof iosLocalisationKeys>;

/** Reads each key with its arguments. Arguments without a key are rejected. */
function locKeys(members: typeof localisationKeys, names: readonly ('title' | 'subtitle' | 'body')[]): Part<LocKeys> {
  return partAs<typeof localisationKeys, LocKeys>(members, {
    read(keys) {
      const found: LocKeys = {};
      for (const name of names) {
        const key = iosLocalisationKeys[`${name}LocKey`].read(keys, `${name}LocKey`);
        const args = localisedArguments.read(keys, `${name}LocArgs`) ?? [];
        if (args.length > 0 && key === undefined) keys.invalid(`${name}LocArgs`, `needs ${name}LocKey`);
        if (key === undefined) continue;
        found[`${name}LocKey`] = key;
        if (args.length > 0) found[`${name}LocArgs`] = args;
      }
      return Object.keys(found).length === 0 ? undefined : found;
    },
  });
}

function buttonMembers(opens: Schemes, description: string) {
  return {
    action: requiredPlain({ maxLength: maxActionNameCharacters, description: 'Its name in reports, used only once' }),
    title: requiredTemplate({ maxLength: maxActionTitleCharacters }),
    url: required(templateUrl(opens, description)),
    iconURL: templateUrl(['https:'], 'https'),
  };
}

/** A button; `action` is its name in reports. */
export type OfferedAction = Infer<ReturnType<typeof buttonMembers>>;

function buttons(opens: Schemes, description: string): Field<OfferedAction[]> {
  const members = buttonMembers(opens, description);
  return readWith(list(part(members), { maxItems: maxOfferedActions }), (options, name) => {
    if (options.isAbsent(name)) return undefined;
    const names = new Set<string>();
    return options.parts(name, maxOfferedActions).map((button) => {
      const read = reading(button, members);
      const action = read('action');
      if (action !== '' && !/^[A-Za-z0-9_-]+$/.test(action))
        button.invalid('action', `must have 1 to ${maxActionNameCharacters} letters, digits, - and _`);
      if (names.has(action)) button.invalid('action', 'is given twice');
      names.add(action);
      const title = read('title');
      const offered = { action, title, url: read('url') ?? '' };
      const iconURL = read('iconURL');
      return iconURL === undefined ? offered : { ...offered, iconURL };
    });
  });
}

export const androidOptions = part({
  deliveryMode: choice(payloadModes),
  visibility: choice(['private', 'public', 'secret']),
  color: matching({
    pattern: /^#[0-9a-fA-F]{6}$/,
    reason: 'must be a colour such as #0a7d5a',
    description: '#rrggbb',
  }),
  icon: plain({ max: maxName, description: 'A drawable of the app' }),
  sticky: flagOrText(),
  timeoutSeconds: whole(1, maxTimeoutSeconds, 'Removed after this time'),
  badge,
  locKeys: locKeys(localisationKeys, ['title', 'body']),
  directBootOk: flagOrText(),
  bandwidthConstrainedOk: flagOrText(),
  restrictedSatelliteOk: flagOrText(),
  analyticsLabel: matching({
    pattern: /^[A-Za-z0-9\-_.~%]{1,50}$/,
    reason: 'must have 1 to 50 letters, digits and -_.~%',
    description: '1 to 50 letters, digits and -_.~%',
  }),
});
export type AndroidOptions = Infer<typeof androidOptions.members>;

/** A critical sound plays at its volume even if the phone is muted. Apple permits it to few apps. */
export type IosSound = { name: string } | { name: string; critical: true; volume?: number };

const sound = partAs(
  {
    name: requiredPlain({ max: maxName, description: 'A file of the app, or default' }),
    critical: flagOrText('Plays even if the phone is muted; requires an app with criticalAlerts'),
    volume: share('For a critical sound'),
  },
  {
    read(members, read): IosSound {
      const name = read('name');
      const volume = read('volume');
      if (read('critical') === true) return { name, critical: true, ...(volume === undefined ? {} : { volume }) };
      if (volume !== undefined) members.invalid('volume', 'needs critical');
      return { name };
    },
  },
);

export const iosOptions = part({
  interruptionLevel: choice(['passive', 'active', 'time-sensitive', 'critical']),
  relevanceScore: share(),
  targetContentId: plain({ max: maxName }),
  filterCriteria: plain({ max: maxName }),
  sound,
  badge,
  contentAvailable: flagOrText(),
  launchImage: plain({ max: maxName }),
  locKeys: locKeys(iosLocalisationKeys, ['title', 'subtitle', 'body']),
  additionalActions: buttons('web and apps', 'http, https or the scheme of an app'),
});
export type IosOptions = Infer<typeof iosOptions.members>;

/** Reads `options` of an iPhone's content. An option cannot be combined with an older member that does the same. */
export function readIosOptions(
  content: RequestReader,
  { enablesBadge, hasCategory }: { enablesBadge: boolean; hasCategory: boolean },
): IosOptions | undefined {
  const options = content.findPart('options');
  if (!options) return undefined;
  if (enablesBadge && !options.isAbsent('badge')) options.invalid('badge', 'cannot be combined with enableIosBadge');
  if (hasCategory && !options.isAbsent('additionalActions'))
    options.invalid('additionalActions', 'cannot be combined with a category');
  return iosOptions.readIn(options);
}

function readLanguage(options: RequestReader, name: string): string | undefined {
  const tag = options.plain(name, 100);
  if (tag === undefined) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    options.invalid(name, 'is no language tag');
    return undefined;
  }
}

export const webOptions = part(
  {
    additionalActions: buttons(web, 'http or https'),
    badgeURL: templateUrl(['https:'], 'https'),
    tag: plain({ max: maxName, description: 'The same tag replaces the earlier notification' }),
    renotify: flagOrText(),
    silent: flagOrText(),
    requireInteraction: flagOrText(),
    lang: readWith(plain({ max: 100, description: 'BCP 47' }), readLanguage),
    dir: choice(['auto', 'ltr', 'rtl']),
    /** Milliseconds of vibration and pause in turn. */
    vibrate: list(withDefault(whole(0, maxVibrateMilliseconds), 0), { maxItems: maxVibrateSteps }),
    timestamp: whole(0, 8_640_000_000_000_000, 'Milliseconds since 1970'),
    declarative: choice(['auto', 'always', 'never']),
    appBadge: badge,
  },
  {
    first: ['tag', 'renotify', 'silent', 'vibrate'],
    // Browsers throw in both cases and show nothing.
    check(members, { tag, renotify, silent, vibrate }) {
      if (renotify === true && tag === undefined) members.invalid('renotify', 'needs a tag');
      if (silent === true && vibrate !== undefined) members.invalid('silent', 'cannot be combined with vibrate');
    },
  },
);
export type WebOptions = Infer<typeof webOptions.members>;

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

/** An `AndroidPayload` with all defaults filled in. */
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
export type ProviderOverrides = {
  fcm?: JsonObject;
  hms?: JsonObject;
  adm?: JsonObject;
  apns?: RequestPatch;
  webpush?: RequestPatch;
};

export type OverriddenProvider = keyof ProviderOverrides;
