import { expect, it } from 'vitest';
import { createRunStore } from '../../../src/run/run-store.js';
import type { Store } from '../../../src/store/store.js';
import { anAttempt } from '../../rig/builders.js';
import { recordingBus } from '../../rig/recording-bus.js';

it('ME-9 warns about a failing store once per kind of access, and continues', async () => {
  const full = () => Promise.reject(new Error('database or disk is full'));
  const store = new Proxy({} as Store, { get: () => full });
  const { bus, events } = recordingBus();
  const memory = createRunStore({ store: store, runId: 'run1', bus: bus, mask: (value) => value });
  const start = { causeId: 'c1', signature: 's', n: 1, agent: null };
  expect(await memory.attemptStarted(start)).toBeNull();
  await memory.attemptFinished('id', anAttempt());
  expect((await memory.recordFailure('s')).tries).toEqual({ count: 0, failedFixes: 0 });
  expect(events.map((event) => event.type === 'run.warning' && event.message)).toEqual([
    'The store failed while saving an attempt: database or disk is full. Healing continues without it.',
    'The store failed while reading the history: database or disk is full. Healing continues without it.',
  ]);
});
