import { randomUUID } from 'node:crypto';
import type { PushOfWorkspace } from '../../app/push/admit-push.ts';
import { readAppIds } from '../../domain/campaign-document/delivery.ts';
import { goalOperators, goalValueFault } from '../../domain/campaigns/conversions.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversions.ts';
import { deliverySettings, defaultDeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { platforms as everyPlatform } from '../../domain/content/content.ts';
import type { Platform } from '../../domain/content/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  maxCampaignNameCharacters,
  maxDevicesPerMinute,
  maxTtlMinutes,
  maxConversionGoals,
} from '../../domain/limits/campaigns.ts';
import { maxPushTags, maxSelectorValues, maxInboxExpiryHours, maxSpreadMinutes } from '../../domain/limits/push.ts';
import type { PushAudience, PushCommand, PushBodies } from '../../domain/push.ts';
import { notAllowed, RequestReader } from '../../domain/request-reader.ts';
import type { ReadingRules } from '../../domain/request-reader.ts';
import type { TemplateMode } from '../../domain/template/parser.ts';
import { parseTiming, timingMembers } from '../../domain/timing/push-timing.ts';
import type { DeliveryType } from '../../domain/timing/push-timing.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import { neutralName } from '../../domain/users/users.ts';
import { parseContent } from './parse-content.ts';

export type PushBody = Record<string, unknown>;

export type ParseContext = {
  admitted: PushOfWorkspace;
  now: Date;
  /** The query-type header of v2.1; undefined in v2, which does not have it. */
  queryType: { name: string; value: string | undefined } | undefined;
  /** Spellings of the vendor's abbreviation in names such as `SVC_GAID`, lower-case. */
  prefixes: readonly string[];
};

/**
 * Turns the body of either version into one command. The caller has checked the name and the signature; this function does
 * the checks after the duplicate name in decision D31.
 *
 * @throws ServiceError PUSH_VALUE_NOT_ALLOWED, PUSH_PARAMETER_INVALID
 */
export function parsePush(body: PushBody, { admitted, now, queryType, prefixes }: ParseContext): PushCommand {
  const { pushBodies: bodies } = admitted.workspace;
  const reader = makePushReader(body, { mode: readTemplateMode(body, admitted), bodies });
  if ([...admitted.name].length > maxCampaignNameCharacters)
    reader.invalid('campaignName', `must have at most ${maxCampaignNameCharacters} characters`);
  const audience = parseAudience(reader, prefixes);
  if (queryType) checkQueryType(reader, queryType);
  const sentPlatforms = parsePlatforms(reader);
  // The stored data of a joined campaign wins (decision D33); the content must cover its stored platforms.
  const platforms = admitted.existing?.platforms ?? sentPlatforms;
  // Faults of the flag are reported with the other settings.
  const { isSilent } = admitted.existing
    ? deliverySettings(admitted.existing.settings)
    : { isSilent: readSettingFlag(body, { admitted, name: 'silent' }) ?? false };
  const { dataPrefix } = admitted.workspace.androidPayload;
  const ownPrefixes = dataPrefix === null ? prefixes : [...prefixes, dataPrefix];
  const content = parseContent(reader, { platforms, isSilent, prefixes: ownPrefixes });
  const timing = readTiming(reader, { now, workspaceTimeZone: admitted.workspace.timeZone });
  const sentTags = reader.items('campaignTags', maxPushTags);
  const tags = sentTags.names().map((index) => sentTags.text(index, 256) ?? '');
  const conversionGoals = parseGoals(reader);
  const settings = parseSettings(reader);
  const requestId = reader.text('requestId', 255);
  refuseFirstFault(reader);
  return {
    name: admitted.name,
    requestId: requestId === undefined || requestId === '' ? randomUUID() : requestId,
    platforms,
    audience,
    content,
    timing,
    tags,
    conversionGoals,
    settings,
    warnings: reader.warnings,
  };
}

function parsePlatforms(body: RequestReader): Platform[] {
  if (!body.requires('targetPlatform')) return [];
  const items = body.list('targetPlatform', 10);
  if (items.length === 0) body.invalid('targetPlatform', 'must name a platform');
  const isNamed = (platform: Platform) => items.some((item) => body.rules.isChoice(item, platform));
  const named = everyPlatform.filter(isNamed);
  if (!items.every((item) => named.some((platform) => body.rules.isChoice(item, platform))))
    body.invalid('targetPlatform', notAllowed);
  return named;
}

const audiences = ['All Users', 'Custom Segment', 'User'] as const;

function parseAudience(body: RequestReader, prefixes: readonly string[]): PushAudience {
  body.requires('targetAudience');
  const audience = body.choice('targetAudience', audiences);
  if (audience !== undefined && audience !== 'Custom Segment') warnOfIdle(body, 'customSegmentName');
  if (audience !== undefined && audience !== 'User') warnOfIdle(body, 'targetUserAttributes');
  if (audience === 'Custom Segment') return { kind: 'segment', name: body.requiredText('customSegmentName', 256) };
  return audience === 'User' ? parseUser(body, prefixes) : { kind: 'all-users' };
}

/** Warns of a documented member that has no effect with the value that was sent for another member (decision 0056). */
function warnOfIdle(reader: RequestReader, name: string): void {
  if (!reader.isAbsent(name)) reader.warn(name, 'has no effect here');
}

function parseUser(body: RequestReader, prefixes: readonly string[]): PushAudience {
  if (body.isAbsent('targetUserAttributes')) body.invalid('targetUserAttributes', 'is required for audience User');
  const attributes = body.part('targetUserAttributes');
  const named = attributes.requiredText('attribute', 256);
  attributes.requires('comparisonParameter');
  const comparison = attributes.choice('comparisonParameter', ['is', 'in']);
  const isCustom = attributes.flag('isCustom') ?? false;
  // A custom attribute may have any name.
  const attribute = isCustom ? named : neutralName(named, prefixes);
  const toText = (value: unknown): unknown => body.rules.toPairText(value);
  const sent = attributes.members.attributeValue;
  const values = attributes.over({ attributeValue: Array.isArray(sent) ? sent.map(toText) : toText(sent) });
  if (comparison !== 'in')
    return { kind: 'user', attribute, isCustom, values: [values.requiredText('attributeValue')] };
  const items = values.items('attributeValue', maxSelectorValues);
  if (items.names().length === 0) attributes.invalid('attributeValue', 'must be a list of 1 to 50 texts');
  return { kind: 'user', attribute, isCustom, values: items.names().map((index) => items.requiredText(index)) };
}

type QueryType = NonNullable<ParseContext['queryType']>;

/** Checks that the header of v2.1 that names the audience agrees with the body (decision D34). */
function checkQueryType(body: RequestReader, { name: field, value: queryType }: QueryType): void {
  const audience = body.get('targetAudience');
  if (queryType === undefined) body.missing(field);
  else if (typeof audience === 'string' && !body.rules.isChoice(queryType, audience.toLowerCase()))
    body.invalid(field, 'differs from targetAudience');
}

function readTiming(body: RequestReader, context: { now: Date; workspaceTimeZone: string }): Timing {
  if (!body.requires('campaignDelivery')) return { kind: 'soon' };
  const delivery = body.part('campaignDelivery');
  delivery.requires('type');
  const type = delivery.choice('type', ['soon', 'later', 'periodic']);
  if (type === undefined) return { kind: 'soon' };
  for (const [name, readers] of Object.entries<readonly DeliveryType[]>(timingMembers))
    if (!readers.includes(type)) warnOfIdle(delivery, name);
  const timing = parseTiming({ ...delivery.sentMembers(), type }, context);
  if (!('fault' in timing)) return timing;
  body.invalid(timing.fault.field, timing.fault.reason);
  return { kind: 'soon' };
}

/**
 * The stored data of a joined campaign wins here too (decision D33). A value that is not a flag is rejected with the other
 * settings.
 */
function readTemplateMode(body: PushBody, admitted: PushOfWorkspace): TemplateMode {
  const { existing } = admitted;
  if (existing) return deliverySettings(existing.settings).templates;
  return templateModeOf(readSettingFlag(body, { admitted, name: 'useJinjaPersonalization' }));
}

/** Reads a setting that determines how the rest is parsed; its own fault is reported later, in order. */
function readSettingFlag(body: PushBody, { admitted, name }: { admitted: PushOfWorkspace; name: string }) {
  const reader = makePushReader(body, { mode: 'AUTO', bodies: admitted.workspace.pushBodies });
  return reader.part('advancedSettings').flag(name);
}

export type PushReading = { mode: TemplateMode; bodies: PushBodies };

export function makePushReader(body: Record<string, unknown>, { mode, bodies }: PushReading): RequestReader {
  return new RequestReader(body, { rules: { ...rulesOf[bodies], templates: { mode, sources } } });
}

/** Throws the fault that comes first in decision D31. @throws ServiceError PUSH_VALUE_NOT_ALLOWED, PUSH_PARAMETER_INVALID */
function refuseFirstFault(reader: RequestReader): void {
  const fault = reader.firstFault();
  if (!fault) return;
  const { field, reason } = fault;
  if (reason === undefined) throw new ServiceError('PUSH_VALUE_NOT_ALLOWED', { field });
  throw new ServiceError('PUSH_PARAMETER_INVALID', { field, reason });
}

type Rules = Omit<ReadingRules, 'templates'>;

/** Accepts every kind of value as the interface shows it. Flags may also be texts, as in its samples. */
const strictRules: Rules = {
  tells: 'first',
  isSent: (value) => value !== undefined,
  isAbsent: (value) => value === undefined,
  missing: 'is required',
  // A provider's whole message has 4,096 bytes; a longer text can never be sent.
  maxTextCharacters: 4_096,
  textFault(text, maxCharacters) {
    if (!text.isWellFormed()) return 'must be well-formed Unicode';
    return text.length > maxCharacters ? `must have at most ${maxCharacters} characters` : undefined;
  },
  toFlag: (value) =>
    value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined,
  toNumber: (value) => value,
  toPairText: (value) => value,
  isChoice: (value, word) => value === word,
  choiceFault: () => notAllowed,
  listFault(value, maxItems) {
    if (!Array.isArray(value)) return notAllowed;
    return value.length > maxItems ? `must have at most ${maxItems} items` : undefined;
  },
  onlyFault: () => 'this value is not available in this version',
};

/**
 * Also accepts every kind of value as serializers and forms send it; docs/bodies.md lists the kinds. Ambiguous values are
 * still rejected: a number where a text is expected, half a number, a word that is not in the list.
 */
const lenientRules: Rules = {
  ...strictRules,
  isSent: isFilled,
  isAbsent: (value) => !isFilled(value),
  toFlag(value) {
    const word = typeof value === 'string' ? value.toLowerCase() : value;
    return strictRules.toFlag(word);
  },
  toNumber: (value) => (typeof value === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : value),
  toPairText: (value) => (typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : value),
  isChoice: (value, word) =>
    value === word || (typeof value === 'string' && value.toLowerCase() === String(word).toLowerCase()),
  onlyFault: () => undefined,
};

/** False for null, an empty text, an empty object, and the empty list that some clients send for an empty object. */
function isFilled(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

const rulesOf: Record<PushBodies, Rules> = { strict: strictRules, lenient: lenientRules };
const sources = ['UserAttribute'] as const;

/** Parses `advancedSettings` (fact 3.4). */
function parseSettings(body: RequestReader): DeliverySettings {
  const settings = body.findPart('advancedSettings');
  if (!settings) return defaultDeliverySettings;
  // This version does not support `true` for these; it is rejected by name, never ignored (decision D30).
  settings.only(false, 'preCacheSegment', 'pushAmp+');
  const isSilent = settings.flag('silent') ?? false;
  return {
    ttlMinutes: parseTtl(settings.part('ttl')),
    ...parsePriorities(settings),
    ...parseThrottle(settings),
    ...parseControls(settings),
    ...(isSilent ? parseSilent(settings) : {}),
    isSilent,
    iosDevices: parseIosDevices(settings),
    ...readAppIds(settings, 'appIds'),
    inboxExpiryHours: settings.integer('inboxExpiry', { minimum: 1, maximum: maxInboxExpiryHours }) ?? null,
    templates: templateModeOf(settings.flag('useJinjaPersonalization')),
  };
}

/** Decision D39. */
function templateModeOf(isJinja: boolean | undefined): TemplateMode {
  return isJinja === undefined ? 'AUTO' : isJinja ? 'ON' : 'OFF';
}

type ControlSettings = Pick<
  DeliverySettings,
  'ignoresCap' | 'countsForCap' | 'bypassesQuietHours' | 'ignoresMinimumDelay' | 'ownDelayHours'
>;

type Priorities = Pick<DeliverySettings, 'androidPriority' | 'iosPriority' | 'webUrgency'>;

/** How a provider treats an idle device: wake it, or wait until it is used. */
const restingPriorities: Record<'wake' | 'usual' | 'low' | 'wait', Priorities> = {
  wake: { androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'high' },
  usual: { androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'normal' },
  low: { androidPriority: 'NORMAL', iosPriority: 5, webUrgency: 'normal' },
  wait: { androidPriority: 'NORMAL', iosPriority: 5, webUrgency: 'low' },
};

/** `deliverWhenActive` and the legacy flag apply to all platforms; the newer setting wins if both are sent. */
function parsePriorities(settings: RequestReader): Priorities {
  const isHigh = settings.flag('sendAtHighPriority');
  const isWaiting = settings.flag('deliverWhenActive') === true;
  const given = settings.part('notificationPrioritySettings');
  const android = given.choice('Android', ['High', 'Low']);
  const ios = given.choice('iOS', [1, 5, 10]);
  const general = restingPriorities[isWaiting ? 'wait' : isHigh === undefined ? 'usual' : isHigh ? 'wake' : 'low'];
  return {
    ...general,
    ...(android === undefined ? {} : { androidPriority: android === 'High' ? 'HIGH' : 'NORMAL' }),
    ...(ios === undefined ? {} : { iosPriority: ios }),
  };
}

/**
 * Silent messages disturb no user: they do not wake a phone unless the request asks for it, and neither quiet hours nor
 * caps delay them.
 */
function parseSilent(settings: RequestReader): Partial<DeliverySettings> {
  const isHigh = settings.part('notificationPrioritySettings').choice('Android', ['High', 'Low']) === 'High';
  if (isHigh)
    settings.part('notificationPrioritySettings').warn('Android', 'High for a silent message makes FCM lower the app');
  return {
    androidPriority: isHigh ? 'HIGH' : 'NORMAL',
    iosPriority: 5,
    ignoresCap: true,
    countsForCap: false,
    bypassesQuietHours: true,
    ignoresMinimumDelay: true,
  };
}

function parseTtl(ttl: RequestReader): DeliverySettings['ttlMinutes'] {
  const range = { minimum: 0, maximum: maxTtlMinutes };
  const { ttlMinutes } = defaultDeliverySettings;
  return {
    ANDROID: ttl.integer('ANDROID', range) ?? ttlMinutes.ANDROID,
    IOS: ttl.integer('IOS', range) ?? ttlMinutes.IOS,
    WEB: ttl.integer('WEB', range) ?? ttlMinutes.WEB,
  };
}

function parseThrottle(settings: RequestReader): Pick<DeliverySettings, 'devicesPerMinute' | 'spreadMinutes'> {
  return {
    devicesPerMinute: settings.integer('campaignThrottleRpm', { minimum: 1, maximum: maxDevicesPerMinute }) ?? null,
    spreadMinutes: settings.integer('campaignThrottleTime', { minimum: 1, maximum: maxSpreadMinutes }) ?? null,
  };
}

/**
 * Parses which of the workspace's caps, quiet hours and delay apply to the push. `countFC` has an effect only if `ignoreFC`
 * is true.
 */
function parseControls(settings: RequestReader): ControlSettings {
  const ignoresCap = settings.flag('ignoreFC') ?? false;
  const isCounted = settings.flag('countFC') ?? false;
  return {
    ignoresCap,
    countsForCap: ignoresCap ? isCounted : true,
    bypassesQuietHours: settings.flag('bypassDND') ?? false,
    ignoresMinimumDelay: settings.flag('ignoreMinimumDelay') ?? true,
    ownDelayHours: null,
  };
}

const iosDevicesOf = {
  apns_device_default_push: 'ALL',
  apns_device_provisional_push: 'PROVISIONAL',
  apns_device_non_provisional_push: 'NON_PROVISIONAL',
} as const;

function parseIosDevices(settings: RequestReader): DeliverySettings['iosDevices'] {
  const names = Object.keys(iosDevicesOf) as (keyof typeof iosDevicesOf)[];
  const name = settings.choice('iOSTargetDevice', names);
  return name === undefined ? defaultDeliverySettings.iosDevices : iosDevicesOf[name];
}

/** Parses `conversionGoals` (interface 2.10): at most five, each operator with the value it accepts. */
function parseGoals(body: RequestReader): ConversionGoal[] {
  const goals = body.items('conversionGoals', maxConversionGoals);
  return goals.names().map((index) => {
    const goal = goals.part(index);
    const attribute = parseAttribute(goal.findPart('attrs'));
    return {
      name: goal.requiredText('name', 256),
      eventName: goal.requiredText('eventName', 256),
      ...(attribute === undefined ? {} : { attribute }),
    };
  });
}

function parseAttribute(attrs: RequestReader | undefined): ConversionGoal['attribute'] {
  if (!attrs) return undefined;
  const name = attrs.requiredText('name', 256);
  attrs.requires('type');
  attrs.requires('filter');
  const type = attrs.choice('type', ['string', 'numeric']);
  const operator = type && attrs.choice('filter', Object.keys(goalOperators[type]));
  if (type === undefined || operator === undefined) return undefined;
  // An empty text is a valid value: an attribute may be compared with it.
  const isEmptyText = attrs.members.value === '' && goalOperators[type][operator] !== 'none';
  const value = isEmptyText ? '' : attrs.get('value');
  const fault = goalValueFault(goalOperators[type][operator]!, value);
  if (fault !== undefined) attrs.invalid('value', fault);
  const attribute = { name, type, operator };
  return value === undefined ? attribute : { ...attribute, value: value as string | number | string[] };
}
