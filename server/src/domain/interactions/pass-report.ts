import type { ReportLimit } from './limits.ts';

/**
 * The generic cell rate algorithm (ITU-T I.371): one number a subject, the instant at which it will have all its reports
 * again.
 *
 * @param fullAt milliseconds; undefined for a subject not seen lately
 * @returns the number to keep when the report passes, else the whole seconds until one does
 */
export function passReport(
  limit: ReportLimit,
  { fullAt, now }: { fullAt: number | undefined; now: number },
): { fullAt: number } | { retryAfterSeconds: number } {
  const windowMilliseconds = limit.seconds * 1000;
  const next = Math.max(fullAt ?? now, now) + windowMilliseconds / limit.reports;
  const over = next - now - windowMilliseconds;
  // A clock that was set back leaves numbers far ahead; nobody waits longer than the window.
  if (over > windowMilliseconds) return { fullAt: now + windowMilliseconds / limit.reports };
  // A fraction of a millisecond is rounding.
  return over < 0.5 ? { fullAt: next } : { retryAfterSeconds: Math.ceil(over / 1000) };
}
