import { heartbeatMilliseconds, pollMilliseconds } from '../../../server/src/engine/fan-out/work-chunks.ts';
import { retryIntervalMilliseconds } from '../../../server/src/engine/fan-out/retry-deliveries.ts';
import { makeSendRequests } from './send-requests.ts';
import type { Asker } from './simulated-database.ts';
import { makeRetryJob } from './simulated-retry-job.ts';
import type { RetryJob } from './simulated-retry-job.ts';
import { makeSlots } from './simulated-slots.ts';
import type { Slots } from './simulated-slots.ts';
import { makeStation, makeThread } from './stations.ts';
import type { Station } from './stations.ts';
import type { Life, World } from './world.ts';

export type SimulatedNode = {
  thread: Station;
  /** Starts the node. If woken, it looks for work at once; otherwise when its slots poll. */
  start(beginning: 'woken' | 'unaware'): void;
  /** Discards everything in memory. */
  crash(): void;
  isAlive(): boolean;
  /** Returns the total time for which its slots had chunks. */
  slotMilliseconds(): number;
  retriedDevices(): number;
};

const backgroundMilliseconds = 1_000;

/** Simulates a process of role `worker`: slots that process chunks window by window, heartbeats, and the retry job. */
export function makeSimulatedNode(world: World, name: string): SimulatedNode {
  const { queue, scenario, values, draws, database, run, retries, operations } = world;
  const host = world.sharedHost ?? makeStation(queue, { name: `${name}: cores`, servers: scenario.nodeCores });
  const thread = makeThread(`${name}: thread`, host);
  let life: { asker: Asker; slots: Slots; retryJob: RetryJob } | undefined;
  const ended = { slotMilliseconds: 0, retriedDevices: 0 };

  function start(beginning: 'woken' | 'unaware'): void {
    const asker: Asker = { isAlive: true };
    const sender = world.providers.makeSender(asker);
    const mine: Life = {
      asker,
      perform: (operation, request) => database.perform(operation, { asker, ...request }),
      sendRequests: makeSendRequests({ asker, sender, host, thread, values }),
      remember(outcomes) {
        for (const waiting of outcomes.waiting) retries.add(waiting);
      },
    };
    const slots = makeSlots(world, mine);
    const retryJob = makeRetryJob(world, mine);
    life = { asker, slots, retryJob };
    for (let slot = 0; slot < scenario.parallelChunks; slot += 1)
      queue.after(beginning === 'woken' ? 0 : draws.next() * pollMilliseconds, slots.work);
    every(asker, heartbeatMilliseconds, slots.renewLeases);
    queue.after(draws.next() * retryIntervalMilliseconds, retryJob.look);
    every(asker, backgroundMilliseconds, () => {
      mine.perform(operations.idleSecond(), { done() {} });
      thread.work(values.workerIdleMillisecondsPerSecond, () => {});
    });
  }

  /** Starts after a random delay. */
  function every(asker: Asker, milliseconds: number, work: () => void): void {
    const look = (): void => {
      if (!asker.isAlive || run.isFinished()) return;
      work();
      queue.after(milliseconds, look);
    };
    queue.after(draws.next() * milliseconds, look);
  }

  return {
    thread,
    start,
    crash() {
      if (!life) return;
      const { asker, slots, retryJob } = life;
      ended.slotMilliseconds += slots.milliseconds();
      ended.retriedDevices += retryJob.devices();
      asker.isAlive = false;
      retryJob.abandon();
      life = undefined;
    },
    isAlive: () => life !== undefined,
    slotMilliseconds: () => ended.slotMilliseconds + (life?.slots.milliseconds() ?? 0),
    retriedDevices: () => ended.retriedDevices + (life?.retryJob.devices() ?? 0),
  };
}
