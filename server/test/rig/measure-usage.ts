import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a process holds after a collection. */
export type Usage = { heapBytes: number; residentBytes: number; openFiles: number };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Of this process. What is outside of the heap (buffers, external texts) counts as heap: a collection frees it too. */
export function measureUsage(): Usage {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, residentBytes: rss, openFiles: readdirSync('/proc/self/fd').length };
}
