import { randomInt } from 'node:crypto';

/** Eight letters, as callers of these families know them; it finds the call in the API log of a person who reads it out. */
export function makeRequestId(): string {
  return Array.from({ length: 8 }, () => String.fromCharCode(97 + randomInt(26))).join('');
}
