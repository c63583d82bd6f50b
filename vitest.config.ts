import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      // Property tests take seconds on a busy machine.
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 30_000 } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 900_000,
          hookTimeout: 900_000,
          // Suites with browsers and time-outs of their own: one after the other, or they are measured against each other.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      // Real coding agents, which scripts/test-agents.mjs installs; they are no part of the default run.
      ...(process.env['SELF_HEAL_TEST_AGENTS'] === undefined
        ? []
        : [
            {
              test: {
                name: 'agents',
                include: ['test/agents/**/*.test.ts'],
                testTimeout: 180_000,
                maxWorkers: 1,
              },
            },
          ]),
    ],
  },
});
