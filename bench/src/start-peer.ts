import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { once } from 'node:events';

export type Peer = { origin: string; stop(): Promise<void> };

/** Starts a script that prints its origin as its first line, in a separate process that ends with this one. */
export async function startPeer(script: string, words: readonly string[] = []): Promise<Peer> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout });
  const [origin] = await Promise.race([
    once(lines, 'line') as Promise<[string]>,
    ended.then(([code]) => Promise.reject(new Error(`${script} ended with ${code}`))),
  ]);
  return {
    origin,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
