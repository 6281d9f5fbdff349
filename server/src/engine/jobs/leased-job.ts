import type { Clock } from '../../clock.ts';
import type { Lease } from '../../domain/lease.ts';
import type { Logger } from '../../log.ts';
import type { Job } from './job.ts';
import type { OutcomeBuffer } from './outcome-buffer.ts';

export type LeasedJob = Job & {
  /** Resolves when no request is in progress: when stopping, await it after the job and before closing the database. */
  settled(): Promise<void>;
};

type Sending<Due extends { id: string }> = {
  name: string;
  /** What is sent, as the log calls one. */
  what: string;
  maxUnderWay: number;
  clock: Clock;
  log: Logger;
  outcomes: OutcomeBuffer;
  claim: (claim: { at: Date; limit: number } & Lease) => Promise<Due[]>;
  deliver: (due: Due) => Promise<void>;
};

/** At least twice what a request may take: a lease that ends means a worker that died. */
const leaseMilliseconds = 60_000;
/**
 * A round waits this long for its receivers and leaves slower ones under way, so they do not hold up the next round.
 */
const patienceMilliseconds = 1_000;

/** A job that sends what is due to others, many at a time, each under a lease. */
export function makeLeasedJob<Due extends { id: string }>(sending: Sending<Due>): LeasedJob {
  const { clock, log, outcomes, maxUnderWay } = sending;
  const underWay = new Set<Promise<void>>();

  const start = (due: Due): Promise<void> => {
    const ended = sending
      .deliver(due)
      // The database or the decryption failed, not the receiver. The lease expires and it is tried again.
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

/** Waits for work that goes on if it takes longer. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

/** A lease that begins now. By real time: a sandbox that moves its clock must not take work from those who do it. */
export function makeLease(clock: Clock, milliseconds: number): Lease {
  const leasedAt = clock.realNow();
  return { leasedAt, leaseUntil: new Date(leasedAt.getTime() + milliseconds) };
}

// Fault F1: another worker takes over at most 60 s after a crash. It looks every second, and a busy one takes some more.
export const chunkLeaseMilliseconds = 55_000;

/** Until when what is claimed or worked on now is its worker's own, however the sandbox moves its clock. */
export function chunkLeaseEnd(clock: Clock): Date {
  return makeLease(clock, chunkLeaseMilliseconds).leaseUntil;
}
