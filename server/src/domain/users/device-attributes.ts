import { isAppId } from '../apps.ts';
import type { Platform } from '../content/content.ts';
import { canonicalTag } from '../content/locales.ts';
import { providerNames, providerOf, providers, providersOf, pushIdTypes } from '../delivery/providers.ts';
import type { ProviderName, Reachable } from '../delivery/providers.ts';
import { deadNameOf, simulatedPushHost } from '../delivery/push-services.ts';
import { maxBadge } from '../limits/push.ts';
import { maxDeviceTextCharacters, maxPushIdCharacters } from '../limits/users.ts';
import type { TokenForm } from '../providers/provider-facts.ts';
import { textFault } from './user-attributes.ts';

export type DeviceAttributes = {
  platform: Platform;
  /** Null: the platform's default provider. */
  provider: ProviderName | null;
  pushId: string;
  /** Null: a token. */
  pushIdType: 'fid' | null;
  /** Undefined: the request names no app. */
  appId?: string;
  isOptedOut: boolean;
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  gaid: string | null;
  idfv: string | null;
  /** A language tag in its canonical form. */
  locale: string | null;
  /** The number on the app's icon. */
  badgeCount: number | null;
};

export type ParsedDevice =
  { device: DeviceAttributes } | { missing: string } | { fault: { attribute: string; reason: string } };

/** 17 bytes in base64url, as Firebase's SDKs create and check it. The token of an installation begins with it and a colon. */
const isInstallationId = /^[A-Za-z0-9_-]{22}$/;

const platformNames: Record<string, Platform> = { ANDROID: 'ANDROID', iOS: 'IOS', web: 'WEB' };

class Fault extends Error {
  readonly attribute: string;
  constructor(attribute: string, reason: string) {
    super(reason);
    this.attribute = attribute;
  }
}

/**
 * Parses a device's attributes, both from the API and from import files (fact 5).
 *
 * @param prefixes spellings of the vendor's abbreviation in names such as `svc_push_opted`
 */
export function parseDeviceAttributes(attributes: Record<string, unknown>, prefixes: readonly string[]): ParsedDevice {
  if (attributes.platform === undefined) return { missing: 'platform' };
  if (attributes.push_id === undefined || attributes.push_id === null || attributes.push_id === '')
    return { missing: 'push_id' };
  const vendor = (name: string): unknown =>
    prefixes.map((prefix) => attributes[`${prefix}_${name}`] ?? undefined).find((value) => value !== undefined);
  try {
    const platform = readPlatform(attributes.platform);
    const provider = readProvider(attributes.push_provider, platform);
    const pushIdType = readPushIdType(attributes.push_id_type, { platform, provider });
    return {
      device: {
        platform,
        provider,
        pushId: readAddress(attributes.push_id, { platform, provider, pushIdType }),
        pushIdType,
        ...readAppId(attributes.app_id),
        isOptedOut: readFlag(vendor('push_opted'), 'push_opted') === false,
        isProvisional: readFlag(vendor('push_provisional_opted'), 'push_provisional_opted') ?? false,
        model: readText(attributes.model, 'model'),
        appVersion: readText(attributes.app_version, 'app_version'),
        osVersion: readText(attributes.os_version, 'os_version'),
        gaid: readText(vendor('gaid'), 'gaid'),
        idfv: readText(attributes.idfv ?? attributes.advertising_identifier, 'idfv'),
        locale: readLocale(attributes.locale),
        badgeCount: readBadgeCount(attributes.badge_count),
      },
    };
  } catch (error) {
    if (error instanceof Fault) return { fault: { attribute: error.attribute, reason: error.message } };
    throw error;
  }
}

function readPlatform(value: unknown): Platform {
  const platform = typeof value === 'string' && Object.hasOwn(platformNames, value) ? platformNames[value] : undefined;
  if (platform) return platform;
  throw new Fault(
    'platform',
    value === 'TV' ? 'TV devices cannot be reached by this service.' : 'is not a valid platform.',
  );
}

/** Parses the provider, which must be one that serves the device's platform. */
function readProvider(value: unknown, platform: Platform): ProviderName | null {
  if (value === undefined || value === null || value === '') return null;
  const [usual, ...others] = providersOf[platform];
  if (value === usual) return null;
  const other = others.find((name) => name === value);
  if (other) return other;
  throw new Fault('push_provider', `must be ${[usual, ...others].join(' or ')} on ${nameOfPlatform(platform)}`);
}

/** Returns how callers spell a platform of a device: `ANDROID`, `iOS`, `web`. */
export function nameOfPlatform(platform: Platform): string {
  return Object.keys(platformNames).find((name) => platformNames[name] === platform)!;
}

/** Parses the id of an app. Whether the app exists is checked when the device is stored. */
function readAppId(value: unknown): { appId?: string } {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value !== 'string' || !isAppId(value)) throw new Fault('attributes.app_id', 'must be the id of an app');
  return { appId: value };
}

function readLocale(value: unknown): string | null {
  const text = readText(value, 'attributes.locale');
  const tag = text === null ? null : canonicalTag(text);
  if (tag === undefined) throw new Fault('attributes.locale', 'is no language tag');
  return tag;
}

/** Parses a badge count; text is also accepted, because the cells of a file are text. */
function readBadgeCount(value: unknown): number | null {
  if (value === undefined || value === null || value === '') return null;
  const count = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  if (Number.isInteger(count) && (count as number) >= 0 && (count as number) <= maxBadge) return count as number;
  throw new Fault('attributes.badge_count', `must be a whole number from 0 to ${maxBadge}`);
}

/** Parses the type of a push id. Only Firebase identifies an installation by an id. */
function readPushIdType(value: unknown, device: Reachable): 'fid' | null {
  if (value === undefined || value === null || value === '') return null;
  const type = pushIdTypes.find((name) => name === value);
  if (type === undefined) throw new Fault('push_id_type', `must be ${pushIdTypes.join(' or ')}`);
  if (type === 'token') return null;
  if (!providers[providerOf(device)].hasInstallationIds)
    throw new Fault('push_id_type', `can be fid only with push_provider ${installationIdProviders.join(' or ')}`);
  return type;
}

const installationIdProviders = providerNames.filter((name) => providers[name].hasInstallationIds);

/** Parses a push address, in the form of the device's provider. */
function readAddress(value: unknown, device: Reachable): string {
  const { address } = providers[providerOf(device)];
  if (device.pushIdType === 'fid' && !(typeof value === 'string' && isInstallationId.test(value)))
    throw new Fault('push_id', 'is not a Firebase installation id');
  return address === 'subscription' ? readSubscription(value) : readToken(value, address);
}

function readToken(value: unknown, { pattern, fault, isCaseless }: TokenForm): string {
  if (typeof value !== 'string') throw new Fault('push_id', 'must be a text');
  if (value.length > maxPushIdCharacters)
    throw new Fault('push_id', `must have at most ${maxPushIdCharacters} characters`);
  // All providers' tokens are printable ASCII; anything else could not be used in a path or header.
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Fault('push_id', 'is not a device token');
  if (pattern?.test(value) === false) throw new Fault('push_id', fault ?? 'is not a device token');
  return isCaseless ? value.toLowerCase() : value;
}

/**
 * Parses a browser's PushSubscription, given as an object or as its JSON text. It is stored in one form, so that equal
 * subscriptions have equal texts.
 */
function readSubscription(value: unknown): string {
  const fault = new Fault('push_id', 'is not a PushSubscription with endpoint, keys.p256dh and keys.auth');
  let subscription: { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
  try {
    subscription = (typeof value === 'string' ? JSON.parse(value) : value) as typeof subscription;
  } catch {
    throw fault;
  }
  const { endpoint, keys } = subscription ?? {};
  if (typeof endpoint !== 'string' || typeof keys?.p256dh !== 'string' || typeof keys.auth !== 'string') throw fault;
  if (!URL.canParse(endpoint) || new URL(endpoint).protocol !== 'https:' || endpoint.length > 2_048) throw fault;
  const { hostname } = new URL(endpoint);
  const deadName = hostname === simulatedPushHost ? undefined : deadNameOf(hostname);
  if (deadName !== undefined) throw new Fault('push_id', describeDeadName(deadName));
  const isKey =
    Buffer.from(keys.p256dh, 'base64url').length === 65 && Buffer.from(keys.auth, 'base64url').length === 16;
  if (!isKey) throw fault;
  return JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
}

/**
 * Returns the error text for a dead endpoint. If a page subscribes right after it unsubscribed, Chrome and Edge return
 * the endpoint `https://permanently-removed.invalid/…`, which looks like any other (decision 0061).
 */
function describeDeadName(name: string): string {
  return `is a subscription that cannot be reached: its endpoint is below ${name}, where no host exists. Unsubscribe the browser and subscribe it again`;
}

function readFlag(value: unknown, name: string): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === true || /^true$/i.test(String(value))) return true;
  if (value === false || /^false$/i.test(String(value))) return false;
  throw new Fault(name, 'must be True or False');
}

function readText(value: unknown, name: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw new Fault(name, 'must be a text');
  if (value.length > maxDeviceTextCharacters)
    throw new Fault(name, `must have at most ${maxDeviceTextCharacters} characters`);
  const fault = textFault(value);
  if (fault !== undefined) throw new Fault(name, fault);
  return value;
}
