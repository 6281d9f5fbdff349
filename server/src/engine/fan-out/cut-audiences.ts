import type { Clock } from '../../clock.ts';
import {
  deliverySettings,
  inboxOfRun,
  iosProvisional,
  pushedPlatforms,
} from '../../domain/campaigns/delivery-settings.ts';
import { sumOf } from '../../domain/campaigns/figures.ts';
import { isOutage } from '../../domain/database-faults.ts';
import { regroupUsers } from '../../domain/experiments/group-users.ts';
import type { GroupUsers } from '../../domain/experiments/group-users.ts';
import { expandStoredFilters } from '../../domain/segments/filter-reader.ts';
import { bucketCount } from '../../domain/users/users.ts';
import type { Logger } from '../../log.ts';
import { countBucketPlatforms, countGroupUsers } from '../../storage/campaigns/audience-groups.ts';
import type { AudiencePlatform, BucketPlatform } from '../../storage/campaigns/audience-groups.ts';
import { holdWinner } from '../../storage/campaigns/variations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  countUsersInBuckets,
  endPass,
  findPass,
  keepPass,
  listPasses,
  lockPass,
  noteCountFault,
  shrinkRest,
} from '../../storage/runs/audience-passes.ts';
import type { AudiencePass, OpenPass } from '../../storage/runs/audience-passes.ts';
import { insertChunks } from '../../storage/runs/chunks.ts';
import { findRunsToSend, tryHoldStart } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { insertTurn, noteMoreDevices } from '../../storage/runs/turns.ts';
import { freezeFilterAudience } from '../../storage/segments/segment-filters.ts';
import {
  analyzeSegmentMembers,
  countFrozenMembers,
  deleteFrozenMembers,
} from '../../storage/segments/segment-members.ts';
import type { Job } from '../jobs/job.ts';
import { makeBackoff, makeFaultLogger } from '../jobs/process-one-by-one.ts';
import type { Backoff } from '../jobs/process-one-by-one.ts';
import { analyzeFromUsers, groupsOf } from './audience.ts';
import { devicesPerChunk, logReleased, startCounted } from './runs.ts';

/** A step that takes less than `from` is followed by one of twice as many buckets; more than `to`, by one of half as many. */
const stepMilliseconds = { from: 200, to: 500 };
const maxBucketsOfStep = 64;
const maxStepsAtOnce = 100;
/** The pause after the third failure of a step in a row. From then on the overview shows the run. */
const notedMilliseconds = 8_000;

export type CutAudiencesDependencies = { database: Database; clock: Clock; log: Logger; wakeWorkers: () => void };

/** The run was stopped, or counted further by another node, during a step. The step is rolled back. */
class PassChangedError extends Error {
  override readonly name = 'PassChangedError';
}

/**
 * The job that counts large audiences and splits them into chunks (decision 0075). A step counts the next buckets of a run and inserts
 * their chunks, in one transaction: a device is counted before it can be sent to, and counted once however often a process dies. The
 * run with the fewest counted buckets is next, so that one that has just started does not wait. A run that needs its size gets its
 * chunks with the last step, and starts then.
 */
export function makeCutAudiences(deps: CutAudiencesDependencies): Job {
  const { database, log, clock, wakeWorkers } = deps;
  const putOff = makeBackoff();
  const widths = new Map<string, number>();
  return {
    name: 'cut-audiences',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const beganAt = clock.realNow().getTime();
      const step = await takeStep({ database, log, putOff, widths }, now);
      if (!step) return 0;
      if ('id' in step) {
        if (step.isLast) widths.delete(step.id);
        else widths.set(step.id, widthAfter(step.width, clock.realNow().getTime() - beganAt));
        if (step.hasChunks) wakeWorkers();
      }
      return 1;
    },
  };
}

function widthAfter(width: number, milliseconds: number): number {
  if (milliseconds < stepMilliseconds.from) return Math.min(maxBucketsOfStep, width * 2);
  return milliseconds > stepMilliseconds.to ? Math.max(1, Math.floor(width / 2)) : width;
}

type Taking = Pick<CutAudiencesDependencies, 'database' | 'log'> & { putOff: Backoff; widths: Map<string, number> };
type Step = { id: string; width: number; isLast: boolean; hasChunks: boolean };

/** Returns undefined if there is nothing to count, or other nodes are counting it. */
async function takeStep(
  { database, log, putOff, widths }: Taking,
  now: Date,
): Promise<Step | { failed: true } | undefined> {
  let runId: string | undefined;
  try {
    const begun = await inTransaction(database, async (tx) => {
      const held = await holdPass(tx, putOff.list(now));
      if (!held) return undefined;
      runId = held.run.id;
      const width = widths.get(runId) ?? 1;
      if (held.open.pass.filters !== null) return { width, frozen: await freezeNext(tx, { ...held, width }) };
      return { width, run: held.run, ...(await cutNext(tx, { ...held, width, now })) };
    });
    if (!begun) return undefined;
    const { width } = begun;
    const done = 'run' in begun ? begun : await cutFrozen(database, { frozen: begun.frozen, width, now });
    const { run, isLast, startedDevices } = done;
    putOff.remove(run.id);
    if (startedDevices !== undefined) logReleased(log, { run, devices: startedDevices });
    return { id: run.id, width, isLast, hasChunks: run.startedAt !== null || startedDevices !== undefined };
  } catch (error) {
    if (error instanceof PassChangedError) return { failed: true };
    if (runId === undefined || isOutage(error)) throw error;
    // A step of fewer buckets may fit into memory or disk.
    widths.set(runId, Math.max(1, Math.floor((widths.get(runId) ?? 1) / 2)));
    const retryAt = putOff.add(runId, now);
    makeFaultLogger(log, 'run')({ id: runId, error, retryAt });
    if (retryAt.getTime() - now.getTime() >= notedMilliseconds) await noteCountFault(database, runId);
    return { failed: true };
  }
}

type Held = { run: RunToSend; open: OpenPass };

/** Returns the next run that no other node is counting. */
async function holdPass(tx: Transaction, except: readonly string[]): Promise<Held | undefined> {
  for (const id of await listPasses(tx, { except, limit: maxStepsAtOnce })) {
    const held = await holdRun(tx, id);
    if (held) return held;
  }
  return undefined;
}

/** Returns undefined if another node is counting it, or has counted it. */
async function holdRun(tx: Transaction, id: string): Promise<Held | undefined> {
  if (!(await tryHoldStart(tx, id))) return undefined;
  const open = await findPass(tx, id);
  const [run] = open ? await findRunsToSend(tx, [id]) : [];
  return open && run ? { run, open } : undefined;
}

/** What the filter of a run matched in its next buckets. */
type Frozen = { runId: string; cut: number; users: number };

/**
 * Stores the users of the next buckets who match the filter of a run, in a separate transaction. On a cluster these members are on
 * other machines than the run. If a process dies, members may be stored without their step, so the next step deletes them first.
 */
async function freezeNext(tx: Transaction, { run, open, width }: Held & { width: number }): Promise<Frozen> {
  const { workspaceId, id: runId } = run;
  const { pass, cut } = open;
  const buckets = nextBuckets(open, width);
  const filters = expandStoredFilters(pass.filters!.segment, pass.filters!.referenced);
  await deleteFrozenMembers(tx, { workspaceId, segmentId: runId, buckets });
  const frozen = { workspaceId, ...filters, at: new Date(pass.at), segmentId: runId, buckets };
  const users = await freezeFilterAudience(tx, frozen);
  if (pass.users < analyzeFromUsers && pass.users + users >= analyzeFromUsers) await analyzeSegmentMembers(tx);
  return { runId, cut, users };
}

/** Counts the buckets whose members are stored, and inserts their chunks. @throws PassChangedError */
async function cutFrozen(
  database: Database,
  { frozen, width, now }: { frozen: Frozen; width: number; now: Date },
): Promise<{ run: RunToSend; isLast: boolean; startedDevices?: number }> {
  return inTransaction(database, async (tx) => {
    const held = await holdRun(tx, frozen.runId);
    if (held?.open.cut !== frozen.cut) throw new PassChangedError(frozen.runId);
    const { run, open } = held;
    const { users } = frozen;
    const members = { workspaceId: run.workspaceId, segmentId: run.id, buckets: nextBuckets(open, width) };
    // Another node has resolved the filter again, or not all members are visible yet.
    if ((await countFrozenMembers(tx, members)) !== users) throw new PassChangedError(run.id);
    return { run, ...(await cutNext(tx, { ...held, width, now, users })) };
  });
}

function nextBuckets({ cut }: OpenPass, width: number): number[] {
  return Array.from({ length: Math.min(bucketCount, cut + width) - cut }, (_, index) => cut + index);
}

/** `users`: how many the buckets have, if they were counted when the filter was resolved. */
type Cutting = Held & { width: number; now: Date; users?: number };

/**
 * @returns the number of devices of a run that waited for its size and has started
 * @throws PassChangedError
 */
async function cutNext(
  tx: Transaction,
  { run, open, width, now, users }: Cutting,
): Promise<{ isLast: boolean; startedDevices?: number }> {
  const buckets = nextBuckets(open, width);
  const end = open.cut + buckets.length;
  const { pass, devicesOf } = await countBuckets(tx, { run, pass: open.pass, buckets, users });
  const status = await lockPass(tx, { runId: run.id, cut: open.cut });
  if (status === undefined) throw new PassChangedError(run.id);
  const isLast = end === bucketCount;
  const devices = sumOf(pass.platforms, 'devices');
  const rows = devices + (inboxOfRun(run) ? pass.users : 0);
  pass.estimate = Math.round((rows * bucketCount) / end);
  if (status === 'QUEUED') {
    if (!isLast) await keepPass(tx, { runId: run.id, cut: end, pass });
    return isLast ? { isLast, startedDevices: await startWaiting(tx, { run, pass, now }) } : { isLast };
  }
  const { id: runId, workspaceId, lane } = run;
  await shrinkRest(tx, { runId, from: end });
  // Without devices and inboxes in the whole audience there are no chunks, as in a small one.
  const ranges = isLast && rows === 0 ? [] : cutRanges(buckets, devicesOf);
  await insertChunks(tx, { runId, workspaceId, lane, at: now, winner: null, ranges });
  const { estimate } = pass;
  const more = estimate - open.pass.estimate;
  // The turn of a paused run stays parked; correctTurns unparks it after the run was resumed.
  if (lane === 1 && status === 'PAUSED') await noteMoreDevices(tx, { runId, more });
  else if (lane === 1) await insertTurn(tx, { runId, workspaceId, devices: estimate, more });
  if (isLast) await endPass(tx, { runId, devices, pass });
  else await keepPass(tx, { runId, cut: end, pass });
  return { isLast };
}

/** Starts a run that waited for its size: QUEUED → SENDING, with all its chunks. */
async function startWaiting(
  tx: Transaction,
  { run, pass, now }: { run: RunToSend; pass: AudiencePass; now: Date },
): Promise<number> {
  const winner = await holdWinner(tx, run.campaignId);
  const { platforms, users, groupUsers } = pass;
  const segment =
    run.audienceSegmentId === null ? undefined : { id: run.audienceSegmentId, version: run.audienceVersion! };
  const isRegrouped = groupUsers !== null && winner !== null;
  const audience = {
    ...{ bound: run.audienceBound!, platforms, users, segment, globalControlPercent: run.globalControlPercent },
    groupUsers: isRegrouped ? regroupUsers(groupUsers, winner) : groupUsers,
  };
  return startCounted(tx, { run: { ...run, winner }, audience, now });
}

type Counting = { run: RunToSend; pass: AudiencePass; buckets: readonly number[]; users: number | undefined };
type Counted = { pass: AudiencePass; devicesOf: ReadonlyMap<number, number> };

/** Counts the users and devices of some buckets. Those of a filter are stored as members. */
async function countBuckets(tx: Transaction, { run, pass, buckets, users: found }: Counting): Promise<Counted> {
  const { workspaceId } = run;
  const platforms = pushedPlatforms(run);
  const settings = deliverySettings(run.settings);
  const segment =
    run.audienceSegmentId === null ? undefined : { id: run.audienceSegmentId, version: run.audienceVersion! };
  const reached = { workspaceId, platforms, iosProvisional: iosProvisional(settings), bound: run.audienceBound! };
  const audience = { ...reached, appIds: settings.appIds, segment, buckets };
  // The users of a file are known by its version.
  const isOfAll = segment === undefined;
  const counting = { workspaceId, buckets, until: new Date(pass.at) };
  const newUsers = found ?? (isOfAll ? await countUsersInBuckets(tx, counting) : 0);
  const counted = await countBucketPlatforms(tx, audience);
  const groups = groupsOf(run, run.globalControlPercent);
  const groupUsers = groups && (await countGroupUsers(tx, { ...audience, ...groups }));
  return {
    pass: {
      ...pass,
      users: pass.users + newUsers,
      platforms: addPlatforms(pass.platforms, counted),
      groupUsers: pass.groupUsers && addGroups(pass.groupUsers, groupUsers ?? []),
    },
    devicesOf: new Map(
      [...Map.groupBy(counted, ({ bucket }) => bucket)].map(([bucket, own]) => [bucket, sumOf(own, 'devices')]),
    ),
  };
}

function addPlatforms(known: readonly AudiencePlatform[], counted: readonly BucketPlatform[]): AudiencePlatform[] {
  const byPlatform = Map.groupBy([...known, ...counted], ({ platform }) => platform);
  return [...byPlatform]
    .map(([platform, own]) => ({
      platform,
      devices: sumOf(own, 'devices'),
      users: sumOf(own, 'users'),
      installed: sumOf(own, 'installed'),
    }))
    .sort((one, other) => (one.platform < other.platform ? -1 : 1));
}

function addGroups(known: readonly GroupUsers[], counted: readonly GroupUsers[]): GroupUsers[] {
  const byGroup = Map.groupBy([...known, ...counted], ({ platform, group, variation }) =>
    [platform, group, variation].join(' '),
  );
  return [...byGroup.values()].map((own) => ({ ...own[0]!, users: sumOf(own, 'users') }));
}

/**
 * Returns ranges that cover the buckets, each with enough devices for several windows if the buckets have as many. A range has the
 * number of its first bucket.
 */
export function cutRanges(
  buckets: readonly number[],
  devicesOf: ReadonlyMap<number, number>,
): { from: number; to: number; number: number }[] {
  const ranges: { from: number; to: number; number: number }[] = [];
  let devices = devicesPerChunk;
  for (const bucket of buckets) {
    if (devices >= devicesPerChunk) {
      ranges.push({ from: bucket, to: bucket, number: bucket });
      devices = 0;
    } else ranges.at(-1)!.to = bucket;
    devices += devicesOf.get(bucket) ?? 0;
  }
  return ranges;
}
