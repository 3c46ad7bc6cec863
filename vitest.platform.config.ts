import { defineConfig } from 'vitest/config';

/** What a machine without services gets installed, started and cleaned up: slow, and best as root on Debian. */
export default defineConfig({
  test: {
    include: ['test/platform/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
