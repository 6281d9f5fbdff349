import type { LimitWindow } from './sliding-window.ts';

/**
 * Applies the generic cell rate algorithm (ITU-T I.371): a burst of `events`, evenly replenished over `seconds`. It keeps one
 * number for each subject, the instant at which the subject will have its whole burst again.
 *
 * @param fullAt milliseconds; undefined for a subject that was not seen lately
 * @returns the number to keep when the event passes, else the whole seconds until one does
 */
export function passBurst(
  limit: LimitWindow,
  { fullAt, now }: { fullAt: number | undefined; now: number },
): { fullAt: number } | { retryAfterSeconds: number } {
  const windowMilliseconds = limit.seconds * 1000;
  const next = Math.max(fullAt ?? now, now) + windowMilliseconds / limit.events;
  const over = next - now - windowMilliseconds;
  // A clock that was set back leaves numbers far ahead; no subject waits longer than the window.
  if (over > windowMilliseconds) return { fullAt: now + windowMilliseconds / limit.events };
  // A fraction of a millisecond is rounding.
  return over < 0.5 ? { fullAt: next } : { retryAfterSeconds: Math.ceil(over / 1000) };
}
