import { expect, it } from 'vitest';
import type { CauseVerdict } from '../../../src/core/verdict.js';
import type { Event } from '../../../src/event.js';
import { resumedFrom } from '../../../src/heal/resumed.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { runOf } from '../../../src/run/run-state.js';
import { aResult, aTest } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';
import { aCauseSummary } from '../../rig/shown-run.js';
import { tempDir } from '../../rig/temp-dir.js';

/** What is left of a run with a red test, whose cause ended like this, and a green one, and what is carried over. */
async function leftAfter(ended: Partial<Extract<Event, { type: 'cause.ended' }>>, ...more: Event[]) {
  const { session, events } = await healingSession([]);
  const tests = [aResult('t1', 'unexpected'), aResult('t2')];
  tellSeen(session, { tests, rerunIds: { t1: ['setup', 't1'], t2: ['t2'] } });
  const told: Event[] = [
    ...events,
    { type: 'cause.found', cause: aCauseSummary({ id: 'c1', tests: [aTest('t1')] }) },
    {
      type: 'cause.ended',
      causeId: 'c1',
      verdict: 'failed',
      reason: '',
      attempts: 1,
      costUsd: null,
      ...ended,
    },
    ...more,
  ];
  const run = runOf(told.map((event, time) => ({ time, ...event })));
  const { open, carried } = resumedFrom(run, tempDir());
  return [open?.map(({ id, rerunIds }) => [id, rerunIds]) ?? null, carried.map(({ id }) => id)];
}

const open = [[['t1', ['setup', 't1']]], ['t2']];
const finished = [[], ['t1', 't2']];

it.each<[CauseVerdict, object, unknown]>([
  ['superseded', {}, open],
  ['healed', {}, open],
  ['interrupted', {}, open],
  ['failed', { overBudget: true }, open],
  ['failed', {}, finished],
  ['rejected', {}, finished],
])(
  'ME-8 a red test whose cause ended as %s (%j) is left for resume, or finished',
  async (verdict, over, left) => {
    expect(await leftAfter({ verdict, ...over })).toEqual(left);
  },
);

it('ME-8 everything runs again while the suite’s own failure is open', async () => {
  const counts = { total: 0, passed: 0, failed: 0, flaky: 0, skipped: 0, notRun: 0, durationMs: 1 };
  const broken: Event = { type: 'suite.ended', purpose: 'first', causeId: null, ...counts, broken: true };
  const found: Event = { type: 'cause.found', cause: aCauseSummary({ id: 'c2', tests: [] }) };
  const healed: Event = {
    type: 'cause.ended',
    causeId: 'c2',
    verdict: 'healed',
    reason: '',
    attempts: 1,
    costUsd: null,
  };
  expect(await leftAfter({}, broken, found)).toEqual([null, []]);
  expect(await leftAfter({}, broken, found, healed)).toEqual(finished);
});
