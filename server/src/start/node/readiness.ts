import type { StandbyHealth } from '../../app/system/standby.ts';
import type { Clock } from '../../clock.ts';
import { describeTrouble } from '../../domain/operations/readiness.ts';
import type { Trouble } from '../../domain/operations/readiness.ts';
import type { JobBook, Job } from '../../engine/jobs/job.ts';
import type { Logger } from '../../log.ts';
import type { Queryable, Database } from '../../storage/database.ts';
import { pingDatabase, readStandbyState } from '../../storage/installation/database-clock.ts';

export type Readiness = {
  /** Returns the reasons why this node should not receive requests; empty if it should. Bounded in time. */
  findTroubles(): Promise<string[]>;
  /** Adds a part of the node that reports its own troubles. It is called at each check, so it must respond from memory. */
  watch(findOwnTroubles: () => Trouble[]): void;
  /** Records that a request could not be stored although the database responds. */
  noteRefusedWrite(): void;
  /** From this call on the node is no longer ready. */
  noteStopping(): void;
};

const pingMilliseconds = 1000;
// A read does not reveal a full disk. Jobs write at least this often, and so do callers that retry.
const refusedMilliseconds = 15_000;

/** Reports whether this node can do its work, for /readyz and the console. */
export function makeReadiness({ database, clock }: { database: Queryable; clock: Clock }): Readiness {
  let isStopping = false;
  let refusedAt: Date | undefined;
  const isRefusing = (): boolean =>
    refusedAt !== undefined && clock.realNow().getTime() - refusedAt.getTime() < refusedMilliseconds;
  const watched: (() => Trouble[])[] = [];
  return {
    async findTroubles() {
      if (isStopping) return [describeTrouble({ name: 'stopping' })];
      const writes: Trouble[] = isRefusing() ? [{ name: 'writes' }] : [];
      const troubles = [...(await findDatabaseTroubles(database)), ...writes, ...watched.flatMap((find) => find())];
      return troubles.map(describeTrouble);
    },
    watch(findOwnTroubles) {
      watched.push(findOwnTroubles);
    },
    noteRefusedWrite() {
      refusedAt = clock.realNow();
    },
    noteStopping() {
      isStopping = true;
    },
  };
}

/** Returns jobs that fail repeatedly: the node responds, but its work is not done. */
export function findJobTroubles(book: JobBook): Trouble[] {
  const failing = book.findFailing().map(({ name, fault }) => `${name} (${fault})`);
  return failing.length === 0 ? [] : [{ name: 'jobs', detail: failing.join(', ') }];
}

async function findDatabaseTroubles(database: Queryable): Promise<Trouble[]> {
  const answer = await answerInTime(pingDatabase(database), pingMilliseconds);
  if (answer === undefined) return [{ name: 'database' }];
  return answer.isReadOnly ? [{ name: 'read-only' }] : [];
}

// As long as a stop may wait for a check; the connection itself times out much later.
const lookMilliseconds = 3_000;

export type WatchStandbyDependencies = { standby: Database; health: StandbyHealth; log: Logger };

/** The job that checks whether the standby keeps up, and logs changes. */
export function makeWatchStandby({ standby, health, log }: WatchStandbyDependencies): Job {
  let reported: string | undefined;
  return {
    name: 'watch-standby',
    intervalMilliseconds: 5_000,
    async runOnce() {
      const state = await answerInTime(readStandbyState(standby), lookMilliseconds);
      const fault = health.note(state);
      // The lag in the text changes at each check, so it is ignored.
      const kind = fault?.replace(/\d+/, '');
      if (kind !== reported) {
        if (fault === undefined) log.info('lists of the console are read from the standby');
        else log.warn({ fault }, 'lists of the console are read from the primary');
      }
      reported = kind;
      return 0;
    },
  };
}

/** Returns the result, or undefined if it fails or takes longer. A check for faults must not block on one. */
async function answerInTime<Answer>(asked: Promise<Answer>, milliseconds: number): Promise<Answer | undefined> {
  return Promise.race([
    asked.catch(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, milliseconds, undefined).unref()),
  ]);
}
