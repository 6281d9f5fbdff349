import type { Page } from 'playwright-core';
import { watchActions } from './hit-test.ts';

/**
 * Counts what a person does from here on: each click, choice and field that is filled is one action. The driver needs no time
 * to think, so the seconds are those that the console takes.
 */
export function startWalk(page: Page, name: string) {
  const actions: string[] = [];
  const startedAt = performance.now();
  watchActions(page, (action) => actions.push(action));
  return {
    actions,
    /** Prints what it took. @returns how many actions */
    end(): number {
      const seconds = (performance.now() - startedAt) / 1000;
      watchActions(page, () => {});
      process.stdout.write(`walk: ${actions.length} actions, ${seconds.toFixed(1)} s: ${name}\n`);
      return actions.length;
    },
  };
}
