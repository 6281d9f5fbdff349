import { isFull } from './full-test.ts';

/**
 * How many cases a property tries: its full number under FULL=1 (`npm run test:all`), at most `short` otherwise. The
 * smaller run finds what is wrong in most cases; the full one is for what is wrong in few.
 */
export function propertyRuns(full: number, short = 20): number {
  return isFull ? full : Math.min(full, short);
}
