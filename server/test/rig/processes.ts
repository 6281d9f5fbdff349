import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { runtimeFlags, startNode } from '../start/start-bundle.ts';
import type { Node, StartLine } from '../start/start-bundle.ts';
import type { KillableDatabase } from './databases.ts';

/** The settings of a node of a rig. Of this machine's own settings only the paths are passed on. */
export function nodeEnvironment(
  folder: string,
  postgres?: Pick<KillableDatabase, 'url' | 'ownerUrl'>,
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    ...(postgres && {
      DATABASE_URL: postgres.url,
      CARILLON_DATABASE_OWNER_URL: postgres.ownerUrl,
      CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    }),
    CARILLON_DATA_DIR: folder,
    // Files and callbacks are served by this process.
    CARILLON_ALLOWED_NETWORKS: '127.0.0.0/8',
    CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'error',
  };
}

const compileCache = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/** Runs the command line in a process. @throws Error with its standard error if it fails */
export async function runCommand(environment: Record<string, string>, parameters: string[]): Promise<void> {
  const cli = join(import.meta.dirname, '..', '..', 'src', 'cli', 'carillon.ts');
  const child = spawn(process.execPath, [...runtimeFlags, cli, ...parameters], {
    env: { ...compileCache, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (piece) => (stderr += piece));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`carillon ${parameters[0]}: ${stderr}`);
}

/** Imports users with one device each, a third of each platform. */
export async function importUsers(environment: Record<string, string>, users: number): Promise<void> {
  const file = join(environment.CARILLON_DATA_DIR!, 'users.ndjson');
  await runCommand(environment, ['sandbox', 'generate-users', '--users', String(users), '--out', file]);
  await runCommand(environment, ['import', file]);
}

/** Starts main.ts, and resolves with its start line when the node is ready. @throws Error with its standard error */
export async function startMain(
  environment: Record<string, string>,
  parameters: string[],
  before?: string[],
): Promise<Node & { line: StartLine }> {
  const node = startNode(['--json', ...parameters], environment, before);
  const firstLine = await node.firstLine;
  if (firstLine === undefined) {
    const { code, stderr } = await node.exited;
    throw new Error(`the node ended with ${code}: ${stderr}`);
  }
  return { ...node, line: JSON.parse(firstLine) as StartLine };
}

export type Script<Ready> = {
  process: ChildProcess;
  exited: Promise<{ code: number | null; stderr: string }>;
  /** Its first message. */
  ready: Ready;
};

type ScriptOptions = {
  words: string[];
  /** Words before the command. */
  before?: string[] | undefined;
  /** What happens to its standard error; `pipe` keeps the end of it. */
  errors?: 'inherit' | 'ignore' | 'pipe' | undefined;
};

// The end says why it ended.
const keptCharacters = 2_000;

/** Starts a script in a process; resolves with its first message. @throws Error if it ends without one */
export async function startScript<Ready>(
  environment: Record<string, string>,
  { words, before = [], errors = 'inherit' }: ScriptOptions,
): Promise<Script<Ready>> {
  const command = [...before, process.execPath, ...runtimeFlags, ...words];
  const child = spawn(command[0]!, command.slice(1), {
    env: { ...compileCache, ...environment },
    stdio: ['ignore', 'ignore', errors, 'ipc'],
    serialization: 'advanced',
  });
  let stderr = '';
  child.stderr?.on('data', (piece) => {
    stderr = (stderr + String(piece)).slice(-keptCharacters);
    // For the analysis of a run that went wrong.
    if (process.env.DEBUG_LEVEL !== undefined) process.stderr.write(piece);
  });
  // Awaited from the start: it may end while something else is awaited.
  const exited = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
  const message = await Promise.race([once(child, 'message'), exited.then(() => undefined)]);
  if (!message) throw new Error(`${words[0]} ended before it was ready: ${stderr}`);
  return { process: child, exited, ready: message[0] as Ready };
}

export type RigNode = Pick<Script<unknown>, 'process' | 'exited'> & NodeBlock;
type NodeBlock = Pick<StartLine, 'url' | 'databaseUrl' | 'workspaceId' | 'keys'>;

type NodeOptions = Pick<ScriptOptions, 'before' | 'errors'> & {
  /** The simulated providers of another process; its own unless given. */
  endpoints?: SimulatorEndpoints;
  /** As main.ts takes them. */
  parameters?: string[];
};

/** Starts a node as main.ts does, with the simulated providers of another process. */
export async function startRigNode(
  environment: Record<string, string>,
  { endpoints, parameters = [], ...options }: NodeOptions,
): Promise<RigNode> {
  const origins = endpoints === undefined ? '' : JSON.stringify(endpoints);
  const words = [join(import.meta.dirname, 'node.ts'), origins, '--port', '0', ...parameters];
  const { ready, ...node } = await startScript<NodeBlock>(environment, { words, ...options });
  return { ...node, ...ready };
}

export type WorkerProcess = Pick<Script<unknown>, 'process' | 'exited'> & {
  /** Settles when the worker has read the clock that was moved. */
  followClock(): Promise<void>;
};

/** Starts a worker; resolves when it works. */
export async function startWorkerProcess(
  environment: Record<string, string>,
  endpoints: SimulatorEndpoints,
): Promise<WorkerProcess> {
  const words = [join(import.meta.dirname, 'worker.ts'), JSON.stringify(endpoints)];
  const { process: child, exited } = await startScript(environment, { words, errors: 'pipe' });
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
