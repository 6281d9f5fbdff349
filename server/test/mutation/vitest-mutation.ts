import { defineConfig } from 'vitest/config';

/** How a copy of the project with a change in it runs the tests that run.ts chose. */
const config = defineConfig({
  test: {
    include: JSON.parse(process.env.MUTATION_TESTS ?? '[]') as string[],
    globalSetup: ['server/test/global-setup.ts'],
    execArgv: ['--conditions=carillon-source'],
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    experimental: { viteModuleRunner: false },
  },
});

export { config as default };
