import { test } from 'vitest';

/** What `npm run test:all` tries besides, in CI and before a release: `npm test` is to take less than five minutes. */
export const isFull = process.env.FULL === '1';

/**
 * What `npm run test:large` proves at its published size, in minutes, with a report in docs/reports. CI proves the same at a smaller
 * size, with each assertion.
 */
export const isLarge = process.env.LARGE === '1';

/** Returns the size of a proof: in `npm test`, under FULL=1, and under LARGE=1. */
export function proofSize(sizes: { short: number; full: number; large: number }): number {
  if (isLarge) return sizes.large;
  return isFull ? sizes.full : sizes.short;
}

/**
 * A test under FULL=1 alone: what takes seconds of the processor and finds what little else breaks. What is the heart of a
 * promise stays in `npm test`.
 */
export const fullTest = test.runIf(isFull);
