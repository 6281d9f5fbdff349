import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/pool.ts';
import { addRunCounts, claimDueDeliveries, markDevicesGone, settleDeliveries } from '../../storage/sql/deliveries.ts';
import type { CountChange, DueDelivery, SettledDelivery } from '../../storage/sql/deliveries.ts';
import { findRunsToSend, pauseRun } from '../../storage/sql/run-states.ts';
import type { RunToSend } from '../../storage/sql/run-states.ts';
import type { Duty } from '../duty.ts';
import type { DeliverToDevice } from './deliver-to-device.ts';
import { outlastOutage } from './outlast-outage.ts';
import { goneDevices } from './send-window.ts';
import type { DeviceResult } from './send-window.ts';
import { leaseMilliseconds } from './work-chunks.ts';

const batchDevices = 500;

export type RetryDeliveriesDependencies = {
  database: Database;
  clock: Clock;
  deliverToDevice: DeliverToDevice;
  onSettled: () => void;
};

/**
 * The duty that tries waiting deliveries again when they are due (a provider said 429 or 5xx, or did not answer). The
 * attempt is counted before the request, so a message that kills its worker runs out of attempts.
 */
export function retryDeliveries(deps: RetryDeliveriesDependencies): Duty {
  const { database, clock } = deps;
  return {
    name: 'retry-deliveries',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const due = await claimDueDeliveries(database, {
        at: now,
        leaseUntil: new Date(now.getTime() + leaseMilliseconds),
        limit: batchDevices,
      });
      if (due.length === 0) return 0;
      const runs = new Map(
        (await findRunsToSend(database, [...new Set(due.map((delivery) => delivery.runId))])).map((run) => [
          run.id,
          run,
        ]),
      );
      const results = await Promise.all(due.map((delivery) => sendAgain(deps, runs.get(delivery.runId)!, delivery)));
      await outlastOutage(() => settle(database, { due, results, at: clock.now() }));
      deps.onSettled();
      return due.length;
    },
  };
}

async function sendAgain(deps: RetryDeliveriesDependencies, run: RunToSend, due: DueDelivery): Promise<DeviceResult> {
  // The device left, opted out or was dropped while the delivery waited.
  if (due.pushId === null) return { delivery: { ...due, outcome: 'GONE', code: 'DEVICE_LEFT', retryAt: null } };
  const device = {
    bucket: due.bucket,
    id: due.deviceId,
    userId: due.userId,
    platform: due.platform,
    pushId: due.pushId,
  };
  return deps.deliverToDevice(run, device, due.attempts);
}

type Settlement = { due: DueDelivery[]; results: DeviceResult[]; at: Date };

/** One transaction for the batch. What another worker took over when our lease ran out keeps that worker's outcome. */
async function settle(database: Database, { due, results, at }: Settlement): Promise<void> {
  const deliveries = due.map((delivery, place) => ({
    ...delivery,
    ...results[place]!.delivery,
    claimedAttempts: delivery.attempts,
  }));
  await database.begin(async (tx) => {
    const stored = (await settleDeliveries(tx, { deliveries, sentAt: at })).sort((one, other) => one - other);
    await addRunCounts(
      tx,
      stored.flatMap((place) => changesOf(deliveries[place]!)),
    );
    const byWorkspace = Map.groupBy(stored, (place) => due[place]!.workspaceId);
    for (const [workspaceId, places] of [...byWorkspace].sort(([one], [other]) => (one < other ? -1 : 1)))
      await markDevicesGone(tx, { workspaceId, at, devices: goneDevices(places.map((place) => results[place]!)) });
    for (const [runId, reason] of stopReasons(stored.map((place) => ({ ...due[place]!, ...results[place]! }))))
      await pauseRun(tx, { id: runId, reason });
  });
}

function changesOf({ runId, chunkNumber, platform, outcome }: SettledDelivery): CountChange[] {
  if (outcome === 'WAITING') return [];
  const change = { runId, chunkNumber, platform };
  return [
    { ...change, outcome: 'WAITING', devices: -1 },
    { ...change, outcome, devices: 1 },
  ];
}

/** The first reason of each run that must pause, in one order. */
function stopReasons(results: { runId: string; stopReason?: string }[]): [string, string][] {
  const reasons = new Map<string, string>();
  for (const { runId, stopReason } of results)
    if (stopReason !== undefined && !reasons.has(runId)) reasons.set(runId, stopReason);
  return [...reasons].sort(([one], [other]) => (one < other ? -1 : 1));
}
