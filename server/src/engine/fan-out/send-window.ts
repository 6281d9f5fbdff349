import type { Clock } from '../../clock.ts';
import { isDatabaseFault, isFaultOfContent } from '../../domain/database-faults.ts';
import { eligibilityCodes } from '../../domain/eligibility.ts';
import type { ChunkWinners } from '../../domain/experiments/learning.ts';
import { countedVariant } from '../../domain/experiments/variants.ts';
import type { Logger } from '../../log.ts';
import type { PagedUser } from '../../storage/campaigns/inbox-audience.ts';
import { addLearned } from '../../storage/campaigns/variations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  addRunCounts,
  ensureDeliveriesPartition,
  hasDelivery,
  insertDeliveries,
  insertMissingDeliveries,
  markDevicesGone,
} from '../../storage/ledger/deliveries.ts';
import type { CountChange, DeliveriesToStore } from '../../storage/ledger/deliveries.ts';
import { markDeliveries } from '../../storage/outbox/stream-marks.ts';
import { closeWindow, endChunk, openWindow, moveCursor } from '../../storage/runs/chunks.ts';
import type { ClaimedChunk, OpenedWindow, Cursor } from '../../storage/runs/chunks.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import { leaseQuota, nextQuota, returnQuota } from '../governor/send-budgets.ts';
import { chunkLeaseEnd } from '../jobs/leased-job.ts';
import { LostWorkError } from '../jobs/outcome-buffer.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { marksOf } from '../outbox/event-streams.ts';
import type { PersonaliseDevices } from './compose-message.ts';
import type { DeliverToDevices } from './deliver-to-devices.ts';
import { makeDeliverToEligible, withdrawUnsent } from './deliver-to-eligible.ts';
import { trialsOf } from './experiments.ts';
import { composeInbox, storeInbox, storeInsteadOfPush, usersToKeepInstead } from './keep-in-inbox.ts';
import type { ComposedInbox } from './keep-in-inbox.ts';
import { readPage } from './read-page.ts';
import { markSent, waitForSeats } from './seats.ts';
import { replaceAddresses } from './replace-addresses.ts';
import { goneDevices, quarantine, suspectDevices, keepWaiting, pauseOrShowRefusals } from './settle-outcome.ts';
import type { DeviceResult } from './settle-outcome.ts';

export type WindowResult =
  /** The outcomes are stored. The next window starts after the cursor. */
  | { kind: 'sent'; cursor: Cursor; search: Search | undefined }
  /** The audience is exhausted and the chunk is ended. */
  | { kind: 'ended' }
  /**
   * The run is throttled, or waits for a seat of its limit. Nothing more is sent until `until`, except in the buckets
   * `besides`.
   */
  | { kind: 'throttled'; until: Date; besides?: readonly number[] }
  /** The chunk is no longer ours, or the run is not sending. This call stored nothing. */
  | { kind: 'lost' };

export type Window = { run: RunToSend; chunk: ClaimedChunk; cursor: Cursor; search?: Search | undefined };

/**
 * A search for the device that crashes workers. It is one of the next `suspectDevices` after the cursor. Once found, it is not
 * sent to.
 */
export type Search = { suspectDevices: number; treatment: 'send' | 'set aside' };

export type SendWindow = (window: Window) => Promise<WindowResult>;

/** The window could not be sent. The fault is the window's, not the database's. */
export class WindowFailedError extends Error {
  override readonly name = 'WindowFailedError';
}

/** The window was sent, but the database rejects its outcomes because of their content. */
export class WindowRefusedError extends Error {
  override readonly name = 'WindowRefusedError';
}

export type SendWindowDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  /** The maximum number of devices in a window, and so the maximum that a crash may repeat. */
  windowDevices: number;
  personaliseDevices: PersonaliseDevices;
  deliverToDevices: DeliverToDevices;
  outcomes: OutcomeBuffer;
};

/**
 * Sends the next window of a chunk: reads a page after the cursor, stores the window, sends it with all requests in flight
 * concurrently, and stores outcomes, counters, cursor and the window's end in one transaction. A crash before that transaction
 * repeats exactly this window, with the same identities. A crash after it repeats nothing.
 */
export function makeSendWindow(deps: SendWindowDependencies): SendWindow {
  const { database, clock } = deps;
  const deliver = makeDeliverToEligible(deps);
  const partitions = new Set<string>();

  return async ({ run: given, chunk, cursor, search }) => {
    const wait = await waitForSeats(database, { run: given, chunk, now: clock.now() });
    if (wait) return { kind: 'throttled', ...wait };
    const wanted = search ? Math.max(1, Math.floor(search.suspectDevices / 2)) : deps.windowDevices;
    const quota = await leaseQuota(database, { run: given, at: clock.now(), wanted });
    if (quota === 0) return { kind: 'throttled', until: nextQuota(given, clock.now()) };
    const { windowDevices } = deps;
    const page = await readPage(database, { run: given, chunk, cursor, limit: quota, windowDevices });
    const { devices, users, rows, end } = page;
    // The inbox of users is filled at any rate.
    await returnQuota(database, { run: given, at: clock.now(), devices: quota - devices.length });
    if (!end)
      return (await endChunk(database, { ...chunk, state: 'DONE', at: clock.now() }))
        ? { kind: 'ended' }
        : { kind: 'lost' };
    if (!partitions.has(given.day)) {
      await ensureDeliveriesPartition(database, given.day);
      partitions.clear();
      partitions.add(given.day);
    }
    const opened = await openWindow(database, {
      ...chunk,
      ...end,
      at: clock.now(),
      leaseUntil: chunkLeaseEnd(clock),
      devices: rows,
    });
    if (!opened) return { kind: 'lost' };
    const run = { ...given, ...opened, winners: winnersOf(chunk, opened) };
    const results =
      search?.treatment === 'set aside'
        ? devices.map(quarantine)
        : await deliver(
            run,
            devices.map((device) => ({ device, attempt: 1 })),
          ).catch((error: unknown) => {
            throw isDatabaseFault(error) ? error : new WindowFailedError('a window cannot be sent', { cause: error });
          });
    const isSetAside = search?.treatment === 'set aside';
    const inbox = await composeInboxes(deps, { run, users: isSetAside ? [] : users, results });
    const left = search ? search.suspectDevices - rows : 0;
    const next: Search | undefined = left > 0 ? { suspectDevices: left, treatment: 'send' } : undefined;
    const suspects = { suspectDevices: next?.suspectDevices ?? null, setAside: isSetAside ? 1 : 0 } as const;
    await returnQuota(database, { run, at: clock.now(), devices: results.filter(isEligibilityStep).length });
    const following = rows < quota ? page.next : end;
    const isLast = following === undefined;
    try {
      await deps.outcomes.store(() => storeWindow(deps, { run, chunk, end, isLast, results, inbox, suspects }));
    } catch (error) {
      if (error instanceof LostWorkError) return { kind: 'lost' };
      throw isFaultOfContent(error) ? new WindowRefusedError('a window cannot be stored', { cause: error }) : error;
    }
    await replaceAddresses(deps, { workspaceId: run.workspaceId, results });
    return following === undefined ? { kind: 'ended' } : { kind: 'sent', cursor: following, search: next };
  };
}

/**
 * Naming a winner waits for the lock on the chunk's row, so the winners read with that row are valid for the window's buckets.
 */
function winnersOf({ bucketFrom, bucketTo }: ClaimedChunk, { winners: steps }: OpenedWindow): ChunkWinners[] {
  return steps === null ? [] : [{ bucketFrom, bucketTo, steps }];
}

/** `instead`: for users whose pushes failed; it is kept if none can reach them any more. */
type ComposedInboxes = { kept: ComposedInbox; instead: ComposedInbox };

type ComposingInboxes = { run: RunToSend; users: readonly PagedUser[]; results: readonly DeviceResult[] };

/** @throws WindowFailedError for a message that cannot be composed, as for one that cannot be sent */
async function composeInboxes(
  deps: SendWindowDependencies,
  { run, users, results }: ComposingInboxes,
): Promise<ComposedInboxes> {
  try {
    const kept = await composeInbox(deps, { run, users });
    return { kept, instead: await composeInbox(deps, { run, users: usersToKeepInstead(run, results) }) };
  } catch (error) {
    throw isDatabaseFault(error) ? error : new WindowFailedError('an inbox cannot be filled', { cause: error });
  }
}

type WindowToStore = Pick<Window, 'run' | 'chunk'> & {
  end: Cursor;
  isLast: boolean;
  results: DeviceResult[];
  inbox: ComposedInboxes;
  suspects: { suspectDevices: number | null; setAside: 0 | 1 };
};

/**
 * Stores the window. A device that already has a row in this run keeps it. This is rare, so it is only handled in a second
 * attempt.
 */
async function storeWindow(deps: SendWindowDependencies, window: WindowToStore): Promise<void> {
  const store = (insert: InsertWindow) =>
    inTransaction(deps.database, (tx) => storeWindowIn(tx, { deps, window, insert }));
  try {
    await store(async (tx, toStore) => {
      await insertDeliveries(tx, toStore);
      return 'all';
    });
  } catch (error) {
    if (!hasDelivery(error)) throw error;
    await store(insertMissingDeliveries);
  }
}

/** @returns the devices whose results were inserted */
type InsertWindow = (tx: Transaction, toStore: DeliveriesToStore) => Promise<'all' | ReadonlySet<string>>;
type StoreWindow = { deps: SendWindowDependencies; window: WindowToStore; insert: InsertWindow };

async function storeWindowIn(tx: Transaction, { deps: { clock }, window, insert }: StoreWindow): Promise<void> {
  const { run, chunk } = window;
  const now = clock.now();
  // The chunk's row comes first: its lock decides whether this worker may store anything at all.
  const { workspaceId } = run;
  const closed = await closeWindow(tx, { ...chunk, ...window.suspects, leaseUntil: chunkLeaseEnd(clock), workspaceId });
  if (!closed) throw new LostWorkError();
  const results = await keepWaiting(tx, { run, results: window.results, at: now });
  await moveCursor(tx, { runId: run.id, workspaceId: run.workspaceId, ...window.end });
  const stored = await insert(tx, {
    day: run.day,
    workspaceNumber: run.workspaceNumber,
    runNumber: run.number,
    sentAt: now,
    deliveries: results.map((result) => result.delivery),
  });
  const fresh = stored === 'all' ? results : results.filter((result) => stored.has(result.delivery.deviceId));
  await addRunCounts(tx, countChanges(run, fresh));
  await addLearned(
    tx,
    trialsOf(
      run,
      fresh.map(({ delivery }) => delivery),
    ),
  );
  await markDevicesGone(tx, { workspaceId: run.workspaceId, at: now, devices: goneDevices(fresh) });
  await suspectDevices(tx, { run, results: fresh, at: now });
  await markSent(tx, { run, results: fresh });
  await withdrawUnsent(tx, { run, chunk: 'HELD', results: fresh });
  await pauseOrShowRefusals(tx, { run, results });
  await storeInbox(tx, { run, composed: window.inbox.kept, at: now });
  await storeInsteadOfPush(tx, { run, composed: window.inbox.instead, at: now });
  if (closed.isStreamed) await markDeliveries(tx, { marks: marksOf(run, fresh), at: now });
  if (window.isLast) await endChunk(tx, { ...chunk, state: 'DONE', at: now });
}

/** Returns one change per counter. A window has only a few. */
export function countChanges(
  { id: runId, workspaceId, variants }: RunToSend,
  results: readonly DeviceResult[],
): CountChange[] {
  const changes: CountChange[] = [];
  for (const { delivery } of results) {
    const { bucket, platform, outcome } = delivery;
    const { variation, locale } = countedVariant(variants?.locales, delivery.variant);
    const known = changes.find(
      (change) =>
        change.bucket === bucket &&
        change.outcome === outcome &&
        change.platform === platform &&
        change.variation === variation &&
        change.locale === locale,
    );
    if (known) known.devices += 1;
    else
      changes.push({
        ...{ workspaceId, runId, bucket, platform, outcome, devices: 1 },
        ...(variation !== undefined && locale !== undefined && { variation, locale }),
      });
  }
  return changes;
}

/** True if nothing was sent to the device because eligibility rules held or withheld it. */
function isEligibilityStep({ delivery }: DeviceResult): boolean {
  return delivery.attempts === 0 && eligibilityCodes.some((code) => code === delivery.code);
}
