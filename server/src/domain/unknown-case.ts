/** The names of members that distinguish the cases of a union. */
const discriminants = ['kind', 'type', 'state', 'outcome', 'platform', 'provider'] as const;
const maxShownCharacters = 60;

/**
 * Ends a switch over a union. Another version of this service stored the value, or it was not validated on input. Either is
 * a fault, and the value must not pass as if it had been handled. The error names only the discriminant, because the rest
 * may be a message, a token or user data.
 */
export function unknownCase(value: never): never {
  throw new Error(`unknown case: ${describe(value)}`);
}

function describe(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value).slice(0, maxShownCharacters);
  const members = value as Record<string, unknown>;
  const name = discriminants.find((one) => typeof members[one] === 'string');
  return name === undefined ? 'an object' : `${name} ${String(members[name]).slice(0, maxShownCharacters)}`;
}
