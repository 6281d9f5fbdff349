import { test } from 'vitest';

/** What `npm run test:all` tries besides, in CI and before a release: `npm test` is to take less than five minutes. */
export const isFull = process.env.FULL === '1';

/**
 * A test under FULL=1 alone: what takes seconds of the processor and finds what little else breaks. What is the heart of a
 * promise stays in `npm test`.
 */
export const fullTest = test.runIf(isFull);
