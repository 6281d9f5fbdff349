import { deliverySettings, iosProvisional } from '../../domain/campaigns/delivery-settings.ts';
import { isDatabaseFault } from '../../domain/database-faults.ts';
import { lastIdAt } from '../../domain/ids.ts';
import { bucketCount } from '../../domain/users/users.ts';
import type { Database } from '../../storage/database.ts';
import { ensureDeliveriesPartition } from '../../storage/ledger/deliveries.ts';
import { releaseChunk, renewLeases } from '../../storage/runs/chunks.ts';
import type { ClaimedChunk } from '../../storage/runs/chunks.ts';
import { claimNamedChunks, findDevicesOfRuns, openNamedWindows } from '../../storage/runs/named-runs.ts';
import { findRunsToSend } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Rest } from '../jobs/job.ts';
import { chunkLeaseEnd, chunkLeaseMilliseconds, makeLease } from '../jobs/leased-job.ts';
import type { PersonaliseDevices } from './compose-message.ts';
import type { DeliverToDevices } from './deliver-to-devices.ts';
import { makeDeliverToEligible } from './deliver-to-eligible.ts';
import type { DeliverToEligible } from './deliver-to-eligible.ts';
import { replaceAddresses } from './replace-addresses.ts';
import { runLimitOf } from './seats.ts';
import { WindowFailedError } from './send-window.ts';
import type { DeviceResult } from './settle-outcome.ts';
import { giveUp, heartbeatMilliseconds, makeIdleSlots } from './work-chunks.ts';
import type { WindowTurns } from './work-chunks.ts';
import { batchRuns, makeStoreSoon } from './store-named-runs.ts';
import type { OpenedRun, StoreDependencies } from './store-named-runs.ts';

/** Runs whose messages are under way or not stored yet, on this node. About 5 kB each. */
const maxUnderWay = 4_000;
/** As many of one workspace, so that one whose provider is slow leaves room for the others. */
const maxUnderWayOfWorkspace = 1_000;
/** Runs to more users than this are left to the workers of chunks, which send window by window. */
const maxUsers = 50;
/** Batches that are read at the same time, so that a distant database does not limit the rate. */
const readers = 3;

export type NamedRunsDependencies = StoreDependencies & {
  /** Identifies this process in leases; unique per start. */
  owner: string;
  personaliseDevices: PersonaliseDevices;
  deliverToDevices: DeliverToDevices;
  /** The maximum number of devices in a window, and so the maximum of a run that a crash may repeat. */
  windowDevices: number;
  /** Shared with the workers of chunks. */
  turns: WindowTurns;
  rest?: Rest | undefined;
  /** Called when chunks were left to the workers of chunks. */
  onChunksLeft: () => void;
};

export type NamedRuns = { wake(): void; stop(): Promise<void> };

/**
 * Sends the runs to named users, such as pushes to one user and tests of campaigns. A run to a few devices would take ten round
 * trips to the database by itself, so up to 500 are claimed, read and opened together, and their outcomes are stored together.
 * Each run is sent and settled separately: a slow provider delays no other run. The sender claims only chunks that no worker has
 * claimed before. The workers of chunks send all others: chunks of workers that died, under the same identities, and runs that
 * are larger than a window or have a limit, a throttle or a trace, which the sender releases to them.
 */
export function startNamedRuns(deps: NamedRunsDependencies): NamedRuns {
  const { log } = deps;
  let isStopping = false;
  let wakes = 0;
  const idle = makeIdleSlots(deps.rest);
  const wake = (): void => {
    wakes += 1;
    idle.wakeOne();
  };
  const sender = makeNamedRunSender(deps, { isStopping: () => isStopping, onFreed: wake });

  const read = async (): Promise<void> => {
    while (!isStopping) {
      const wakesBefore = wakes;
      let claimed = 0;
      try {
        claimed = await sender.sendNext();
      } catch (error) {
        log.error({ err: error }, 'runs to named users were not claimed');
      }
      // A full batch is followed by another at once. After a smaller one the next ring of the doorbell is soon enough.
      if (claimed < batchRuns && wakes === wakesBefore && !isStopping) await idle.wait();
    }
  };
  const heartbeat = setInterval(() => {
    sender.renewLeases().catch((error: unknown) => log.warn({ err: error }, 'leases were not renewed'));
  }, heartbeatMilliseconds);
  const reading = Array.from({ length: readers }, read);

  return {
    wake,
    async stop() {
      isStopping = true;
      idle.wakeAll();
      await Promise.all(reading);
      await sender.settled();
      clearInterval(heartbeat);
    },
  };
}

export type NamedRunSender = {
  /** Claims a batch and begins to send it. @returns how many runs were claimed */
  sendNext(): Promise<number>;
  /** Resolves when everything that was claimed is stored or given up. */
  settled(): Promise<void>;
  renewLeases(): Promise<void>;
};

/** The steps without timing. `startNamedRuns` runs them in sequence, in several readers. */
export function makeNamedRunSender(
  deps: NamedRunsDependencies,
  { isStopping, onFreed }: { isStopping: () => boolean; onFreed: () => unknown },
): NamedRunSender {
  const { database, clock, owner, outcomes, turns } = deps;
  const deliver = makeDeliverToEligible(deps);
  const held = new Map<string, ClaimedChunk>();
  const underWay = new Set<Promise<void>>();
  /** True if the last claim left runs because of those under way. */
  let isCrowded = false;
  const openBatch = makeOpenBatch(deps);
  const store = makeStoreSoon(deps);

  const work = async ({ chunk, ...opened }: OpenedRun): Promise<void> => {
    try {
      const results = await deliverRun(deliver, opened);
      await store({ chunk, ...opened, results });
      await replaceAddresses(deps, { workspaceId: opened.run.workspaceId, results });
    } catch (error) {
      await giveUp(deps, chunk, error);
    }
  };
  const follow = (chunk: ClaimedChunk, done: Promise<void>): void => {
    const ended = done
      .catch((error: unknown) => deps.log.error({ err: error, runId: chunk.runId }, 'run to named users failed'))
      .finally(() => {
        held.delete(chunk.runId);
        underWay.delete(ended);
        if (!isCrowded) return;
        isCrowded = false;
        onFreed();
      });
    underWay.add(ended);
  };

  return {
    async sendNext() {
      await outcomes.settled();
      const limit = Math.min(batchRuns, maxUnderWay - held.size);
      const except = fullWorkspaces(held.values());
      isCrowded = except.length > 0 || limit < batchRuns;
      if (isStopping() || limit <= 0) return 0;
      const claim = { owner, limit, except, at: clock.now() };
      const chunks = await claimNamedChunks(database, { ...claim, ...makeLease(clock, chunkLeaseMilliseconds) });
      if (chunks.length === 0) return 0;
      for (const chunk of chunks) held.set(chunk.runId, chunk);
      let batch: Batch;
      try {
        batch = await turns.take('usual', () => openBatch(chunks));
      } catch (error) {
        for (const chunk of chunks) follow(chunk, giveUp(deps, chunk, error));
        return chunks.length;
      }
      for (const opened of batch.opened)
        follow(
          opened.chunk,
          turns.take('usual', () => work(opened)),
        );
      for (const chunk of batch.left) follow(chunk, releaseChunk(database, chunk).then(deps.onChunksLeft));
      return chunks.length;
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async renewLeases() {
      if (held.size > 0) await renewLeases(database, { chunks: [...held.values()], leaseUntil: chunkLeaseEnd(clock) });
    },
  };
}

/** Returns the workspaces of which no more runs are claimed for now. */
function fullWorkspaces(held: Iterable<ClaimedChunk>): string[] {
  const counts = new Map<string, number>();
  for (const { workspaceId } of held) counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
  return [...counts].filter(([, runs]) => runs >= maxUnderWayOfWorkspace).map(([workspaceId]) => workspaceId);
}

/** `left`: chunks of runs that are not sent here, or were stopped or paused meanwhile. */
type Batch = { opened: OpenedRun[]; left: ClaimedChunk[] };

/** Reads the runs of claimed chunks and their devices, and records the windows, in three statements. */
function makeOpenBatch({
  database,
  clock,
  windowDevices,
}: NamedRunsDependencies): (chunks: ClaimedChunk[]) => Promise<Batch> {
  const partitions = new Set<string>();
  return async (chunks) => {
    const found = await findRunsToSend(
      database,
      chunks.map(({ runId }) => runId),
    );
    const whole = new Set(chunks.filter(isWhole).map(({ runId }) => runId));
    const runs = found.filter(isSmall).filter(({ id }) => whole.has(id));
    if (runs.length === 0) return { opened: [], left: chunks };
    const devicesOf = await findDevicesOfRuns(database, runs.map(toNamedRun));
    const fitting = new Map(
      runs.filter(({ id }) => devicesOf.get(id)!.length <= windowDevices).map((run) => [run.id, run]),
    );
    await ensurePartitions(database, { partitions, runs: fitting.values() });
    const windows = chunks
      .filter(({ runId }) => fitting.has(runId))
      .map((chunk) => {
        const devices = devicesOf.get(chunk.runId)!;
        const last = devices.at(-1);
        return { ...chunk, bucket: last?.bucket ?? 0, position: last?.id ?? '', devices: devices.length };
      });
    const refusals = await openNamedWindows(database, { windows, at: clock.now(), leaseUntil: chunkLeaseEnd(clock) });
    const isOpened = ({ runId }: ClaimedChunk): boolean => refusals.has(runId);
    return {
      opened: chunks.filter(isOpened).map((chunk) => ({
        chunk,
        run: { ...fitting.get(chunk.runId)!, refusals: refusals.get(chunk.runId)! },
        devices: devicesOf.get(chunk.runId)!,
      })),
      left: chunks.filter((chunk) => !isOpened(chunk)),
    };
  };
}

async function ensurePartitions(
  database: Database,
  { partitions, runs }: { partitions: Set<string>; runs: Iterable<RunToSend> },
): Promise<void> {
  for (const { day } of runs) {
    if (partitions.has(day)) continue;
    await ensureDeliveriesPartition(database, day);
    partitions.add(day);
  }
}

/** True for the only chunk of its run: a batch reads all devices of a run, and would send them once for each chunk. */
function isWhole({ bucketFrom, bucketTo }: ClaimedChunk): boolean {
  return bucketFrom === 0 && bucketTo === bucketCount - 1;
}

type SmallRun = RunToSend & { targetUsers: [bucket: number, userId: string][] };

/** True for a run that is usually one window, and needs nothing that is counted between windows. */
function isSmall(run: RunToSend): run is SmallRun {
  if (!run.targetUsers || run.targetUsers.length > maxUsers) return false;
  return run.devicesPerMinute === null && run.traceparent === null && runLimitOf(run) === undefined;
}

function toNamedRun(run: SmallRun) {
  const settings = deliverySettings(run.settings);
  return {
    id: run.id,
    workspaceId: run.workspaceId,
    platforms: run.platforms,
    iosProvisional: iosProvisional(settings),
    appIds: settings.appIds,
    targetUsers: run.targetUsers,
    bound: run.audienceBound ?? lastIdAt(run.createdAt),
  };
}

async function deliverRun(
  deliver: DeliverToEligible,
  { run, devices }: Pick<OpenedRun, 'run' | 'devices'>,
): Promise<DeviceResult[]> {
  if (devices.length === 0) return [];
  try {
    return await deliver(
      run,
      devices.map((device) => ({ device, attempt: 1 })),
    );
  } catch (error) {
    throw isDatabaseFault(error) ? error : new WindowFailedError('a window cannot be sent', { cause: error });
  }
}
