import type { StandbyHealth } from '../../app/system/standby.ts';
import type { Clock } from '../../clock.ts';
import { tellTrouble } from '../../domain/operations/readiness.ts';
import type { Trouble } from '../../domain/operations/readiness.ts';
import type { JobBook, Job } from '../../engine/jobs/job.ts';
import type { Logger } from '../../log.ts';
import type { Queryable, Database } from '../../storage/database.ts';
import { pingDatabase, readStandbyState } from '../../storage/installation/database-clock.ts';

export type Readiness = {
  /** Why this node should not receive requests; empty if it should. Bounded in time. */
  findTroubles(): Promise<string[]>;
  /** Adds a part of the node that knows its own troubles. It is asked at each look, so it answers from memory. */
  watch(findOwnTroubles: () => Trouble[]): void;
  /** A request could not be stored although the database answers. */
  noteRefusedWrite(): void;
  /** From here on the node is not ready any more. */
  noteStopping(): void;
};

const pingMilliseconds = 1000;
// A read shows nothing of a full disk. Jobs write as often as this, and so do callers that repeat a request.
const refusedMilliseconds = 15_000;

/** Whether this node can do its work, for /readyz and the console. */
export function makeReadiness({ database, clock }: { database: Queryable; clock: Clock }): Readiness {
  let isStopping = false;
  let refusedAt: Date | undefined;
  const isRefusing = (): boolean =>
    refusedAt !== undefined && clock.realNow().getTime() - refusedAt.getTime() < refusedMilliseconds;
  const watched: (() => Trouble[])[] = [];
  return {
    async findTroubles() {
      if (isStopping) return [tellTrouble({ name: 'stopping' })];
      const writes: Trouble[] = isRefusing() ? [{ name: 'writes' }] : [];
      const troubles = [...(await findDatabaseTroubles(database)), ...writes, ...watched.flatMap((find) => find())];
      return troubles.map(tellTrouble);
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

/** Jobs that fail again and again: the node answers, and its work stays undone. */
export function findJobTroubles(book: JobBook): Trouble[] {
  const failing = book.findFailing().map(({ name, fault }) => `${name} (${fault})`);
  return failing.length === 0 ? [] : [{ name: 'jobs', detail: failing.join(', ') }];
}

async function findDatabaseTroubles(database: Queryable): Promise<Trouble[]> {
  const answer = await answerInTime(pingDatabase(database), pingMilliseconds);
  if (answer === undefined) return [{ name: 'database' }];
  return answer.isReadOnly ? [{ name: 'read-only' }] : [];
}

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

/** What is answered within the time; undefined for what fails or comes later. What looks for faults must not wait for one. */
async function answerInTime<Answer>(asked: Promise<Answer>, milliseconds: number): Promise<Answer | undefined> {
  return Promise.race([
    asked.catch(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, milliseconds, undefined).unref()),
  ]);
}
