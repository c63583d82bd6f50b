import { expect, it } from 'vitest';
import type { Event } from '../../../../src/event.js';
import { loadRun } from '../../../../src/outputs/html/load-run.js';
import { renderRun, phaseOf } from '../../../../src/outputs/html/page.js';
import { reduce, emptyRun } from '../../../../src/run/run-state.js';
import { reportOf } from '../../../../src/run/report.js';
import { aCauseSummary } from '../../../rig/shown-run.js';
import { tempDir } from '../../../rig/temp-dir.js';

it('RP-5 counts the causes in progress in the heading, and shows those that have not begun as waiting', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `c${n + 1}`);
  const events = ids.flatMap((causeId, at): Event[] => [
    { type: 'cause.found', cause: aCauseSummary({ id: causeId }) },
    ...(at < 8 ? [{ type: 'cause.started' as const, causeId }] : []),
  ]);
  const run = events.reduce((so, event) => reduce(so, { time: 1, ...event }), emptyRun('run'));
  expect(phaseOf(run)).toBe('8 causes in progress');
  const place = { dir: tempDir(), shown: 'runs/x', addressOf: async () => null };
  const page = String(renderRun(await loadRun(reportOf(run), run, place)));
  const states = [...page.matchAll(/<span class="tag (\w+)"/g)].map(([, state]) => state);
  expect(states).toEqual(ids.map((_, at) => (at < 8 ? 'working' : 'waiting')));
});
