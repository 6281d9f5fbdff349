import type { Clock } from '../../clock.ts';
import { makeLease } from '../make-lease.ts';

// Fault F1: another worker takes over at most this long after a crash.
export const leaseMilliseconds = 60_000;

/** Until when what is claimed or worked on now is its worker's own, however the sandbox moves its clock. */
export function leaseEnd(clock: Clock): Date {
  return makeLease(clock, leaseMilliseconds).leaseUntil;
}
