import type { Platform } from '../campaigns/content.ts';
import { findSettingFaults } from './app-settings.ts';
import type { AppSettings } from './app-settings.ts';

/** One app of a workspace on one platform: what has addresses of its own at the provider. */
export type App = {
  platform: Platform;
  /** Chosen by its owner; unique on its platform. */
  appId: string;
  name: string;
  /** Android package, bundle id, or the origin of a site. */
  identifier: string;
  /** Which of Apple's two services knows the app's devices; null on the other platforms. */
  environment: ApnsEnvironment | null;
  /** Of an Android app: FCM is told the package, and delivers to no other. */
  restrictsPackage: boolean;
  /** What it has of its own; absent: as the workspace. */
  settings?: AppSettings;
};

export const apnsEnvironments = ['production', 'sandbox'] as const;
export type ApnsEnvironment = (typeof apnsEnvironments)[number];

/**
 * Every workspace has an app of this name on each platform, without a row: devices and credentials that name no app are its.
 * Its identifier is what its credential says.
 */
export const defaultAppId = 'default';

const maxNameCharacters = 100;

/** Of a device that names one. */
export const noSuchApp = (appId: string): string => `"${appId}" is no app of this workspace`;

/** Whether a text can be the id of an app; that there is one is another question. */
export const isAppId = (text: string): boolean => /^[A-Za-z0-9._-]{1,64}$/.test(text);

/** What is wrong with an app, by its member; empty for one that can be stored. */
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

/** Browsers subscribe on pages of https, and on the machine itself. */
function isOrigin(text: string): boolean {
  if (text.length > 255 || !URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  return origin === text && (protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost'));
}
