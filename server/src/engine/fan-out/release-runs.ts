import { learningOf } from '../../domain/experiments/variants.ts';
import { bucketCount } from '../../domain/users/bucket.ts';
import { deliverySettings, runDevicesPerMinute } from '../../domain/campaigns/delivery-settings.ts';
import { isOutage } from '../../domain/outage.ts';
import { sumOf } from '../../domain/sum-of.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Logger } from '../../log.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { holdWinner } from '../../storage/campaigns/campaign-winners.ts';
import { insertChunks } from '../../storage/runs/chunks.ts';
import { listQueuedRuns, lockQueuedRun, startRun, tryHoldStart } from '../../storage/runs/run-starts.ts';
import { failRun, findQueuedRun } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Job } from '../job.ts';
import { makePutOff } from '../put-off.ts';
import type { PutOff } from '../put-off.ts';
import { makeTellFault } from '../work-apart.ts';
import { smallAudienceDevices } from './bucket-group.ts';
import { freezeAudience } from './freeze-audience.ts';

// Enough chunks for many workers to share, each still holding a few windows.
const devicesPerChunk = 2_000;
// Each node starts one run at a time: with as many others at it, this one finds no run to start and looks again.
const maxStartsAtOnce = 100;

/** Chunks are claimed in this order: who did something is not kept waiting by a campaign to millions. */
const aheadOfCampaigns = new Date(0);

export type ReleaseRunsDependencies = { database: Database; log: Logger; wakeWorkers: () => void };

/**
 * The job that turns a queued run into work: it freezes the audience (every device registered so far), cuts it into chunks
 * and starts the run. All in one transaction, so that a start that dies leaves nothing; the run's row is locked only when
 * everything is counted, so that nobody who pauses or stops it waits for that. One that cannot be started waits, longer each
 * time, so that it keeps back none of those behind it.
 */
export function makeReleaseRuns({ database, log, wakeWorkers }: ReleaseRunsDependencies): Job {
  const putOff = makePutOff();
  return {
    name: 'release-runs',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const released = await releaseOne({ database, log, putOff }, now);
      if (released > 0) wakeWorkers();
      return released;
    },
  };
}

/** The run was paused or stopped while its audience was counted, or a winner was named; what was frozen of it is undone. */
class RunTakenBackError extends Error {
  override readonly name = 'RunTakenBackError';
}

type Releasing = Pick<ReleaseRunsDependencies, 'database' | 'log'> & { putOff: PutOff };

async function releaseOne({ database, log, putOff }: Releasing, now: Date): Promise<number> {
  let runId: string | undefined;
  try {
    const released = await inTransaction(database, async (tx) => {
      const run = await takeQueuedRun(tx, putOff.list(now));
      runId = run?.id;
      return run && { run, ...(await releaseRun(tx, { run, now })) };
    });
    if (!released) return 0;
    putOff.remove(released.run.id);
    logReleased(log, released);
    return 1;
  } catch (error) {
    // There may be others.
    if (error instanceof RunTakenBackError) return 1;
    if (runId === undefined || isOutage(error)) throw error;
    makeTellFault(log, 'run')({ id: runId, error, retryAt: putOff.add(runId, now) });
    return 1;
  }
}

type Released = { devices: number } | { reason: string };

function logReleased(log: Logger, { run, ...released }: { run: RunToSend } & Released): void {
  const { id: runId, campaignId, workspaceId: workspace } = run;
  const of = { runId, campaignId, workspace };
  if ('reason' in released) log.warn({ ...of, reason: released.reason }, 'run failed');
  else log.info({ ...of, devices: released.devices }, 'run started');
}

/** The first queued run that no other node starts. */
async function takeQueuedRun(tx: Transaction, except: readonly string[]): Promise<RunToSend | undefined> {
  for (const id of await listQueuedRuns(tx, { except, limit: maxStartsAtOnce })) {
    // Another node may have started it since.
    const run = (await tryHoldStart(tx, id)) ? await findQueuedRun(tx, id) : undefined;
    if (run) return run;
  }
  return undefined;
}

/** @throws RunTakenBackError */
async function releaseRun(tx: Transaction, { run, now }: { run: RunToSend; now: Date }): Promise<Released> {
  const frozen = await freezeAudience(tx, { run, now });
  if (!(await lockQueuedRun(tx, run.id))) throw new RunTakenBackError(run.id);
  const isVaried = run.variants !== null && run.variants.percents.length > 1;
  if (isVaried && (await holdWinner(tx, run.campaignId)) !== run.winner) throw new RunTakenBackError(run.id);
  if ('reason' in frozen) {
    await failRun(tx, { id: run.id, campaignId: run.campaignId, reason: frozen.reason, at: now });
    return { reason: frozen.reason };
  }
  const { bound: audienceBound, platforms: audiencePlatforms, users: audienceUsers, segment } = frozen.audience;
  const devices = sumOf(audiencePlatforms, 'devices');
  const { globalControlPercent, groupUsers } = frozen.audience;
  await insertChunks(tx, {
    runId: run.id,
    workspaceId: run.workspaceId,
    lane: run.lane,
    at: now,
    ...(run.deliveryType === 'EVENT_TRIGGERED' && { notBefore: aheadOfCampaigns }),
    winner: run.winner,
    ranges: devices === 0 ? [] : cutBuckets(devices),
  });
  const devicesPerMinute = runDevicesPerMinute(deliverySettings(run.settings), devices);
  await startRun(tx, {
    id: run.id,
    audienceBound,
    audienceDevices: devices,
    audiencePlatforms,
    audienceUsers,
    segment,
    globalControlPercent,
    groupUsers,
    locales: run.variants?.locales.length ? run.variants.locales : null,
    learning: run.variants && learningOf(run.variants),
    devicesPerMinute,
    at: now,
  });
  return { devices };
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
