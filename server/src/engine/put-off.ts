/** Runs that could not be started, and when each is tried again: meanwhile those behind them are. */
export type PutOffRuns = {
  /** Those that are not tried yet. */
  list(now: Date): string[];
  /** It failed. @returns when it is tried again */
  add(runId: string, now: Date): Date;
  /** It was started. */
  remove(runId: string): void;
};

type PutOff = { until: Date; failures: number };

const firstSeconds = 2;
const maxSeconds = 60;
/** Of a run that was stopped meanwhile nothing is heard any more. */
const forgottenMilliseconds = 10 * 60_000;

export function makePutOffRuns(): PutOffRuns {
  const runs = new Map<string, PutOff>();
  return {
    list: (now) => [...runs].filter(([, { until }]) => until > now).map(([runId]) => runId),
    add(runId, now) {
      for (const [other, { until }] of runs)
        if (now.getTime() - until.getTime() > forgottenMilliseconds) runs.delete(other);
      const failures = (runs.get(runId)?.failures ?? 0) + 1;
      const seconds = Math.min(maxSeconds, firstSeconds * 2 ** Math.min(failures - 1, 10));
      const until = new Date(now.getTime() + seconds * 1000);
      runs.set(runId, { until, failures });
      return until;
    },
    remove: (runId) => void runs.delete(runId),
  };
}
