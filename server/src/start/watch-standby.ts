import type { StandbyHealth } from '../app/console/standby-health.ts';
import type { Logger } from '../log.ts';
import type { Database } from '../storage/database.ts';
import { readStandbyState } from '../storage/installation/database-clock.ts';
import { answerInTime } from './answer-in-time.ts';
import type { Job } from '../engine/job.ts';

// As long as a stop may wait for it; the connection itself is given up much later.
const lookMilliseconds = 3_000;

export type WatchStandbyDependencies = { standby: Database; health: StandbyHealth; log: Logger };

/** The job that looks whether the standby keeps up, and says in the log when that changes. */
export function makeWatchStandby({ standby, health, log }: WatchStandbyDependencies): Job {
  let told: string | undefined;
  return {
    name: 'watch-standby',
    intervalMilliseconds: 5_000,
    async runOnce() {
      const state = await answerInTime(readStandbyState(standby), lookMilliseconds);
      const fault = health.note(state);
      // How far it is behind changes at each look.
      const kind = fault?.replace(/\d+/, '');
      if (kind !== told) {
        if (fault === undefined) log.info('lists of the console are read from the standby');
        else log.warn({ fault }, 'lists of the console are read from the primary');
      }
      told = kind;
      return 0;
    },
  };
}
