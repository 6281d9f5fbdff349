import ipaddr from 'ipaddr.js';

/** At most `events` within any `seconds`. */
export type LimitWindow = { events: number; seconds: number };

/**
 * Nodes agree on the time within milliseconds. An event later than this many seconds from now was written before the
 * sandbox moved its clock back, and counting it would lock the caller out.
 */
export const latestEventSeconds = 5;

/**
 * Returns how long until another event passes every window. The exact rule: an event counts for `seconds` after it, and no
 * longer at that very instant.
 *
 * @param counted the events counted so far and the present time
 * @returns whole seconds, rounded up; 0 when it passes now
 */
export function secondsUntilPass(windows: readonly LimitWindow[], counted: { events: Date[]; at: Date }): number {
  const now = counted.at.getTime();
  const occurrences = counted.events
    .map((event) => event.getTime())
    .filter((occurrence) => occurrence <= now + latestEventSeconds * 1000)
    .sort((a, b) => b - a);
  const waits = windows.map((window) => {
    // Another event passes when the event that is `events` from the newest leaves the window.
    const leaving = occurrences[window.events - 1];
    return leaving === undefined ? 0 : leaving + window.seconds * 1000 - now;
  });
  return Math.ceil(Math.max(0, ...waits) / 1000);
}

/**
 * Applies the generic cell rate algorithm (ITU-T I.371): a burst of `events`, evenly replenished over `seconds`. It keeps one
 * number for each subject, the instant at which the subject will have its whole burst again.
 *
 * @param fullAt milliseconds; undefined for a subject that was not seen recently
 * @returns the number to keep if the event passes, else the whole seconds until an event passes
 */
export function passBurst(
  limit: LimitWindow,
  { fullAt, now }: { fullAt: number | undefined; now: number },
): { fullAt: number } | { retryAfterSeconds: number } {
  const windowMilliseconds = limit.seconds * 1000;
  const next = Math.max(fullAt ?? now, now) + windowMilliseconds / limit.events;
  const over = next - now - windowMilliseconds;
  // After a clock was set back, numbers lie far ahead. No subject waits longer than the window.
  if (over > windowMilliseconds) return { fullAt: now + windowMilliseconds / limit.events };
  // A fraction of a millisecond is rounding.
  return over < 0.5 ? { fullAt: next } : { retryAfterSeconds: Math.ceil(over / 1000) };
}

/** True for an IPv4 address as every library writes it. Parsing one takes 2 µs, and each request has several looks at it. */
export function isPlainIpv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
}

/**
 * Returns the source that guesses are counted against: an IPv4 address, or the /64 of an IPv6 address, because one caller
 * commonly owns all 2^64 addresses of it (decision D19).
 */
export function sourceOfAddress(address: string): string {
  if (isPlainIpv4(address)) return address;
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
