import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import type { KillableDatabase } from './databases.ts';

/** What a node of a long proof is started with: of this machine's settings its paths alone. */
export function nodeEnvironment(
  folder: string,
  postgres?: Pick<KillableDatabase, 'url' | 'ownerUrl'>,
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    ...(postgres && { DATABASE_URL: postgres.url, CARILLON_DATABASE_OWNER_URL: postgres.ownerUrl }),
    CARILLON_DATA_DIR: folder,
    // Files and callbacks are this process's.
    CARILLON_ALLOWED_NETWORKS: '127.0.0.0/8',
    CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'error',
  };
}

/** Runs the command line as a process of its own. @throws with its words when it fails */
export async function runCommand(environment: Record<string, string>, parameters: string[]): Promise<void> {
  const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', cli, ...parameters], {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (piece) => (stderr += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`carillon ${parameters[0]}: ${stderr}`);
}

type TortureNode = { process: ChildProcess; ended: Promise<void>; url: string; databaseUrl: string };

type NodeOptions = {
  endpoints: SimulatorEndpoints;
  /** As main.ts takes them. */
  parameters?: string[];
  /** Words before the command. */
  before?: string[] | undefined;
  /** What becomes of what it writes to its standard error. */
  errors?: 'inherit' | 'ignore';
};

/** Starts main.ts's node as a process of its own, whose simulated providers are somebody else's; resolves when it works. */
export async function startTortureNode(
  environment: Record<string, string>,
  { endpoints, parameters = [], before = [], errors = 'inherit' }: NodeOptions,
): Promise<TortureNode> {
  const script = join(import.meta.dirname, 'node.ts');
  const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16'];
  const words = [
    ...before,
    process.execPath,
    ...flags,
    script,
    JSON.stringify(endpoints),
    '--port',
    '0',
    ...parameters,
  ];
  const child = spawn(words[0]!, words.slice(1), {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'ignore', errors, 'ipc'],
  });
  // Listened for from the start: it may end while something else is waited for.
  const ended = once(child, 'close').then(() => undefined);
  const ready = await Promise.race([once(child, 'message'), ended]);
  if (!ready) throw new Error('the node ended before it was ready');
  return { process: child, ended, ...(ready[0] as { url: string; databaseUrl: string }) };
}

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
  const script = join(import.meta.dirname, 'worker.ts');
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
