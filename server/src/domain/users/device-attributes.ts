import { anyOf, anything, flag, readWith, required, text, whole, withDescription } from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { Field, ReadMember } from '../../fields/field.ts';
import { plainRulesOfForms } from '../../fields/reading-rules.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { RequestReader } from '../../fields/request-reader.ts';
import { isAppId } from '../apps.ts';
import { platforms } from '../content/content.ts';
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

const platformNames: Record<string, Platform> = { ANDROID: 'ANDROID', iOS: 'IOS', web: 'WEB' };

/** Returns the platform of a name in any case: clients write `android`, `ios` and `Web`. */
export function readPlatformName(name: unknown): Platform | undefined {
  const capitals = typeof name === 'string' ? name.toUpperCase() : undefined;
  return platforms.find((platform) => platform === capitals);
}

const addressNames = providerNames.map((name) => providers[name].names.ofAddress).join(', ');
const providersByPlatform = (Object.keys(providersOf) as Platform[])
  .map((platform) => `${providersOf[platform].join(' or ')} on ${nameOfPlatform(platform)}`)
  .join(', ');

/** The attributes of a device that are the same for every abbreviation of the vendor (fact 5). */
const members = {
  platform: readWith(required(text({ description: 'ANDROID, iOS or web' })), readPlatform),
  push_id: required(withDescription(anything, `${addressNames}; a PushSubscription as JSON text or object`)),
  push_provider: anyText(`Whose token push_id is: ${providersByPlatform}; absent: the first`),
  push_id_type: anyText('Kind of a Firebase push_id: token, or fid for an installation id; absent: token'),
  app_id: readWith(
    text({ description: "An app of the workspace; absent: the device's current app, or the default app" }),
    readAppId,
  ),
  model: text(),
  app_version: text(),
  os_version: text(),
  idfv: text(),
  locale: readWith(text({ description: 'BCP 47: in which of `payload.locales` it gets messages' }), readLocale),
  badge_count: readWith(whole(0, maxBadge, 'The number on the icon of the app'), readBadgeCount),
  /** Read if there is no `idfv`. */
  advertising_identifier: text(),
};

/** The attributes whose names begin with an abbreviation of the vendor. */
const vendorMembers = {
  push_opted: readWith(anyOf([text(), flag()]), readVendorFlag),
  push_provisional_opted: readWith(anyOf([text(), flag()]), readVendorFlag),
  gaid: text(),
};

/** Returns the schema. @param prefixes spellings of the vendor's abbreviation in names such as `svc_push_opted` */
export function deviceAttributesShape(prefixes: readonly string[]) {
  const vendor = prefixes.flatMap((prefix) =>
    Object.entries(vendorMembers).map(([name, field]) => [`${prefix}_${name}`, field] as const),
  );
  return schemaOf({ ...members, ...Object.fromEntries(vendor) });
}

/**
 * Parses a device's attributes, both from the API and from import files (fact 5).
 *
 * @param prefixes spellings of the vendor's abbreviation in names such as `svc_push_opted`
 */
export function parseDeviceAttributes(attributes: Record<string, unknown>, prefixes: readonly string[]): ParsedDevice {
  const reader = new RequestReader(attributes, { rules });
  const device = readDevice(reader, prefixes);
  const [fault] = reader.faults;
  if (!fault) return { device: device! };
  if (fault.reason === rules.missing) return { missing: fault.field };
  return { fault: { attribute: fault.field, reason: fault.reason } };
}

const rules: ReadingRules = {
  ...plainRulesOfForms,
  maxTextCharacters: maxDeviceTextCharacters,
  textFault: (text, maxCharacters) =>
    text.length > maxCharacters ? `must have at most ${maxCharacters} characters` : textFault(text),
};

/** Returns undefined after a fault that the other members cannot be read without. */
function readDevice(device: RequestReader, prefixes: readonly string[]): DeviceAttributes | undefined {
  const read = reading(device, members);
  // Only a missing platform is reported before a missing address.
  if (device.members.platform === undefined) device.missing('platform');
  device.requires('push_id');
  const platform = read('platform');
  const provider = platform === undefined ? undefined : readProvider(device, platform);
  const pushIdType = platform && provider !== undefined ? readPushIdType(device, { platform, provider }) : undefined;
  if (device.faults.length > 0) return undefined;
  const place = { platform: platform!, provider: provider!, pushIdType: pushIdType! };
  const pushId = readAddress(device, place);
  const appId = read('app_id');
  const ofVendor = readVendor(device, prefixes);
  const readText = (name: 'model' | 'app_version' | 'os_version') => read(name) ?? null;
  return {
    ...place,
    pushId,
    ...(appId === undefined ? {} : { appId }),
    isOptedOut: ofVendor('push_opted') === false,
    isProvisional: ofVendor('push_provisional_opted') ?? false,
    model: readText('model'),
    appVersion: readText('app_version'),
    osVersion: readText('os_version'),
    gaid: ofVendor('gaid') ?? null,
    idfv: readIdfv(device) ?? null,
    locale: read('locale') ?? null,
    badgeCount: read('badge_count') ?? null,
  };
}

/** Returns a function that reads a vendor's attribute in the first spelling that was sent. Faults name it without prefix. */
function readVendor(device: RequestReader, prefixes: readonly string[]): ReadMember<typeof vendorMembers> {
  return (name) => {
    // Most devices have none of these. A reader for each absent one took 0.9 of the 3.3 µs of a file's row.
    const spelling = prefixes.find((prefix) => !isNull(device.members[`${prefix}_${name}`]));
    if (spelling === undefined) return undefined as never;
    return reading(device.over({ [name]: device.members[`${spelling}_${name}`] }), vendorMembers)(name);
  };
}

function readIdfv(device: RequestReader): string | undefined {
  const { idfv, advertising_identifier: other } = device.members;
  if (!isNull(idfv) || isNull(other)) return members.idfv.read(device, 'idfv');
  return members.idfv.read(device.over({ idfv: other }), 'idfv');
}

function isNull(value: unknown): boolean {
  return value === undefined || value === null;
}

/** An empty text is not a flag. Objects are invalid: converting one to a text may throw. */
function readVendorFlag(device: RequestReader, name: string): boolean | undefined {
  const value = device.members[name];
  if (value === undefined) return undefined;
  const word = typeof value === 'object' ? '' : String(value).toLowerCase();
  if (word === 'true') return true;
  if (word !== 'false') device.invalid(name, 'must be True or False');
  return false;
}

function readPlatform(device: RequestReader, name: string): Platform | undefined {
  const value = device.members[name];
  const platform = readPlatformName(value);
  if (platform) return platform;
  const isTelevision = typeof value === 'string' && value.toUpperCase() === 'TV';
  device.invalid(name, isTelevision ? 'TV devices cannot be reached by this service.' : 'is not a valid platform.');
  return undefined;
}

/** A text that is compared with words, so a value of another kind is only one that is not among them. */
function anyText(description: string): Field<unknown> {
  return readWith(text({ description }), (device, name) => device.get(name));
}

/** Reads the provider, which must be one that serves the device's platform. Null: the platform's default. */
function readProvider(device: RequestReader, platform: Platform): ProviderName | null | undefined {
  const value = members.push_provider.read(device, 'push_provider');
  const [usual, ...others] = providersOf[platform];
  if (value === undefined || value === usual) return null;
  const other = others.find((name) => name === value);
  if (!other)
    device.invalid('push_provider', `must be ${[usual, ...others].join(' or ')} on ${nameOfPlatform(platform)}`);
  return other;
}

/** Returns how callers spell a platform of a device: `ANDROID`, `iOS`, `web`. */
export function nameOfPlatform(platform: Platform): string {
  return Object.keys(platformNames).find((name) => platformNames[name] === platform)!;
}

/** Reads the id of an app. Whether the app exists is checked when the device is stored. */
function readAppId(device: RequestReader, name: string): string | undefined {
  const value = device.get(name);
  if (value === undefined || (typeof value === 'string' && isAppId(value))) return value;
  device.invalid(`attributes.${name}`, 'must be the id of an app');
  return undefined;
}

function readLocale(device: RequestReader, name: string): string | undefined {
  const path = `attributes.${name}`;
  const value = device.get(name);
  const sent = value === undefined ? undefined : device.over({ [path]: value }).text(path);
  const tag = sent === undefined ? undefined : canonicalTag(sent);
  if (sent !== undefined && tag === undefined) device.invalid(path, 'is no language tag');
  return tag;
}

/** Text is also accepted, because the cells of a file are text. */
function readBadgeCount(device: RequestReader, name: string): number | undefined {
  const value = device.get(name);
  if (value === undefined) return undefined;
  const count = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  const path = `attributes.${name}`;
  return device.over({ [path]: count }).integer(path, { minimum: 0, maximum: maxBadge });
}

/** Reads the type of a push id. Only Firebase identifies an installation by an id. Null: a token. */
function readPushIdType(device: RequestReader, reachable: Reachable): 'fid' | null | undefined {
  const value = members.push_id_type.read(device, 'push_id_type');
  if (value === undefined) return null;
  const type = pushIdTypes.find((name) => name === value);
  if (type === 'token') return null;
  if (type === undefined) device.invalid('push_id_type', `must be ${pushIdTypes.join(' or ')}`);
  else if (providers[providerOf(reachable)].hasInstallationIds) return type;
  else device.invalid('push_id_type', `can be fid only with push_provider ${installationIdProviders.join(' or ')}`);
  return undefined;
}

const installationIdProviders = providerNames.filter((name) => providers[name].hasInstallationIds);

/** 17 bytes in base64url, as Firebase's SDKs create and check it. The token of an installation begins with it and a colon. */
const isInstallationId = /^[A-Za-z0-9_-]{22}$/;

/** Reads a push address, in the form of the device's provider. */
function readAddress(device: RequestReader, reachable: Reachable): string {
  const value = device.get('push_id');
  const { address } = providers[providerOf(reachable)];
  if (reachable.pushIdType === 'fid' && !(typeof value === 'string' && isInstallationId.test(value)))
    device.invalid('push_id', 'is not a Firebase installation id');
  const read = address === 'subscription' ? toSubscription(value) : toToken(value, address);
  if ('fault' in read) device.invalid('push_id', read.fault);
  return 'fault' in read ? '' : read.address;
}

type ReadAddress = { address: string } | { fault: string };

function toToken(value: unknown, { pattern, fault, isCaseless }: TokenForm): ReadAddress {
  if (typeof value !== 'string') return { fault: 'must be a text' };
  if (value.length > maxPushIdCharacters) return { fault: `must have at most ${maxPushIdCharacters} characters` };
  // All providers' tokens are printable ASCII; anything else could not be used in a path or header.
  if (!/^[\x21-\x7e]+$/.test(value)) return { fault: 'is not a device token' };
  if (pattern?.test(value) === false) return { fault: fault ?? 'is not a device token' };
  return { address: isCaseless ? value.toLowerCase() : value };
}

/**
 * Parses a browser's PushSubscription, given as an object or as its JSON text. It is stored in one form, so that equal
 * subscriptions have equal texts.
 */
function toSubscription(value: unknown): ReadAddress {
  const fault = { fault: 'is not a PushSubscription with endpoint, keys.p256dh and keys.auth' };
  let subscription: { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
  try {
    subscription = (typeof value === 'string' ? JSON.parse(value) : value) as typeof subscription;
  } catch {
    return fault;
  }
  const { endpoint, keys } = subscription ?? {};
  if (typeof endpoint !== 'string' || typeof keys?.p256dh !== 'string' || typeof keys.auth !== 'string') return fault;
  if (!URL.canParse(endpoint) || new URL(endpoint).protocol !== 'https:' || endpoint.length > 2_048) return fault;
  const { hostname } = new URL(endpoint);
  const deadName = hostname === simulatedPushHost ? undefined : deadNameOf(hostname);
  if (deadName !== undefined) return { fault: describeDeadName(deadName) };
  const isKey =
    Buffer.from(keys.p256dh, 'base64url').length === 65 && Buffer.from(keys.auth, 'base64url').length === 16;
  return isKey ? { address: JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } }) } : fault;
}

/**
 * Returns the error text for a dead endpoint. If a page subscribes right after it unsubscribed, Chrome and Edge return
 * the endpoint `https://permanently-removed.invalid/…`, which looks like any other (decision 0061).
 */
function describeDeadName(name: string): string {
  return `is a subscription that cannot be reached: its endpoint is below ${name}, where no host exists. Unsubscribe the browser and subscribe it again`;
}
