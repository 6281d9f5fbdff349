import type { Clock } from '../../clock.ts';
import { deliverySettings, runDevicesPerMinute } from '../../domain/campaigns/delivery-settings.ts';
import { sumOf } from '../../domain/campaigns/figures.ts';
import { isOutage } from '../../domain/database-faults.ts';
import { learningOf } from '../../domain/experiments/variants.ts';
import { bucketCount } from '../../domain/users/users.ts';
import type { Logger } from '../../log.ts';
import { holdWinner } from '../../storage/campaigns/variations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { settleStoppedRuns } from '../../storage/runs/campaign-runs.ts';
import { insertChunks } from '../../storage/runs/chunks.ts';
import type { Cursor, ClaimedChunk } from '../../storage/runs/chunks.ts';
import {
  listQueuedRuns,
  lockQueuedRun,
  startRun,
  tryHoldStart,
  failRun,
  findQueuedRun,
  endFinishedCampaigns,
  endFinishedRuns,
  retireFinishedCampaigns,
  sumRunCounts,
} from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Job } from '../jobs/job.ts';
import { makeBackoff, makeFaultLogger } from '../jobs/process-one-by-one.ts';
import type { Backoff } from '../jobs/process-one-by-one.ts';
import { freezeAudience } from './audience.ts';

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
  const putOff = makeBackoff();
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

type Releasing = Pick<ReleaseRunsDependencies, 'database' | 'log'> & { putOff: Backoff };

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
    makeFaultLogger(log, 'run')({ id: runId, error, retryAt: putOff.add(runId, now) });
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

/** Buckets whose devices are read together, in order, from the cursor's on. Never none. */
export type BucketGroup = {
  buckets: number[];
  /** The first bucket after them; undefined when nothing of the chunk is left. */
  next: number | undefined;
};

type Asked = {
  run: Pick<RunToSend, 'targetUsers' | 'audienceDevices'>;
  chunk: Pick<ClaimedChunk, 'bucketFrom' | 'bucketTo'>;
  cursor: Cursor;
  /** Most devices in a window. */
  windowDevices: number;
};

/** Up to this an audience is one chunk whose windows cross buckets, so a small send is a few queries and not 256. */
const smallAudienceDevices = 5_000;
// Full windows, all but the last of so many, and no page that has to be sorted out of much more.
const windowsOfSmallGroup = 4;

/**
 * The buckets that a window is read from: one, so that all it stores lies in one place of a cluster, and as many as fill
 * a window where one would not.
 */
export function bucketGroup({ run, chunk, cursor, windowDevices }: Asked): BucketGroup | undefined {
  const from = Math.max(cursor.bucket, chunk.bucketFrom);
  return run.targetUsers
    ? groupOfUsers({ targetUsers: run.targetUsers, from, to: chunk.bucketTo, windowDevices })
    : groupOfAudience({ devices: run.audienceDevices, from, to: chunk.bucketTo, windowDevices });
}

type Range = { from: number; to: number; windowDevices: number };

/** Buckets are filled evenly: they are a hash of the user. */
function groupOfAudience({ devices, from, to, windowDevices }: Range & { devices: number | null }): BucketGroup {
  const last = Math.min(to, from + widthOf({ devices, windowDevices }) - 1);
  const buckets = Array.from({ length: last - from + 1 }, (_, index) => from + index);
  return { buckets, next: last < to ? last + 1 : undefined };
}

function widthOf({ devices, windowDevices }: { devices: number | null; windowDevices: number }): number {
  if (devices === null) return 1;
  const windows = devices <= smallAudienceDevices ? windowsOfSmallGroup : 1;
  return Math.max(1, Math.floor((windows * windowDevices * bucketCount) / Math.max(1, devices)));
}

/** Only where a named user is, and as many of those buckets as have users for a window. */
function groupOfUsers({
  targetUsers,
  from,
  to,
  windowDevices,
}: Range & { targetUsers: readonly [bucket: number, userId: string][] }): BucketGroup | undefined {
  const users = Map.groupBy(
    targetUsers.map(([bucket]) => bucket).filter((bucket) => bucket >= from && bucket <= to),
    (bucket) => bucket,
  );
  const ahead = [...users.keys()].sort((one, other) => one - other);
  let sum = 0;
  let count = 0;
  while (count < ahead.length && (count === 0 || sum + users.get(ahead[count]!)!.length <= windowDevices)) {
    sum += users.get(ahead[count]!)!.length;
    count += 1;
  }
  return count === 0 ? undefined : { buckets: ahead.slice(0, count), next: ahead[count] };
}

export type EndRunsDependencies = { database: Database; clock: Clock; log: Logger };

/**
 * The job that ends runs with nothing left to send, and their campaigns: one-time campaigns with their last run,
 * periodic ones when no occurrence is left either. It also settles windows that were in flight when their run was
 * stopped.
 */
export function makeEndRuns({ database, clock, log }: EndRunsDependencies): Job {
  return {
    name: 'end-runs',
    intervalMilliseconds: 2000,
    async runOnce(now) {
      const { ended, retired } = await inTransaction(database, async (tx) => {
        const ended = await endFinishedRuns(tx, { at: now, limit: 100 });
        const campaignIds = [...new Set(ended.map((run) => run.campaignId))];
        if (ended.length > 0) await endFinishedCampaigns(tx, { campaignIds, at: now });
        return { ended, retired: await retireFinishedCampaigns(tx, { at: now, limit: 100 }) };
      });
      for (const run of ended) if (run.lane === 1) await logEnded({ database, log }, run);
      return ended.length + retired + (await settleStoppedRuns(database, { at: now, leasesEndedAt: clock.realNow() }));
    },
  };
}

type Ended = Awaited<ReturnType<typeof endFinishedRuns>>[number];

/** What became of a send to an audience. Those to named users are many, and have their line as calls. */
async function logEnded(
  { database, log }: Pick<EndRunsDependencies, 'database' | 'log'>,
  { id: runId, campaignId, workspaceId: workspace, status, reason }: Ended,
): Promise<void> {
  // Ended it is; a line without counts is better than none.
  const counts = await sumRunCounts(database, runId).catch(() => undefined);
  const line = { runId, campaignId, workspace, counts };
  if (status === 'FAILED') log.warn({ ...line, reason }, 'run failed');
  else log.info(line, 'run ended');
}
