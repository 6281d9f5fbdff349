import type { Clock } from '../clock.ts';
import type { Seal } from '../domain/seal.ts';
import type { Logger } from '../log.ts';
import type { Database } from '../storage/pool.ts';
import { makeLoadCredentials } from './credentials/load-credentials.ts';
import type { Delivery } from './delivery/deliver.ts';
import { startDuty } from './duty.ts';
import { makeDeliverToDevice } from './fan-out/deliver-to-device.ts';
import { endRuns } from './fan-out/end-runs.ts';
import { releaseRuns } from './fan-out/release-runs.ts';
import { retryDeliveries } from './fan-out/retry-deliveries.ts';
import { makeSendWindow } from './fan-out/send-window.ts';
import { startChunkWorkers } from './fan-out/work-chunks.ts';
import { makeGovernor } from './governor/governor.ts';
import { dropOldRecords } from './housekeeping/drop-old-records.ts';
import { startQueue } from './queue.ts';

export type WorkerDependencies = {
  database: Database;
  databaseUrl: string;
  clock: Clock;
  log: Logger;
  seal: Seal;
  delivery: Delivery;
  /** Names this process in leases; unique per start. */
  owner: string;
  parallelChunks: number;
  windowDevices: number;
  inboxMessages: number;
};

export type Worker = {
  /** Every duty looks now: work was enqueued, or time has moved. */
  wake(): void;
  /** Open windows end, chunks are given back, then everything stops. */
  stop(): Promise<void>;
};

// Two slots of their own keep transactional sends quick while campaigns fill the others.
const transactionalChunks = 2;

/** Starts everything a node of role `worker` does. */
export async function startWorker(deps: WorkerDependencies): Promise<Worker> {
  const { database, clock, log } = deps;
  const deliverToDevice = makeDeliverToDevice({
    clock,
    delivery: deps.delivery,
    loadCredentials: makeLoadCredentials({ database, seal: deps.seal, clock }),
    governor: makeGovernor(),
    random: Math.random,
  });
  const end = startDuty(endRuns({ database }), { clock, log });
  const chunks = startChunkWorkers({
    database,
    clock,
    log,
    owner: deps.owner,
    parallelChunks: deps.parallelChunks,
    transactionalChunks,
    sendWindow: makeSendWindow({ database, clock, windowDevices: deps.windowDevices, deliverToDevice }),
    onChunkEnded: end.wake,
  });
  const release = startDuty(releaseRuns({ database, wakeWorkers: chunks.wake }), { clock, log });
  const retry = startDuty(retryDeliveries({ database, clock, deliverToDevice, onSettled: end.wake }), { clock, log });
  const housekeeping = startDuty(dropOldRecords({ database, inboxMessages: deps.inboxMessages }), { clock, log });
  const wake = (): void => {
    release.wake();
    chunks.wake();
    retry.wake();
    end.wake();
  };
  const queue = await startQueue({ databaseUrl: deps.databaseUrl, log, wakeFanOut: wake });
  return {
    wake,
    async stop() {
      await queue.stop();
      await Promise.all([release.stop(), chunks.stop(), retry.stop(), housekeeping.stop()]);
      await end.stop();
    },
  };
}
