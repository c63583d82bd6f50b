import { expect, it } from 'vitest';
import type { CauseVerdict } from '../../src/core/verdict.js';
import type { Progress } from '../../src/progress.js';
import { noMemory } from '../../src/run-memory.js';
import { createScoreboard } from '../../src/scoreboard.js';
import { keepStandings, type Standings } from '../../src/standings.js';
import { aCause, aResult, aSuiteRun, failing } from '../rig/builders.js';
import { healingSession } from '../rig/healing-session.js';

/** What is kept of a red test whose last cause ended so. */
async function keptAfter(verdict: CauseVerdict, over: object = {}) {
  const kept: Standings[] = [];
  const memory = {
    ...noMemory,
    keepStandings: async (standings: unknown) => void kept.push(standings as Standings),
  };
  const { session } = await healingSession([], { memory });
  const board = createScoreboard();
  board.saw(aSuiteRun({ tests: [aResult('t1', 'unexpected'), aResult('t2')] }));
  const cause = aCause({ lead: failing('t1') });
  board.causeFound(cause);
  const causes = [{ cause, verdict, reason: '', attempts: [], overBudget: false, ...over }];
  await keepStandings({ session, board, causes, rerunIds: { t1: ['setup', 't1'] } } as unknown as Progress);
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
