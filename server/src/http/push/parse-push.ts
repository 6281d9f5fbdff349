import { randomUUID } from 'node:crypto';
import { maxName } from '../../app/push/admit-push.ts';
import type { AdmittedPush } from '../../app/push/admit-push.ts';
import { platforms as everyPlatform } from '../../domain/campaigns/content.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { PushAudience, PushCommand } from '../../domain/push/push-command.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';
import { parseTiming } from '../../domain/timing/parse-timing.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import { makeFieldReader } from './field-reader.ts';
import type { FieldReader } from './field-reader.ts';
import { parseContent } from './parse-content.ts';
import { parseGoals } from './parse-goals.ts';
import { parseSettings, templateModeOf } from './parse-settings.ts';

export type PushBody = Record<string, unknown>;

export type ParseContext = {
  admitted: AdmittedPush;
  now: Date;
  /** The query-type header of v2.1; undefined in v2, which has none. */
  queryType: { value: string | undefined } | undefined;
};

const maxTags = 50;
const maxUserValues = 50;

/**
 * Turns the body of either version into one command. The name and the signature have been checked; here is everything
 * after the duplicate name in decision D31.
 *
 * @throws ServiceError PUSH_VALUE_NOT_ALLOWED, PUSH_PARAMETER_INVALID
 */
export function parsePush(body: PushBody, { admitted, now, queryType }: ParseContext): PushCommand {
  const reader = makeFieldReader(readTemplateMode(body, admitted));
  if ([...admitted.name].length > maxName) reader.invalid('campaignName', `must have at most ${maxName} characters`);
  const audience = parseAudience(reader, body);
  if (queryType) checkQueryType(reader, queryType.value, body.targetAudience);
  const sentPlatforms = parsePlatforms(reader, body.targetPlatform);
  // A joined campaign's stored data wins (decision D33); the content must cover the platforms it is stored with.
  const platforms = admitted.existing?.platforms ?? sentPlatforms;
  const content = parseContent(reader, body.payload, platforms);
  const timing = readTiming(reader, body.campaignDelivery, { now, workspaceTimeZone: admitted.workspace.timeZone });
  const tags = (reader.list(body.campaignTags, 'campaignTags', maxTags) ?? []).map(
    (tag, index) => reader.text(tag, `campaignTags[${index}]`, { longest: 256 }) ?? '',
  );
  const conversionGoals = parseGoals(reader, body.conversionGoals);
  const settings = parseSettings(reader, body.advancedSettings);
  const requestId = reader.text(body.requestId, 'requestId', { longest: 255 });
  reader.throwFirst();
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
  };
}

function parsePlatforms(reader: FieldReader, value: unknown): Platform[] {
  const items = reader.list(value, 'targetPlatform', 10);
  if (!items) {
    if (value === undefined) reader.invalid('targetPlatform', 'is required');
    return [];
  }
  if (items.length === 0) reader.invalid('targetPlatform', 'must name a platform');
  const named = items.map((item) => reader.choice(item ?? null, 'targetPlatform', everyPlatform));
  return everyPlatform.filter((platform) => named.includes(platform));
}

const audiences = ['All Users', 'Custom Segment', 'User'] as const;

function parseAudience(reader: FieldReader, body: PushBody): PushAudience {
  if (body.targetAudience === undefined) reader.invalid('targetAudience', 'is required');
  const audience = reader.choice(body.targetAudience, 'targetAudience', audiences);
  if (audience === 'Custom Segment') {
    return {
      kind: 'segment',
      name: reader.requiredText(body.customSegmentName, 'customSegmentName', { longest: 256 }),
    };
  }
  return audience === 'User' ? parseUser(reader, body.targetUserAttributes) : { kind: 'all-users' };
}

function parseUser(reader: FieldReader, value: unknown): PushAudience {
  const at = 'targetUserAttributes';
  if (value === undefined) reader.invalid(at, 'is required for audience User');
  const attributes = reader.record(value, at) ?? {};
  const attribute = reader.requiredText(attributes.attribute, `${at}.attribute`, { longest: 256 });
  if (attributes.comparisonParameter === undefined) reader.invalid(`${at}.comparisonParameter`, 'is required');
  const comparison = reader.choice(attributes.comparisonParameter, `${at}.comparisonParameter`, ['is', 'in'] as const);
  const isCustom = reader.boolean(attributes.isCustom, `${at}.isCustom`) ?? false;
  const field = `${at}.attributeValue`;
  if (comparison !== 'in')
    return { kind: 'user', attribute, isCustom, values: [reader.requiredText(attributes.attributeValue, field)] };
  const items = reader.list(attributes.attributeValue, field, maxUserValues);
  if (!items || items.length === 0) reader.invalid(field, 'must be a list of 1 to 50 texts');
  const values = (items ?? []).map((item, index) => reader.requiredText(item, `${field}[${index}]`));
  return { kind: 'user', attribute, isCustom, values };
}

/** v2.1 names the audience in a header as well; the two must agree (decision D34). */
function checkQueryType(reader: FieldReader, queryType: string | undefined, audience: unknown): void {
  const field = 'X-SVC-Query-Type';
  if (queryType === undefined) reader.invalid(field, 'is required');
  else if (typeof audience === 'string' && queryType !== audience.toLowerCase())
    reader.invalid(field, 'differs from targetAudience');
}

function readTiming(reader: FieldReader, value: unknown, context: { now: Date; workspaceTimeZone: string }): Timing {
  const delivery = reader.record(value, 'campaignDelivery');
  if (!delivery) {
    if (value === undefined) reader.invalid('campaignDelivery', 'is required');
    return { kind: 'soon' };
  }
  if (delivery.type === undefined) reader.invalid('campaignDelivery.type', 'is required');
  const type = reader.choice(delivery.type, 'campaignDelivery.type', ['soon', 'later', 'periodic'] as const);
  if (type === undefined) return { kind: 'soon' };
  const timing = parseTiming({ ...delivery, type }, context);
  if (!('fault' in timing)) return timing;
  reader.invalid(timing.fault.field, timing.fault.reason);
  return { kind: 'soon' };
}

/** A joined campaign's stored data wins here too (decision D33). What is no flag is refused with the other settings. */
function readTemplateMode(body: PushBody, { existing }: AdmittedPush): TemplateMode {
  if (existing) return deliverySettings(existing.settings).templates;
  const settings = body.advancedSettings as { useJinjaPersonalization?: unknown } | null | undefined;
  return templateModeOf(makeFieldReader().boolean(settings?.useJinjaPersonalization, ''));
}
