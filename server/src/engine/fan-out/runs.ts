import { deliverySettings, inboxOfRun, runDevicesPerMinute } from '../../domain/campaigns/delivery-settings.ts';
import { sumOf } from '../../domain/campaigns/figures.ts';
import { isOutage } from '../../domain/database-faults.ts';
import { learningOf } from '../../domain/experiments/variants.ts';
import { bucketCount } from '../../domain/users/users.ts';
import type { Logger } from '../../log.ts';
import { holdWinner } from '../../storage/campaigns/variations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { insertChunks } from '../../storage/runs/chunks.ts';
import { beginPass, insertRest } from '../../storage/runs/audience-passes.ts';
import { insertTurn } from '../../storage/runs/turns.ts';
import type { Cursor, ClaimedChunk } from '../../storage/runs/chunks.ts';
import {
  listQueuedRuns,
  lockQueuedRun,
  startRun,
  tryHoldStart,
  failRun,
  findQueuedRun,
} from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Job } from '../jobs/job.ts';
import { makeBackoff, makeFaultLogger } from '../jobs/process-one-by-one.ts';
import type { Backoff } from '../jobs/process-one-by-one.ts';
import { freezeAudience } from './audience.ts';
import type { FrozenAudience } from './audience.ts';
import { countedAtOnce, planPass } from './audience-pass.ts';
import type { PlannedPass } from './audience-pass.ts';

// Enough chunks for many workers to share, each with several windows.
export const devicesPerChunk = 2_000;
// Each node starts one run at a time. If this many other nodes are starting runs, this node finds none and tries again later.
const maxStartsAtOnce = 100;

/** Sorts these chunks first: a campaign to millions must not delay messages triggered by a user's action. */
const aheadOfCampaigns = new Date(0);

export type ReleaseRunsDependencies = {
  database: Database;
  log: Logger;
  /** Wakes the chunk workers, and the job that counts large audiences. */
  wakeWorkers: () => void;
  /** An audience of up to about this many devices is counted before its run starts. */
  countAtOnce?: number;
};

/**
 * The job that starts queued runs: it freezes the audience (every device registered so far), splits it into chunks and starts
 * the run. All of this is in one transaction, so that a crash during a start leaves nothing behind. A large audience is only frozen
 * here; the job `cut-audiences` counts it and splits it into chunks (decision 0075). The run's row is locked only after counting, so
 * that pausing or stopping the run does not have to wait. A run that fails to start is retried with increasing delays, so that it does
 * not block the runs behind it.
 */
export function makeReleaseRuns(deps: ReleaseRunsDependencies): Job {
  const { database, log, wakeWorkers, countAtOnce = countedAtOnce } = deps;
  const putOff = makeBackoff();
  return {
    name: 'release-runs',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const released = await releaseOne({ database, log, putOff, countAtOnce }, now);
      if (released > 0) wakeWorkers();
      return released;
    },
  };
}

/** The run was paused or stopped while its audience was counted, or a winner was named. The transaction is rolled back. */
class RunTakenBackError extends Error {
  override readonly name = 'RunTakenBackError';
}

type Releasing = Pick<ReleaseRunsDependencies, 'database' | 'log'> & { putOff: Backoff; countAtOnce: number };

async function releaseOne({ database, log, putOff, countAtOnce }: Releasing, now: Date): Promise<number> {
  let runId: string | undefined;
  try {
    const released = await inTransaction(database, async (tx) => {
      const run = await takeQueuedRun(tx, putOff.list(now));
      runId = run?.id;
      return run && { run, ...(await releaseRun(tx, { run, now, countAtOnce })) };
    });
    if (!released) return 0;
    putOff.remove(released.run.id);
    logReleased(log, released);
    return 1;
  } catch (error) {
    // There may be other runs to start.
    if (error instanceof RunTakenBackError) return 1;
    if (runId === undefined || isOutage(error)) throw error;
    makeFaultLogger(log, 'run')({ id: runId, error, retryAt: putOff.add(runId, now) });
    return 1;
  }
}

/** `devices`: how many the run has; undefined while they are counted. */
type Released = { devices: number | undefined } | { reason: string };

export function logReleased(log: Logger, { run, ...released }: { run: RunToSend } & Released): void {
  const { id: runId, campaignId, workspaceId: workspace } = run;
  const of = { runId, campaignId, workspace };
  if ('reason' in released) log.warn({ ...of, reason: released.reason }, 'run failed');
  else if (released.devices === undefined) log.info(of, 'run released; its audience is being counted');
  else log.info({ ...of, devices: released.devices }, 'run started');
}

/** Returns the first queued run that no other node is starting. */
async function takeQueuedRun(tx: Transaction, except: readonly string[]): Promise<RunToSend | undefined> {
  for (const id of await listQueuedRuns(tx, { except, limit: maxStartsAtOnce })) {
    // Another node may have started it since.
    const run = (await tryHoldStart(tx, id)) ? await findQueuedRun(tx, id) : undefined;
    if (run) return run;
  }
  return undefined;
}

type Release = { run: RunToSend; now: Date; countAtOnce: number };

/** @throws RunTakenBackError */
async function releaseRun(tx: Transaction, { run, now, countAtOnce }: Release): Promise<Released> {
  const planned = await planPass(tx, { run, now, countAtOnce });
  if (planned) return releaseUncounted(tx, { run, now, planned });
  const frozen = await freezeAudience(tx, { run, now });
  if (!(await lockQueuedRun(tx, run.id))) throw new RunTakenBackError(run.id);
  const isVaried = run.variants !== null && run.variants.percents.length > 1;
  if (isVaried && (await holdWinner(tx, run.campaignId)) !== run.winner) throw new RunTakenBackError(run.id);
  if ('reason' in frozen) {
    await failRun(tx, { id: run.id, campaignId: run.campaignId, reason: frozen.reason, at: now });
    return { reason: frozen.reason };
  }
  return { devices: await startCounted(tx, { run, audience: frozen.audience, now }) };
}

/** Begins to count a large audience, and starts the run unless it needs the size first. */
async function releaseUncounted(
  tx: Transaction,
  { run, now, planned }: { run: RunToSend; now: Date; planned: PlannedPass },
): Promise<Released> {
  if (!(await lockQueuedRun(tx, run.id))) throw new RunTakenBackError(run.id);
  const { needsSize, ...frozen } = planned;
  await beginPass(tx, { id: run.id, ...frozen });
  if (needsSize) return { devices: undefined };
  const { bound: audienceBound, segment, globalControlPercent, pass } = frozen;
  const uncounted = { audienceDevices: null, audiencePlatforms: null, audienceUsers: null };
  await insertRest(tx, { runId: run.id, workspaceId: run.workspaceId, lane: run.lane, at: now });
  await startRun(tx, {
    ...{ id: run.id, audienceBound, segment, globalControlPercent, ...uncounted },
    // A conversion during the count is of a run with groups.
    groupUsers: pass.groupUsers,
    ...contentsOf(run),
    devicesPerMinute: null,
    at: now,
  });
  return { devices: undefined };
}

/** Starts a run of a known size. The caller holds the locks of the run and of its campaign's winner. @returns the number of devices */
export async function startCounted(
  tx: Transaction,
  { run, audience, now }: { run: RunToSend; audience: FrozenAudience; now: Date },
): Promise<number> {
  const { bound: audienceBound, platforms: audiencePlatforms, users: audienceUsers, segment } = audience;
  const devices = sumOf(audiencePlatforms, 'devices');
  const { globalControlPercent, groupUsers } = audience;
  const rows = devices + (inboxOfRun(run) ? audienceUsers : 0);
  await insertChunks(tx, {
    runId: run.id,
    workspaceId: run.workspaceId,
    lane: run.lane,
    at: now,
    ...(run.deliveryType === 'EVENT_TRIGGERED' && { notBefore: aheadOfCampaigns }),
    winner: run.winner,
    ranges: rows === 0 ? [] : cutBuckets(rows),
  });
  if (run.lane === 1 && rows > 0) await insertTurn(tx, { runId: run.id, workspaceId: run.workspaceId, devices: rows });
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
    ...contentsOf(run),
    devicesPerMinute,
    at: now,
  });
  return devices;
}

/** What a run keeps of its contents. */
function contentsOf({ variants }: RunToSend) {
  return { locales: variants?.locales.length ? variants.locales : null, learning: variants && learningOf(variants) };
}

/**
 * Returns bucket ranges of about equal audience. The number of chunks is a power of two, so that a range is 256, 128, … or 1
 * bucket. With one bucket per range, a chunk's pages are single-shard queries on a cluster.
 */
export function cutBuckets(devices: number): { from: number; to: number }[] {
  if (devices <= smallAudienceDevices) return [{ from: 0, to: bucketCount - 1 }];
  const wanted = Math.ceil(devices / devicesPerChunk);
  const chunks = Math.min(bucketCount, 2 ** Math.ceil(Math.log2(wanted)));
  const width = bucketCount / chunks;
  return Array.from({ length: chunks }, (_, index) => ({ from: index * width, to: (index + 1) * width - 1 }));
}

/** Buckets whose devices are read together, in order, starting at the cursor. Never empty. */
export type BucketGroup = {
  buckets: number[];
  /** The first bucket after them. Undefined at the end of the chunk. */
  next: number | undefined;
};

type Asked = {
  run: Pick<RunToSend, 'targetUsers' | 'audienceDevices' | 'audienceUsers' | 'settings' | 'isTest'>;
  chunk: Pick<ClaimedChunk, 'bucketFrom' | 'bucketTo'>;
  cursor: Cursor;
  /** The maximum number of devices in a window. */
  windowDevices: number;
};

/**
 * Up to this size an audience is one chunk whose windows span buckets, so that a small send takes a few queries instead of 256.
 */
const smallAudienceDevices = 5_000;
// With a group this large, all windows but the last are full, and no page is sorted out of a much larger set.
const windowsOfSmallGroup = 4;

/**
 * Returns the buckets that a window is read from. This is one bucket, so that all its rows are in one shard of a cluster, or as
 * many as fill a window if one does not.
 */
export function bucketGroup({ run, chunk, cursor, windowDevices }: Asked): BucketGroup | undefined {
  const from = Math.max(cursor.bucket, chunk.bucketFrom);
  return run.targetUsers
    ? groupOfUsers({ targetUsers: run.targetUsers, from, to: chunk.bucketTo, windowDevices })
    : groupOfAudience({ devices: rowsOf(run), from, to: chunk.bucketTo, windowDevices });
}

/** How many rows the windows of a run have: its devices, and the users whose inbox it fills. Null while they are counted. */
function rowsOf(run: Asked['run']): number | null {
  if (run.audienceDevices === null || !inboxOfRun(run)) return run.audienceDevices;
  return run.audienceDevices + (run.audienceUsers ?? 0);
}

type Range = { from: number; to: number; windowDevices: number };

/** Assumes evenly filled buckets, because a bucket is a hash of the user. */
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

/** Returns only buckets that contain named users, as many as have users for one window. */
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
