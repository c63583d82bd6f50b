import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/longest-first.mjs';

const agents = process.env['SELF_HEAL_TEST_AGENTS'];
const long = process.env['SELF_HEAL_TEST_LONG'];

// Nothing waits for these limits but a test that hangs: on a machine with other work, a test takes many times as long.
const patient = { testTimeout: 900_000, hookTimeout: 900_000 };

const setupFiles = ['test/rig/own-environment.ts'];

// Most of them start processes with work of their own, and wait for them and for timeouts: with as many workers as processors, a quarter of two of these
// idles. One pool for all: the long files of `e2e` begin, the short ones of `unit` fill its end.
const maxWorkers = Math.max(3, Math.ceil(availableParallelism() * 0.75));

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          setupFiles,
          // Half of their time would be the imports.
          isolate: false,
          maxWorkers,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          isolate: false,
          setupFiles,
          maxWorkers,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          setupFiles,
          // What a test does happens in processes of its own; only the imports are shared.
          isolate: false,
          ...patient,
          maxWorkers,
        },
      },
      // What is too long for every change: `npm run test:long`.
      ...(long === undefined
        ? []
        : [
            {
              test: {
                name: 'long',
                include: [
                  'test/long/**/*.test.ts',
                  // Less of these is run for every change.
                  'test/e2e/{blame,flaky,full-disk,hostile-state,intended,killed,package,parallel,remembered,shards,verify}.test.ts',
                  'test/integration/{agent-outcomes,agents,evidence-gather,secrets,store}.test.ts',
                ],
                setupFiles,
                ...patient,
                // Fifty runs of a project, killed and resumed.
                testTimeout: 2_700_000,
                maxWorkers: 1,
                sequence: { groupOrder: 3 },
              },
            },
          ]),
      // Real coding agents, which scripts/test-agents.mjs installs.
      ...(agents === undefined
        ? []
        : [
            {
              test: {
                name: 'agents',
                include: ['test/agents/**/*.test.ts'],
                ...patient,
                maxWorkers: 1,
                sequence: { groupOrder: 4 },
              },
            },
          ]),
    ],
  },
});
