/** At most `events` within any `seconds`. */
export type LimitWindow = { events: number; seconds: number };

/**
 * Nodes agree on the time within milliseconds; an event later than this many seconds from now was written before the
 * sandbox moved its clock back, and counting it would lock the caller out.
 */
export const latestEventSeconds = 5;

/**
 * How long until a further event passes every window, by the exact rule: an event counts for `seconds` after it, and no
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
    // Room comes when the event that is `events` from the newest leaves the window.
    const leaving = occurrences[window.events - 1];
    return leaving === undefined ? 0 : leaving + window.seconds * 1000 - now;
  });
  return Math.ceil(Math.max(0, ...waits) / 1000);
}
