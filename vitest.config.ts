import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/test-order.ts';
import { TestReport } from './scripts/test-report.ts';

export default defineConfig({
  test: {
    include: ['{server,client,console,bench}/test/**/*.test.ts'],
    globalSetup: ['server/test/global-setup.ts'],
    // Each file gets its own database (a clone of one template), so files run side by side. A worker waits half of its
    // time, for the database, a browser or a process of its own: two more than there are cores keep them busy (on two cores
    // 271 s; with one more 308 to 342 s).
    fileParallelism: true,
    maxWorkers: availableParallelism() + 2,
    // The client's sources: its build is made when it is packed.
    execArgv: ['--conditions=carillon-source'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The runner's own second is over before a busy machine has come to what is waited for.
    expect: { poll: { timeout: 15_000 } },
    // What a test starts as a process of its own need not compile the sources again: 0.4 s instead of 1 s.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'node') },
    // A worker keeps its loaded modules for the next file; the tests hold no module state.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new TestReport()],
    // Node runs this TypeScript itself, in the tests as in production.
    experimental: { viteModuleRunner: false },
  },
});
