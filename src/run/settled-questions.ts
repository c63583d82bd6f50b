import type { Escalation } from '../model/escalation.js';
import { isHealed, type Verdict } from '../model/verdict.js';
import { describeError } from '../problem.js';
import type { Store } from '../store/store.js';
import { type Change, readChange } from '../workspace/change.js';
import { isSameState, readFileState } from '../workspace/file-state.js';
import { findRoot } from '../workspace/project-files.js';
import { readReport, listRunIds } from './find-run.js';
import { isRunId, findRunDir } from './run-folder.js';

/** The maximum number of runs to read after a question, newest first. */
const MAX_RUNS = 50;

/**
 * Closes questions of a project that no longer need an answer: their tests were green in a later run, or the code for their patches has changed (ME-5). A
 * question about an older fault must not keep agents from a new one with the same signature. Passes only failures of the store to `warn`.
 */
export async function closeSettledQuestions(
  store: Pick<Store, 'listEscalations' | 'closeEscalation'>,
  cwd: string,
  warn: (message: string) => void = () => undefined,
): Promise<void> {
  try {
    for (const question of await store.listEscalations('pending')) {
      const because = await explainWhySettled(question, cwd);
      if (because !== null) await store.closeEscalation(question.id, because);
    }
  } catch (error) {
    warn(`Questions that no longer need an answer could not be closed: ${describeError(error)}`);
  }
}

/** Explains why a question no longer needs an answer, or returns null. */
async function explainWhySettled(question: Escalation, cwd: string): Promise<string | null> {
  const greenRun = await findGreenRunSince(question, cwd);
  if (greenRun !== null) return `its tests have been green since run ${greenRun}`;
  const changed = await findChangedFile(question, cwd);
  return changed === null ? null : `${changed} has changed since the question was asked`;
}

/** Returns the newest run after a question that ran its tests, if all of them were green; else null. */
async function findGreenRunSince({ runId: asked, tests }: Escalation, cwd: string): Promise<string | null> {
  if (tests.length === 0) return null;
  const laterRuns = (await listRunIds(cwd)).filter((runId) => runId > asked).toReversed();
  for (const runId of laterRuns.slice(0, MAX_RUNS)) {
    const report = await readReport(findRunDir(cwd, runId));
    const verdicts = new Map(report?.tests.map(({ id, verdict }) => [id, verdict]));
    const ownVerdicts = tests.map(({ id }) => verdicts.get(id));
    if (ownVerdicts.every((verdict) => verdict === undefined)) continue;
    return ownVerdicts.every(isGreen) ? runId : null;
  }
  return null;
}

function isGreen(verdict: Verdict | undefined): boolean {
  return verdict === 'passed' || (verdict !== undefined && isHealed(verdict));
}

/** Returns a changed file to which a patch of the question no longer applies, or null. */
async function findChangedFile({ runId, offers }: Escalation, cwd: string): Promise<string | null> {
  if (!isRunId(runId) || offers.length === 0) return null;
  const root = await findRoot(cwd);
  const changes = offers.flatMap(({ change }): Change[] => {
    const stored = readChange(findRunDir(cwd, runId), change);
    return stored ? [stored] : [];
  });
  const files = changes.map(({ edits }) =>
    edits.find(({ path, before }) => {
      const now = readFileState(root, path);
      return now === 'other' || !isSameState(now, before);
    }),
  );
  const [first] = files;
  // The question stays open as long as one of its patches still applies.
  return first !== undefined && files.every((file) => file !== undefined) ? first.path : null;
}
