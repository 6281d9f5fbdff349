import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PushOfWorkspace } from '../../app/push/admit-push.ts';
import { goalOperators, goalValueFault } from '../../domain/campaigns/conversions.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversions.ts';
import { defaultDeliverySettings, deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { platforms as everyPlatform } from '../../domain/content/content.ts';
import type { Platform } from '../../domain/content/content.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxCampaignNameCharacters, maxConversionGoals } from '../../domain/limits/campaigns.ts';
import { maxPushTags, maxSelectorValues, minPushNameCharacters } from '../../domain/limits/push.ts';
import type { PushAudience, PushBodies, PushCommand } from '../../domain/push.ts';
import type { TemplateMode } from '../../domain/template/parser.ts';
import { maxRepeatAfterDays } from '../../domain/limits/campaigns.ts';
import { parseTiming, timingMembers } from '../../domain/timing/push-timing.ts';
import type { DeliveryType } from '../../domain/timing/push-timing.ts';
import type { StoredTiming, Timing } from '../../domain/timing/timing.ts';
import { neutralName } from '../../domain/users/users.ts';
import {
  anyOf,
  choice,
  flagOrText,
  list,
  literal,
  number,
  optional,
  part,
  partAs,
  readWith,
  required,
  requiredText,
  text,
  withDefault,
  word,
} from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import type { Field, ReadMember } from '../../fields/field.ts';
import { notAllowed } from '../../fields/reading-rules.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { parseContent, payload } from './parse-content.ts';
import { advancedSettings, templateModeOf } from './parse-settings.ts';
import { makePushReader } from './push-reader.ts';

const maxNameCharacters = 256;

const userMembers = {
  attribute: requiredText({ max: maxNameCharacters }),
  comparisonParameter: required(word(['is', 'in'], 'is or in')),
  attributeValue: required(anyOf([text(), list(text(), { maxItems: maxSelectorValues })])),
  isCustom: flagOrText(),
};

const attributeMembers = {
  name: requiredText({ max: maxNameCharacters }),
  filter: required(text()),
  type: required(choice(['string', 'numeric'])),
  value: anyOf([text(), number, list(text(), { max: maxSelectorValues })]),
};

const goal = partAs(
  {
    name: requiredText({ max: maxNameCharacters }),
    eventName: requiredText({ max: maxNameCharacters }),
    attrs: partAs(attributeMembers, { read: parseAttribute }),
  },
  {
    title: 'PushConversionGoal',
    read(_goal, read): ConversionGoal {
      const attribute = read('attrs');
      return {
        name: read('name'),
        eventName: read('eventName'),
        ...(attribute === undefined ? {} : { attribute }),
      };
    },
  },
);

/** `type` decides which other members are read, by parseTiming. */
const delivery = part(
  {
    type: required(choice(['soon', 'later', 'periodic'])),
    date: text({ description: 'MM/DD/YYYY' }),
    time: text({ description: 'hh:mm AM/PM' }),
    endDate: text({ description: 'MM/DD/YYYY' }),
    timezone: text({ description: 'IANA name' }),
    repeatAfter: text({ description: `Days between sends, 1 to ${maxRepeatAfterDays}` }),
  } satisfies Record<'type' | keyof typeof timingMembers, Field<string>>,
  { title: 'PushDelivery' },
);

/** The push request on the wire (interface 2.8 to 2.10, fact 3.1 to 3.5). */
const members = {
  campaignName: requiredText({ minLength: minPushNameCharacters, maxLength: maxCampaignNameCharacters }),
  requestId: text({ max: 255, description: 'Returned in the response; generated if absent' }),
  requestType: literal('push'),
  targetPlatform: readWith(required(list(choice(everyPlatform), { max: 10 })), parsePlatforms),
  targetAudience: required(choice(['All Users', 'Custom Segment', 'User'])),
  customSegmentName: optional(
    requiredText({ max: maxNameCharacters, description: 'Required for audience Custom Segment' }),
  ),
  targetUserAttributes: part(userMembers),
  payload: required(payload),
  campaignDelivery: required(delivery),
  campaignTags: list(withDefault(text({ max: maxNameCharacters }), ''), { max: maxPushTags }),
  conversionGoals: list(goal, { maxItems: maxConversionGoals }),
  advancedSettings,
};

/** The body of v2.1, whose identity is in headers (interface 4.5). The body may repeat it. */
export const pushBodyV21 = schemaOf(
  {
    ...members,
    appId: text({ description: 'Must be equal to the header' }),
    signature: text({ description: 'Must be equal to the header' }),
  },
  { title: 'PushRequestV21' },
);
export const pushBodyV2 = schemaOf(
  { ...members, appId: requiredText(), signature: requiredText() },
  { title: 'PushRequestV2' },
);

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
  const { existing, workspace } = admitted;
  // Of a request that joins a campaign, the other members are neither used nor judged (decision D33).
  const own = existing ? makePushReader(body, { mode: readTemplateMode(body, admitted), bodies }) : reader;
  const readOwn = reading(own, members);
  const sentPlatforms = readOwn('targetPlatform') ?? [];
  // The content of a joined campaign must cover its stored platforms.
  const platforms = existing?.platforms ?? sentPlatforms;
  // Faults of the flag are reported with the other settings.
  const { isSilent } = existing
    ? deliverySettings(existing.settings)
    : { isSilent: readSettingFlag(body, { admitted, name: 'silent' }) ?? false };
  const { dataPrefix } = workspace.androidPayload;
  const ownPrefixes = dataPrefix === null ? prefixes : [...prefixes, dataPrefix];
  const content = parseContent(reader, { platforms, isSilent, prefixes: ownPrefixes });
  const timing = readTiming(own, { now, workspaceTimeZone: workspace.timeZone, bodies });
  const tags = readOwn('campaignTags') ?? [];
  const conversionGoals = readOwn('conversionGoals') ?? [];
  const settings = readOwn('advancedSettings') ?? defaultDeliverySettings;
  const requestId = readOwn('requestId');
  refuseFirstFault(reader);
  const parsed = { platforms: sentPlatforms, timing, settings };
  return {
    name: admitted.name,
    requestId: requestId === undefined || requestId === '' ? randomUUID() : requestId,
    platforms,
    audience,
    content,
    timing,
    tags,
    conversionGoals,
    settings: existing ? deliverySettings(existing.settings) : settings,
    warnings: [...reader.warnings, ...(existing ? warnOfIgnored(own, { existing, parsed }) : [])],
  };
}

type Ignored = {
  existing: NonNullable<PushOfWorkspace['existing']>;
  parsed: { platforms: readonly Platform[]; timing: Timing; settings: DeliverySettings };
};

/**
 * Returns a warning for each member of a joining request that would have changed what is sent, to which platforms, or when
 * (decision D33). Tags and goals would not.
 */
function warnOfIgnored(own: RequestReader, { existing, parsed }: Ignored): string[] {
  const faults = new Set(own.faults.map(({ field }) => /^\w+/.exec(field)?.[0]));
  const differs = {
    targetPlatform: parsed.platforms.join() !== everyPlatform.filter((one) => existing.platforms.includes(one)).join(),
    campaignDelivery: isOtherTiming(parsed.timing, existing.timing),
    advancedSettings: !isDeepStrictEqual(toStored(parsed.settings), toStored(deliverySettings(existing.settings))),
  };
  return Object.entries(differs)
    .filter(([name, isOther]) => !own.isAbsent(name) && (isOther || faults.has(name)))
    .map(([name]) => `${name} is ignored: the campaign of this name has its own`);
}

/** The first day of a recurring campaign follows from the time of the request that made it. */
function isOtherTiming(sent: Timing, stored: StoredTiming): boolean {
  const comparable = (timing: Timing | StoredTiming): unknown => toStored({ ...timing, firstDate: undefined });
  return !isDeepStrictEqual(comparable(sent), comparable(stored));
}

/** As JSON has it: without absent members, and times as texts. */
function toStored(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

function parsePlatforms(body: RequestReader, name: string): Platform[] {
  if (!body.requires(name)) return [];
  const items = body.list(name, 10);
  if (items.length === 0) body.invalid(name, 'must name a platform');
  const isNamed = (platform: Platform) => items.some((item) => body.rules.isChoice(item, platform));
  const named = everyPlatform.filter(isNamed);
  if (!items.every((item) => named.some((platform) => body.rules.isChoice(item, platform))))
    body.invalid(name, notAllowed);
  return named;
}

function parseAudience(body: RequestReader, prefixes: readonly string[]): PushAudience {
  const read = reading(body, members);
  const audience = read('targetAudience');
  if (audience !== undefined && audience !== 'Custom Segment') warnOfIdle(body, 'customSegmentName');
  if (audience !== undefined && audience !== 'User') warnOfIdle(body, 'targetUserAttributes');
  if (audience === 'Custom Segment') return { kind: 'segment', name: read('customSegmentName') };
  return audience === 'User' ? parseUser(body, prefixes) : { kind: 'all-users' };
}

/** Warns of a documented member that has no effect with the value that was sent for another member (decision 0056). */
function warnOfIdle(reader: RequestReader, name: string): void {
  if (!reader.isAbsent(name)) reader.warn(name, 'has no effect here');
}

function parseUser(body: RequestReader, prefixes: readonly string[]): PushAudience {
  if (body.isAbsent('targetUserAttributes')) body.invalid('targetUserAttributes', 'is required for audience User');
  const attributes = body.part('targetUserAttributes');
  const read = reading(attributes, userMembers);
  const named = read('attribute');
  const comparison = read('comparisonParameter');
  const isCustom = read('isCustom') ?? false;
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

type TimingReading = { now: Date; workspaceTimeZone: string; bodies: PushBodies };

function readTiming(body: RequestReader, { bodies, ...context }: TimingReading): Timing {
  if (!body.requires('campaignDelivery')) return { kind: 'soon' };
  const sent = body.part('campaignDelivery');
  const type = delivery.members.type.read(sent, 'type');
  if (type === undefined) return { kind: 'soon' };
  for (const [name, readers] of Object.entries<readonly DeliveryType[]>(timingMembers))
    if (!readers.includes(type)) warnOfIdle(sent, name);
  const timing = parseTiming(
    { ...(bodies === 'lenient' ? toTimes(sent.sentMembers()) : sent.sentMembers()), type },
    context,
  );
  if (!('fault' in timing)) return timing;
  body.invalid(timing.fault.field, timing.fault.reason);
  return { kind: 'soon' };
}

function toTimes(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, toTime(value)]));
}

/**
 * Formatters pad days and months or do not, and write narrow no-break spaces (U+202F) before AM and PM, as those of
 * browsers and of Java have done since CLDR 42.
 */
function toTime(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim().replace(/[\u00a0\u2009\u202f]/g, ' ');
  if (!/^\d{1,2}\/\d{1,2}\/\d{4}$/.test(text)) return text;
  return text
    .split('/')
    .map((part) => part.padStart(2, '0'))
    .join('/');
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

type SettingFlag = { admitted: PushOfWorkspace; name: 'silent' | 'useJinjaPersonalization' };

/** Reads a setting that determines how the rest is parsed; its own fault is reported later, in order. */
function readSettingFlag(body: PushBody, { admitted, name }: SettingFlag) {
  const reader = makePushReader(body, { mode: 'AUTO', bodies: admitted.workspace.pushBodies });
  return advancedSettings.members[name].read(reader.part('advancedSettings'), name);
}

/** Throws the fault that comes first in decision D31. @throws ServiceError PUSH_VALUE_NOT_ALLOWED, PUSH_PARAMETER_INVALID */
function refuseFirstFault(reader: RequestReader): void {
  const fault = reader.firstFault();
  if (!fault) return;
  const { field, reason } = fault;
  if (reason === undefined) throw new ServiceError('PUSH_VALUE_NOT_ALLOWED', { field });
  throw new ServiceError('PUSH_PARAMETER_INVALID', { field, reason });
}

/** Parses `attrs` of a goal (interface 2.10): each operator with the value it accepts. */
function parseAttribute(attrs: RequestReader, read: ReadMember<typeof attributeMembers>): ConversionGoal['attribute'] {
  const name = read('name');
  const type = read('type');
  attrs.requires('filter');
  const operator = type && attrs.choice('filter', Object.keys(goalOperators[type]));
  if (type === undefined || operator === undefined) return undefined;
  // An empty text is a valid value: an attribute may be compared with it.
  const isEmptyText = attrs.members.value === '' && goalOperators[type][operator] !== 'none';
  const value = isEmptyText ? '' : read('value');
  const fault = goalValueFault(goalOperators[type][operator]!, value);
  if (fault !== undefined) attrs.invalid('value', fault);
  const attribute = { name, type, operator };
  return value === undefined ? attribute : { ...attribute, value: value as string | number | string[] };
}
