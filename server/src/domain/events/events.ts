import { maxBusinessAttributes, maxBusinessNameCharacters } from '../limits/campaigns.ts';
import { maxEventLeadSeconds, maxOffsetSeconds } from '../limits/users.ts';
import { checked, list, part, readWith, required, text, word } from '../../fields/combinators.ts';
import { readMembers } from '../../fields/field.ts';
import type { ReadingRules } from '../../fields/reading-rules.ts';
import { isObject, RequestReader } from '../../fields/request-reader.ts';
import { parseIsoTime } from '../timing/iso-time.ts';
import { unknownCase } from '../unknown-case.ts';
import { textFault } from '../users/user-attributes.ts';

/** The types of attributes (fact 6.3). */
export const businessAttributeTypes = ['string', 'int', 'float', 'array', 'date'] as const;
export type BusinessAttributeType = (typeof businessAttributeTypes)[number];
export type BusinessAttribute = { name: string; type: BusinessAttributeType };

const maxText = 4_096;
const maxItems = 1_000;

/**
 * Returns why the attributes of a trigger do not match its event: an unknown attribute or a value of another type. Missing
 * attributes count as absent.
 */
export function attributesFault(
  attributes: Record<string, unknown>,
  known: readonly BusinessAttribute[],
): string | undefined {
  for (const [name, value] of Object.entries(attributes)) {
    const attribute = known.find((one) => one.name === name);
    if (!attribute) return `${name} is not an attribute of the event`;
    if (!isOfType(value, attribute.type)) return `${name} must be of type ${attribute.type}`;
  }
  return undefined;
}

function isOfType(value: unknown, type: BusinessAttributeType): boolean {
  switch (type) {
    case 'string':
      return isText(value);
    case 'int':
      return Number.isSafeInteger(value);
    case 'float':
      return typeof value === 'number' && Number.isFinite(value);
    case 'array':
      return Array.isArray(value) && value.length <= maxItems && value.every(isItem);
    case 'date':
      return typeof value === 'string' && parseIsoTime(value) !== undefined;
    default:
      return unknownCase(type);
  }
}

function isItem(value: unknown): boolean {
  return isText(value) || typeof value === 'number' || typeof value === 'boolean';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= maxText && textFault(value) === undefined;
}

const typeNames = businessAttributeTypes.join(', ');

/** An attribute of a business event, in requests and responses. */
export const businessAttribute = part(
  {
    attribute_name: required(
      checked(text({ max: maxBusinessNameCharacters }), { is: isText, reason: 'must be a text that can be stored' }),
    ),
    attribute_data_type: required(word(businessAttributeTypes, typeNames)),
  },
  { title: 'BusinessEventAttribute' },
);

/** The attributes of a new event. The first fault of an attribute is reported as a fault of the list. */
export const businessAttributes = readWith<BusinessAttribute[]>(
  list(businessAttribute, { max: maxBusinessAttributes }),
  (event, name) => {
    const sent = event.get(name);
    if (sent === undefined) return undefined;
    const attributes: BusinessAttribute[] = [];
    const fault = readAttributes(sent, { attributes, rules: event.rules });
    if (fault === undefined) return attributes;
    event.invalid(name, fault);
    return undefined;
  },
);

type Reading = { attributes: BusinessAttribute[]; rules: ReadingRules };

/** Adds the attributes that were sent. @returns why the list is rejected, or undefined */
function readAttributes(sent: unknown, { attributes, rules }: Reading): string | undefined {
  if (!Array.isArray(sent) || sent.length > maxBusinessAttributes)
    return `must be a list of at most ${maxBusinessAttributes} attributes`;
  for (const item of sent) {
    const reader = new RequestReader(isObject(item) ? item : {}, { rules });
    const { attribute_name: name, attribute_data_type: type } = readMembers(reader, businessAttribute.members);
    if (name === undefined)
      return `must hold objects with attribute_name, a text of 1 to ${maxBusinessNameCharacters} characters`;
    if (type === undefined) return `must have attribute_data_type ${typeNames}`;
    if (attributes.some((one) => one.name === name)) return `names ${name} twice`;
    attributes.push({ name, type });
  }
  return undefined;
}

/** The platforms of events, as callers write them (fact 5). */
export const eventPlatforms = { ANDROID: 'ANDROID', iOS: 'IOS', web: 'WEB', TV: 'TV', unknown: 'UNKNOWN' } as const;

// The latest time that a Date can hold, in seconds.
const maxEpochSeconds = 8.64e12;

/** Reads ISO 8601 (UTC unless it has an offset) or seconds since 1970, as a number or its digits; otherwise undefined. */
export function readEventTime(value: unknown): Date | undefined {
  const isSeconds = typeof value === 'number' || (typeof value === 'string' && /^\d{1,13}(\.\d{1,9})?$/.test(value));
  const seconds = isSeconds ? Number(value) : Number.NaN;
  if (seconds >= 0 && seconds <= maxEpochSeconds) return new Date(seconds * 1000);
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
  return time && (time.kind === 'day' ? time.startsAt : time.at);
}

const hundredYearsSeconds = 100 * 365.25 * 86_400;

/**
 * Returns when an event counts as having happened. The clocks of senders run ahead (interface 4 is silent; decision 0070), so a
 * time a little ahead counts as now. Otherwise a future time is a fault; one that is far ahead is usually in milliseconds.
 */
export function settleEventTime(sent: Date, now: Date): { at: Date } | { fault: string } {
  const leadSeconds = (sent.getTime() - now.getTime()) / 1000;
  if (leadSeconds <= 0) return { at: sent };
  if (leadSeconds <= maxEventLeadSeconds) return { at: now };
  const isMilliseconds = leadSeconds > hundredYearsSeconds;
  return {
    fault: isMilliseconds
      ? 'must not be in the future; it looks like milliseconds, and seconds are expected'
      : `must not be more than ${maxEventLeadSeconds / 60} minutes in the future`,
  };
}

/**
 * Returns when an event happened by this clock: the sender's clock may be wrong by hours, and its difference is known if it said when it
 * sent the request. An event never happens after it was received. A clock that is wrong by thousands of years gives the earliest time that can
 * be stored.
 */
export function correctEventTime(time: Date, { sentAt, at }: { sentAt: Date | undefined; at: Date }): Date {
  const aheadMilliseconds = sentAt === undefined ? 0 : sentAt.getTime() - at.getTime();
  return new Date(Math.max(earliestEventTime, Math.min(at.getTime(), time.getTime() - aheadMilliseconds)));
}

const earliestEventTime = Date.parse('0001-01-01T00:00:00Z');

const eventPlatformsInCapitals = new Map(
  Object.entries(eventPlatforms).map(([name, stored]) => [name.toUpperCase(), stored]),
);

/** Returns the stored name of a platform, whose name may be in any case, or undefined if it is unknown. */
export function readEventPlatform(value: unknown): (typeof eventPlatforms)[keyof typeof eventPlatforms] | undefined {
  return typeof value === 'string' ? eventPlatformsInCapitals.get(value.toUpperCase()) : undefined;
}

/** True if a number of seconds can be an offset from UTC. */
export function isOffset(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= maxOffsetSeconds;
}
