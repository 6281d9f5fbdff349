import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { JobNote } from '../../storage/installation/nodes.ts';

/** A background job. `runOnce` does the work that is due and returns how much it did; the loop is in `startJob`. */
export type Job = {
  name: string;
  /** Maximum time between two runs. A wake-up shortens it. */
  intervalMilliseconds: number;
  /** @returns how many items were processed; if more than 0, the job is run again immediately */
  runOnce(now: Date): Promise<number>;
};

export type RunningJob = {
  /** Runs the job now instead of at the end of the interval. */
  wake(): void;
  /** Stops after the current run. */
  stop(): Promise<void>;
};

export type JobDependencies = { clock: Clock; log: Logger; book?: JobBook | undefined; rest?: Rest | undefined };

/**
 * Runs a job until it is stopped: again immediately while there is work, otherwise after the interval or a wake-up. A run that
 * throws is logged and followed by the whole interval, at least one second, so that a broken database is not hammered.
 */
export function startJob(job: Job, { clock, log, book, rest }: JobDependencies): RunningJob {
  let isStopped = false;
  let isWoken = false;
  let endWait: (() => void) | undefined;

  const wait = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const loop = async (): Promise<void> => {
    while (!isStopped) {
      isWoken = false;
      let pause = job.intervalMilliseconds;
      try {
        const at = clock.now();
        const done = await job.runOnce(at);
        book?.note(job.name, { at: clock.realNow(), done });
        if (done > 0) continue;
      } catch (error) {
        book?.note(job.name, { at: clock.realNow(), error });
        log.error({ job: job.name, err: error }, 'job failed');
        pause = Math.max(pause, 1000);
      }
      if (!isStopped && !isWoken) await wait(rest?.stretch(pause) ?? pause);
    }
  };
  const ended = loop();

  return {
    wake() {
      isWoken = true;
      endWait?.();
    },
    async stop() {
      isStopped = true;
      endWait?.();
      await ended;
    },
  };
}

/** The result of a run: the number of items done, or the error. */
export type JobRun = { at: Date } & ({ done: number } | { error: unknown });

export type JobBook = {
  note(name: string, run: JobRun): void;
  /** One entry per job of this process, sorted by name. */
  read(): JobNote[];
  /** The jobs that have failed several times in a row, sorted by name. */
  findFailing(): { name: string; fault: string }[];
  /** How often each job has failed since the start, and its current number of consecutive failures. */
  countFailures(): { name: string; total: number; inARow: number }[];
};

// One failure may be a lost connection, and two may be a failover.
const failuresToReport = 3;

/** Keeps the last result of each job of a process, for the node's report. */
export function makeJobBook({ onFailed }: { onFailed?: () => void } = {}): JobBook {
  const notes = new Map<string, JobNote>();
  const failures = new Map<string, { total: number; inARow: number }>();
  const read = (): JobNote[] => [...notes.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return {
    note(name, { at, ...run }) {
      const before = notes.get(name) ?? { name, doneAt: null, done: 0, failedAt: null, fault: null };
      const now = at.toISOString();
      const { total, inARow } = failures.get(name) ?? { total: 0, inARow: 0 };
      if ('error' in run) onFailed?.();
      failures.set(name, 'error' in run ? { total: total + 1, inARow: inARow + 1 } : { total, inARow: 0 });
      notes.set(
        name,
        'error' in run
          ? { ...before, failedAt: now, fault: faultOf(run.error) }
          : { ...before, doneAt: now, done: run.done },
      );
    },
    read,
    findFailing: () =>
      read().flatMap(({ name, fault }) =>
        failures.get(name)!.inARow < failuresToReport ? [] : [{ name, fault: fault! }],
      ),
    countFailures: () => [...failures].map(([name, counted]) => ({ name, ...counted })),
  };
}

/** Returns only the kind of a fault: a message may quote values of a row, and the report leaves this machine. */
function faultOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'Error').slice(0, 60);
}

/** Idle detection. While a node gets no calls, its jobs look for work less often. A call wakes them immediately. */
export type Rest = {
  /** Records the start of a call. Call the returned function when the call ends. */
  beginCall(): () => void;
  /** Returns how long a job waits instead of the given interval. */
  stretch(milliseconds: number): number;
  /** Registers a listener that runs when an idle node gets a call. */
  onWoken(listener: () => void): void;
};

/**
 * How long a node stays awake after a call. Work that a test starts for a moment later, such as a campaign due in two seconds,
 * must not wait for an idle node.
 */
const awakeMilliseconds = 5_000;
const stretchFactor = 20;

/**
 * Detects that a node is idle. Used in tests with many servers in parallel: each server queries its database fifteen times a
 * second, so a hundred of them would occupy two processors.
 *
 * @param now monotonic, in milliseconds
 */
export function makeRest(now: () => number): Rest {
  const listeners: (() => void)[] = [];
  let calls = 0;
  let lastCallAt = -Infinity;
  const isResting = (): boolean => calls === 0 && now() - lastCallAt > awakeMilliseconds;
  return {
    beginCall() {
      const rested = isResting();
      calls += 1;
      if (rested) for (const wake of listeners) wake();
      let isEnded = false;
      return () => {
        if (isEnded) return;
        isEnded = true;
        calls -= 1;
        lastCallAt = now();
      };
    },
    stretch: (milliseconds) => (isResting() ? milliseconds * stretchFactor : milliseconds),
    onWoken: (listener) => void listeners.push(listener),
  };
}
