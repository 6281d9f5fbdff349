/**
 * The one source of time. It runs on the monotonic timer from an anchor that is the database's clock, so a step of the
 * machine's clock neither repeats nor skips work, and all nodes agree. The sandbox moves what is due by an
 * offset and lets it stand, and nothing else.
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
  /** Lets `now` stand where it is at this instant of real time, and move with the offset alone; undefined lets it run (sandbox only). */
  standAt(realInstant: Date | undefined): void;
  standsAt(): Date | undefined;
};

/**
 * Real time alone. Sign-ins to the console and the audit log are given this clock, so that a moved sandbox clock neither
 * signs users out nor extends a session (decision 0059).
 */
export type RealClock = Pick<Clock, 'realNow'>;

/**
 * Brings the clock into step with the database's, which `ask` reads. How long the answer was on its way says how much it
 * is worth: the database's time is by now at least what it said, and at most as much later as the question took. A clock
 * within these bounds is left alone, so that a slow answer of a busy machine moves no clock that a quick one set; nodes
 * agree as closely as the quickest of their answers.
 */
export async function keepInStep(clock: Clock, ask: () => Promise<Date>): Promise<void> {
  const askedAt = performance.now();
  const earliest = (await ask()).getTime();
  const latest = earliest + (performance.now() - askedAt);
  const shown = clock.realNow().getTime();
  if (shown < earliest) clock.anchor(new Date(earliest));
  if (shown > latest) clock.anchor(new Date(latest));
}

/** What the clock shows for an instant of real time. */
export function shownAt(clock: Clock, realInstant: Date): Date {
  const latest = clock.standsAt() ?? realInstant;
  return new Date(Math.min(realInstant.getTime(), latest.getTime()) + clock.offsetMilliseconds());
}

/** How far the clock is before real time, or behind it: of one that stands it changes by itself. */
export function distanceMilliseconds(clock: Clock): number {
  const standsAt = clock.standsAt();
  return clock.offsetMilliseconds() - (standsAt ? clock.realNow().getTime() - standsAt.getTime() : 0);
}

export function makeClock(): Clock {
  let anchoredAt = performance.now();
  let anchorMilliseconds = Date.now();
  return makeMovedClock({
    realMilliseconds: () => anchorMilliseconds + (performance.now() - anchoredAt),
    anchor(instant) {
      anchoredAt = performance.now();
      anchorMilliseconds = instant.getTime();
    },
  });
}

/** A clock that stands still until a test moves it. */
export function makeManualClock(start: Date): Clock & { advance(milliseconds: number): void } {
  let now = start.getTime();
  const clock = makeMovedClock({
    realMilliseconds: () => now,
    anchor(instant) {
      now = instant.getTime();
    },
  });
  return {
    ...clock,
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

/** What the sandbox does to a clock, whatever its real time is. */
function makeMovedClock({
  realMilliseconds,
  anchor,
}: Pick<Clock, 'anchor'> & { realMilliseconds: () => number }): Clock {
  let offset = 0;
  let stoppedAt: number | undefined;
  return {
    now: () => new Date((stoppedAt ?? realMilliseconds()) + offset),
    realNow: () => new Date(realMilliseconds()),
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
