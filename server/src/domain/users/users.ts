import { createHash } from 'node:crypto';
import { maxIdentifierBytes } from '../limits/users.ts';
import { standardAttributes, storedNameOf } from './standard-attributes.ts';

/** A value by which a file or a send identifies a user: the attribute's text, or a number's shortest decimal form. */
export type Identifier = { attribute: string; type: 'string' | 'double'; value: string };

/** How `targetUserAttributes.attribute` identifies users (fact 3.2). */
export type IdentifierName = { kind: 'customer-id' } | { kind: 'attribute'; attribute: string };

const standardNames: Record<string, IdentifierName> = {
  [standardAttributes.uid.selector]: { kind: 'customer-id' },
  [standardAttributes.u_em.selector]: { kind: 'attribute', attribute: 'u_em' },
  [standardAttributes.u_mb.selector]: { kind: 'attribute', attribute: 'u_mb' },
  SVC_GAID: { kind: 'attribute', attribute: 'device:gaid' },
  ADVERTISING_IDENTIFIER: { kind: 'attribute', attribute: 'device:idfv' },
  PUSH_ID: { kind: 'attribute', attribute: 'device:push_id' },
};

/**
 * Replaces the vendor's abbreviation in a name by the neutral spelling in which it is stored.
 *
 * @param prefixes spellings of the abbreviation, lower-case
 */
export function neutralName(name: string, prefixes: readonly string[]): string {
  return prefixes.some((prefix) => name === `${prefix.toUpperCase()}_GAID`) ? 'SVC_GAID' : name;
}

/** Returns what a name in the push API looks up; undefined if it is neither a standard name nor marked as custom. */
export function identifierOf(name: string, { isCustom }: { isCustom: boolean }): IdentifierName | undefined {
  if (isCustom) return name === 'uid' ? { kind: 'customer-id' } : { kind: 'attribute', attribute: storedNameOf(name) };
  return Object.hasOwn(standardNames, name) ? standardNames[name] : undefined;
}

/** True if the values belong to a user's devices, of which there may be several. */
export function isOfDevices(attribute: string): boolean {
  return attribute.startsWith('device:');
}

/**
 * Returns the identifiers among a user's attributes: strings and finite numbers (decision D24). Other types are not
 * identifiers, and neither is what an app wrote: a stranger could write the value of another user (decision 0079).
 */
export function identifiersOf(attributes: Record<string, unknown>): Identifier[] {
  return Object.entries(attributes).flatMap(([attribute, value]) => {
    if (isOfApps(attribute)) return [];
    const identifier = toIdentifierValue(value);
    return identifier ? [{ attribute, ...identifier }] : [];
  });
}

/** The prefix under which attributes that apps write are stored, so that no app overwrites what a server wrote. */
export const appAttributePrefix = 'app:';

/** True if apps may have written the attribute. */
export function isOfApps(attribute: string): boolean {
  return attribute.startsWith(appAttributePrefix);
}

/** Returns the stored form of one value, or undefined if it is not an identifier. */
export function toIdentifierValue(value: unknown): Pick<Identifier, 'type' | 'value'> | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return { type: 'double', value: canonicalNumber(value) };
  if (typeof value !== 'string' || value === '') return undefined;
  const text = value.normalize('NFC');
  return Buffer.byteLength(text) <= maxIdentifierBytes ? { type: 'string', value: text } : undefined;
}

/** Returns one text for 7, 7.0 and 7e0; the same for 0 and -0. */
export function canonicalNumber(value: number): string {
  return String(value === 0 ? 0 : value);
}

/** How a caller refers to a user: by customer id, or by the id assigned by this service (fact 5). */
export type UserIdentity = { kind: 'customer-id' | 'id'; value: string };

/**
 * Returns the kind of a type of identity. The sources name our id `id` in samples and `<vendor>_id` in the schema, so
 * both are accepted.
 *
 * @param prefixes spellings of the vendor's abbreviation, lower-case
 */
export function identityKindOf(type: string, prefixes: readonly string[]): UserIdentity['kind'] | undefined {
  if (type === 'customer_id') return 'customer-id';
  return type === 'id' || prefixes.some((prefix) => isIdOf(prefix, type)) ? 'id' : undefined;
}

/** True for `svc_id`, and for the vendor's whole name, which begins with its abbreviation. */
function isIdOf(prefix: string, type: string): boolean {
  return type.startsWith(prefix) && /^[a-z]*_id$/.test(type.slice(prefix.length));
}

/** The number of buckets over which every workspace's users are spread. Changing it means moving every row. */
export const bucketCount = 256;

/**
 * Returns the bucket (0…255) of a user: the first byte of SHA-256 of the `customer_id`. The `customer_id` never
 * changes, so a user never moves and a lookup by `customer_id` touches one shard.
 */
export function bucketOf(customerId: string): number {
  return createHash('sha256').update(customerId, 'utf8').digest()[0]!;
}

/** The key of everything that belongs to a user. */
export type UserKey = { bucket: number; userId: string };

/** Groups rows by bucket, the lowest first: the order in which rows of several buckets are locked everywhere. */
export function groupByBucket<Row extends { bucket: number }>(rows: Iterable<Row>): [bucket: number, rows: Row[]][] {
  return [...Map.groupBy(rows, ({ bucket }) => bucket)].toSorted(([one], [other]) => one - other);
}
