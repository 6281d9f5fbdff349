import { maxIdentifierBytes } from './limits.ts';

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
