import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

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
