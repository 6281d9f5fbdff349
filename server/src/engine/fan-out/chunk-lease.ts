import type { Clock } from '../../clock.ts';
import { makeLease } from '../make-lease.ts';

// Fault F1: another worker takes over at most 60 s after a crash. It looks every second, and a busy one takes some more.
export const leaseMilliseconds = 55_000;

/** Until when what is claimed or worked on now is its worker's own, however the sandbox moves its clock. */
export function leaseEnd(clock: Clock): Date {
  return makeLease(clock, leaseMilliseconds).leaseUntil;
}
