import type { Attributes } from './user-attributes.ts';

/** Traits of Segment's specification that have another name in the data API. */
const apiNames: ReadonlyMap<string, string> = new Map([
  ['firstName', 'first_name'],
  ['lastName', 'last_name'],
  ['phone', 'mobile'],
]);

/** Returns the attributes that a user gets from traits. `id` repeats the name of the user, so it is not an attribute. */
export function attributesOfTraits(traits: Record<string, unknown>): Attributes {
  return renamed(traits, (name) => apiNames.get(name) ?? name);
}

/** Returns the attributes that a user gets from the group it belongs to: `group_id`, and the traits under `group_…`. */
export function attributesOfGroup(groupId: string, traits: Record<string, unknown>): Attributes {
  return { ...renamed(traits, (name) => `group_${name}`), group_id: groupId };
}

function renamed(traits: Record<string, unknown>, nameOf: (name: string) => string): Attributes {
  return Object.fromEntries(
    Object.entries(traits)
      .filter(([name]) => name !== 'id')
      .map(([name, value]) => [nameOf(name), value]),
  );
}

/** Returns the name under which a user without a `userId` is stored until a message names the user. */
export function anonymousCustomerId(anonymousId: string): string {
  return `anonymous:${anonymousId}`;
}

/**
 * Returns the name of a member that a copy of the object could turn into its prototype, at any level; undefined if there is none. Bodies
 * of other routes are rejected as a whole for it; here only the message is.
 */
export function hostileMember(value: unknown): string | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = name === '__proto__' ? name : hostileMember(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
