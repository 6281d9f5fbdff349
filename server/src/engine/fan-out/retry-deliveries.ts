import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/pool.ts';
import { addRunCounts, claimDueDeliveries, markDevicesGone, settleDeliveries } from '../../storage/sql/deliveries.ts';
import type { CountChange, DueDelivery, SettledDelivery } from '../../storage/sql/deliveries.ts';
import { findRunsToSend, pauseRun } from '../../storage/sql/run-states.ts';
import type { RunToSend } from '../../storage/sql/run-states.ts';
import type { Duty } from '../duty.ts';
import { beginThroughOutage } from './begin-through-outage.ts';
import type { DeliverToDevice } from './deliver-to-device.ts';
import { outlastOutage } from './outlast-outage.ts';
import type { PersonaliseDevices, Recipient } from './personalise-devices.ts';
import { goneDevices } from './send-window.ts';
import type { DeviceResult } from './send-window.ts';
import { leaseMilliseconds } from './work-chunks.ts';

const batchDevices = 500;

export type RetryDeliveriesDependencies = {
  database: Database;
  clock: Clock;
  personaliseDevices: PersonaliseDevices;
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
      const recipients = await findRecipients(deps, { due, runs });
      const results = await Promise.all(
        due.map((delivery, place) =>
          sendAgain(deps, { run: runs.get(delivery.runId)!, due: delivery, recipient: recipients[place] }),
        ),
      );
      await outlastOutage(() => settle(database, { due, results, at: clock.now() }));
      deps.onSettled();
      return due.length;
    },
  };
}

/** In the order of what is due; undefined where the device left, opted out or was dropped while the delivery waited. */
async function findRecipients(
  { personaliseDevices }: RetryDeliveriesDependencies,
  { due, runs }: { due: DueDelivery[]; runs: Map<string, RunToSend> },
): Promise<(Recipient | undefined)[]> {
  const recipients: (Recipient | undefined)[] = due.map(() => undefined);
  const places = [...due.keys()].filter((place) => due[place]!.pushId !== null);
  for (const [runId, ofRun] of Map.groupBy(places, (place) => due[place]!.runId)) {
    const devices = ofRun.map((place) => {
      const { bucket, deviceId: id, userId, platform, pushId } = due[place]!;
      return { bucket, id, userId, platform, pushId: pushId! };
    });
    for (const [index, recipient] of (await personaliseDevices(runs.get(runId)!, devices)).entries())
      recipients[ofRun[index]!] = recipient;
  }
  return recipients;
}

type Again = { run: RunToSend; due: DueDelivery; recipient: Recipient | undefined };

async function sendAgain(deps: RetryDeliveriesDependencies, { run, due, recipient }: Again): Promise<DeviceResult> {
  if (!recipient) return { delivery: { ...due, outcome: 'GONE', code: 'DEVICE_LEFT', retryAt: null } };
  return deps.deliverToDevice(run, recipient, due.attempts);
}

type Settlement = { due: DueDelivery[]; results: DeviceResult[]; at: Date };

/** One transaction for the batch. What another worker took over when our lease ran out keeps that worker's outcome. */
async function settle(database: Database, { due, results, at }: Settlement): Promise<void> {
  const deliveries = due.map((delivery, place) => ({
    ...delivery,
    ...results[place]!.delivery,
    claimedAttempts: delivery.attempts,
  }));
  await beginThroughOutage(database, async (tx) => {
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
