import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The flags of the product's own launcher. */
export const runtimeFlags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16'];

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

export type StartLine = {
  url: string;
  console: string;
  workspaceId: string;
  dbName: string;
  keys: { oauth: string; data: string; push: string; campaigns: string } | null;
  inbox: string;
  databaseUrl: string;
};

export type Node = {
  process: ChildProcess;
  /** First line of standard output, or undefined when the process ended without one. */
  firstLine: Promise<string | undefined>;
  exited: Promise<{ code: number | null; stdout: string; stderr: string }>;
};

/** Runs main.ts as a process of its own, with nothing of this machine's settings; `before` are words before the command. */
export function startNode(parameters: string[], environment: Record<string, string> = {}, before: string[] = []): Node {
  const words = [...before, process.execPath, ...runtimeFlags, main, ...parameters];
  const child = spawn(words[0]!, words.slice(1), {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const firstLine = new Promise<string | undefined>((resolve) => {
    child.stdout!.on('data', (piece) => {
      stdout += piece;
      if (stdout.includes('\n')) resolve(stdout.slice(0, stdout.indexOf('\n')));
    });
    child.on('close', () => resolve(undefined));
  });
  child.stderr!.on('data', (piece) => (stderr += piece));
  const exited = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { process: child, firstLine, exited };
}

export async function makeFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'carillon-start-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
