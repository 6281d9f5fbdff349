import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';
import { readAssignment } from './assignment.ts';
import type { Finding } from './assignment.ts';

const { files, database, mutant, findings } = readAssignment();

// Whoever ends the run may reach its parent alone; a test that a mutant keeps at work would go on, and grow.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 1_000).unref();

/** Says nothing, and notes what no test can note. */
const notes: Reporter = {
  onTestRunEnd(modules, errors) {
    for (const { message } of [...modules.flatMap((module) => module.errors()), ...errors])
      appendFileSync(
        findings,
        `${JSON.stringify({ kind: 'error', failure: message.slice(0, 200) } satisfies Finding)}\n`,
      );
  },
};

/** How a copy of the project with mutants in it runs its tests. */
const config = defineConfig({
  test: {
    include: files,
    provide: { postgresUrl: database, workerUrls: null },
    // Its own process ends at once when it is killed, also in an endless loop.
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    execArgv: ['--conditions=carillon-source'],
    runner: join(import.meta.dirname, 'try-mutants.ts'),
    bail: mutant === undefined ? 0 : 1,
    // What a mutant makes wait for ever is ended by it.
    testTimeout: 10_000,
    hookTimeout: 60_000,
    teardownTimeout: 2_000,
    expect: { poll: { timeout: 4_000 } },
    reporters: [notes],
    experimental: { viteModuleRunner: false },
  },
});

export { config as default };
