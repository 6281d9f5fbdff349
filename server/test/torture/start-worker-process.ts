import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';

export type WorkerProcess = {
  process: ChildProcess;
  exited: Promise<{ code: number | null; stderr: string }>;
  /** Settles when it has taken over the clock that was moved. */
  followClock(): Promise<void>;
};

// The last words say why it ended.
const keptCharacters = 2_000;

/** Starts a worker as a process of its own; resolves when it works. */
export async function startWorkerProcess(
  environment: Record<string, string>,
  endpoints: SimulatorEndpoints,
): Promise<WorkerProcess> {
  const script = join(import.meta.dirname, 'torture-worker.ts');
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16', script, JSON.stringify(endpoints)],
    {
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    },
  );
  let stderr = '';
  child.stderr!.on('data', (piece) => {
    stderr = (stderr + String(piece)).slice(-keptCharacters);
    // For a look at a run that went wrong.
    if (environment.CARILLON_LOG_LEVEL !== 'error') process.stderr.write(piece);
  });
  const exited = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  const isStarted = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (!isStarted) throw new Error(`worker: ${stderr}`);
  return {
    process: child,
    exited,
    async followClock() {
      const moved = once(child, 'message');
      child.send('follow');
      await Promise.race([moved, exited]);
    },
  };
}
