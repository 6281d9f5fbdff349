import { bucketCount } from '../../domain/users/bucket.ts';
import { deliverySettings, runDevicesPerMinute } from '../../domain/campaigns/delivery-settings.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { insertChunks } from '../../storage/runs/chunks.ts';
import { failRun, lockQueuedRun, startRun } from '../../storage/runs/run-states.ts';
import type { Job } from '../job.ts';
import { smallAudienceDevices } from './bucket-group.ts';
import { freezeAudience } from './freeze-audience.ts';

// Enough chunks for many workers to share, each still holding a few windows.
const devicesPerChunk = 2_000;

export type ReleaseRunsDependencies = { database: Database; wakeWorkers: () => void };

/**
 * The job that turns a queued run into work: in one transaction it freezes the audience (every device registered so
 * far), cuts it into chunks and starts the run.
 */
export function makeReleaseRuns({ database, wakeWorkers }: ReleaseRunsDependencies): Job {
  return {
    name: 'release-runs',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const released = await releaseOne(database, now);
      if (released > 0) wakeWorkers();
      return released;
    },
  };
}

async function releaseOne(database: Database, now: Date): Promise<number> {
  return inTransaction(database, async (tx) => {
    const run = await lockQueuedRun(tx);
    if (!run) return 0;
    const frozen = await freezeAudience(tx, { run, now });
    if ('reason' in frozen) {
      await failRun(tx, { id: run.id, campaignId: run.campaignId, reason: frozen.reason, at: now });
      return 1;
    }
    const { bound: audienceBound, devices, users: audienceUsers, segment } = frozen.audience;
    await insertChunks(tx, {
      runId: run.id,
      workspaceId: run.workspaceId,
      lane: run.lane,
      at: now,
      ranges: devices === 0 ? [] : cutBuckets(devices),
    });
    const devicesPerMinute = runDevicesPerMinute(deliverySettings(run.settings), devices);
    await startRun(tx, {
      id: run.id,
      audienceBound,
      audienceDevices: devices,
      audienceUsers,
      segment,
      devicesPerMinute,
      at: now,
    });
    return 1;
  });
}

/**
 * Bucket ranges of about equal audience. The number of chunks is a power of two, so that a range is 256, 128, … or 1
 * bucket; at one bucket each, a chunk's pages are single-shard queries on a cluster.
 */
export function cutBuckets(devices: number): { from: number; to: number }[] {
  if (devices <= smallAudienceDevices) return [{ from: 0, to: bucketCount - 1 }];
  const wanted = Math.ceil(devices / devicesPerChunk);
  const chunks = Math.min(bucketCount, 2 ** Math.ceil(Math.log2(wanted)));
  const width = bucketCount / chunks;
  return Array.from({ length: chunks }, (_, index) => ({ from: index * width, to: (index + 1) * width - 1 }));
}
