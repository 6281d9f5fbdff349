import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/pool.ts';
import { addRunCounts, claimDueDeliveries, markDevicesGone, settleDelivery } from '../../storage/sql/deliveries.ts';
import type { DueDelivery } from '../../storage/sql/deliveries.ts';
import { findRunsToSend, pauseRun } from '../../storage/sql/run-states.ts';
import type { RunToSend } from '../../storage/sql/run-states.ts';
import type { Duty } from '../duty.ts';
import { beginThroughOutage } from './begin-through-outage.ts';
import type { DeliverToDevice } from './deliver-to-device.ts';
import { outlastOutage } from './outlast-outage.ts';
import { goneDevices } from './send-window.ts';
import type { DeviceResult } from './send-window.ts';
import { leaseMilliseconds } from './work-chunks.ts';

const batchDevices = 250;

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
      await Promise.all(
        due.map(async (delivery) => {
          const run = runs.get(delivery.runId)!;
          const result = await sendAgain(deps, run, delivery);
          await outlastOutage(() => settle(database, { run, due: delivery, result, at: clock.now() }));
        }),
      );
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

type Settlement = { run: RunToSend; due: DueDelivery; result: DeviceResult; at: Date };

async function settle(database: Database, { run, due, result, at }: Settlement): Promise<void> {
  await beginThroughOutage(database, async (tx) => {
    const settled = await settleDelivery(tx, { ...due, ...result.delivery, claimedAttempts: due.attempts, sentAt: at });
    // Another worker took it over when our lease ran out; its outcome stands.
    if (!settled) return;
    if (result.delivery.outcome !== 'WAITING') {
      await addRunCounts(tx, {
        runId: due.runId,
        chunkNumber: due.chunkNumber,
        changes: [
          { platform: due.platform, outcome: 'WAITING', devices: -1 },
          { platform: due.platform, outcome: result.delivery.outcome, devices: 1 },
        ],
      });
    }
    await markDevicesGone(tx, { workspaceId: due.workspaceId, at, devices: goneDevices([result]) });
    if (result.stopReason !== undefined) await pauseRun(tx, { id: run.id, reason: result.stopReason });
  });
}
