// Nodes take their time from the database, each with the delay of its own question.
const maxAheadMilliseconds = 10_000;

export type TokenAge = { issuedAtMilliseconds: number; nowMilliseconds: number; lifeMilliseconds: number };

/**
 * Whether a token of ours may still be sent to a provider. One from the future was issued while the clock was ahead: the
 * provider refuses it for as long as that, or keeps it too long.
 */
export function isYoungToken({ issuedAtMilliseconds, nowMilliseconds, lifeMilliseconds }: TokenAge): boolean {
  const age = nowMilliseconds - issuedAtMilliseconds;
  return age < lifeMilliseconds && age >= -maxAheadMilliseconds;
}
