import { tellTrouble } from '../domain/readiness/troubles.ts';
import type { Trouble } from '../domain/readiness/troubles.ts';
import type { JobBook } from '../engine/job-book.ts';
import { pingDatabase } from '../storage/installation/database-clock.ts';
import type { Queryable } from '../storage/database.ts';

export type Readiness = {
  /** Why this node should not receive requests; empty if it should. Bounded in time. */
  findTroubles(): Promise<string[]>;
  /** Adds a part of the node that knows its own troubles. It is asked at each look, so it answers from memory. */
  watch(findOwnTroubles: () => Trouble[]): void;
  /** From here on the node is not ready any more. */
  noteStopping(): void;
};

const pingMilliseconds = 1000;

/** Whether this node can do its work, for /readyz and the console. */
export function makeReadiness(database: Queryable): Readiness {
  let isStopping = false;
  const watched: (() => Trouble[])[] = [];
  return {
    async findTroubles() {
      if (isStopping) return [tellTrouble({ name: 'stopping' })];
      const troubles = [...(await findDatabaseTroubles(database)), ...watched.flatMap((find) => find())];
      return troubles.map(tellTrouble);
    },
    watch(findOwnTroubles) {
      watched.push(findOwnTroubles);
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
  const isAnswering = await Promise.race([
    pingDatabase(database).then(
      () => true,
      () => false,
    ),
    new Promise<false>((resolve) => setTimeout(resolve, pingMilliseconds, false).unref()),
  ]);
  return isAnswering ? [] : [{ name: 'database' }];
}
