import { isDataPrefix, isPushFrom, payloadModes } from '../campaigns/android-payload.ts';
import type { AndroidPayload, PayloadMode } from '../campaigns/android-payload.ts';
import type { OwnContent } from '../campaigns/content-texts.ts';
import type { Platform } from '../campaigns/content.ts';

/** What an app has of its own; where a member is absent, what the workspace says. */
export type AppSettings = {
  /** Of Android: who shows its messages; those by Huawei Push Kit too. */
  mode?: PayloadMode;
  /** Of Android: value of `push_from`. */
  pushFrom?: string;
  /** Of phones: stands before the names of our keys. */
  dataPrefix?: string;
  /** Of iPhones: Apple granted it sounds that a muted phone plays. */
  criticalAlerts?: true;
  /** Of sites. */
  declarative?: DeclarativeMode;
  /** Of phones: what a content has that says nothing else. */
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

/** Names on the wire; on the command line they stand alone. */
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

/** What is wrong with an app's settings, by the member's name on the wire. */
export function findSettingFaults(settings: AppSettings, platform: Platform): { field: string; reason: string }[] {
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

/** How Android messages to this app are written. */
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
    // The phone of an app to which Apple did not grant it might play nothing.
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

/** A content with what its app has where it says nothing itself. Pure. */
export function contentForApp<P extends Platform>(
  content: OwnContent[P],
  { platform, settings }: { platform: P; settings: AppSettings },
): OwnContent[P] {
  return withDefaults[platform](content, settings);
}
