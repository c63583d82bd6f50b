import { expect, it } from 'vitest';
import { actionList } from '../../../src/evidence/trace/action-list.js';
import type { TraceAction } from '../../../src/evidence/trace/trace-actions.js';
import { request } from '../core/classify-evidence.js';

const action = (id: string, over: Partial<TraceAction> = {}): TraceAction => ({
  id,
  parent: null,
  kind: 'pw:api',
  title: id,
  at: null,
  startedAt: 1_000,
  endedAt: 1_100,
  error: null,
  log: [],
  ...over,
});

it('EV-13 lists in the order of time what a test did and, below each step, what it saw', () => {
  const failing = action('Click', {
    parent: 'pays',
    at: { file: '/shop/tests/a.spec.ts', line: 7 },
    startedAt: 1_300,
    endedAt: 2_800,
    error: 'Timeout 1500ms exceeded',
    log: ['waiting for #buy'],
  });
  const text = actionList(
    {
      actions: [action('Navigate'), action('pays', { startedAt: 1_200, endedAt: 2_900 }), failing],
      failing,
      console: [{ time: 1_400, type: 'error', text: 'no cart', location: 'app.js:1', stack: null }],
      network: [
        request({ time: 1_050, url: 'http://localhost/orders', status: 500, durationMs: 4 }),
        request({ time: 1_060, url: 'http://localhost/logo.png', status: 200, resourceType: 'image' }),
      ],
    },
    '/shop',
  );
  expect(text.split('\n')).toEqual([
    '   0.000 Navigate (100 ms)',
    '   0.050   POST http://localhost/orders → 500 (4 ms)',
    '   0.200 pays (1700 ms)',
    '   0.300   Click (1500 ms, tests/a.spec.ts:7)  ← the test failed here',
    '             | Timeout 1500ms exceeded',
    '             | waiting for #buy',
    '   0.400     [error] no cart (app.js:1)',
  ]);
});

it('EV-13 shows the log of an action that took long although it passed, and says which did not end', () => {
  const slow = action('slow', { endedAt: 3_000, log: ['retrying'] });
  const open = action('open', { startedAt: 3_000, endedAt: null });
  const text = actionList({ actions: [slow, open], failing: null, console: [], network: [] }, '/shop');
  expect(text).toContain('| retrying');
  expect(text).toContain('open (did not end)');
});
