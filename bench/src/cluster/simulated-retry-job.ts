import { maxDeliveryAttempts } from '../../../server/src/domain/limits/delivery.ts';
import { chunkLeaseMilliseconds } from '../../../server/src/engine/jobs/leased-job.ts';
import { retryIntervalMilliseconds } from '../../../server/src/engine/fan-out/retry-deliveries.ts';
import { sumOf } from './scenario.ts';
import type { DueDevices, RetryBatch } from './simulated-retries.ts';
import type { Life, World } from './world.ts';

export type RetryJob = {
  look(): void;
  /** The process died: its claims are due again when the lease ends. */
  abandon(): void;
  /** Returns the number of settled devices. */
  devices(): number;
};

type HeldBatch = { batch: RetryBatch; leaseEndsAt: number; sent: number };

/** Simulates the job of a process that retries due deliveries, like `engine/fan-out/retry-deliveries.ts`. */
export function makeRetryJob({ queue, run, retries, operations, values, onEnded }: World, life: Life): RetryJob {
  const { asker } = life;
  const held = new Set<HeldBatch>();
  let devices = 0;

  /** Polls again at once if the last poll found something. */
  function look(): void {
    if (!asker.isAlive || run.isFinished()) return;
    const again = (found: number): void => {
      if (found > 0) look();
      else queue.after(retryIntervalMilliseconds, look);
    };
    retryDue(again);
  }

  /** Claims several batches concurrently while something is due; on a cluster each is of one bucket. */
  function retryDue(done: (devices: number) => void): void {
    const lane = (ended: (devices: number) => void): void =>
      retryBatch((found) => (found === 0 ? ended(0) : lane((more) => ended(found + more))));
    let open = retries.parallelClaims();
    let all = 0;
    for (let lanes = open; lanes > 0; lanes -= 1)
      lane((found) => {
        all += found;
        open -= 1;
        if (open === 0) done(all);
      });
  }

  function retryBatch(done: (devices: number) => void): void {
    if (retries.dueDevices() === 0) return done(0);
    let claimed: HeldBatch | undefined;
    const leaseEndsAt = queue.now() + chunkLeaseMilliseconds;
    life.perform(operations.claimDue(retries.nextBatch()), {
      committed() {
        const batch = retries.claim();
        if (!batch) return;
        claimed = { batch, leaseEndsAt, sent: 0 };
        held.add(claimed);
        // The process died before it got the response, so the claim is given back.
        if (!asker.isAlive) giveBack();
      },
      done: () => (claimed ? sendAgain(claimed, done) : done(0)),
    });
  }

  function sendAgain(claimed: HeldBatch, done: (devices: number) => void): void {
    const { batch } = claimed;
    const isSpent = ({ attempts }: DueDevices): boolean => attempts >= maxDeliveryAttempts;
    const parts = batch.parts.filter((part) => !isSpent(part));
    const spent = batch.parts.filter(isSpent).reduce((sum, { counts }) => sum + sumOf(counts), 0);
    const onSent = (count: number): void => void (claimed.sent += count);
    life.sendRequests({ parts, fixedMicroseconds: values.workerMicrosecondsPerWindow, onSent }, (outcomes) => {
      outcomes.ended.failed += spent;
      life.perform(operations.settle({ bucket: batch.parts[0]!.bucket, devices: batch.devices }), {
        committed() {
          // If it was given back when the process died, the next worker that claims it settles it.
          if (!held.delete(claimed)) return;
          run.settle(batch.devices, outcomes);
          life.remember(outcomes);
          devices += batch.devices;
        },
        done() {
          onEnded();
          done(batch.devices);
        },
      });
    });
  }

  function giveBack(): void {
    for (const { batch, leaseEndsAt, sent } of held) {
      run.numbers.repeatedDevices += sent;
      retries.giveBack(batch, leaseEndsAt);
    }
    held.clear();
  }

  return { look, abandon: giveBack, devices: () => devices };
}
