/** What was asked of the node and what came of it: per kind of request its times, and everything that should not be. */
export type SoakTally = ReturnType<typeof makeSoakTally>;

type Answered = { kind: string; at: number; milliseconds: number };

export function makeSoakTally() {
  const answered: Answered[] = [];
  const statuses = new Map<string, Map<number, number>>();
  const broken = new Map<string, number>();
  let serverFaults = 0;

  return {
    /** A request that was answered, as it may or as it may not. */
    answer({ kind, milliseconds, status, isExpected, text }: AnswerOf): void {
      answered.push({ kind, at: performance.now(), milliseconds });
      const counted = statuses.get(kind) ?? new Map<number, number>();
      statuses.set(kind, counted.set(status, (counted.get(status) ?? 0) + 1));
      if (status >= 500) serverFaults += 1;
      if (!isExpected) this.fault(`${kind}: ${status} ${text.slice(0, 200)}`);
    },
    /** What breaks a promise; equal sentences are counted. */
    fault(sentence: string): void {
      broken.set(sentence, (broken.get(sentence) ?? 0) + 1);
    },
    serverFaults: () => serverFaults,
    requests: () => answered.length,
    statuses: () => statuses,
    broken: () => [...broken].map(([sentence, times]) => (times === 1 ? sentence : `${sentence} (${times} times)`)),
    /** Milliseconds of all requests between two instants, ascending. */
    timesBetween: (from: number, to: number): number[] =>
      answered
        .filter(({ at }) => at >= from && at < to)
        .map(({ milliseconds }) => milliseconds)
        .sort((a, b) => a - b),
  };
}

type AnswerOf = { kind: string; milliseconds: number; status: number; isExpected: boolean; text: string };

/** The time that this part of all requests did not exceed. */
export function percentile(ascending: readonly number[], part: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * part))] ?? Number.NaN;
}
