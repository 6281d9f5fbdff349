/** What could not be started, by its id, and when each is tried again: meanwhile those behind it are. */
export type PutOff = {
  /** Those that are not tried yet. */
  list(now: Date): string[];
  /** It failed. @returns when it is tried again */
  add(id: string, now: Date): Date;
  /** It was started. */
  remove(id: string): void;
};

type Waiting = { until: Date; failures: number };

const firstSeconds = 2;
const maxSeconds = 60;
/** Of what was stopped meanwhile nothing is heard any more. */
const forgottenMilliseconds = 10 * 60_000;

export function makePutOff(): PutOff {
  const waiting = new Map<string, Waiting>();
  return {
    list: (now) => [...waiting].filter(([, { until }]) => until > now).map(([id]) => id),
    add(id, now) {
      for (const [other, { until }] of waiting)
        if (now.getTime() - until.getTime() > forgottenMilliseconds) waiting.delete(other);
      const failures = (waiting.get(id)?.failures ?? 0) + 1;
      const seconds = Math.min(maxSeconds, firstSeconds * 2 ** Math.min(failures - 1, 10));
      const until = new Date(now.getTime() + seconds * 1000);
      waiting.set(id, { until, failures });
      return until;
    },
    remove: (id) => void waiting.delete(id),
  };
}
