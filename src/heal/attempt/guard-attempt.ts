import type { Side } from '../../model/choice.js';
import type { Cause } from '../../model/cause.js';
import { type Cut, formatCut, type Note } from '../../model/guard-findings.js';
import { atMost, clip } from '../../format.js';
import type { GuardFindings, LocatorChange, TestDifference } from '../../guard/findings.js';
import type { Change } from '../../workspace/change.js';
import { writePatch } from './keep-patch.js';
import type { Trial } from './trial.js';
import type { Session } from '../session.js';

/**
 * Judges an agent's change before any test runs with it (HN-3, HN-4). Cuts edits that may not enter the project and, for a ui-error, edits that change
 * what the tests do; if `mayChangeTests`, a person has allowed such edits, and they are only noted. Returns the reasons to reject the change.
 */
export async function guardAttempt(
  session: Session,
  cause: Cause,
  { trial, mayChangeTests }: { readonly trial: Trial; readonly mayChangeTests: boolean },
): Promise<GuardFindings['violations']> {
  const { record, work, change } = trial;
  const { agent, n, proposedBy } = record;
  // Only the code that makes a proposal sets this field, unlike the agent's name.
  const isFromFixer = proposedBy === 'fixer';
  // Which files may be changed depends on what failed, not on which agent's turn it is.
  const { category } = cause.lead.diagnosis;
  // A code fix from the project's own TypeScript is judged only by the next run: a test that did not compile had never run.
  const isCodeFix = isFromFixer && category === 'build-error';
  if (!session.guard || agent === null || isCodeFix || !work || !change) return [];
  const { violations, ...findings } = await session.guard({
    category,
    tests: mayChangeTests ? 'open' : category === 'ui-error' || category === 'flaky' ? 'compared' : 'cut',
    changes: change.edits.map(({ path, before, after }) => ({
      path,
      kind: (after ?? before)?.kind ?? 'file',
    })),
    before: work.before,
    after: work.after,
    errors: cause.members.flatMap(({ failure }) => failure.errors.map(({ message }) => message)),
  });
  const causeId = cause.id;
  // The built-in fixer changes a locator only to a name that the app now shows.
  const differences = findings.differences.filter(({ why }) => !isFromFixer || why === null);
  const cut = [
    ...findings.cut,
    ...(mayChangeTests ? [] : cutDifferences(differences)).filter(
      (difference) => !findings.cut.some(({ file }) => file === difference.file),
    ),
  ];
  if (cut.length > 0) session.bus.emit({ type: 'attempt.cut', causeId, attempt: n, cut });
  if (violations.length > 0) session.bus.emit({ type: 'attempt.rejected', causeId, attempt: n, violations });
  const notes = differences.map(createDifferenceNote);
  trial.notes = [...findings.locatorChanges.map(createLocatorNote), ...(mayChangeTests ? notes : [])];
  if (cut.length > 0) {
    const side = !mayChangeTests && differences.length > 0 ? 'tests' : 'whole';
    trial.whole = { side, edits: change.edits, notes, summary: summarizeCut(side, cut, differences) };
    await removeCut(session, trial, { change, cut });
  }
  return violations;
}

/** Cuts the files that change what the tests do: only a person may accept them. */
function cutDifferences(differences: readonly TestDifference[]): Cut[] {
  const reasonByFile = new Map(differences.map(({ file, why }) => [file, why]));
  for (const { file, why } of differences) if (why === null) reasonByFile.set(file, null);
  return [...reasonByFile].map(([file, why]) => ({
    file,
    why:
      why === null ? 'it changes more than what a locator looks for' : `a locator in it changes, and ${why}`,
  }));
}

const createLocatorNote = ({ file, line, old, now }: LocatorChange): Note => ({
  file,
  line,
  says: `${old} was changed to ${now}`,
});

const formatSteps = (steps: readonly string[]) => clip(steps.join(' ').replace(/;$/, ''), 200) || 'nothing';

const describeRemoved = ({ test, before }: Pick<TestDifference, 'test' | 'before'>) =>
  `${JSON.stringify(test)} without ${formatSteps(before)}`;

/** Describes what a test does now and did before. */
function createDifferenceNote({ test, file, line, strength, before, after, why }: TestDifference): Note {
  if (after.length === 0) return { file, line, says: describeRemoved({ test, before }) };
  const how = strength === 'weaker' ? 'checks less' : 'does something else';
  const reason = why === null ? '' : `; ${why}`;
  return {
    file,
    line,
    says: `${JSON.stringify(test)} ${how}: ${formatSteps(after)} instead of ${formatSteps(before)}${reason}`,
  };
}

function summarizeCut(side: Side, cut: readonly Cut[], differences: readonly TestDifference[]): string {
  const removals = differences.filter(({ after }) => after.length === 0);
  const removedTests = atMost(removals.map(describeRemoved), 3, (hidden) => `and ${hidden} more`).join('; ');
  const files = cut.map(({ file }) => file).join(', ');
  return side === 'tests'
    ? `its agent changed what the tests expect (${files})${removedTests === '' ? '' : `: ${removedTests}`}`
    : `its fix needs changes that no agent may make (${cut.map(formatCut).join('; ')})`;
}

/** Removes the cut files from a change, and stores them as a separate patch. */
async function removeCut(
  session: Session,
  trial: Trial,
  { change, cut }: { readonly change: Change; readonly cut: readonly Cut[] },
): Promise<void> {
  const edits = change.edits.filter((edit) => !cut.some(({ file }) => file === edit.path));
  const folder = await session.folder.makeAttemptPath(Number(change.id));
  await writePatch(
    session,
    { ...change, edits: change.edits.filter((edit) => !edits.includes(edit)) },
    `${folder}.cut`,
  );
  const withCut = { ...trial.record, cut };
  if (edits.length > 0) {
    trial.change = { ...change, edits };
    trial.record = { ...withCut, ...(await writePatch(session, trial.change, folder)) };
    return;
  }
  trial.change = null;
  trial.because = `it changed only files that no fix may change: ${cut.map(({ file }) => file).join(', ')}`;
  trial.record = { ...withCut, files: [], patch: null, change: null };
}
