import { expect, it } from 'vitest';
import type { CauseVerdict } from '../../../src/core/verdict.js';
import { newProgress } from '../../../src/heal/progress.js';
import { noStore } from '../../../src/run/run-store.js';
import { saveProgress, type SavedProgress } from '../../../src/heal/save-progress.js';
import { summarise } from '../../../src/heal/summarise.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { aCause, aResult, aSuiteRun, failing } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

/** The saved progress of a red test whose last cause ended with this verdict, and of a green test. */
async function keptAfter(verdict: CauseVerdict, over: object = {}) {
  const kept: SavedProgress[] = [];
  const store = {
    ...noStore,
    saveProgress: async (saved: unknown) => void kept.push(saved as SavedProgress),
  };
  const { session } = await healingSession([], { store });
  tellSeen(session, aSuiteRun({ tests: [aResult('t1', 'unexpected'), aResult('t2')] }));
  const cause = aCause({ lead: failing('t1') });
  session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
  const causes = [{ cause, verdict, reason: '', attempts: [], overBudget: false, ...over }];
  await saveProgress({ ...newProgress(session, aSuiteRun()), causes, rerunIds: { t1: ['setup', 't1'] } });
  return kept[0]?.tests.map(({ open, rerunIds }) => [open, rerunIds]);
}

it('ME-8 leaves a test open for resume that is red after a fix that revealed another error or healed other tests', async () => {
  const open = [
    [true, ['setup', 't1']],
    [false, ['t2']],
  ];
  expect(await keptAfter('superseded')).toEqual(open);
  expect(await keptAfter('healed')).toEqual(open);
  expect(await keptAfter('failed', { overBudget: true })).toEqual(open);
});

it('ME-8 counts a test as finished that failed with all its retries or was rejected', async () => {
  const finished = [
    [false, ['setup', 't1']],
    [false, ['t2']],
  ];
  expect(await keptAfter('failed')).toEqual(finished);
  expect(await keptAfter('rejected')).toEqual(finished);
});
