import { batchDevices, parallelBatches } from '../../../server/src/engine/fan-out/retry-deliveries.ts';
import type { EventQueue } from './event-queue.ts';
import type { ByPlatform, Scenario } from './scenario.ts';
import { byPlatform, platforms, sumOf } from './scenario.ts';
import type { Waiting } from './simulated-run.ts';

/** Devices of one bucket with the same number of attempts that are due in the same second. */
export type DueDevices = { bucket: number; attempts: number; counts: ByPlatform };

/** The batch that a worker claimed; `attempts` determines the next attempt. */
export type RetryBatch = { parts: DueDevices[]; devices: number };

/**
 * Stores deliveries that wait for a retry by the second in which they are due. Its size depends on the number of buckets,
 * seconds and attempts, not of devices.
 */
export function makeSimulatedRetries({ queue, scenario }: { queue: EventQueue; scenario: Scenario }) {
  const later = new Map<number, Map<number, DueDevices>>();
  /** By bucket; the bucket that has been due longest comes first. */
  const due = new Map<number, DueDevices[]>();
  const isCluster = scenario.database.kind === 'citus';
  let dueDevices = 0;

  function addDue(cell: DueDevices): void {
    const cells = due.get(cell.bucket);
    if (cells) cells.push(cell);
    else due.set(cell.bucket, [cell]);
    dueDevices += sumOf(cell.counts);
  }

  return {
    dueDevices: (): number => dueDevices,
    /** Returns the number of concurrent claims per poll: enough for the due devices; on a cluster always several. */
    parallelClaims: (): number =>
      isCluster ? parallelBatches : Math.max(1, Math.min(parallelBatches, Math.ceil(dueDevices / batchDevices))),

    add({ bucket, platform, attempts, count, atMilliseconds }: Waiting): void {
      if (count === 0) return;
      const second = Math.ceil(Math.max(atMilliseconds, queue.now()) / 1000);
      let cells = later.get(second);
      if (!cells) {
        const made = new Map<number, DueDevices>();
        cells = made;
        later.set(second, made);
        queue.after(Math.max(0, second * 1000 - queue.now()), () => {
          later.delete(second);
          for (const cell of made.values()) addDue(cell);
        });
      }
      const key = bucket * 64 + attempts;
      const cell = cells.get(key) ?? { bucket, attempts, counts: byPlatform(() => 0) };
      cell.counts[platform] += count;
      cells.set(key, cell);
    },

    /** Returns what a claim would get now. */
    nextBatch(): { bucket: number; devices: number } {
      const [first] = due;
      if (!first) return { bucket: 0, devices: 0 };
      const [bucket, cells] = first;
      const inBucket = cells.reduce((sum, { counts }) => sum + sumOf(counts), 0);
      return { bucket, devices: Math.min(batchDevices, isCluster ? inBucket : dueDevices) };
    },

    /** On a cluster a claim covers one bucket, so that a batch belongs to one shard. */
    claim(): RetryBatch | undefined {
      const parts: DueDevices[] = [];
      let quota = batchDevices;
      for (const [bucket, cells] of due) {
        while (cells.length > 0 && quota > 0) {
          const part = takeSome(cells, quota);
          quota -= sumOf(part.counts);
          parts.push(part);
        }
        if (cells.length === 0) due.delete(bucket);
        if (quota === 0 || isCluster) break;
      }
      const devices = batchDevices - quota;
      dueDevices -= devices;
      return devices === 0 ? undefined : { parts, devices };
    },

    /** For a dead worker: the devices are due again when its lease ends, with the attempt counted. */
    giveBack({ parts }: RetryBatch, atMilliseconds: number): void {
      for (const { bucket, attempts, counts } of parts)
        for (const platform of platforms)
          this.add({ bucket, platform, attempts: attempts + 1, count: counts[platform], atMilliseconds });
    },
  };
}

export type SimulatedRetries = ReturnType<typeof makeSimulatedRetries>;

function takeSome(cells: DueDevices[], quota: number): DueDevices {
  const first = cells[0]!;
  if (sumOf(first.counts) <= quota) return cells.shift()!;
  const taken = { ...first, counts: byPlatform(() => 0) };
  let rest = quota;
  for (const platform of platforms) {
    const some = Math.min(rest, first.counts[platform]);
    first.counts[platform] -= some;
    taken.counts[platform] = some;
    rest -= some;
  }
  return taken;
}
