import type { JobNote } from '../storage/installation/nodes.ts';

/** What became of a round: how many things were done, or what it threw. */
export type JobRun = { at: Date } & ({ done: number } | { error: unknown });

export type JobBook = {
  note(name: string, round: JobRun): void;
  /** One entry per job of this process, sorted by name. */
  read(): JobNote[];
  /** The jobs that failed so many times in a row that this is no accident, sorted by name. */
  findFailing(): { name: string; fault: string }[];
  /** How often each job failed since the start, and how often in a row up to now. */
  countFailures(): { name: string; total: number; inARow: number }[];
};

// Once is a lost connection, twice a failover.
const tellingFailures = 3;

/** Keeps the last result of each job of a process, for the node's report. */
export function makeJobBook({ onFailed }: { onFailed?: () => void } = {}): JobBook {
  const notes = new Map<string, JobNote>();
  const failures = new Map<string, { total: number; inARow: number }>();
  const read = (): JobNote[] => [...notes.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return {
    note(name, { at, ...round }) {
      const before = notes.get(name) ?? { name, doneAt: null, done: 0, failedAt: null, fault: null };
      const now = at.toISOString();
      const { total, inARow } = failures.get(name) ?? { total: 0, inARow: 0 };
      if ('error' in round) onFailed?.();
      failures.set(name, 'error' in round ? { total: total + 1, inARow: inARow + 1 } : { total, inARow: 0 });
      notes.set(
        name,
        'error' in round
          ? { ...before, failedAt: now, fault: faultOf(round.error) }
          : { ...before, doneAt: now, done: round.done },
      );
    },
    read,
    findFailing: () =>
      read().flatMap(({ name, fault }) =>
        failures.get(name)!.inARow < tellingFailures ? [] : [{ name, fault: fault! }],
      ),
    countFailures: () => [...failures].map(([name, counted]) => ({ name, ...counted })),
  };
}

/** The kind of a fault and no more: a message may quote values of a row, and the report leaves this machine. */
function faultOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'Error').slice(0, 60);
}
