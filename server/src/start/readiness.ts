import type { Clock } from '../clock.ts';
import { tellTrouble } from '../domain/readiness/troubles.ts';
import type { Trouble } from '../domain/readiness/troubles.ts';
import type { JobBook } from '../engine/job-book.ts';
import { pingDatabase } from '../storage/installation/database-clock.ts';
import type { Queryable } from '../storage/database.ts';
import { answerInTime } from './answer-in-time.ts';

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
