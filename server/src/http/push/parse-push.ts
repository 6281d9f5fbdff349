import { randomUUID } from 'node:crypto';
import type { PushOfWorkspace } from '../../app/push/admit-push.ts';
import { platforms as everyPlatform } from '../../domain/campaigns/content.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { PushAudience, PushCommand } from '../../domain/push/push-command.ts';
import { notAllowed } from '../../domain/request-reader/reading-rules.ts';
import { neutralName } from '../../domain/users/identifier.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';
import { parseTiming, timingMembers } from '../../domain/timing/parse-timing.ts';
import type { DeliveryType } from '../../domain/timing/parse-timing.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import { parseContent } from './parse-content.ts';
import { parseGoals } from './parse-goals.ts';
import { parseSettings, templateModeOf } from './parse-settings.ts';
import { makePushReader, refuseFirstFault } from './push-reader.ts';
import { maxPushTags, maxSelectorValues } from '../../domain/push/limits.ts';
import { maxCampaignNameCharacters } from '../../domain/campaigns/limits.ts';

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
 * Turns the body of either version into one command. The name and the signature have been checked; here is everything
 * after the duplicate name in decision D31.
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
  // A joined campaign's stored data wins (decision D33); the content must cover the platforms it is stored with.
  const platforms = admitted.existing?.platforms ?? sentPlatforms;
  // Faults of the flag are told with the other settings.
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

/** Of a member that is documented, and is read only beside another word than the one that was sent (decision 0056). */
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
  // An attribute of the caller's own may have any name.
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

/** v2.1 names the audience in a header as well; the two must agree (decision D34). */
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

/** A joined campaign's stored data wins here too (decision D33). What is no flag is refused with the other settings. */
function readTemplateMode(body: PushBody, admitted: PushOfWorkspace): TemplateMode {
  const { existing } = admitted;
  if (existing) return deliverySettings(existing.settings).templates;
  return templateModeOf(readSettingFlag(body, { admitted, name: 'useJinjaPersonalization' }));
}

/** A setting by which the rest is read; its own fault is told in its place. */
function readSettingFlag(body: PushBody, { admitted, name }: { admitted: PushOfWorkspace; name: string }) {
  const reader = makePushReader(body, { mode: 'AUTO', bodies: admitted.workspace.pushBodies });
  return reader.part('advancedSettings').flag(name);
}
