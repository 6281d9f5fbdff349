import { findTimeZone, noTimeZone } from '../timing/local-time.ts';
import { maxAttributeNameCharacters, maxCustomerIdBytes } from '../limits/users.ts';
import { unknownCase } from '../unknown-case.ts';
import { storedNameOf } from './standard-attributes.ts';

export type Attributes = Record<string, unknown>;

/** Customer ids that careless clients send for users without one (fact 5); they would merge unrelated users into one. */
const refusedCustomerIds = new Set(
  [
    'unknown',
    'guest',
    'null',
    '0',
    '1',
    '2',
    '-1',
    '-2',
    'true',
    'false',
    '(empty)',
    'na',
    'n/a',
    'none',
    'user_id',
    'id',
    'uid',
  ].concat(['userid', 'customer_id', 'user_attribute_unique_id', 'dummy_seller_code', '']),
);

/** Returns why a customer id cannot be used, or undefined. */
export function customerIdFault(customerId: string): string | undefined {
  if (refusedCustomerIds.has(customerId.trim().toLowerCase())) return 'is a reserved value';
  if (Buffer.byteLength(customerId) > maxCustomerIdBytes) return `must have at most ${maxCustomerIdBytes} bytes`;
  return textFault(customerId);
}

/** Returns why a text cannot be stored, or undefined. */
export function textFault(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return text.includes('\0') ? 'must not hold NUL' : undefined;
}

export type AttributeFault = { attribute: string; reason: string };

/**
 * Checks attribute names and values (fact 5). Reserved names are `id`, `_id`, the empty name and those with the
 * vendor's prefix; names that begin with `device:` are reserved too, so that no attribute can shadow a device's
 * identifier.
 */
export function attributesFault(attributes: Attributes, prefixes: readonly string[]): AttributeFault | undefined {
  for (const [attribute, value] of Object.entries(attributes)) {
    const isReserved =
      ['', 'id', '_id'].includes(attribute) ||
      attribute.startsWith('device:') ||
      (prefixes.some((prefix) => attribute.startsWith(`${prefix}_`)) &&
        !allowedVendorNames.has(attribute.replace(/^[^_]+_/, '')));
    if (isReserved) return { attribute, reason: 'is a reserved name' };
    if (attribute.length > maxAttributeNameCharacters)
      return {
        attribute: attribute.slice(0, 50),
        reason: `must have at most ${maxAttributeNameCharacters} characters`,
      };
    const fault = textFault(attribute) ?? valueFault(value);
    if (fault !== undefined) return { attribute, reason: fault };
  }
  return undefined;
}

/**
 * Returns why a change of the time-zone attribute is invalid, or undefined. A blank text means that the zone is
 * unknown, as null does. A text that is not a zone name would make the user unreachable at a local time.
 */
export function zoneAttributeFault(attributes: Attributes, zoneAttribute: string): AttributeFault | undefined {
  if (!Object.hasOwn(attributes, zoneAttribute)) return undefined;
  const value = attributes[zoneAttribute];
  if (value === null) return undefined;
  if (typeof value !== 'string') return { attribute: zoneAttribute, reason: noTimeZone };
  return value.trim() === '' || findTimeZone(value) !== undefined
    ? undefined
    : { attribute: zoneAttribute, reason: `${noTimeZone}: ${value.slice(0, 50)}` };
}

/** Standard attributes whose names carry the vendor's prefix (fact 5): which other channels may not reach the user, and how they failed. */
const allowedVendorNames = new Set([
  ...['gaid', 'sub_w', 'unsubscribe', 'spam', 'hard_bounce'],
  ...['wa_subscription', 'sms_subscription', 'em_unsub_categories'],
]);

/** How a rule of `unset_attributes` compares names. */
export const unsetKinds = ['equals', 'prefix', 'suffix', 'contains'] as const;

/** The attributes that a request removes. */
export type UnsetRule = { attr: string; type: (typeof unsetKinds)[number]; isCaseless?: true };

/** Returns the attributes that no rule removes. */
export function withoutUnset(attributes: Attributes, rules: readonly UnsetRule[]): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !rules.some((rule) => isUnset(name, rule))));
}

function isUnset(stored: string, { attr, type, isCaseless }: UnsetRule): boolean {
  const [name, asked] = [stored, type === 'equals' ? storedNameOf(attr) : attr].map((text) =>
    isCaseless ? text.toLowerCase() : text,
  ) as [string, string];
  switch (type) {
    case 'equals':
      return name === asked;
    case 'prefix':
      return name.startsWith(asked);
    case 'suffix':
      return name.endsWith(asked);
    case 'contains':
      return name.includes(asked);
    default:
      return unknownCase(type);
  }
}

/**
 * Returns why a value cannot be stored. Values have JSON types. A date is an ISO 8601 string, which filters read as a
 * time. A number too large for a double would be stored as null.
 */
function valueFault(value: unknown): string | undefined {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be a number that a double can hold';
  if (value !== null && typeof value === 'object') {
    for (const [name, inner] of Object.entries(value)) {
      const fault = textFault(name) ?? valueFault(inner);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

/**
 * Merges changes into a user's attributes: a value replaces, `null` removes, and `{"addValueToArrayField": […]}` or
 * `{"removeValueFromArrayField": […]}` edits a list (fact 5). Values are compared as JSON; a value that is already in
 * the list is not added again.
 */
export function mergeAttributes(current: Attributes, changes: Attributes): Attributes {
  const merged = { ...current };
  for (const [name, change] of Object.entries(changes)) {
    if (change === null) delete merged[name];
    else merged[name] = editList(merged[name], change);
  }
  return merged;
}

function editList(current: unknown, change: unknown): unknown {
  if (!isListEdit(change)) return change;
  const list = current === undefined ? [] : toList(current);
  const removed = new Set(toList(change.removeValueFromArrayField).map(toComparable));
  const edited = list.filter((item) => !removed.has(toComparable(item)));
  const known = new Set(edited.map(toComparable));
  for (const item of toList(change.addValueToArrayField)) {
    if (known.has(toComparable(item))) continue;
    known.add(toComparable(item));
    edited.push(item);
  }
  return edited;
}

type ListEdit = { addValueToArrayField?: unknown; removeValueFromArrayField?: unknown };

/** True if a change edits a list; an object with any other member is a value. */
export function isListEdit(change: unknown): change is ListEdit {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return false;
  const names = Object.keys(change);
  return (
    names.length > 0 && names.every((name) => name === 'addValueToArrayField' || name === 'removeValueFromArrayField')
  );
}

function toList(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

/** Returns equal texts for equal values, regardless of the order of an object's members. */
function toComparable(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
