import type { Platform } from '../../../server/src/domain/content/content.ts';
import { chunkLeaseMilliseconds } from '../../../server/src/engine/jobs/leased-job.ts';
import type { Draws } from './draws.ts';
import type { Scenario } from './scenario.ts';
import { makeSimulatedChunks } from './simulated-chunks.ts';
import type { Chunk, Window } from './simulated-chunks.ts';

/** The outcomes of the devices of a window or of a retry batch. */
export type Outcomes = { ended: { accepted: number; gone: number; failed: number }; waiting: Waiting[] };

export function noOutcomes(): Outcomes {
  return { ended: { accepted: 0, gone: 0, failed: 0 }, waiting: [] };
}

/** Devices that are retried at an instant, after this many attempts. */
export type Waiting = { bucket: number; platform: Platform; attempts: number; count: number; atMilliseconds: number };

/** A chunk that a worker holds. Its stores are valid while `attempt` is the chunk's. */
export type Hold = { chunk: Chunk; attempt: number };

export type SimulatedRun = ReturnType<typeof makeSimulatedRun>;

/**
 * Simulates the tables of a run: its chunks and stored windows, claims under a lease, and a count of every device that throws
 * if it is wrong.
 */
export function makeSimulatedRun(scenario: Scenario, draws: Draws) {
  const { chunks, findClaimable, readPage, moveCursor, countUnsent } = makeSimulatedChunks(scenario, draws);
  const ended = { accepted: 0, gone: 0, failed: 0 };
  const numbers = { windows: 0, repeatedWindows: 0, repeatedDevices: 0, takenOver: 0 };
  let openChunks = chunks.length;
  let stored = 0;
  let waiting = 0;

  const isOurs = ({ chunk, attempt }: Hold): boolean => chunk.state === 'CLAIMED' && chunk.attempt === attempt;

  function addOutcomes(devices: number, outcomes: Outcomes): void {
    const { accepted, gone, failed } = outcomes.ended;
    const later = outcomes.waiting.reduce((sum, { count }) => sum + count, 0);
    if (accepted + gone + failed + later !== devices)
      throw new Error(`${devices} devices have the outcomes ${JSON.stringify(outcomes)}`);
    ended.accepted += accepted;
    ended.gone += gone;
    ended.failed += failed;
    waiting += later;
  }

  return {
    numbers,
    chunks: chunks as readonly Readonly<Chunk>[],
    isClaimable: (now: number): boolean => findClaimable(now) !== undefined,
    hasOpenChunks: (): boolean => openChunks > 0,
    isFinished: (): boolean => openChunks === 0 && waiting === 0,
    stored: (): number => stored,
    ended: () => ({ ...ended }),
    countEnded: (): number => ended.accepted + ended.gone + ended.failed,

    claim(now: number): Hold | undefined {
      const chunk = findClaimable(now);
      if (!chunk) return undefined;
      if (chunk.state === 'CLAIMED') numbers.takenOver += 1;
      else chunk.claimedAt = now;
      chunk.state = 'CLAIMED';
      chunk.attempt += 1;
      chunk.leaseUntil = now + chunkLeaseMilliseconds;
      return { chunk, attempt: chunk.attempt };
    },

    renew(holds: Iterable<Hold>, now: number): void {
      for (const hold of holds) if (isOurs(hold)) hold.chunk.leaseUntil = now + chunkLeaseMilliseconds;
    },

    nextWindow: ({ chunk }: Hold): Window => readPage(chunk),

    /** @returns false if another worker holds the chunk by now */
    openWindow(hold: Hold, { window, now }: { window: Window; now: number }): boolean {
      if (!isOurs(hold)) return false;
      const { chunk } = hold;
      numbers.windows += 1;
      if (chunk.open) {
        numbers.repeatedWindows += 1;
        numbers.repeatedDevices += Math.min(chunk.open.sent, window.devices);
      }
      chunk.open = { sent: 0 };
      chunk.leaseUntil = now + chunkLeaseMilliseconds;
      return true;
    },

    noteSent(hold: Hold, devices: number): void {
      if (isOurs(hold) && hold.chunk.open) hold.chunk.open.sent += devices;
    },

    /** @returns false if another worker holds the chunk by now; nothing was stored */
    store(hold: Hold, { window, outcomes, now }: { window: Window; outcomes: Outcomes; now: number }): boolean {
      if (!isOurs(hold)) return false;
      const { chunk } = hold;
      moveCursor(chunk, window);
      addOutcomes(window.devices, outcomes);
      stored += window.devices;
      chunk.open = undefined;
      chunk.page = undefined;
      chunk.leaseUntil = now + chunkLeaseMilliseconds;
      if (window.next !== undefined) return true;
      chunk.state = 'DONE';
      chunk.endedAt = now;
      openChunks -= 1;
      return true;
    },

    /** Adds the outcomes of devices that waited for a retry. */
    settle(devices: number, outcomes: Outcomes): void {
      waiting -= devices;
      addOutcomes(devices, outcomes);
    },

    /** @throws when a device has not ended, or ended more than once */
    checkEveryDevice(): void {
      const all = ended.accepted + ended.gone + ended.failed;
      const unsent = countUnsent();
      if (all !== scenario.devices || stored !== scenario.devices || waiting !== 0 || unsent !== 0)
        throw new Error(
          `of ${scenario.devices} devices ${all} ended, ${stored} are stored, ${waiting} wait and ${unsent} were not sent`,
        );
    },
  };
}
