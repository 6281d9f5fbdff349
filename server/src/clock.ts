/**
 * The one source of time. It runs on the monotonic timer from an anchor, the database's clock. A step of the machine's clock
 * therefore neither repeats nor skips work, and all nodes agree. The sandbox only moves due times: by an offset, or by stopping
 * the clock.
 */
export type Clock = {
  now(): Date;
  /**
   * The database's time, which the sandbox does not move. Used for leases, heartbeats, the age of cached values, and times
   * reported to the outside.
   */
  realNow(): Date;
  /**
   * Milliseconds of a timer that only runs forward: neither the anchor nor the sandbox moves it. Used where an age is a promise
   * about access, for example how long a node may not have heard of a revocation.
   */
  elapsedMilliseconds(): number;
  /** Sets the anchor: `instant` is the current time according to the database. */
  anchor(instant: Date): void;
  /** Moves the clock: adds `milliseconds` to every reading from now on (sandbox only). */
  setOffset(milliseconds: number): void;
  offsetMilliseconds(): number;
  /** Stops `now` at this instant of real time, so that only the offset moves it. Undefined lets it run again (sandbox only). */
  standAt(realInstant: Date | undefined): void;
  standsAt(): Date | undefined;
};

/**
 * Real time only. Sign-ins to the console and the audit log use this clock, so that a moved sandbox clock neither signs users
 * out nor extends a session (decision 0059).
 */
export type RealClock = Pick<Clock, 'realNow'>;

/**
 * Brings the clock into step with the database's, which `ask` reads. The duration of the query bounds the error: the database's
 * time is now at least the returned time, and at most that time plus the duration. A clock within these bounds is not changed,
 * so that a slow response of a busy machine does not override a quick one. Nodes agree as closely as their quickest responses.
 */
export async function keepInStep(clock: Clock, ask: () => Promise<Date>): Promise<void> {
  const askedAt = performance.now();
  const earliest = (await ask()).getTime();
  const latest = earliest + (performance.now() - askedAt);
  const shown = clock.realNow().getTime();
  if (shown < earliest) clock.anchor(new Date(earliest));
  if (shown > latest) clock.anchor(new Date(latest));
}

/** Returns the time that the clock shows at an instant of real time. */
export function shownAt(clock: Clock, realInstant: Date): Date {
  const latest = clock.standsAt() ?? realInstant;
  return new Date(Math.min(realInstant.getTime(), latest.getTime()) + clock.offsetMilliseconds());
}

/**
 * Returns how far the clock is ahead of real time; negative if behind. For a stopped clock the distance changes continuously.
 */
export function distanceMilliseconds(clock: Clock): number {
  const standsAt = clock.standsAt();
  return clock.offsetMilliseconds() - (standsAt ? clock.realNow().getTime() - standsAt.getTime() : 0);
}

export function makeClock(): Clock {
  let anchoredAt = performance.now();
  let anchorMilliseconds = Date.now();
  return makeMovedClock({
    realMilliseconds: () => anchorMilliseconds + (performance.now() - anchoredAt),
    elapsedMilliseconds: () => performance.now(),
    anchor(instant) {
      anchoredAt = performance.now();
      anchorMilliseconds = instant.getTime();
    },
  });
}

/** A clock that is stopped until a test advances it. */
export function makeManualClock(start: Date): Clock & { advance(milliseconds: number): void } {
  let now = start.getTime();
  let elapsed = 0;
  const clock = makeMovedClock({
    realMilliseconds: () => now,
    elapsedMilliseconds: () => elapsed,
    anchor(instant) {
      now = instant.getTime();
    },
  });
  return {
    ...clock,
    advance(milliseconds) {
      now += milliseconds;
      elapsed += milliseconds;
    },
  };
}

/** Applies the sandbox's changes to a clock, independent of its source of real time. */
function makeMovedClock({
  realMilliseconds,
  elapsedMilliseconds,
  anchor,
}: Pick<Clock, 'anchor' | 'elapsedMilliseconds'> & { realMilliseconds: () => number }): Clock {
  let offset = 0;
  let stoppedAt: number | undefined;
  return {
    now: () => new Date((stoppedAt ?? realMilliseconds()) + offset),
    realNow: () => new Date(realMilliseconds()),
    elapsedMilliseconds,
    anchor,
    setOffset(milliseconds) {
      offset = milliseconds;
    },
    offsetMilliseconds: () => offset,
    standAt(realInstant) {
      stoppedAt = realInstant?.getTime();
    },
    standsAt: () => (stoppedAt === undefined ? undefined : new Date(stoppedAt)),
  };
}
