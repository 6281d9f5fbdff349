import { createHash } from 'node:crypto';
import { maxIdentifierBytes } from '../limits/users.ts';

/** A value by which a file or a send names a user: the attribute's text, or a number's shortest decimal form. */
export type Identifier = { attribute: string; type: 'string' | 'double'; value: string };

/** How `targetUserAttributes.attribute` names users (fact 3.2). */
export type IdentifierName = { kind: 'customer-id' } | { kind: 'attribute'; attribute: string };

const standardNames: Record<string, IdentifierName> = {
  USER_ATTRIBUTE_UNIQUE_ID: { kind: 'customer-id' },
  USER_ATTRIBUTE_USER_EMAIL: { kind: 'attribute', attribute: 'u_em' },
  USER_ATTRIBUTE_USER_MOBILE: { kind: 'attribute', attribute: 'u_mb' },
  SVC_GAID: { kind: 'attribute', attribute: 'device:gaid' },
  ADVERTISING_IDENTIFIER: { kind: 'attribute', attribute: 'device:idfv' },
  PUSH_ID: { kind: 'attribute', attribute: 'device:push_id' },
};

/**
 * A name that carries the vendor's abbreviation under its neutral spelling, in which it is stored.
 *
 * @param prefixes spellings of the abbreviation, lower-case
 */
export function neutralName(name: string, prefixes: readonly string[]): string {
  return prefixes.some((prefix) => name === `${prefix.toUpperCase()}_GAID`) ? 'SVC_GAID' : name;
}

/** What a name of the push API looks up; undefined when it is no standard name and not marked as custom. */
export function identifierOf(name: string, { isCustom }: { isCustom: boolean }): IdentifierName | undefined {
  if (isCustom) return name === 'uid' ? { kind: 'customer-id' } : { kind: 'attribute', attribute: name };
  return Object.hasOwn(standardNames, name) ? standardNames[name] : undefined;
}

/** Whether the values are those of a user's devices, of which there may be several. */
export function isOfDevices(attribute: string): boolean {
  return attribute.startsWith('device:');
}

/**
 * The identifiers among a user's attributes: strings and finite numbers (decision D24). Other types are not
 * identifiers.
 */
export function identifiersOf(attributes: Record<string, unknown>): Identifier[] {
  return Object.entries(attributes).flatMap(([attribute, value]) => {
    const identifier = toIdentifierValue(value);
    return identifier ? [{ attribute, ...identifier }] : [];
  });
}

/** The stored form of one value, or undefined when it identifies nobody. */
export function toIdentifierValue(value: unknown): Pick<Identifier, 'type' | 'value'> | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return { type: 'double', value: canonicalNumber(value) };
  if (typeof value !== 'string' || value === '') return undefined;
  const text = value.normalize('NFC');
  return Buffer.byteLength(text) <= maxIdentifierBytes ? { type: 'string', value: text } : undefined;
}

/** 7, 7.0 and 7e0 are one text; so are 0 and -0. */
export function canonicalNumber(value: number): string {
  return String(value === 0 ? 0 : value);
}

/** How a caller refers to a user: by customer id, or by the id assigned by this service (fact 5). */
export type UserIdentity = { kind: 'customer-id' | 'id'; value: string };

/**
 * What a type of identity means. The sources name the own id `id` in samples and `<vendor>_id` in the schema, so both
 * are taken.
 *
 * @param prefixes spellings of the vendor's abbreviation, lower-case
 */
export function identityKindOf(type: string, prefixes: readonly string[]): UserIdentity['kind'] | undefined {
  if (type === 'customer_id') return 'customer-id';
  return ['id', ...prefixes.map((prefix) => `${prefix}_id`)].includes(type) ? 'id' : undefined;
}

/** Number of buckets every workspace's users are spread over. Changing it means moving every row. */
export const bucketCount = 256;

/**
 * The bucket (0…255) of a user: the first byte of SHA-256 of the `customer_id`, which never changes, so a user never
 * moves and a look-up by `customer_id` touches one shard.
 */
export function bucketOf(customerId: string): number {
  return createHash('sha256').update(customerId, 'utf8').digest()[0]!;
}

/** Where a user is stored: the key of all that belongs to one. */
export type UserKey = { bucket: number; userId: string };

/** Rows by their bucket, the lowest first: the order in which rows of several are locked everywhere. */
export function groupByBucket<Row extends { bucket: number }>(rows: Iterable<Row>): [bucket: number, rows: Row[]][] {
  return [...Map.groupBy(rows, ({ bucket }) => bucket)].toSorted(([one], [other]) => one - other);
}
