import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { JobBook } from './job-book.ts';
import type { Rest } from './rest.ts';

/**
 * A background job: `runOnce` does the work that is due and returns how much it was; the loop belongs to `startJob`.
 */
export type Job = {
  name: string;
  /** Longest time between two looks; a wake-up shortens it. */
  intervalMilliseconds: number;
  /** @returns how many items were processed; if more than 0, the job is run again immediately */
  runOnce(now: Date): Promise<number>;
};

export type RunningJob = {
  /** Looks now instead of at the end of the interval. */
  wake(): void;
  /** Ends after the run under way. */
  stop(): Promise<void>;
};

export type JobDependencies = { clock: Clock; log: Logger; book?: JobBook | undefined; rest?: Rest | undefined };

/**
 * Runs a job until it is stopped: again immediately while there is work, otherwise after the interval or a wake-up. A
 * run that throws is logged and followed by the whole interval, at least a second, so that a broken database is not
 * hammered.
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
        log.error({ duty: job.name, err: error }, 'duty failed');
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
