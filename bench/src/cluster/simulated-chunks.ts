import { bucketCount } from '../../../server/src/domain/users/users.ts';
import { bucketGroup, cutBuckets } from '../../../server/src/engine/fan-out/runs.ts';
import { spreadOver } from './draws.ts';
import type { Draws } from './draws.ts';
import type { ByPlatform, Scenario } from './scenario.ts';
import { byPlatform, platforms } from './scenario.ts';

export type Window = {
  /** The bucket in which the window ends. */
  bucket: number;
  devices: number;
  counts: ByPlatform;
  /** The cursor after the window; undefined at the end of the chunk. */
  next: number | undefined;
};

export type Chunk = {
  bucketFrom: number;
  bucketTo: number;
  cursorBucket: number;
  state: 'READY' | 'CLAIMED' | 'DONE';
  attempt: number;
  leaseUntil: number;
  claimedAt: number;
  endedAt: number;
  /** The page after the cursor: the same for every worker that reads it. */
  page: Window | undefined;
  /** Sent requests of the window that is open, or was open when its worker died. */
  open: { sent: number } | undefined;
};

/** Makes the chunks of a run, with the remaining devices of each bucket. */
export function makeSimulatedChunks(scenario: Scenario, draws: Draws) {
  const left = spreadOver(draws, { count: scenario.devices, places: bucketCount });
  const chunks = cutBuckets(scenario.devices).map(({ from, to }): Chunk => {
    const fresh = { attempt: 0, leaseUntil: 0, claimedAt: 0, endedAt: 0, page: undefined, open: undefined };
    return { bucketFrom: from, bucketTo: to, cursorBucket: from, state: 'READY', ...fresh };
  });
  const countPlatforms = makeCountPlatforms(scenario);
  let firstReady = 0;

  function findClaimable(now: number): Chunk | undefined {
    while (firstReady < chunks.length && chunks[firstReady]!.state !== 'READY') firstReady += 1;
    if (firstReady < chunks.length) return chunks[firstReady];
    return chunks.find(({ state, leaseUntil }) => state === 'CLAIMED' && leaseUntil <= now);
  }

  /** Returns the first page after the cursor that is not empty. */
  function readPage(chunk: Chunk): Window {
    const { devices: audienceDevices, windowDevices } = scenario;
    const run = { targetUsers: null, audienceDevices };
    for (let bucket = chunk.cursorBucket; ;) {
      const { buckets, next } = bucketGroup({ run, chunk, cursor: { bucket, position: '' }, windowDevices })!;
      const devices = Math.min(windowDevices, sumLeft(buckets));
      if (devices === 0 && next !== undefined) {
        bucket = next;
        continue;
      }
      let rest = devices;
      const end = buckets.find((one) => (rest -= left[one]!) <= 0) ?? buckets.at(-1)!;
      return { bucket: end, devices, counts: countPlatforms(devices), next: devices < windowDevices ? next : end };
    }
  }

  const sumLeft = (buckets: readonly number[]): number => buckets.reduce((sum, bucket) => sum + left[bucket]!, 0);

  /** Moves the cursor behind a stored window. */
  function moveCursor(chunk: Chunk, { devices, next }: Window): void {
    let rest = devices;
    for (let bucket = chunk.cursorBucket; bucket <= chunk.bucketTo && rest > 0; bucket += 1) {
      const taken = Math.min(rest, left[bucket]!);
      left[bucket]! -= taken;
      rest -= taken;
    }
    if (rest > 0)
      throw new Error(`more devices were stored than buckets ${chunk.bucketFrom} to ${chunk.bucketTo} have`);
    if (next !== undefined) chunk.cursorBucket = next;
  }

  return {
    chunks: chunks as readonly Chunk[],
    findClaimable,
    /** Returns the same page to every worker, until it is stored. */
    readPage: (chunk: Chunk): Window => (chunk.page ??= readPage(chunk)),
    moveCursor,
    countUnsent: (): number => left.reduce((sum, devices) => sum + devices, 0),
  };
}

/** Divides devices by the platforms' shares; rounding errors are carried over to the next window. */
function makeCountPlatforms({ shares }: Scenario): (devices: number) => ByPlatform {
  const owed = byPlatform(() => 0);
  return (devices) => {
    let rest = devices;
    const counts = byPlatform(() => 0);
    for (const platform of platforms) {
      owed[platform] += devices * shares[platform];
      counts[platform] = Math.max(0, Math.min(rest, Math.floor(owed[platform])));
      owed[platform] -= counts[platform];
      rest -= counts[platform];
    }
    for (; rest > 0; rest -= 1) {
      const first = platforms.reduce((one, other) => (owed[other] > owed[one] ? other : one));
      counts[first] += 1;
      owed[first] -= 1;
    }
    return counts;
  };
}
