import type { Clock } from '../clock.ts';
import type { Lease } from '../domain/lease.ts';

/** A lease that begins now. By real time: a sandbox that moves its clock must not take work from those who do it. */
export function makeLease(clock: Clock, milliseconds: number): Lease {
  const leasedAt = clock.realNow();
  return { leasedAt, leaseUntil: new Date(leasedAt.getTime() + milliseconds) };
}
