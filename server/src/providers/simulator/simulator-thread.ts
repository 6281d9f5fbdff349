import { Worker } from 'node:worker_threads';
import type { WorkerData } from './serve-simulators.ts';

export type SimulatorThread = {
  worker: Worker;
  /** Lets the simulators listen. */
  begin(data: WorkerData): void;
  /** Settles with the reason if the thread fails, also if it failed before the call. */
  failed: Promise<Error>;
  end(): Promise<void>;
};

/** Starts the thread of the simulators. It loads their modules, and waits for `begin`. */
export function openSimulatorThread(): SimulatorThread {
  const worker = new Worker(new URL('./simulator-worker.ts', import.meta.url));
  return {
    worker,
    begin: (data) => worker.postMessage(data),
    failed: new Promise((resolve) => worker.on('error', (error) => resolve(error as Error))),
    async end() {
      await worker.terminate();
    },
  };
}
