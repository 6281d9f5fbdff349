import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { setClockOffset } from '../../storage/installation/installation.ts';
import { deleteSandboxMessages, listSandboxMessages } from '../../storage/installation/sandbox.ts';
import type { SandboxMessage } from '../../storage/installation/sandbox.ts';

/** What the sandbox may do to its phones; the simulators of the engine are of this form. */
export type SimulatorControl<Faults> = {
  counters(): Promise<unknown>;
  setFaults(faults: Faults): Promise<void>;
  reset(): Promise<void>;
};

export type SandboxDependencies<Faults> = {
  database: Database;
  clock: Clock;
  /** The workspace whose inbox is shown by default. */
  demoWorkspaceId: () => string | undefined;
  simulators: SimulatorControl<Faults>;
  /** Settles when something arrives in the inbox, or after the time; whichever is first. */
  waitForMessage: (milliseconds: number) => Promise<void>;
  /** Wakes every job, because time has moved. */
  onClockMoved: () => void;
  /** Makes the demo workspace what its first start made it. */
  resetDemo: (note?: Note) => Promise<{ workspaceId: string }>;
};

export type InboxQuery = { workspaceId?: string; after: string; limit: number; waitMilliseconds: number };

/** What is written with a change, in its transaction. */
type Note = (tx: Transaction) => Promise<void>;

/** Moves of more than ten years are a slip of the hand. */
const maxMoveMilliseconds = 10 * 366 * 24 * 3600 * 1000;

/** What an integrator does to the sandbox: look at the phones, move the clock, break the providers, start again. */
export function makeSandboxUseCases<Faults>(deps: SandboxDependencies<Faults>) {
  const { database, clock } = deps;
  return {
    /** Newest first; waits up to `waitMilliseconds` for a first message newer than `after`. */
    async readInbox(query: InboxQuery): Promise<SandboxMessage[]> {
      const workspaceId = query.workspaceId ?? deps.demoWorkspaceId();
      if (workspaceId === undefined)
        throw new ServiceError('PARAMETER_INVALID', { field: 'workspaceId', reason: 'is required' });
      const deadline = performance.now() + query.waitMilliseconds;
      for (;;) {
        const messages = await listSandboxMessages(database, { workspaceId, afterId: query.after, limit: query.limit });
        const left = deadline - performance.now();
        if (messages.length > 0 || left <= 0) return messages;
        await deps.waitForMessage(Math.min(left, 250));
      }
    },

    readClock: () => ({ now: clock.now(), offsetMilliseconds: clock.offsetMilliseconds() }),

    /** Moves the clock of all nodes forward, or back to real time with `reset`. Time never runs backwards otherwise. */
    async moveClock(
      move: { advanceSeconds: number } | { reset: true },
      note?: Note,
    ): Promise<{ now: Date; offsetMilliseconds: number }> {
      const offset = 'reset' in move ? 0 : clock.offsetMilliseconds() + move.advanceSeconds * 1000;
      if (offset > maxMoveMilliseconds) {
        throw new ServiceError('PARAMETER_INVALID', { field: 'advanceSeconds', reason: 'is too far ahead' });
      }
      await inTransaction(database, async (tx) => {
        await setClockOffset(tx, offset);
        await note?.(tx);
      });
      clock.setOffset(offset);
      deps.onClockMoved();
      return { now: clock.now(), offsetMilliseconds: offset };
    },

    readCounters: () => deps.simulators.counters(),

    /** The simulators are outside the database, so the note is stored first and removed if they refuse. */
    async setFaults(faults: Faults, note?: Note): Promise<void> {
      await inTransaction(database, async (tx) => {
        await note?.(tx);
        await deps.simulators.setFaults(faults);
      });
    },

    /**
     * Back to the seed: the demo workspace, the counters and the faults. Faults end first, because one that delays
     * responses would also delay stopping the sends; the inbox is cleared last, to include what arrived in the
     * meantime.
     *
     * @throws ServiceError PARAMETER_INVALID, OVERLOADED
     */
    async reset(note?: Note): Promise<{ workspaceId: string }> {
      await deps.simulators.setFaults({} as Faults);
      const demo = await deps.resetDemo(note);
      await deps.simulators.reset();
      return demo;
    },

    /** Empties the inbox, the counters and the fault switches; people and campaigns stay. */
    async clearInbox(note?: Note): Promise<void> {
      await inTransaction(database, async (tx) => {
        await note?.(tx);
        await deleteSandboxMessages(tx);
        await deps.simulators.reset();
      });
    },
  };
}

export type SandboxUseCases = ReturnType<typeof makeSandboxUseCases>;
