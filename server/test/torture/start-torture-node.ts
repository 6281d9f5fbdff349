import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';

export type TortureNode = { process: ChildProcess; ended: Promise<void>; url: string; databaseUrl: string };

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
  const script = join(import.meta.dirname, 'torture-node.ts');
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
