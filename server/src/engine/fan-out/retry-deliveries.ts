import type { Clock } from '../../clock.ts';
import { eligibilityCodes } from '../../domain/eligibility.ts';
import { countedVariant } from '../../domain/experiments/variants.ts';
import { maxDeliveryAttempts } from '../../domain/limits/delivery.ts';
import { bucketCount } from '../../domain/users/users.ts';
import type { Logger } from '../../log.ts';
import { addLearned } from '../../storage/campaigns/variations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { addRunCounts, markDevicesGone } from '../../storage/ledger/deliveries.ts';
import type { CountChange } from '../../storage/ledger/deliveries.ts';
import {
  claimDueDeliveries,
  findAddresses,
  listDueBuckets,
  settleDeliveries,
} from '../../storage/ledger/due-deliveries.ts';
import type { Address, DueBucket, DueDelivery, SettledDelivery } from '../../storage/ledger/due-deliveries.ts';
import { markDeliveries } from '../../storage/outbox/stream-marks.ts';
import { findRunsToSendAgain, keepSendingRuns, listSendingDays } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { leaseQuota, quotaFor, returnQuota } from '../governor/send-budgets.ts';
import type { Job } from '../jobs/job.ts';
import { makeLease, chunkLeaseMilliseconds } from '../jobs/leased-job.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { marksOf } from '../outbox/event-streams.ts';
import type { PersonaliseDevices } from './compose-message.ts';
import type { DeliverToDevices } from './deliver-to-devices.ts';
import { eligibilityRulesOfRun, makeDeliverToEligible, withdrawUnsent } from './deliver-to-eligible.ts';
import type { DeliverToEligible } from './deliver-to-eligible.ts';
import { trialsOf } from './experiments.ts';
import { composeInbox, storeInsteadOfPush, usersToKeepInstead } from './keep-in-inbox.ts';
import type { ComposedInbox } from './keep-in-inbox.ts';
import { markSent, runLimitOf } from './seats.ts';
import { replaceAddresses } from './replace-addresses.ts';
import { goneDevices, quarantine, keepWaiting, pauseOrShowRefusals, suspectDevices } from './settle-outcome.ts';
import type { DeviceToDeliver, DeviceResult } from './settle-outcome.ts';

export const batchDevices = 500;
export const parallelBatches = 4;
export const retryIntervalMilliseconds = 1_000;

const fresh = { kind: 'fresh', limit: batchDevices } as const;
/**
 * Deliveries whose worker died. A tenth of a batch; after the third attempt one by one, to find the one that crashes workers.
 */
const lost = { kind: 'lost', limit: batchDevices / 10 } as const;
const suspect = { kind: 'suspect', limit: 1 } as const;

export type RetryDeliveriesDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  personaliseDevices: PersonaliseDevices;
  deliverToDevices: DeliverToDevices;
  outcomes: OutcomeBuffer;
  /** True if the ledger is sharded across a cluster. */
  isCluster: () => Promise<boolean>;
  /** Called when the outcomes of these deliveries are stored, or are left to another worker to store. */
  onSettled: (due: readonly DueDelivery[]) => void;
};

/**
 * The job that sends waiting deliveries when they are due: retries (after 429, 5xx or no response), and deliveries that waited
 * for the end of quiet hours or for a local time. The attempt is counted before the request, so a message that crashes its
 * worker runs out of attempts. At the end of quiet hours many deliveries are due at the same time, so each run of the job
 * claims several batches concurrently.
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
      let devices = 0;
      // Suspects go last and one by one, so that a crash delays no other delivery.
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

/**
 * Lists the buckets with due deliveries, and claims and sends them group by group, several groups concurrently (decision 0060).
 * Several small groups are sent together. Otherwise a few devices in many groups would wait for each other's responses.
 */
async function retry(deps: RetryDeliveriesDependencies, batch: Batch): Promise<number> {
  const { days, claim, now: at } = batch;
  const parallel = claim.kind === 'fresh' ? parallelBatches : 1;
  const lease = makeLease(deps.clock, chunkLeaseMilliseconds);
  const due = await listDueBuckets(deps.database, { ...lease, days, at, ...claim, limit: claim.limit * parallel });
  if (due.length === 0) return 0;
  const maxBuckets = (await deps.isCluster()) ? 1 : bucketCount;
  const groups = groupBuckets(due, { maxDevices: claim.limit, maxBuckets });
  let devices = 0;
  const work = async (): Promise<void> => {
    while (groups.length > 0) {
      const claims = await claimGroups(deps, { batch, groups });
      await sendDue(deps, { deliver: batch.deliver, claims });
      devices += claims.flat().length;
    }
  };
  // A failed batch must not end the job while others are sending: the job would start again, or the node stop, in parallel with
  // them.
  const ends = await Promise.allSettled(Array.from({ length: Math.min(parallel, groups.length) }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return devices;
}

/** Buckets that one statement claims. */
type DueGroup = { buckets: number[]; runNumbers: number[]; devices: number };

/**
 * Groups buckets so that a claim finds a whole batch. A bucket with more devices is in several groups. On a cluster a group is
 * one bucket, because Citus locks rows in one shard per statement.
 */
export function groupBuckets(
  due: readonly DueBucket[],
  { maxDevices, maxBuckets }: { maxDevices: number; maxBuckets: number },
): DueGroup[] {
  const groups: DueGroup[] = [];
  for (const { bucket, runNumbers, devices } of due) {
    const last = groups.at(-1);
    if (last && last.buckets.length < maxBuckets && last.devices + devices <= maxDevices) {
      last.buckets.push(bucket);
      last.runNumbers = [...new Set([...last.runNumbers, ...runNumbers])];
      last.devices += devices;
    } else {
      for (let left = devices; left > 0; left -= maxDevices)
        groups.push({ buckets: [bucket], runNumbers, devices: Math.min(left, maxDevices) });
    }
  }
  return groups;
}

/** Removes as many groups from the list as are sent together, and claims them. @returns the deliveries of each claim */
async function claimGroups(
  { database, clock }: RetryDeliveriesDependencies,
  { batch: { days, claim }, groups }: { batch: Batch; groups: DueGroup[] },
): Promise<DueDelivery[][]> {
  const claims: DueDelivery[][] = [];
  let devices = 0;
  while (groups.length > 0 && (devices === 0 || devices + groups[0]!.devices <= claim.limit)) {
    const group = groups.shift()!;
    // A run that was paused or stopped since the listing sends nothing more.
    const runNumbers = await keepSendingRuns(database, group.runNumbers);
    if (runNumbers.length === 0) continue;
    const claimed = await claimDueDeliveries(database, {
      ...{ days, buckets: group.buckets, runNumbers, at: clock.now() },
      ...makeLease(clock, chunkLeaseMilliseconds),
      ...{ kind: claim.kind, limit: claim.limit - devices },
    });
    claims.push(claimed);
    devices += claimed.length;
  }
  return claims;
}

/** Sends to the devices of all claims together, and stores the outcomes of each claim in a separate transaction. */
async function sendDue(
  deps: RetryDeliveriesDependencies,
  { deliver, claims }: { deliver: DeliverToEligible; claims: readonly DueDelivery[][] },
): Promise<void> {
  const { database, clock } = deps;
  const due = claims.flat();
  if (due.length === 0) return;
  const found = await findRunsToSendAgain(database, [...new Set(due.map((delivery) => delivery.runNumber))]);
  const runs = new Map(found.map((run) => [run.number, run]));
  const results = new Map<DueDelivery, DeviceResult>();
  const byRun = Map.groupBy(due, (delivery) => delivery.runNumber);
  await Promise.all(
    [...byRun].map(async ([runNumber, own]) => {
      const sent = await sendAgain(deps, { run: runs.get(runNumber)!, due: own, deliver });
      own.forEach((delivery, index) => results.set(delivery, sent[index]!));
    }),
  );
  const faults: unknown[] = [];
  const inboxes = new Map<RunToSend, ComposedInbox>();
  for (const [runNumber, own] of byRun) {
    const run = runs.get(runNumber)!;
    const users = usersToKeepInstead(
      run,
      own.map((delivery) => results.get(delivery)!),
    );
    if (users.length > 0) inboxes.set(run, await composeInbox(deps, { run, users }));
  }
  for (const own of claims.filter((claimed) => claimed.length > 0)) {
    const outcomes = own.map((delivery) => results.get(delivery)!);
    // A failure must not skip the other claims: their messages were sent too, and would be sent again.
    await deps.outcomes
      .store(() => settle(database, { due: own, results: outcomes, runs, inboxes, at: clock.now() }))
      .catch((error: unknown) => faults.push(error));
    for (const [index, result] of outcomes.entries())
      if (result.moved) {
        const { workspaceId } = runs.get(own[index]!.runNumber)!;
        await replaceAddresses(deps, { workspaceId, results: [result] });
      }
  }
  deps.onSettled(due);
  if (faults.length > 0) throw faults[0];
}

type Again = { run: RunToSend; due: DueDelivery[]; deliver: DeliverToEligible };
type Addressed = DueDelivery & Address;

async function sendAgain(
  { database, clock }: RetryDeliveriesDependencies,
  { run, due, deliver }: Again,
): Promise<DeviceResult[]> {
  const at = clock.now();
  const addresses = await findAddresses(database, { workspaceId: run.workspaceId, devices: due });
  const there = new Map<DueDelivery, Addressed>();
  for (const delivery of due) {
    const address = addresses.get(delivery.deviceId);
    if (address) there.set(delivery, { ...delivery, ...address });
  }
  // Held deliveries have not been sent yet, so they are sent at the run's rate, like a window.
  const held = due.filter((delivery) => there.has(delivery) && hasEligibilityCode(delivery) && !isSpent(delivery));
  const quota = held.length === 0 ? 0 : await leaseQuota(database, { run, at, wanted: held.length });
  const later = new Map(
    held.slice(quota).map((delivery, index) => [delivery, quotaFor(run, { at, devices: index + 1 })]),
  );
  const going = due.filter((delivery) => there.has(delivery) && !later.has(delivery) && !isSpent(delivery));
  const sent = await deliver(
    run,
    going.map((delivery) => toDevice(there.get(delivery)!)),
  );
  const results = new Map(going.map((delivery, index) => [delivery, sent[index]!]));
  const unused = held.slice(0, quota).filter((delivery) => hasEligibilityCode(results.get(delivery)!.delivery));
  await returnQuota(database, { run, at: clock.now(), devices: unused.length });
  return due.map((delivery): DeviceResult => {
    const found = there.get(delivery);
    // The device was unregistered, opted out or was dropped while the delivery waited.
    if (!found) return { delivery: { ...delivery, outcome: 'GONE', code: 'DEVICE_LEFT', retryAt: null } };
    if (isSpent(delivery)) return quarantine(toDevice(found).device);
    const retryAt = later.get(delivery);
    return retryAt ? { delivery: { ...delivery, attempts: delivery.attempts - 1, retryAt } } : results.get(delivery)!;
  });
}

/** True if workers died until no attempt was left. */
function isSpent({ attempts }: DueDelivery): boolean {
  return attempts > maxDeliveryAttempts;
}

/** True if the delivery was held, or has just been held again or withheld: nothing was sent to the device. */
function hasEligibilityCode({ code }: Pick<DueDelivery, 'code'>): boolean {
  return eligibilityCodes.some((known) => known === code);
}

function toDevice({
  bucket,
  deviceId: id,
  userId,
  platform,
  provider,
  pushId,
  pushIdType,
  appId,
  attempts,
}: Addressed): DeviceToDeliver {
  return { device: { bucket, id, userId, platform, provider, pushId, pushIdType, appId }, attempt: attempts };
}

type Settlement = {
  due: DueDelivery[];
  runs: Map<number, RunToSend>;
  results: DeviceResult[];
  /** Messages for users whose pushes failed. */
  inboxes: ReadonlyMap<RunToSend, ComposedInbox>;
  at: Date;
};

/** Stores the batch in one transaction. If another worker took over a delivery after our lease expired, its outcome stays. */
async function settle(database: Database, { due, runs, results, inboxes, at }: Settlement): Promise<void> {
  // In one order, because the runs are locked at the end.
  const byRun = [...Map.groupBy(due.keys(), (index) => due[index]!.runNumber)]
    .map(([number, indexes]) => ({ run: runs.get(number)!, indexes }))
    .sort((one, other) => (one.run.id < other.run.id ? -1 : 1));
  await inTransaction(database, async (tx) => {
    const kept: DeviceResult[] = [...results];
    for (const { run, indexes } of byRun) {
      const own = await keepWaiting(tx, { run, results: indexes.map((index) => results[index]!), at });
      indexes.forEach((index, nth) => (kept[index] = own[nth]!));
    }
    const deliveries = due.map((delivery, index) => ({
      ...delivery,
      ...kept[index]!.delivery,
      claimedAttempts: delivery.attempts,
    }));
    const stored = (await settleDeliveries(tx, { deliveries, sentAt: at })).sort((one, other) => one - other);
    await addRunCounts(
      tx,
      stored.flatMap((index) =>
        changesOf(deliveries[index]!, { run: runs.get(due[index]!.runNumber)!, before: due[index]! }),
      ),
    );
    await addLearned(
      tx,
      stored.flatMap((index) => trialsOf(runs.get(due[index]!.runNumber)!, [deliveries[index]!])),
    );
    const isStored = new Set(stored);
    for (const { run, indexes } of inOrderOfLimits(byRun))
      await markSent(tx, {
        run,
        results: indexes.filter((index) => isStored.has(index)).map((index) => kept[index]!),
      });
    const byWorkspace = Map.groupBy(stored, (index) => runs.get(due[index]!.runNumber)!.workspaceId);
    for (const [workspaceId, indexes] of [...byWorkspace].sort(([one], [other]) => (one < other ? -1 : 1)))
      await markDevicesGone(tx, { workspaceId, at, devices: goneDevices(indexes.map((index) => results[index]!)) });
    for (const { run, indexes } of byRun)
      await suspectDevices(tx, {
        run,
        results: indexes.filter((index) => isStored.has(index)).map((index) => kept[index]!),
        at,
      });
    const marks = byRun.flatMap(({ run, indexes }) =>
      marksOf(
        run,
        indexes.filter((index) => isStored.has(index)).map((index) => kept[index]!),
      ),
    );
    await markDeliveries(tx, { marks, at });
    for (const { run, indexes } of byRun)
      await pauseOrShowRefusals(tx, {
        run,
        results: indexes.filter((index) => isStored.has(index)).map((index) => results[index]!),
      });
    for (const { run, indexes } of byRun) {
      const users = new Set(indexes.filter((index) => isStored.has(index)).map((index) => due[index]!.userId));
      const { shared, messages } = inboxes.get(run) ?? { shared: [], messages: [] };
      const composed = { shared, messages: messages.filter(({ userId }) => users.has(userId)) };
      await storeInsteadOfPush(tx, { run, composed, at });
    }
  });
  // In separate transactions: with several runs, the users' rows have no common order, and two batches could deadlock.
  for (const { run, indexes } of byRun) {
    const chunk = 'ENDED' as const;
    const settled = { run, chunk, results: indexes.map((index) => results[index]!) };
    if (eligibilityRulesOfRun(settled.run)?.record) await inTransaction(database, (tx) => withdrawUnsent(tx, settled));
  }
}

/** Sorts runs by limit, because several runs may share one. This order differs from the one above. */
function inOrderOfLimits<Own extends { run: RunToSend }>(runs: readonly Own[]): Own[] {
  const idOf = ({ run }: Own): string => runLimitOf(run)?.id ?? '';
  return runs.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
}

type Settling = { run: RunToSend; before: DueDelivery };

function changesOf(
  { bucket, platform, outcome, variant }: SettledDelivery,
  { run: { id: runId, workspaceId, variants }, before }: Settling,
): CountChange[] {
  const change = { workspaceId, runId, bucket, platform };
  const [old, own] = [before.variant, variant].map((counted) => countedVariant(variants?.locales, counted));
  if (outcome === 'WAITING' && old!.variation === own!.variation && old!.locale === own!.locale) return [];
  return [
    { ...change, ...old, outcome: 'WAITING', devices: -1 },
    { ...change, ...own, outcome, devices: 1 },
  ];
}
