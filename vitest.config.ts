import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['server/test/**/*.test.ts', 'client/test/**/*.test.ts', 'console/test/**/*.test.ts'],
    globalSetup: ['server/test/global-setup.ts'],
    // Each file gets its own database (a clone of one template), so files run side by side.
    fileParallelism: true,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A worker keeps its loaded modules for the next file; the tests hold no module state.
    isolate: false,
  },
});
