import { randomBytes } from 'node:crypto';

/**
 * Makes a record id: 24 lower-case hexadecimal characters, ordered by creation time (decision D40). The first 12
 * are milliseconds since 1970, the last 12 are random, so an id cannot be guessed from its neighbour.
 *
 * @param now time of creation
 * @param random at least 6 random bytes
 */
export function makeId(now: Date, random: Uint8Array = randomBytes(6)): string {
  return now.getTime().toString(16).padStart(12, '0') + Buffer.from(random.subarray(0, 6)).toString('hex');
}

/** The greatest id that can have been made at or before `at`: the frozen upper bound of an audience. */
export function lastIdAt(at: Date): string {
  return at.getTime().toString(16).padStart(12, '0') + 'ffffffffffff';
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}
