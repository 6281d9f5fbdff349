import type { TortureBundle } from '../rig/installation.ts';
import type { WorkerProcess } from '../rig/processes.ts';

/**
 * Starts a campaign while one address ends, with SIGKILL, each worker that sends to it, and a new worker after each
 * death, until `isOver`. The last worker lives on as one of the bundle's.
 *
 * @returns how many died
 */
export async function sendPastDeadlyDevice(
  bundle: TortureBundle,
  { address, start, isOver }: { address: string; start(): Promise<void>; isOver(): Promise<boolean> },
): Promise<number> {
  const startWorker = async (): Promise<WorkerProcess> => {
    const worker = await bundle.startWorker(undefined, { TORTURE_DEADLY_ADDRESS: address });
    // Its death is expected.
    bundle.workers.splice(bundle.workers.indexOf(worker), 1);
    return worker;
  };
  let worker = await startWorker();
  try {
    await start();
    let isEnded = false;
    const over = bundle
      .waitFor('the end of what the deadly device is in', async () => ((await isOver()) ? true : undefined))
      .finally(() => (isEnded = true));
    for (let deaths = 0; ; deaths += 1) {
      await Promise.race([worker.exited, over]);
      if (isEnded) {
        await over;
        bundle.workers.push(worker);
        return deaths;
      }
      await bundle.endLeases();
      worker = await startWorker();
    }
  } catch (error) {
    worker.process.kill('SIGKILL');
    throw error;
  }
}
