/** By what the members of a union are told apart. */
const discriminants = ['kind', 'type', 'state', 'outcome', 'platform', 'provider'] as const;
const maxShownCharacters = 60;

/**
 * Ends a switch over a union. What comes here is of another version of this service that stored it, or was not checked where it came
 * in: it is a fault, and not passed on as if it had been handled. Told by what tells it apart alone, since the rest may be a
 * message, a token or a user's.
 */
export function unknownCase(value: never): never {
  throw new Error(`unknown case: ${tell(value)}`);
}

function tell(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value).slice(0, maxShownCharacters);
  const members = value as Record<string, unknown>;
  const name = discriminants.find((one) => typeof members[one] === 'string');
  return name === undefined ? 'an object' : `${name} ${String(members[name]).slice(0, maxShownCharacters)}`;
}
