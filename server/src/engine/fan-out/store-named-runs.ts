import type { Clock } from '../../clock.ts';
import { isFaultOfContent } from '../../domain/database-faults.ts';
import type { Logger } from '../../log.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import { addLearned } from '../../storage/campaigns/variations.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import {
  addRunCounts,
  hasDelivery,
  insertDeliveriesOfRuns,
  markDevicesGone,
  rowKey,
} from '../../storage/ledger/deliveries.ts';
import { markDeliveries } from '../../storage/outbox/stream-marks.ts';
import { endNamedChunks, moveCursors } from '../../storage/runs/named-runs.ts';
import type { NamedChunk } from '../../storage/runs/named-runs.ts';
import { endNamedRuns } from '../../storage/runs/run-states.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';
import type { OutcomeBuffer } from '../jobs/outcome-buffer.ts';
import { marksOf } from '../outbox/event-streams.ts';
import { withdrawUnsent } from './deliver-to-eligible.ts';
import { trialsOf } from './experiments.ts';
import { countChanges, WindowRefusedError } from './send-window.ts';
import { goneDevices, keepWaiting, pauseOrShowRefusals, suspectDevices } from './settle-outcome.ts';
import type { DeviceResult } from './settle-outcome.ts';

/** Runs that are claimed, read and stored together. A statement for 500 takes a few milliseconds. */
export const batchRuns = 500;
/** Outcomes wait this long for others, so that a transaction stores many. No caller waits for them. */
const usualLingerMilliseconds = 20;

/** A run with its claimed chunk and its devices. */
export type OpenedRun = { run: RunToSend; chunk: NamedChunk; devices: AudienceDevice[] };
export type SentRun = OpenedRun & { results: DeviceResult[] };

export type StoreDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  outcomes: OutcomeBuffer;
  lingerMilliseconds?: number;
  /** Called with the campaigns of runs that have ended, so that these can end. */
  onRunsEnded: (campaignIds: string[]) => void;
  /** Called when chunks have ended whose runs must be looked at before they can end. */
  onChunkEnded: () => void;
};

/**
 * Returns a function that stores the results of a run with those of others, and resolves when they are stored. If the database
 * rejects the content of a batch, its runs are stored one by one, so that a faulty one does not hold the others.
 */
export function makeStoreSoon(deps: StoreDependencies): (sent: SentRun) => Promise<void> {
  const { outcomes } = deps;
  type Waiting = { sent: SentRun; resolve: () => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let isStoring = false;

  const storeBatch = async (batch: Waiting[]): Promise<void> => {
    const ended = await outcomes.store(async () => {
      try {
        return await storeRuns(deps, { runs: batch.map(({ sent }) => sent) });
      } catch (error) {
        if (batch.length > 1 && isFaultOfContent(error)) return undefined;
        throw error;
      }
    });
    if (!ended) {
      for (const one of batch) await storeAndSettle([one]);
      return;
    }
    for (const { resolve } of batch) resolve();
    deps.onRunsEnded(ended);
    if (ended.length < batch.length) deps.onChunkEnded();
  };
  const storeAndSettle = (batch: Waiting[]): Promise<void> =>
    storeBatch(batch).catch((error: unknown) => {
      const cause = isFaultOfContent(error)
        ? new WindowRefusedError('a window cannot be stored', { cause: error })
        : error;
      for (const { reject } of batch) reject(cause);
    });
  const storeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchRuns);
      waiting = waiting.slice(batchRuns);
      await storeAndSettle(batch);
    }
    isStoring = false;
  };

  return (sent) =>
    new Promise((resolve, reject) => {
      waiting.push({ sent, resolve, reject });
      if (isStoring) return;
      isStoring = true;
      setTimeout(() => void storeAll(), deps.lingerMilliseconds ?? usualLingerMilliseconds);
    });
}

type Stored = { runs: readonly SentRun[] };

/**
 * Stores the runs. A device that already has a row in its run keeps it, which is rare: a second attempt handles it.
 *
 * @returns the campaigns of the runs that have ended, one for each run
 */
async function storeRuns(deps: StoreDependencies, { runs }: Stored): Promise<string[]> {
  const store = (devices: 'have no row' | 'may have rows') =>
    inTransaction(deps.database, (tx) => storeRunsIn(tx, { at: deps.clock.now(), runs, devices }));
  try {
    return await store('have no row');
  } catch (error) {
    if (!hasDelivery(error)) throw error;
    return await store('may have rows');
  }
}

type Storing = Stored & { at: Date; devices: 'have no row' | 'may have rows' };

/** Runs whose chunk another worker has taken over are left out: it sends them again, and stores what it gets. */
async function storeRunsIn(tx: Transaction, { at, runs, devices }: Storing): Promise<string[]> {
  const ended = await endNamedChunks(tx, { holds: runs.map(({ chunk }) => chunk), at });
  const kept: SentRun[] = [];
  for (const sent of runs)
    if (ended.has(sent.run.id))
      kept.push({ ...sent, results: await keepWaiting(tx, { run: sent.run, results: sent.results, at }) });
  await moveCursors(
    tx,
    kept.flatMap(({ run: { id: runId, workspaceId }, devices: sentTo }) => {
      const last = sentTo.at(-1);
      return last ? [{ runId, workspaceId, bucket: last.bucket, position: last.id }] : [];
    }),
  );
  const stored = await insertDeliveriesOfRuns(tx, {
    devices,
    windows: kept.map(({ run: { day, workspaceNumber, number: runNumber }, results }) => ({
      ...{ day, workspaceNumber, runNumber, sentAt: at },
      deliveries: results.map(({ delivery }) => delivery),
    })),
  });
  const isFresh = ({ number: runNumber }: RunToSend, { delivery: { deviceId } }: DeviceResult): boolean =>
    stored === 'all' || stored.has(rowKey({ runNumber, deviceId }));
  const fresh = kept.map(({ run, results }) => ({ run, results: results.filter((result) => isFresh(run, result)) }));
  await addRunCounts(
    tx,
    fresh.flatMap(({ run, results }) => countChanges(run, results)),
  );
  await addLearned(
    tx,
    fresh.flatMap(({ run, results }) =>
      trialsOf(
        run,
        results.map(({ delivery }) => delivery),
      ),
    ),
  );
  await dropGoneDevices(tx, { runs: fresh, at });
  for (const { run, results } of fresh) {
    await suspectDevices(tx, { run, results, at });
    await withdrawUnsent(tx, { run, chunk: 'HELD', results });
  }
  for (const { run, results } of kept) await pauseOrShowRefusals(tx, { run, results });
  const marks = fresh.flatMap(({ run, results }) => (ended.get(run.id)!.isStreamed ? marksOf(run, results) : []));
  await markDeliveries(tx, { marks, at });
  // With rows from before, others of the run may wait.
  const finished = stored === 'all' ? kept.filter(isFinished) : [];
  return endNamedRuns(tx, { ids: finished.map(({ run }) => run.id), at });
}

type Fresh = { run: RunToSend; results: DeviceResult[] };

/** The job that ends runs also ends the campaigns of others; after a crash it finds only those of pushes to named users. */
function isFinished({ run, results }: Fresh): boolean {
  return run.audience === 'USER' && results.every(({ delivery }) => delivery.outcome !== 'WAITING');
}

async function dropGoneDevices(tx: Transaction, { runs, at }: { runs: readonly Fresh[]; at: Date }): Promise<void> {
  const gone = Map.groupBy(
    runs.filter(({ results }) => results.some((result) => result.gone)),
    ({ run }) => run.workspaceId,
  );
  // The same order in every transaction prevents deadlocks.
  for (const [workspaceId, ofWorkspace] of [...gone].sort(([a], [b]) => (a < b ? -1 : 1)))
    await markDevicesGone(tx, { workspaceId, at, devices: goneDevices(ofWorkspace.flatMap(({ results }) => results)) });
}
