import { defineConfig } from 'vitest/config';

// Suites with needs of their own (a browser, special rights, much time) have commands of their own.
const ELSEWHERE = ['browser', 'platform', 'chaos', 'bench'];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ELSEWHERE.map((suite) => `test/${suite}/**`),
    globalSetup: ['test/support/global-setup.ts'],
    // A process per file: what a test leaves open cannot reach the next file, and child processes are its own.
    pool: 'forks',
    // Most of a test's time is waiting for servers, so two files at once fit on two cores.
    maxWorkers: 2,
    // A limit for what hangs, not a measure of speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
