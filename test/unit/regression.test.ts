import { expect, it } from 'vitest';
import { runRing } from '../../src/ring.js';
import { keepChange } from '../../src/workspace/change.js';
import { createScoreboard } from '../../src/scoreboard.js';
import type { Progress } from '../../src/progress.js';
import { aCause, anAttempt, aResult, aSuiteRun, failing, someSettings } from '../rig/builders.js';
import { healingSession } from '../rig/healing-session.js';

const ringed = someSettings({ verify: { ...someSettings().verify, ring: 'suite' } });
const broken = aSuiteRun({ suiteFailure: { scope: 'suite', errors: [], stderr: '' } });
const kept = anAttempt({ judged: 'green', takenBack: false, change: '1' });

/** A run whose first suite did not start, whose tests came to light behind a kept fix; `red` are those that the ring finds red. */
async function ringAfter(...red: readonly (readonly string[])[]) {
  const ids = ['t1', 't2', 't3'];
  const asked: (readonly string[] | null)[] = [];
  const open: string[] = [];
  const { session, moves } = await healingSession([], {
    settings: ringed,
    runAgain: async (request) => {
      asked.push(request.ids);
      const now = red[asked.length - 1] ?? [];
      return aSuiteRun({ tests: ids.map((id) => aResult(id, now.includes(id) ? 'unexpected' : 'expected')) });
    },
  });
  await keepChange(session.folder.dir, { id: '1', root: '', edits: [], folders: [] });
  session.workspace.keeping = async (changes) =>
    void open.push(`keeping ${changes.map(({ id }) => id).join()}`);
  session.workspace.decided = async () => void open.push('decided');
  const board = createScoreboard();
  board.saw(broken);
  board.saw(aSuiteRun({ tests: ids.map((id) => aResult(id)) }));
  const cause = aCause({ lead: failing('t1') });
  const record = { cause, verdict: 'healed', reason: '', attempts: [kept], overBudget: false } as const;
  const progress = { session, board, causes: [record] } as unknown as Progress;
  return { result: await runRing(progress, broken), board, asked, moves, open, progress };
}

it('HN-6 the ring knows the tests that came to light only behind a fix', async () => {
  const { result, asked } = await ringAfter([]);
  expect(result).toEqual({ tests: 3, leftOut: 0, broke: [] });
  expect(asked).toEqual([null]);
});

it('HN-6 a test that is red in the ring and green when it is run again is flaky, and no fix is blamed', async () => {
  const { result, board, moves } = await ringAfter(['t2'], []);
  expect(result?.broke).toEqual([]);
  expect(board.standings().map((one) => one.verdict)).toEqual(['passed', 'flaky', 'passed']);
  expect(moves).toEqual([]);
});

it('HN-6 the fix without which a broken test is green is taken back, and its cause says so', async () => {
  const { result, moves, progress } = await ringAfter(['t3'], ['t3'], []);
  expect(result?.broke).toMatchObject([{ causeId: 'c1', tests: [{ id: 't3' }] }]);
  expect(moves).toEqual(['1 out']);
  expect(progress.causes[0]).toMatchObject({ verdict: 'failed', attempts: [{ takenBack: true }] });
});

it('HN-6 what is red with and without the fix is not the fix’s doing: it goes back, and the test is red', async () => {
  const { result, board, moves } = await ringAfter(['t3'], ['t3'], ['t3']);
  expect(result?.broke).toEqual([]);
  expect(moves).toEqual(['1 out', '1 in']);
  expect(board.standings().map((one) => one.verdict)).toEqual(['passed', 'passed', 'failed']);
});

it('HN-2 HN-6 a kill while a fix is taken out puts it back: the run says so before, and that it is decided after', async () => {
  const goesBack = await ringAfter(['t3'], ['t3'], ['t3']);
  expect(goesBack.open).toEqual(['keeping 1', 'decided']);
  const staysOut = await ringAfter(['t3'], ['t3'], []);
  expect(staysOut.open).toEqual(['keeping 1', 'decided']);
});
