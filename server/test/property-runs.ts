/**
 * How many cases a property tries: its full number under FULL=1 (`npm run test:all`), at most 20 otherwise. The smaller
 * run finds what is wrong in most cases; the full one is for what is wrong in few.
 */
export function propertyRuns(full: number): number {
  return process.env.FULL === '1' ? full : Math.min(full, 20);
}
