import { deliverySettings, iosProvisional } from '../../domain/campaigns/delivery-settings.ts';
import { isDatabaseFault } from '../../domain/database-faults.ts';
import { lastIdAt } from '../../domain/ids.ts';
import { bucketCount } from '../../domain/users/users.ts';
import type { Database } from '../../storage/database.ts';
import { ensureDeliveriesPartition } from '../../storage/ledger/deliveries.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import { releaseChunk, renewLeases } from '../../storage/runs/chunks.ts';
import type { Window } from '../../storage/runs/chunks.ts';
import {
  chooseDevices,
  claimNamedChunks,
  findNamedDevices,
  maxNamedUsers,
  openNamedWindows,
} from '../../storage/runs/named-runs.ts';
import type { NamedAudience, NamedChunk, NamedClaimed, OwnRuns } from '../../storage/runs/named-runs.ts';
import { findSendingRuns } from '../../storage/runs/run-states.ts';
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

export type NamedRuns = { ownRuns: OwnRuns; wake(): void; stop(): Promise<void> };

/**
 * Sends the runs to named users, such as pushes to one user and tests of campaigns. A run to a few devices would take ten round
 * trips to the database by itself, so up to 500 are claimed and read together, and their outcomes are stored together.
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
      // If there are others, another batch follows at once. Else the next ring of the doorbell is soon enough.
      if ((claimed === 0 || !sender.hasOthers()) && wakes === wakesBefore && !isStopping) await idle.wait();
    }
  };
  const heartbeat = setInterval(() => {
    sender.renewLeases().catch((error: unknown) => log.warn({ err: error }, 'leases were not renewed'));
  }, heartbeatMilliseconds);
  const reading = Array.from({ length: readers }, read);

  return {
    ownRuns: sender.ownRuns,
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
  ownRuns: OwnRuns;
  /** Claims a batch and begins to send it. @returns how many runs were claimed */
  sendNext(): Promise<number>;
  /** True if the last claim left runs. */
  hasOthers(): boolean;
  /** Resolves when everything that was claimed is stored or given up. */
  settled(): Promise<void>;
  renewLeases(): Promise<void>;
};

/** The steps without timing. `startNamedRuns` runs them in sequence, in several readers. */
export function makeNamedRunSender(
  deps: NamedRunsDependencies,
  { isStopping, onFreed }: { isStopping: () => boolean; onFreed: () => unknown },
): NamedRunSender {
  const { database, clock, owner, outcomes } = deps;
  const held = makeHeldRuns();
  const underWay = new Set<Promise<void>>();
  /** True if the last claim left runs because of those under way. */
  let isCrowded = false;
  let others: NamedClaimed['others'] = 'none';
  const watch = (done: Promise<void>): void => {
    const ended = done.finally(() => underWay.delete(ended));
    underWay.add(ended);
  };
  const follow = (chunk: NamedChunk, done: Promise<void>): void =>
    watch(
      done
        .catch((error: unknown) => deps.log.error({ err: error, runId: chunk.runId }, 'run to named users failed'))
        .finally(() => {
          held.drop(chunk);
          if (!isCrowded) return;
          isCrowded = false;
          onFreed();
        }),
    );
  const sendBatch = makeSendBatch(deps, { follow, isStopping });
  const ownRuns = makeOwnRuns(deps, {
    ...{ held, sendBatch },
    isClosed: () => isStopping() || outcomes.waiting() > 0,
    onBegun: watch,
  });

  return {
    ownRuns,
    async sendNext() {
      await outcomes.settled();
      const limit = Math.min(batchRuns, held.countFree());
      const except = held.fullWorkspaces();
      isCrowded = except.length > 0 || limit < batchRuns;
      if (isStopping() || limit <= 0) return 0;
      const claim = { owner, limit, except, at: clock.now() };
      const claimed = await claimNamedChunks(database, { ...claim, ...makeLease(clock, chunkLeaseMilliseconds) });
      const { chunks } = claimed;
      others = claimed.others;
      for (const chunk of chunks) held.add(chunk);
      await sendBatch(chunks);
      return chunks.length;
    },
    hasOthers: () => others === 'some',
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async renewLeases() {
      const chunks = held.list();
      if (chunks.length > 0) await renewLeases(database, { chunks, leaseUntil: chunkLeaseEnd(clock) });
    },
  };
}

/** The runs of this node that are under way, and how many of each workspace. */
function makeHeldRuns() {
  const held = new Map<string, NamedChunk>();
  const counts = new Map<string, number>();
  return {
    list: () => [...held.values()],
    countFree: () => maxUnderWay - held.size,
    mayHoldOf: (workspaceId: string) => (counts.get(workspaceId) ?? 0) < maxUnderWayOfWorkspace,
    /** Returns the workspaces of which no more runs are claimed for now. */
    fullWorkspaces: () =>
      [...counts].filter(([, runs]) => runs >= maxUnderWayOfWorkspace).map(([workspaceId]) => workspaceId),
    add(chunk: NamedChunk): void {
      held.set(chunk.runId, chunk);
      counts.set(chunk.workspaceId, (counts.get(chunk.workspaceId) ?? 0) + 1);
    },
    drop({ runId, workspaceId }: NamedChunk): void {
      if (!held.delete(runId)) return;
      const left = counts.get(workspaceId)! - 1;
      if (left === 0) counts.delete(workspaceId);
      else counts.set(workspaceId, left);
    },
  };
}

type OwnRunsDependencies = {
  held: ReturnType<typeof makeHeldRuns>;
  sendBatch: SendBatch;
  /** True if this node takes no runs: it stops, or has outcomes that it cannot store. */
  isClosed: () => boolean;
  onBegun: (done: Promise<void>) => void;
};

function makeOwnRuns(
  { clock, owner }: NamedRunsDependencies,
  { held, sendBatch, isClosed, onBegun }: OwnRunsDependencies,
): OwnRuns {
  const begun: NamedChunk[] = [];
  let atWork = 0;
  /** Runs that are stored while a batch is read are read together next. */
  const sendBegun = async (): Promise<void> => {
    atWork += 1;
    while (begun.length > 0) await sendBatch(begun.splice(0, batchRuns));
    atWork -= 1;
  };
  return {
    reserve({ runId, workspaceId, targetUsers }) {
      const isLarge = targetUsers.length > maxNamedUsers;
      if (isLarge || isClosed() || held.countFree() <= 0 || !held.mayHoldOf(workspaceId)) return undefined;
      const { leaseUntil } = makeLease(clock, chunkLeaseMilliseconds);
      const window = { windowBucket: null, windowPosition: null, windowDevices: null };
      const search = { crashes: 0, suspectDevices: null, setAside: 0, ...window };
      const claim = { owner, attempt: 1, leaseUntil };
      const chunk = { runId, workspaceId, targetUsers, number: 0, ...wholeAudience, ...claim, ...search };
      held.add(chunk);
      return chunk;
    },
    begin(chunks) {
      begun.push(...chunks);
      if (begun.length > 0 && atWork < readers) onBegun(sendBegun());
    },
    drop(chunks) {
      for (const chunk of chunks) held.drop(chunk);
    },
  };
}

type SendBatch = (chunks: NamedChunk[]) => Promise<void>;

/**
 * Returns a function that reads a batch and begins to send its runs; while the node stops, it releases them. `follow` is called for each with the promise of its end; the
 * function itself resolves when the batch is read, and does not reject.
 */
function makeSendBatch(
  deps: NamedRunsDependencies,
  { follow, isStopping }: { follow: (chunk: NamedChunk, done: Promise<void>) => void; isStopping: () => boolean },
): SendBatch {
  const { database, turns } = deps;
  const deliver = makeDeliverToEligible(deps);
  const openBatch = makeOpenBatch(deps);
  const store = makeStoreSoon(deps);
  const work = async ({ chunk, ...opened }: OpenedRun): Promise<void> => {
    try {
      const results = await deliverRun(deliver, opened);
      await store({ chunk, ...opened, results });
      await replaceAddresses(deps, { workspaceId: opened.run.workspaceId, results });
    } catch (error) {
      await giveUp(deps, chunk, { error, window: windowOf(opened.devices) });
    }
  };
  const release = async (chunk: NamedChunk): Promise<void> => {
    await deps.outcomes.store(() => releaseChunk(database, chunk));
    deps.onChunksLeft();
  };
  const sendBatch: SendBatch = async (chunks) => {
    if (chunks.length === 0) return;
    if (isStopping()) {
      for (const chunk of chunks) follow(chunk, release(chunk));
      return;
    }
    let batch: Batch;
    try {
      batch = await turns.take('usual', () => openBatch(chunks));
    } catch (error) {
      // One run that cannot be read must not hold the others until their leases end.
      if (chunks.length > 1 && !isDatabaseFault(error)) for (const chunk of chunks) await sendBatch([chunk]);
      else for (const chunk of chunks) follow(chunk, giveUp(deps, chunk, { error }));
      return;
    }
    for (const { chunk, ...opened } of batch.opened)
      follow(
        chunk,
        turns.take('usual', () => work({ chunk, ...opened })),
      );
    for (const chunk of batch.left) follow(chunk, release(chunk));
  };
  return sendBatch;
}

/** `left`: chunks of runs that are not sent here, or were stopped or paused meanwhile. */
type Batch = { opened: OpenedRun[]; left: NamedChunk[] };

/** Reads the runs of chunks and their devices, in two statements at the same time. */
function makeOpenBatch(deps: NamedRunsDependencies): (chunks: NamedChunk[]) => Promise<Batch> {
  const { database, clock, windowDevices } = deps;
  const partitions = new Set<string>();
  return async (chunks) => {
    const small = chunks.filter(isSmall);
    const ids = small.map(({ runId }) => runId);
    const [runs, devices] = await Promise.all([findSendingRuns(database, ids), findNamedDevices(database, small)]);
    const runOf = new Map(runs.filter(needsNoCounting).map((run) => [run.id, run]));
    const found = small.flatMap((chunk): OpenedRun[] => {
      const run = runOf.get(chunk.runId);
      if (!run || clock.realNow() >= chunk.leaseUntil) return [];
      return [{ run, chunk, devices: chooseDevices(audienceOf(run), devices.get(run.id)!) }];
    });
    const fitting = found.filter((one) => one.devices.length <= windowDevices);
    await ensurePartitions(database, { partitions, runs: fitting.map(({ run }) => run) });
    const opened = await openWindows(deps, fitting);
    const openedIds = new Set(opened.map(({ run }) => run.id));
    return { opened, left: chunks.filter(({ runId }) => !openedIds.has(runId)) };
  };
}

/**
 * Records the windows of runs with variations. Others need no record: the chunk is the window, and the workers of chunks record
 * what they send after a crash.
 */
async function openWindows(
  { database, clock }: NamedRunsDependencies,
  fitting: readonly OpenedRun[],
): Promise<OpenedRun[]> {
  const varied = fitting.filter(({ run }) => run.variants !== null);
  const windows = varied.map(({ chunk, devices }) => ({ ...chunk, ...windowOf(devices) }));
  const winners = await openNamedWindows(database, { windows, at: clock.now(), leaseUntil: chunkLeaseEnd(clock) });
  return fitting.flatMap((one): OpenedRun[] => {
    if (one.run.variants === null) return [one];
    const steps = winners.get(one.run.id);
    if (steps === undefined) return [];
    return [{ ...one, run: { ...one.run, winners: steps === null ? [] : [{ ...wholeAudience, steps }] } }];
  });
}

function windowOf(devices: readonly AudienceDevice[]): Window {
  const last = devices.at(-1);
  return { bucket: last?.bucket ?? 0, position: last?.id ?? '', devices: devices.length };
}

async function ensurePartitions(
  database: Database,
  { partitions, runs }: { partitions: Set<string>; runs: readonly RunToSend[] },
): Promise<void> {
  for (const { day } of runs) {
    if (partitions.has(day)) continue;
    await ensureDeliveriesPartition(database, day);
    partitions.add(day);
  }
}

const wholeAudience = { bucketFrom: 0, bucketTo: bucketCount - 1 };

/**
 * True for the only chunk of a run to a few users: a batch reads all devices of a run, and would send them once for each of its
 * chunks.
 */
function isSmall({ bucketFrom, bucketTo, targetUsers }: NamedChunk): boolean {
  return targetUsers !== null && bucketFrom === wholeAudience.bucketFrom && bucketTo === wholeAudience.bucketTo;
}

/** True for a run that needs nothing that is counted between windows. */
function needsNoCounting(run: RunToSend): boolean {
  return run.devicesPerMinute === null && run.traceparent === null && runLimitOf(run) === undefined;
}

function audienceOf(run: RunToSend): NamedAudience {
  const settings = deliverySettings(run.settings);
  return {
    platforms: run.platforms,
    iosProvisional: iosProvisional(settings),
    appIds: settings.appIds,
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
