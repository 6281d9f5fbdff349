import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Bench } from './bench.ts';

/** Returns the path of a script of `processes`. */
export function processPath(name: string): string {
  return join(import.meta.dirname, '..', 'processes', name);
}

/**
 * Starts a script of `processes` that prints its origin as its first line, in a separate process that ends with the case.
 *
 * @returns the origin
 */
export async function startPeer(bench: Pick<Bench, 'defer'>, [name, ...words]: [string, ...string[]]): Promise<string> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', processPath(name), ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const ended = once(child, 'close');
  bench.defer(async () => {
    child.stdin.end();
    await ended;
  });
  const [origin] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>,
    ended.then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ]);
  return origin;
}

/** Runs a script to its end. @returns the JSON that it printed */
export async function runScript(words: readonly string[], environment: Record<string, string> = {}): Promise<unknown> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  let printed = '';
  child.stdout.on('data', (piece) => (printed += piece));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${printed}`);
  return JSON.parse(printed);
}

/**
 * Returns the folder of packages that only a case needs, installed at the first call: the product needs neither the peers nor
 * the tool that checks the console.
 */
export function installPeers(name: 'peers' | 'lighthouse'): string {
  const folder = join(import.meta.dirname, '..', '..', name);
  if (!existsSync(join(folder, 'node_modules', '.package-lock.json'))) {
    const how = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
    const { status } = spawnSync('npm', how, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 });
    if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status}`);
  }
  return folder;
}

/** Loads a peer's package. */
export function requirePeer(name: string): unknown {
  return createRequire(join(installPeers('peers'), 'package.json'))(name);
}
