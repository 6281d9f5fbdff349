import { distanceMilliseconds } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { setClockOffset, setSandboxClock } from '../../storage/installation/installation.ts';
import { findNextDue, hasDueWork } from '../../storage/installation/queues.ts';
import { audit } from '../accounts/audit.ts';
import type { Actor } from '../accounts/audit.ts';

export type ClockListener = {
  /** Wakes the jobs that have work at an instant: the clock has stopped there on its way. */
  onClockStopped: () => void;
  /** Wakes every job: the clock has reached its target. */
  onClockMoved: () => void;
};

export type ClockAdvanceDependencies = ClockListener & {
  database: Database;
  clock: Clock;
  log: Logger;
  /** In real time: the clock that is moved cannot measure a wait. */
  pause: (milliseconds: number) => Promise<void>;
};

/** The progress of an advance. */
export type ClockProgress = {
  /** Instants at which due work was run. */
  stops: number;
  remainingSeconds: number;
};

export type ClockAdvance = {
  /** Undefined while the clock is not being moved. */
  progress(): ClockProgress | undefined;
  /**
   * Resolves when the clock has reached its target, or earlier while it is still moving.
   *
   * @throws ServiceError PARAMETER_INVALID; CLOCK_ADVANCING, except for a reset, which ends an advance under way where it is
   */
  move(requested: RequestedMove): Promise<void>;
  /** Stops a running advance at its current time. */
  stop(): Promise<void>;
};

export type ClockMove =
  | { advanceSeconds: number }
  /** Moves from one instant with due work to the next, until nothing is due within this time. */
  | { runUntilIdle: true; withinSeconds?: number }
  /** Stops the clock where it is; it can still be moved. */
  | { freeze: true }
  /** Lets the clock run on from where it stopped. */
  | { resume: true }
  /** Returns to real time. */
  | { reset: true };

type RequestedMove = { move: ClockMove; actor: Actor };

/** A campaign that recurs forever is never idle. */
const idleSeconds = 31 * 24 * 3600;

// Callers can poll for the progress; most HTTP clients give up after half a minute.
const maxAnswerMilliseconds = 20_000;
// Work that does not end by then (a provider that does not respond) is not waited for: other work is due after it.
const maxStopMilliseconds = 10_000;
const lookMilliseconds = 5;

/**
 * Moves the sandbox's clock forward and stops wherever work becomes due, until that work is done: schedules fire, messages that
 * wait for quiet hours or another attempt are sent, segments end. A recurring campaign is sent as often as if the time had
 * passed; a single jump would make it late. One advance at a time.
 */
export function makeClockAdvance(deps: ClockAdvanceDependencies): ClockAdvance {
  const { database, clock, log } = deps;
  let current: Advance | undefined;

  async function end(): Promise<void> {
    current?.aborting.abort();
    await current?.ended;
  }

  const auditMove = (tx: Transaction, { actor, move }: RequestedMove): Promise<void> =>
    audit(tx, { actor, action: 'sandbox.clock', detail: move, at: clock.realNow() });

  type Settings = { offsetMilliseconds: number; frozenAt: Date | null };
  async function set({ offsetMilliseconds, frozenAt }: Settings, requested: RequestedMove): Promise<void> {
    if (current) throw new ServiceError('CLOCK_ADVANCING');
    await inTransaction(database, async (tx) => {
      await setSandboxClock(tx, { offsetMilliseconds, frozenAt });
      await auditMove(tx, requested);
    });
    clock.setOffset(offsetMilliseconds);
    clock.standAt(frozenAt ?? undefined);
    deps.onClockMoved();
  }

  async function begin({ field, milliseconds, end: endsAt }: Target, requested: RequestedMove): Promise<void> {
    if (current) throw new ServiceError('CLOCK_ADVANCING');
    const toOffset = clock.offsetMilliseconds() + milliseconds;
    if (toOffset > maxMoveMilliseconds)
      throw new ServiceError('PARAMETER_INVALID', { field, reason: 'is too far ahead' });
    let fault: { error: unknown } | undefined;
    const aborting = new AbortController();
    const advance: Advance = { toOffset, end: endsAt, stops: 0, aborting, ended: Promise.resolve() };
    current = advance;
    advance.ended = inTransaction(database, (tx) => auditMove(tx, requested))
      .then(() => walk(deps, advance))
      .catch((error: unknown) => {
        fault = { error };
        log.error({ err: error }, 'the clock was not moved as far as asked');
      })
      .finally(() => (current = undefined));
    await Promise.race([advance.ended, deps.pause(maxAnswerMilliseconds)]);
    if (fault) throw fault.error;
  }

  return {
    progress: () => current && { stops: current.stops, remainingSeconds: remaining(current, clock) / 1000 },

    async move(requested) {
      const { move } = requested;
      if ('reset' in move) {
        await end();
        return set({ offsetMilliseconds: 0, frozenAt: null }, requested);
      }
      if ('freeze' in move) {
        if (clock.standsAt() !== undefined) return undefined;
        return set({ offsetMilliseconds: clock.offsetMilliseconds(), frozenAt: clock.realNow() }, requested);
      }
      if ('resume' in move) {
        if (clock.standsAt() === undefined) return undefined;
        return set({ offsetMilliseconds: Math.round(distanceMilliseconds(clock)), frozenAt: null }, requested);
      }
      return begin(targetOf(move), requested);
    },

    stop: end,
  };
}

type Advance = {
  toOffset: number;
  /** Where the clock ends. */
  end: 'there' | 'at the last stop';
  stops: number;
  aborting: AbortController;
  ended: Promise<void>;
};

/** `field`: the field of the request that sets the distance. */
type Target = { field: string; milliseconds: number; end: Advance['end'] };

function targetOf(move: Extract<ClockMove, { advanceSeconds: number } | { runUntilIdle: true }>): Target {
  if ('advanceSeconds' in move)
    return { field: 'advanceSeconds', milliseconds: move.advanceSeconds * 1000, end: 'there' };
  return { field: 'withinSeconds', milliseconds: (move.withinSeconds ?? idleSeconds) * 1000, end: 'at the last stop' };
}

/** A move of more than ten years is a typing error. */
const maxMoveMilliseconds = 10 * 366 * 24 * 3600 * 1000;

const remaining = ({ toOffset }: Advance, clock: Clock): number => Math.max(0, toOffset - clock.offsetMilliseconds());

async function walk(deps: ClockAdvanceDependencies, advance: Advance): Promise<void> {
  const { database, clock } = deps;
  const { signal } = advance.aborting;
  let doneUntil = await finishDueWork(deps, { offset: clock.offsetMilliseconds(), signal });
  while (!signal.aborted) {
    const now = clock.now();
    const left = remaining(advance, clock);
    const due = await findNextDue(database, { after: doneUntil, until: new Date(now.getTime() + left) });
    // Rounded up to the full second, so that attempts that differ in milliseconds do not each need a stop.
    if (!due && advance.end === 'at the last stop') return deps.onClockMoved();
    const step = due ? Math.max(0, Math.ceil(due.getTime() / 1000) * 1000 - now.getTime()) : left;
    const offset = clock.offsetMilliseconds() + Math.min(step, left);
    await setClockOffset(database, offset);
    clock.setOffset(offset);
    if (!due) return deps.onClockMoved();
    advance.stops += 1;
    doneUntil = await finishDueWork(deps, { offset, signal });
  }
}

/** Wakes the jobs until no due work is left. @returns the time until which everything was checked */
async function finishDueWork(
  { database, clock, onClockStopped, pause }: ClockAdvanceDependencies,
  { offset, signal }: { offset: number; signal: AbortSignal },
): Promise<Date> {
  const startedAt = performance.now();
  onClockStopped();
  for (;;) {
    const at = clock.now();
    const isLeft = await hasDueWork(database, at);
    if (!isLeft || signal.aborted || performance.now() - startedAt > maxStopMilliseconds) return at;
    // The synchronisation of the clock with the database may just have read the old offset, and jobs may have run at that time.
    if (clock.offsetMilliseconds() !== offset) {
      clock.setOffset(offset);
      onClockStopped();
    }
    await pause(lookMilliseconds);
  }
}
