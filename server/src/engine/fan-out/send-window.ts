import type { Clock } from '../../clock.ts';
import { deliverySettings, iosProvisional } from '../../domain/campaigns/delivery-settings.ts';
import { eligibilityCodes } from '../../domain/eligibility/decide-eligibility.ts';
import { lastIdAt } from '../../domain/ids.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findAllUsersPage, findSegmentPage, findTargetUsersPage } from '../../storage/campaigns/audience.ts';
import type { PagedDevice } from '../../storage/campaigns/audience.ts';
import { endChunk, moveCursor, openWindow } from '../../storage/runs/chunks.ts';
import type { ClaimedChunk } from '../../storage/runs/chunks.ts';
import {
  addRunCounts,
  ensureDeliveriesPartition,
  insertDeliveries,
  markDevicesGone,
} from '../../storage/ledger/deliveries.ts';
import { pauseRun } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { leaseEnd } from './chunk-lease.ts';
import { makeDeliverToEligible } from './deliver-to-eligible.ts';
import type { DeliverToDevice } from './deliver-to-device.ts';
import { goneDevices } from './device-result.ts';
import type { DeviceResult } from './device-result.ts';
import { outlastOutage } from './outlast-outage.ts';
import type { PersonaliseDevices } from './personalise-devices.ts';
import { leaseQuota, nextQuota, returnQuota } from './run-throttle.ts';
import { withdrawUnsent } from './withdraw-unsent.ts';

export type Cursor = { bucket: number; position: string };

export type WindowResult =
  /** Outcomes stored; the next window starts behind the cursor. */
  | { kind: 'sent'; cursor: Cursor }
  /** The audience is exhausted and the chunk is ended. */
  | { kind: 'ended' }
  /** The run is throttled: nothing more of it before an instant. */
  | { kind: 'throttled'; until: Date }
  /** Not ours any more, or the run is not sending: nothing was stored by this call. */
  | { kind: 'lost' };

export type SendWindow = (window: { run: RunToSend; chunk: ClaimedChunk; cursor: Cursor }) => Promise<WindowResult>;

export type SendWindowDependencies = {
  database: Database;
  clock: Clock;
  /** Most devices in a window: what a crash may repeat. */
  windowDevices: number;
  personaliseDevices: PersonaliseDevices;
  deliverToDevice: DeliverToDevice;
};

class LostChunkError extends Error {}

/**
 * Sends the next window of a chunk: reads a page after the cursor, stores the window, sends it with all requests in
 * flight concurrently, and stores outcomes, counters, cursor and the window's end in one transaction. A crash before
 * that transaction repeats exactly this window, under the same identities; a crash after it repeats nothing.
 */
export function makeSendWindow(deps: SendWindowDependencies): SendWindow {
  const { database, clock } = deps;
  const deliver = makeDeliverToEligible(deps);
  const partitions = new Set<string>();

  return async ({ run, chunk, cursor }) => {
    const quota = await leaseQuota(database, { run, at: clock.now(), wanted: deps.windowDevices });
    if (quota === 0) return { kind: 'throttled', until: nextQuota(run, clock.now()) };
    const page = await readPage(database, { run, chunk, cursor, limit: quota });
    await returnQuota(database, { run, at: clock.now(), devices: quota - page.length });
    const last = page.at(-1);
    if (!last)
      return (await endChunk(database, { ...chunk, state: 'DONE', at: clock.now() }))
        ? { kind: 'ended' }
        : { kind: 'lost' };
    if (!partitions.has(run.day)) {
      await ensureDeliveriesPartition(database, run.day);
      partitions.clear();
      partitions.add(run.day);
    }
    const end = { bucket: last.bucket, position: last.position };
    const opened = await openWindow(database, {
      ...chunk,
      ...end,
      at: clock.now(),
      leaseUntil: leaseEnd(clock),
      devices: page.length,
    });
    if (!opened) return { kind: 'lost' };
    const results = await deliver(
      run,
      page.map((device) => ({ device, attempt: 1 })),
    );
    await returnQuota(database, { run, at: clock.now(), devices: results.filter(isEligibilityStep).length });
    const isLast = page.length < quota;
    try {
      await outlastOutage(() => storeWindow(deps, { run, chunk, end, isLast, results }));
    } catch (error) {
      if (error instanceof LostChunkError) return { kind: 'lost' };
      throw error;
    }
    return isLast ? { kind: 'ended' } : { kind: 'sent', cursor: end };
  };
}

type PageRequest = { run: RunToSend; chunk: ClaimedChunk; cursor: Cursor; limit: number };

function readPage(database: Database, { run, chunk, cursor, limit }: PageRequest): Promise<PagedDevice[]> {
  const page = {
    workspaceId: run.workspaceId,
    platforms: run.platforms,
    iosProvisional: iosProvisional(deliverySettings(run.settings)),
    bucketFrom: chunk.bucketFrom,
    bucketTo: chunk.bucketTo,
    afterBucket: cursor.bucket,
    afterPosition: cursor.position,
    // Named users were resolved when the request was accepted; their devices are frozen at that instant too.
    bound: run.audienceBound ?? lastIdAt(run.createdAt),
    limit,
  };
  if (run.targetUsers) return findTargetUsersPage(database, { ...page, targetUsers: run.targetUsers });
  if (run.audienceSegmentId === null) return findAllUsersPage(database, page);
  const { audienceSegmentId: segmentId, audienceVersion: version } = run;
  return findSegmentPage(database, { ...page, segmentId, version: version! });
}

type WindowToStore = { run: RunToSend; chunk: ClaimedChunk; end: Cursor; isLast: boolean; results: DeviceResult[] };

async function storeWindow({ database, clock }: SendWindowDependencies, window: WindowToStore): Promise<void> {
  const { run, chunk, results } = window;
  const now = clock.now();
  await inTransaction(database, async (tx) => {
    // The chunk's row first: its lock decides whether this worker may store anything at all.
    const isOurs = await moveCursor(tx, { ...chunk, ...window.end, leaseUntil: leaseEnd(clock) });
    if (!isOurs) throw new LostChunkError();
    const stored = new Set(
      await insertDeliveries(tx, {
        day: run.day,
        workspaceId: run.workspaceId,
        runId: run.id,
        chunkNumber: chunk.number,
        sentAt: now,
        deliveries: results.map((result) => result.delivery),
      }),
    );
    const fresh = results.filter((result) => stored.has(result.delivery.deviceId));
    await addRunCounts(
      tx,
      fresh.map(({ delivery: { platform, outcome } }) => ({
        runId: run.id,
        chunkNumber: chunk.number,
        platform,
        outcome,
        devices: 1,
      })),
    );
    await markDevicesGone(tx, { workspaceId: run.workspaceId, at: now, devices: goneDevices(fresh) });
    await withdrawUnsent(tx, { run, chunk: { number: chunk.number, state: 'HELD' }, results: fresh });
    const stopped = results.find((result) => result.stopReason !== undefined);
    if (stopped?.stopReason !== undefined)
      await pauseRun(tx, { id: run.id, reason: stopped.stopReason, platform: stopped.delivery.platform });
    if (window.isLast) await endChunk(tx, { ...chunk, state: 'DONE', at: now });
  });
}

/** Nothing left for the device: the gate held or withheld it. */
function isEligibilityStep({ delivery }: DeviceResult): boolean {
  return delivery.attempts === 0 && eligibilityCodes.some((code) => code === delivery.code);
}
