import { expect, it } from 'vitest';
import type { CauseVerdict } from '../../../src/core/verdict.js';
import type { Progress } from '../../../src/heal/progress.js';
import { noStore } from '../../../src/run/run-store.js';
import { saveProgress, type SavedProgress } from '../../../src/heal/save-progress.js';
import { summarise } from '../../../src/heal/summarise.js';
import { tellSeen } from '../../../src/heal/tell-tests.js';
import { aCause, aResult, aSuiteRun, failing } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

/** What is kept of a red test whose last cause ended so. */
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
  await saveProgress({ session, causes, rerunIds: { t1: ['setup', 't1'] } } as unknown as Progress);
  return kept[0]?.tests.map(({ open, rerunIds }) => [open, rerunIds]);
}

it('ME-8 what a killed run left red behind a fix that led to another error, or that healed others, is open for resume', async () => {
  const open = [
    [true, ['setup', 't1']],
    [false, ['t2']],
  ];
  expect(await keptAfter('superseded')).toEqual(open);
  expect(await keptAfter('healed')).toEqual(open);
  expect(await keptAfter('failed', { overBudget: true })).toEqual(open);
});

it('ME-8 what failed with all its tries, or was rejected, is finished', async () => {
  const finished = [
    [false, ['setup', 't1']],
    [false, ['t2']],
  ];
  expect(await keptAfter('failed')).toEqual(finished);
  expect(await keptAfter('rejected')).toEqual(finished);
});
