import { pollMilliseconds } from '../../../server/src/engine/fan-out/work-chunks.ts';
import type { Window } from './simulated-chunks.ts';
import type { Hold } from './simulated-run.ts';
import { noOutcomes } from './simulated-run.ts';
import type { Life, World } from './world.ts';

export type Slots = {
  /** Runs one slot: claims and processes chunks, and polls when there is none. */
  work(): void;
  renewLeases(): void;
  /** Returns the total time for which slots had chunks. */
  milliseconds(): number;
};

/** Simulates the slots of a process, like `engine/fan-out/work-chunks.ts` and `send-window.ts`. */
export function makeSlots({ queue, run, operations, values, onEnded }: World, life: Life): Slots {
  const { asker } = life;
  const heldSince = new Map<Hold, number>();
  let milliseconds = 0;

  function work(): void {
    if (!asker.isAlive) return;
    if (!run.isClaimable(queue.now())) {
      // The cost of an empty poll is part of the cost of an idle worker.
      if (run.hasOpenChunks()) queue.after(pollMilliseconds, work);
      return;
    }
    let hold: Hold | undefined;
    life.perform(operations.claim(), {
      committed: () => (hold = run.claim(queue.now())),
      done() {
        if (!hold) return work();
        const claimed = hold;
        heldSince.set(claimed, queue.now());
        life.perform(operations.findRun(), { done: () => sendWindow(claimed) });
      },
    });
  }

  function leave(hold: Hold): void {
    milliseconds += queue.now() - heldSince.get(hold)!;
    heldSince.delete(hold);
    work();
  }

  function sendWindow(hold: Hold): void {
    const window = run.nextWindow(hold);
    life.perform(operations.page(window), {
      done: () => (window.devices === 0 ? endChunk(hold, window) : openWindow(hold, window)),
    });
  }

  function openWindow(hold: Hold, window: Window): void {
    let isOpen = false;
    life.perform(operations.open(), {
      committed: () => void (isOpen = run.openWindow(hold, { window, now: queue.now() })),
      done: () => (isOpen ? deliver(hold, window) : leave(hold)),
    });
  }

  function deliver(hold: Hold, window: Window): void {
    const parts = [{ bucket: window.bucket, attempts: 0, counts: window.counts }];
    const onSent = (count: number): void => run.noteSent(hold, count);
    life.sendRequests({ parts, fixedMicroseconds: values.workerMicrosecondsPerWindow, onSent }, (outcomes) => {
      let isStored = false;
      life.perform(operations.store(window), {
        committed() {
          isStored = run.store(hold, { window, outcomes, now: queue.now() });
          if (isStored) life.remember(outcomes);
        },
        done() {
          if (!isStored) return leave(hold);
          if (window.next !== undefined) return sendWindow(hold);
          onEnded();
          leave(hold);
        },
      });
    });
  }

  /** Ends a chunk whose previous window was full, so that the worker could not know that it was the last. */
  function endChunk(hold: Hold, window: Window): void {
    life.perform(operations.endChunk(), {
      committed: () => void run.store(hold, { window, outcomes: noOutcomes(), now: queue.now() }),
      done() {
        onEnded();
        leave(hold);
      },
    });
  }

  return {
    work,
    renewLeases() {
      const held = [...heldSince.keys()];
      if (held.length === 0) return;
      life.perform(operations.heartbeat(held.length), { committed: () => run.renew(held, queue.now()), done() {} });
    },
    milliseconds() {
      let all = milliseconds;
      for (const since of heldSince.values()) all += queue.now() - since;
      return all;
    },
  };
}
