import type { JobNote } from '../storage/installation/nodes.ts';

/** What became of a round: how many things were done, or what it threw. */
export type JobRun = { at: Date } & ({ done: number } | { error: unknown });

export type JobBook = {
  note(name: string, round: JobRun): void;
  /** One entry per job of this process, sorted by name. */
  read(): JobNote[];
};

/** Keeps the last result of each job of a process, for the node's report. */
export function makeJobBook(): JobBook {
  const notes = new Map<string, JobNote>();
  return {
    note(name, { at, ...round }) {
      const before = notes.get(name) ?? { name, doneAt: null, done: 0, failedAt: null, fault: null };
      const now = at.toISOString();
      notes.set(
        name,
        'error' in round
          ? { ...before, failedAt: now, fault: faultOf(round.error) }
          : { ...before, doneAt: now, done: round.done },
      );
    },
    read: () => [...notes.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

/** The kind of a fault and no more: a message may quote values of a row, and the report leaves this machine. */
function faultOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'Error').slice(0, 60);
}
