import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../rig/random.ts';
import type { SoakAction } from './load/soak-action.ts';
import type { SoakTally } from './soak-tally.ts';

export type RunningLoad = { stop(): Promise<void> };

/**
 * Does every action at its own pace, from half to one and a half times its interval: no two runs fall into step, and a
 * seed repeats the choices. One that takes longer than its interval is not done twice at the same time.
 */
export function runLoad(actions: readonly SoakAction[], { random, tally }: { random: Random; tally: SoakTally }) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const lanes = actions.map(async ({ name, everySeconds, run }) => {
    while (!signal.aborted) {
      const milliseconds = everySeconds * (0.5 + random.next()) * 1_000;
      await wait(milliseconds, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await run(signal).catch((error: unknown) => tally.fault(`${name}: ${(error as Error).stack}`));
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  } satisfies RunningLoad;
}
