import { AttributeSource } from '../template/template-value.ts';
import type { Attributes } from './user-attributes.ts';

/** A user as seen by a template; nothing is known about a user erased in the meantime. */
export type User = { customerId: string; attributes: Attributes };

export const unknownUser: User = { customerId: '', attributes: {} };

/** Names of the standard attributes (fact 3.8, 5): as they are shown, and as lookups of the push API say them. */
const standardNames: Record<string, string> = {
  ID: 'uid',
  Name: 'u_n',
  'First Name': 'u_fn',
  'Last Name': 'u_ln',
  'Email (Standard)': 'u_em',
  'Mobile Number (Standard)': 'u_mb',
  Gender: 'u_gd',
  Birthday: 'u_bd',
  USER_ATTRIBUTE_UNIQUE_ID: 'uid',
  USER_ATTRIBUTE_USER_NAME: 'u_n',
  USER_ATTRIBUTE_USER_FIRST_NAME: 'u_fn',
  USER_ATTRIBUTE_USER_LAST_NAME: 'u_ln',
  USER_ATTRIBUTE_USER_EMAIL: 'u_em',
  USER_ATTRIBUTE_USER_MOBILE: 'u_mb',
  USER_ATTRIBUTE_USER_GENDER: 'u_gd',
  USER_ATTRIBUTE_USER_BDAY: 'u_bd',
};

/**
 * `UserAttribute` of a person. An attribute of exactly that name comes first, so that one of the workspace's own named
 * `Name` is what it says; the customer id is the person's whatever the attributes hold.
 */
export function userSource({ customerId, attributes }: User): AttributeSource {
  const find = (name: string): unknown => {
    const id = customerId === '' ? undefined : customerId;
    if (name === 'uid' || name === 'customer_id') return id;
    if (Object.hasOwn(attributes, name)) return attributes[name];
    const key = Object.hasOwn(standardNames, name) ? standardNames[name]! : name;
    if (key === 'uid') return id;
    return Object.hasOwn(attributes, key) ? attributes[key] : undefined;
  };
  return new AttributeSource('UserAttribute', { cause: 'USER_ATTRIBUTE', find });
}

/** The names under which attributes are stored that lookups by these names may read. */
export function storedNames(names: readonly string[] | 'all'): readonly string[] | 'all' {
  if (names === 'all') return names;
  return [
    ...new Set(names.flatMap((name) => (Object.hasOwn(standardNames, name) ? [name, standardNames[name]!] : [name]))),
  ];
}
