import { expect, it } from 'vitest';
import { restartAfter } from '../../../src/core/restart.js';
import { someSettings } from '../../rig/builders.js';

const { retries } = someSettings();
const overloaded = { trouble: 'retryable', restarts: 0, reduced: false, random: 1 } as const;

it('AG-7 starts again after waits that grow and are different each time', () => {
  const delays = [0, 1, 2, 3, 4].map((restarts) => restartAfter({ ...overloaded, restarts }, retries));
  expect(delays).toEqual(
    [5000, 10_000, 20_000, 40_000, 60_000].map((delayMs) => ({ kind: 'again', delayMs, reduced: false })),
  );
  expect(restartAfter({ ...overloaded, random: 0 }, retries)).toMatchObject({ delayMs: 2500 });
});

it('AG-7 gives up after five', () => {
  expect(restartAfter({ ...overloaded, restarts: 5 }, retries).kind).toBe('give-up');
});

it('AG-7 starts once more with less to read where the context was too small, and keeps that', () => {
  const overflow = { ...overloaded, trouble: 'context_overflow' } as const;
  expect(restartAfter(overflow, retries)).toEqual({ kind: 'again', delayMs: 0, reduced: true });
  expect(restartAfter({ ...overflow, reduced: true }, retries).kind).toBe('give-up');
  expect(restartAfter({ ...overloaded, reduced: true }, retries)).toMatchObject({ reduced: true });
});
