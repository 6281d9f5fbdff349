import { writeFileSync } from 'node:fs';
import { startThread } from './start-thread.ts';

/**
 * A process that decodes one file, which arrives over its channel. The decoder has a thread here too, so that this one can hear
 * that the node has stopped, by whatever signal: the channel is closed then.
 */

process.once('disconnect', end);
process.once('message', (file: Uint8Array) => void decode(file));
// A terminal and a service manager may signal the whole group. The node still waits for the picture.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
preferForEnd();
// Before this line was reached.
if (!process.connected) end();

async function decode(file: Uint8Array): Promise<void> {
  process.send!(await startThread(file).answer);
}

/** An ordinary exit would wait for the decoder. */
function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** If the memory of the machine or the container is full, Linux ends this process and not the node. */
function preferForEnd(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Another system.
  }
}
