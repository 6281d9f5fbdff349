import { hash } from 'node:crypto';
import { guessWindows, tokenRequestWindows } from './limits.ts';

/** The rows of limit_windows whose subjects callers choose, so that housekeeping bounds them. */
export const tokenLimitOperations: readonly string[] = [
  ...Object.keys(tokenRequestWindows),
  ...Object.keys(guessWindows),
];

/** No window of these operations is longer; a row without an event for this long no longer matters. */
export const tokenLimitIdleSeconds = 600;

/** Rows that housekeeping leaves of these operations. */
export const tokenLimitRows = 200_000;

/** Whose limit it is, in 32 bytes whatever callers send. JSON keeps `a`,`bc` and `ab`,`c` apart. */
export function limitSubject(parts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(parts), 'buffer');
}
