/**
 * The one source of time. It runs on the monotonic timer from an anchor that is the database's clock, so a step of the
 * machine's clock neither repeats nor skips work, and all nodes agree. The sandbox moves what is due by an
 * offset, and nothing else.
 */
export type Clock = {
  now(): Date;
  /**
   * The database's time, which the sandbox does not move: for leases, heartbeats, the age of what is kept in memory, and
   * what is said to the world outside.
   */
  realNow(): Date;
  /** Sets the anchor: `instant` is the time right now, as the database says. */
  anchor(instant: Date): void;
  /** Moves the clock: `milliseconds` are added to every answer from now on (sandbox only). */
  setOffset(milliseconds: number): void;
  offsetMilliseconds(): number;
};

export function makeClock(): Clock {
  let anchoredAt = performance.now();
  let anchorMilliseconds = Date.now();
  let offset = 0;
  const realMilliseconds = (): number => anchorMilliseconds + (performance.now() - anchoredAt);
  return {
    now: () => new Date(realMilliseconds() + offset),
    realNow: () => new Date(realMilliseconds()),
    anchor(instant) {
      anchoredAt = performance.now();
      anchorMilliseconds = instant.getTime();
    },
    setOffset(milliseconds) {
      offset = milliseconds;
    },
    offsetMilliseconds: () => offset,
  };
}

/** A clock that stands still until a test moves it. */
export function makeManualClock(start: Date): Clock & { advance(milliseconds: number): void } {
  let now = start.getTime();
  let offset = 0;
  return {
    now: () => new Date(now + offset),
    realNow: () => new Date(now),
    anchor(instant) {
      now = instant.getTime();
    },
    setOffset(milliseconds) {
      offset = milliseconds;
    },
    offsetMilliseconds: () => offset,
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}
