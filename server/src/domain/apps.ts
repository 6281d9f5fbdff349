import { isDataPrefix, isPushFrom, payloadModes } from './content/content.ts';
import type { Platform, AndroidPayload, PayloadMode, CampaignContent } from './content/content.ts';
import type { OwnContent } from './content/texts.ts';

/** One app of a workspace on one platform. Each app has separate device addresses at the provider. */
export type App = {
  platform: Platform;
  /** Chosen by the app's owner; unique per platform. */
  appId: string;
  name: string;
  /** Android package, bundle id, or the origin of a site. */
  identifier: string;
  /** Which of Apple's two services knows the app's devices; null on other platforms. */
  environment: ApnsEnvironment | null;
  /** Android only: FCM receives the package name and delivers to no other package. */
  restrictsPackage: boolean;
  /** The app's settings; absent: the workspace's settings apply. */
  settings?: AppSettings;
};

export const apnsEnvironments = ['production', 'sandbox'] as const;
export type ApnsEnvironment = (typeof apnsEnvironments)[number];

/**
 * Every workspace has an app of this name on each platform, without a row. Devices and credentials that name no app belong
 * to it. Its identifier is the one in its credential.
 */
export const defaultAppId = 'default';

const maxNameCharacters = 100;

/** The fault text for an app id that the workspace does not have. */
export const noSuchApp = (appId: string): string => `"${appId}" is no app of this workspace`;

/** True if a text can be the id of an app. It does not check that the app exists. */
export const isAppId = (text: string): boolean => /^[A-Za-z0-9._-]{1,64}$/.test(text);

/** Returns what is wrong with an app, by member; empty if the app can be stored. */
export function findAppFaults(app: App): { field: string; reason: string }[] {
  const { platform, appId, name, identifier, environment, restrictsPackage, settings = {} } = app;
  const faults: { field: string; reason: string }[] = [];
  if (!isAppId(appId)) faults.push({ field: 'app', reason: 'takes 1 to 64 letters, digits, dots, - and _' });
  if (appId === defaultAppId) faults.push({ field: 'app', reason: 'is there already, in every workspace' });
  if ((platform === 'IOS') !== (environment !== null))
    faults.push({ field: 'environment', reason: "is one of Apple's, of apps on IOS" });
  if (restrictsPackage && platform !== 'ANDROID')
    faults.push({ field: 'restrict-package', reason: 'is of apps on ANDROID' });
  if (name.trim() === '' || name.length > maxNameCharacters)
    faults.push({ field: 'name', reason: `takes 1 to ${maxNameCharacters} characters` });
  if (!isIdentifier[platform](identifier))
    faults.push({ field: 'identifier', reason: `must be ${identifierWords[platform]}` });
  return [...faults, ...findSettingFaults(settings, platform)];
}

const identifierWords: Record<Platform, string> = {
  ANDROID: 'the name of a package, such as com.example.shop',
  IOS: 'a bundle id, such as com.example.shop',
  WEB: 'the origin of a site, such as https://shop.example',
};

const isIdentifier: Record<Platform, (text: string) => boolean> = {
  ANDROID: (text) => text.length <= 255 && /^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/.test(text),
  IOS: (text) => /^[A-Za-z0-9.-]{1,155}$/.test(text),
  WEB: isOrigin,
};

/** Browsers can subscribe on https pages and on localhost. */
function isOrigin(text: string): boolean {
  if (text.length > 255 || !URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  return origin === text && (protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost'));
}

/** The settings of an app. Where a member is absent, the workspace's setting applies. */
export type AppSettings = {
  /** Android: who shows the app's messages, including those sent through Huawei Push Kit. */
  mode?: PayloadMode;
  /** Android: value of `push_from`. */
  pushFrom?: string;
  /** Phones: the prefix of our key names. */
  dataPrefix?: string;
  /** iPhones: Apple permits the app to play sounds on a muted phone. */
  criticalAlerts?: true;
  /** Sites only. */
  declarative?: DeclarativeMode;
  /** Phones: values for contents that do not set their own. */
  defaults?: AppDefaults;
};

export type AppDefaults = { channelId?: string; sound?: string; icon?: string; color?: string };

export const declarativeModes = ['auto', 'always', 'never'] as const;
type DeclarativeMode = (typeof declarativeModes)[number];

type Setting = Exclude<keyof AppSettings, 'defaults'> | keyof AppDefaults;

const platformsOfSetting: Record<Setting, readonly Platform[]> = {
  mode: ['ANDROID'],
  pushFrom: ['ANDROID'],
  dataPrefix: ['ANDROID', 'IOS'],
  criticalAlerts: ['IOS'],
  declarative: ['WEB'],
  channelId: ['ANDROID'],
  sound: ['ANDROID', 'IOS'],
  icon: ['ANDROID'],
  color: ['ANDROID'],
};

/** Names on the wire; the command line uses them without a path. */
const fieldOf: Record<Setting, string> = {
  ...{ mode: 'mode', pushFrom: 'pushFrom', dataPrefix: 'dataPrefix', declarative: 'declarative' },
  criticalAlerts: 'criticalAlerts',
  ...{ channelId: 'defaults.channel_id', sound: 'defaults.sound' },
  ...{ icon: 'defaults.icon', color: 'defaults.color' },
};

const isWord = (words: readonly string[]) => ({
  is: (text: string) => words.includes(text),
  reason: `must be ${words.join(', ')}`,
});

const isSetting: Partial<Record<Setting, { is(text: string): boolean; reason: string }>> = {
  mode: isWord(payloadModes),
  declarative: isWord(declarativeModes),
  pushFrom: { is: isPushFrom, reason: 'takes 1 to 64 letters, digits, dots, - and _' },
  dataPrefix: { is: isDataPrefix, reason: 'takes 1 to 16 lower-case letters and digits, but not gcm, google or kv' },
  color: { is: (text) => /^#[0-9a-fA-F]{6}$/.test(text), reason: 'must be a colour such as #0a7d5a' },
};

const maxDefaultCharacters = 255;
const isShortText = (text: string): boolean =>
  text.trim() !== '' && text.length <= maxDefaultCharacters && text.isWellFormed();

/** Returns what is wrong with an app's settings, by the member's name on the wire. */
function findSettingFaults(settings: AppSettings, platform: Platform): { field: string; reason: string }[] {
  const { defaults = {}, ...own } = settings;
  return (Object.entries({ ...own, ...defaults }) as [Setting, string | true][]).flatMap(([name, value]) => {
    const platforms = platformsOfSetting[name];
    const { is, reason } = isSetting[name] ?? {
      is: isShortText,
      reason: `takes 1 to ${maxDefaultCharacters} characters`,
    };
    if (!platforms.includes(platform))
      return [{ field: fieldOf[name], reason: `is of apps on ${platforms.join(' or ')}` }];
    return value === true || is(value) ? [] : [{ field: fieldOf[name], reason }];
  });
}

/** Returns the format of Android messages to this app. */
export function payloadOfApp(payload: AndroidPayload, settings: AppSettings = {}): AndroidPayload {
  const { mode = payload.mode, pushFrom = payload.pushFrom, dataPrefix = payload.dataPrefix } = settings;
  return { mode, pushFrom, dataPrefix };
}

type ContentWithDefaults = { [P in Platform]: (content: OwnContent[P], settings: AppSettings) => OwnContent[P] };

const withDefaults: ContentWithDefaults = {
  ANDROID(content, { defaults = {} }) {
    const { channelId, sound, icon, color } = defaults;
    const look = { ...(icon === undefined ? {} : { icon }), ...(color === undefined ? {} : { color }) };
    const isLook = Object.keys(look).length > 0;
    return {
      ...content,
      ...(channelId === undefined || content.channelId !== undefined ? {} : { channelId }),
      richContent: withSound(content.richContent, sound),
      ...(isLook ? { options: { ...look, ...content.options } } : {}),
    };
  },
  IOS(content, { defaults = {}, criticalAlerts }) {
    const sound = content.options?.sound;
    if (sound === undefined) return { ...content, richContent: withSound(content.richContent, defaults.sound) };
    // Without Apple's permission, the phone might play nothing.
    if (criticalAlerts || !('critical' in sound)) return content;
    return { ...content, options: { ...content.options, sound: { name: sound.name } } };
  },
  WEB: (content, { declarative }) =>
    declarative === undefined ? content : { ...content, options: { declarative, ...content.options } },
};

function withSound<Rich extends { type: string; value: string }>(rich: Rich[], value: string | undefined): Rich[] {
  if (value === undefined || rich.some(({ type }) => type === 'sound')) return rich;
  return [...rich, { type: 'sound', value } as Rich];
}

/** Returns a content with the app's defaults filled in where it sets no value itself. Pure. */
export function contentForApp<P extends Platform>(
  content: OwnContent[P],
  { platform, settings }: { platform: P; settings: AppSettings },
): OwnContent[P] {
  return withDefaults[platform](content, settings);
}

export const needsCriticalAlerts = 'needs an app with critical alerts';

type Reached = {
  /** The apps other than the default ones. */
  apps: readonly Pick<App, 'platform' | 'appId' | 'settings'>[];
  /** Undefined: all apps. */
  appIds: readonly string[] | undefined;
};

/**
 * Returns which contents for iPhones ask for a critical sound although no reached app can play one. If some apps can, the
 * others play it as a plain sound. Pure.
 */
export function findCriticalSounds({ IOS }: CampaignContent, { apps, appIds }: Reached): ('content' | 'fallback')[] {
  const isPlayed = apps.some(
    ({ platform, appId, settings }) =>
      platform === 'IOS' && settings?.criticalAlerts === true && (appIds === undefined || appIds.includes(appId)),
  );
  if (isPlayed || !IOS) return [];
  const asks = (content: Pick<typeof IOS, 'options'> | undefined): boolean =>
    content?.options?.sound !== undefined && 'critical' in content.options.sound;
  return [...(asks(IOS) ? (['content'] as const) : []), ...(asks(IOS.fallback) ? (['fallback'] as const) : [])];
}
