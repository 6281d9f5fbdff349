import { maxAppEventAttributes, maxAppValueCharacters } from '../limits/installations.ts';
import { standardAttributes } from './standard-attributes.ts';
import { attributesFault, textFault } from './user-attributes.ts';
import type { Attributes } from './user-attributes.ts';
import { appAttributePrefix, isOfApps, isOfDevices } from './users.ts';

/** The attribute in which the time zone of a device is stored. */
export const appTimeZone = `${appAttributePrefix}time_zone`;

const standardNames = new Set(
  Object.entries(standardAttributes).flatMap(([stored, { display, selector, ofApi }]) => [
    stored,
    display,
    selector,
    ...ofApi,
  ]),
);

/**
 * Returns why apps may not write an attribute of this name, or undefined. Standard attributes identify or name users, so no app
 * writes them under any of their names.
 *
 * @param prefixes spellings of the vendor's abbreviation, lower-case
 */
export function appAttributeFault(name: string, prefixes: readonly string[]): string | undefined {
  if (standardNames.has(name)) return 'is a standard attribute, which apps cannot write';
  if (isOfApps(name) || isOfDevices(name) || name === 'time_zone') return 'is a reserved name';
  return attributesFault({ [name]: '' }, prefixes)?.reason;
}

/** Returns the attributes that an app sets under their stored names, or the first that it may not set. */
export function underAppNames(
  sent: Attributes,
  writable: readonly string[],
): { attributes: Attributes } | { fault: string } {
  const unknown = Object.keys(sent).find((name) => !writable.includes(name));
  if (unknown !== undefined) return { fault: `${unknown.slice(0, 50)} is not an attribute that apps may write` };
  const fault = valuesFault(sent);
  if (fault !== undefined) return { fault };
  return {
    attributes: Object.fromEntries(
      Object.entries(sent).map(([name, value]) => [`${appAttributePrefix}${name}`, value]),
    ),
  };
}

/** Returns why attributes from an app cannot be stored: apps send plain values, and lists of them. */
export function valuesFault(sent: Attributes): string | undefined {
  const entries = Object.entries(sent);
  if (entries.length > maxAppEventAttributes) return `must hold at most ${maxAppEventAttributes} attributes`;
  for (const [name, value] of entries) {
    if (textFault(name) !== undefined || name === '' || name.length > 256) return 'holds a name that cannot be stored';
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    if (values.length > maxAppEventAttributes || !values.every(isPlainValue))
      return `${name.slice(0, 50)} must be a text of at most ${maxAppValueCharacters} characters, a number, a flag, null, or a list of them`;
  }
  return undefined;
}

function isPlainValue(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= maxAppValueCharacters && textFault(value) === undefined;
  return value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}
