import type { Clock } from '../../clock.ts';
import type { Lease } from '../../storage/database.ts';
import type { Logger } from '../../log.ts';
import type { Job } from './job.ts';
import type { OutcomeBuffer } from './outcome-buffer.ts';

export type LeasedJob = Job & {
  /** Resolves when no request is in progress. When stopping, await it after the job and before closing the database. */
  settled(): Promise<void>;
};

type Sending<Due extends { id: string }> = {
  name: string;
  /** The kind of item that is sent, as named in the log. */
  what: string;
  maxUnderWay: number;
  clock: Clock;
  log: Logger;
  outcomes: OutcomeBuffer;
  claim: (claim: { at: Date; limit: number } & Lease) => Promise<Due[]>;
  deliver: (due: Due) => Promise<void>;
};

/** At least twice the maximum duration of a request: an expired lease means that the worker died. */
const leaseMilliseconds = 60_000;
/**
 * A run waits this long for its receivers. Slower requests continue in the background, so that they do not delay the next run.
 */
const patienceMilliseconds = 1_000;

/** A job that sends due items to third parties, many at a time, each under a lease. */
export function makeLeasedJob<Due extends { id: string }>(sending: Sending<Due>): LeasedJob {
  const { clock, log, outcomes, maxUnderWay } = sending;
  const underWay = new Set<Promise<void>>();

  const start = (due: Due): Promise<void> => {
    const ended = sending
      .deliver(due)
      // The database or the decryption failed, not the receiver. The lease expires and the item is retried.
      .catch((error: unknown) => log.error({ id: due.id, err: error }, `${sending.what} not settled`))
      .finally(() => underWay.delete(ended));
    underWay.add(ended);
    return ended;
  };

  return {
    name: sending.name,
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const free = maxUnderWay - underWay.size;
      if (free === 0 || outcomes.waiting() > 0) return 0;
      const due = await sending.claim({ at: now, limit: free, ...makeLease(clock, leaseMilliseconds) });
      await waitAtMost(patienceMilliseconds, Promise.all(due.map(start)));
      return due.length;
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

/** Waits for work up to a limit. The work continues if it takes longer. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

/** Returns a lease that begins now. Uses real time: a sandbox that moves its clock must not take work from its workers. */
export function makeLease(clock: Clock, milliseconds: number): Lease {
  const leasedAt = clock.realNow();
  return { leasedAt, leaseUntil: new Date(leasedAt.getTime() + milliseconds) };
}

// Fault F1: another worker takes over at most 60 s after a crash. Workers look every second, and a busy one takes a little
// longer.
export const chunkLeaseMilliseconds = 55_000;

/** Returns the end of a lease claimed or renewed now. Sandbox clock changes do not affect it. */
export function chunkLeaseEnd(clock: Clock): Date {
  return makeLease(clock, chunkLeaseMilliseconds).leaseUntil;
}
