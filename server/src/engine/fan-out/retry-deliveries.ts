import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { addRunCounts, markDevicesGone } from '../../storage/ledger/deliveries.ts';
import type { CountChange } from '../../storage/ledger/deliveries.ts';
import { claimDueDeliveries, listDueBuckets, settleDeliveries } from '../../storage/ledger/due-deliveries.ts';
import type { DueBucket, DueDelivery, SettledDelivery } from '../../storage/ledger/due-deliveries.ts';
import { findRunsToSend, keepSendingRuns, listSendingDays, pauseRun } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { Job } from '../job.ts';
import type { KeptOutcomes } from '../keep-outcomes.ts';
import { makeLease } from '../make-lease.ts';
import { eligibilityRulesOfRun, makeDeliverToEligible } from './deliver-to-eligible.ts';
import type { DeliverToEligible, DeviceToDeliver } from './deliver-to-eligible.ts';
import type { DeliverToDevice } from './deliver-to-device.ts';
import type { PersonaliseDevices } from './personalise-devices.ts';
import { leaseQuota, quotaFor } from './run-throttle.ts';
import { goneDevices, setAside } from './device-result.ts';
import type { DeviceResult } from './device-result.ts';
import { withdrawUnsent } from './withdraw-unsent.ts';
import { leaseMilliseconds } from './chunk-lease.ts';
import { maxDeliveryAttempts } from '../../domain/delivery/limits.ts';

export const batchDevices = 500;
export const parallelBatches = 4;
export const retryIntervalMilliseconds = 1_000;

const fresh = { kind: 'fresh', limit: batchDevices } as const;
/** Their worker died. A tenth of a batch, and after their third attempt one by one, to find which of them ends workers. */
const lost = { kind: 'lost', limit: batchDevices / 10 } as const;
const suspect = { kind: 'suspect', limit: 1 } as const;

export type RetryDeliveriesDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  personaliseDevices: PersonaliseDevices;
  deliverToDevice: DeliverToDevice;
  outcomes: KeptOutcomes;
  /** Whether the ledger lies in the shards of a cluster. */
  isCluster: () => Promise<boolean>;
  onSettled: () => void;
};

/**
 * The job that sends waiting deliveries when they are due: retries (after 429, 5xx or no response), and deliveries that
 * waited for the end of quiet hours or for a local time. The attempt is counted before the request, so a message that
 * kills its worker runs out of attempts. At the end of quiet hours many are due at the same time, so a full batch is
 * followed by several concurrent ones.
 */
export function makeRetryDeliveries(deps: RetryDeliveriesDependencies): Job {
  const deliver = makeDeliverToEligible(deps);
  return {
    name: 'retry-deliveries',
    intervalMilliseconds: retryIntervalMilliseconds,
    async runOnce(now) {
      if (deps.outcomes.waiting() > 0) return 0;
      const days = await listSendingDays(deps.database);
      if (days.length === 0) return 0;
      const retry = (await deps.isCluster()) ? retryByBucket : retryAll;
      let devices = 0;
      // Last, and the suspects one by one: whoever waits behind them was sent to.
      for (const claim of [fresh, lost, suspect]) devices += await retry(deps, { deliver, now, days, claim });
      return devices;
    },
  };
}

type Batch = {
  deliver: DeliverToEligible;
  now: Date;
  days: readonly string[];
  claim: typeof fresh | typeof lost | typeof suspect;
};

/** What is due first, whatever its bucket: a batch, and when it was full several at once. */
async function retryAll(deps: RetryDeliveriesDependencies, batch: Batch): Promise<number> {
  const first = await retryBatch(deps, { ...batch, of: 'all' });
  const parallel = batch.claim.kind === 'fresh' && first >= batchDevices ? parallelBatches : 0;
  const more = await Promise.all(
    Array.from({ length: parallel }, () => retryBatch(deps, { ...batch, now: deps.clock.now(), of: 'all' })),
  );
  return [first, ...more].reduce((sum, devices) => sum + devices, 0);
}

/** On a cluster: a batch of each bucket in which something is due, several at once. At most as many as were found. */
async function retryByBucket(deps: RetryDeliveriesDependencies, batch: Batch): Promise<number> {
  const { now: at, days, claim } = batch;
  const asked = { days, at, ...makeLease(deps.clock, leaseMilliseconds), ...claim };
  const buckets = await listDueBuckets(deps.database, asked);
  const retried: number[] = [];
  const work = async (): Promise<void> => {
    for (let due = buckets.shift(); due !== undefined; due = buckets.shift()) {
      // One that was paused or stopped since the look sends nothing more.
      const of = { ...due, runIds: await keepSendingRuns(deps.database, due.runIds) };
      if (of.runIds.length > 0) retried.push(await retryBatch(deps, { ...batch, now: deps.clock.now(), of }));
    }
  };
  await Promise.all(Array.from({ length: claim.kind === 'fresh' ? parallelBatches : 1 }, work));
  return retried.reduce((sum, devices) => sum + devices, 0);
}

async function retryBatch(
  deps: RetryDeliveriesDependencies,
  { deliver, now, days, claim, of }: Batch & { of: DueBucket | 'all' },
): Promise<number> {
  const { database, clock } = deps;
  const due = await claimDueDeliveries(database, {
    days,
    of,
    at: now,
    ...makeLease(clock, leaseMilliseconds),
    ...claim,
  });
  if (due.length === 0) return 0;
  const found = await findRunsToSend(database, [...new Set(due.map((delivery) => delivery.runId))]);
  const runs = new Map(found.map((run) => [run.id, run]));
  const results: DeviceResult[] = [];
  const places = Map.groupBy(due.keys(), (place) => due[place]!.runId);
  await Promise.all(
    [...places].map(async ([runId, own]) => {
      const batch = { run: runs.get(runId)!, due: own.map((place) => due[place]!) };
      const sent = await sendAgain(deps, { ...batch, deliver });
      own.forEach((place, index) => (results[place] = sent[index]!));
    }),
  );
  await deps.outcomes.store(() => settle(database, { due, runs, results, at: clock.now() }));
  deps.onSettled();
  return due.length;
}

type Again = { run: RunToSend; due: DueDelivery[]; deliver: DeliverToEligible };

async function sendAgain(
  { database, clock }: RetryDeliveriesDependencies,
  { run, due, deliver }: Again,
): Promise<DeviceResult[]> {
  const at = clock.now();
  // What was held has not been sent yet and goes at the pace of the run, like a window of it.
  const held = due.filter((delivery) => delivery.pushId !== null && isHeld(delivery));
  const quota = held.length === 0 ? 0 : await leaseQuota(database, { run, at, wanted: held.length });
  const later = new Map(
    held.slice(quota).map((delivery, index) => [delivery, quotaFor(run, { at, devices: index + 1 })]),
  );
  const going = due.filter((delivery) => delivery.pushId !== null && !later.has(delivery) && !isSpent(delivery));
  const sent = await deliver(run, going.map(toDevice));
  const results = new Map(going.map((delivery, index) => [delivery, sent[index]!]));
  return due.map((delivery): DeviceResult => {
    // The device left, opted out or was dropped while the delivery waited.
    if (delivery.pushId === null)
      return { delivery: { ...delivery, outcome: 'GONE', code: 'DEVICE_LEFT', retryAt: null } };
    if (isSpent(delivery)) return setAside(toDevice(delivery).device);
    const retryAt = later.get(delivery);
    return retryAt ? { delivery: { ...delivery, attempts: delivery.attempts - 1, retryAt } } : results.get(delivery)!;
  });
}

/** Its workers died until no attempt was left. */
function isSpent({ attempts }: DueDelivery): boolean {
  return attempts > maxDeliveryAttempts;
}

function isHeld({ code }: DueDelivery): boolean {
  return code === 'QUIET_HOURS' || code === 'USER_TIME_ZONE';
}

function toDevice(due: DueDelivery): DeviceToDeliver {
  const { bucket, deviceId: id, userId, platform, pushId } = due;
  return { device: { bucket, id, userId, platform, pushId: pushId! }, attempt: due.attempts };
}

type Settlement = { due: DueDelivery[]; runs: Map<string, RunToSend>; results: DeviceResult[]; at: Date };

/** One transaction for the batch. What another worker took over when our lease ran out keeps that worker's outcome. */
async function settle(database: Database, { due, runs, results, at }: Settlement): Promise<void> {
  const deliveries = due.map((delivery, place) => ({
    ...delivery,
    ...results[place]!.delivery,
    claimedAttempts: delivery.attempts,
  }));
  await inTransaction(database, async (tx) => {
    const stored = (await settleDeliveries(tx, { deliveries, sentAt: at })).sort((one, other) => one - other);
    await addRunCounts(
      tx,
      stored.flatMap((place) => changesOf(deliveries[place]!)),
    );
    const byWorkspace = Map.groupBy(stored, (place) => due[place]!.workspaceId);
    for (const [workspaceId, places] of [...byWorkspace].sort(([one], [other]) => (one < other ? -1 : 1)))
      await markDevicesGone(tx, { workspaceId, at, devices: goneDevices(places.map((place) => results[place]!)) });
    for (const stop of stopsOf(stored.map((place) => ({ ...due[place]!, ...results[place]! }))))
      await pauseRun(tx, stop);
  });
  // By itself: of several runs the rows of users come in no one order, and two batches could wait in a circle.
  for (const [runId, places] of Map.groupBy(due.keys(), (place) => due[place]!.runId)) {
    const chunk = 'ENDED' as const;
    const settled = { run: runs.get(runId)!, chunk, results: places.map((place) => results[place]!) };
    if (eligibilityRulesOfRun(settled.run)?.record) await inTransaction(database, (tx) => withdrawUnsent(tx, settled));
  }
}

function changesOf({ workspaceId, runId, bucket, platform, outcome }: SettledDelivery): CountChange[] {
  if (outcome === 'WAITING') return [];
  const change = { workspaceId, runId, bucket, platform };
  return [
    { ...change, outcome: 'WAITING', devices: -1 },
    { ...change, outcome, devices: 1 },
  ];
}

/** Why each of these runs must pause, the first reason of each, in one order. */
function stopsOf(results: { runId: string; platform: Platform; stopReason?: string }[]): RunStop[] {
  const stops = new Map<string, RunStop>();
  for (const { runId, platform, stopReason } of results)
    if (stopReason !== undefined && !stops.has(runId)) stops.set(runId, { id: runId, platform, reason: stopReason });
  return [...stops.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

type RunStop = { id: string; platform: Platform; reason: string };
