import { pingDatabase } from '../storage/installation/database-clock.ts';
import type { Queryable } from '../storage/database.ts';

export type Readiness = {
  /** Why this node should not receive requests; empty if it should. */
  findTroubles(): Promise<string[]>;
  /** From here on the node is not ready any more. */
  noteStopping(): void;
};

const pingMilliseconds = 1000;

/** Whether this node can take requests, for /readyz and the console. */
export function makeReadiness(database: Queryable): Readiness {
  let isStopping = false;
  return {
    async findTroubles() {
      if (isStopping) return ['stopping'];
      const isAnswering = await Promise.race([
        pingDatabase(database).then(
          () => true,
          () => false,
        ),
        new Promise<false>((resolve) => setTimeout(resolve, pingMilliseconds, false).unref()),
      ]);
      return isAnswering ? [] : ['database'];
    },
    noteStopping() {
      isStopping = true;
    },
  };
}
