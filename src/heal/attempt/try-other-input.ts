import { readFileSync } from 'node:fs';
import path from 'node:path';
import { chooseProven } from '../../core/choose-proven.js';
import type { Cause } from '../../core/cause.js';
import type { Note } from '../../core/guard/note.js';
import type { Violation } from '../../core/guard/violation.js';
import type { OtherInput } from '../../guard/other-input.js';
import { violationOf } from '../../guard/rules.js';
import { retest } from '../retest.js';
import type { Session } from '../session.js';
import { type Change, contentsOf } from '../../workspace/change.js';
import { type FileEdit, stateOf } from '../../workspace/file-state.js';

/** What the tests of a cause say of its fix when they type something else. */
export interface OtherInputVerdict {
  /** The fix that answers the tests' own input alone. */
  readonly violations: readonly Violation[];
  /** Where nobody could try it, what a reviewer has to judge. */
  readonly notes: readonly Note[];
}

const nothing: OtherInputVerdict = { violations: [], notes: [] };

/**
 * Runs the tests of a cause once with another input where its fix decides by theirs: a metamorphic check (HN-3). The altered tests are in the
 * project for this run alone, under the journal like any change (HN-2).
 */
export async function tryOtherInput(
  session: Session,
  cause: Cause,
  { fix, input }: { fix: Change; input: OtherInput },
): Promise<OtherInputVerdict> {
  const forReview = { violations: [], notes: input.literals.map(noteOf) };
  const altered = await alteredTests(session, fix, input);
  const applied = altered && (await session.workspace.apply(altered));
  if (applied?.kind !== 'applied') return forReview;
  const failures = [...chooseProven(cause)];
  const seen = await retest(session, { failures, purpose: 'other-input', causeId: cause.id });
  await session.workspace.revert([applied.change.id]);
  if (session.signal.aborted) return nothing;
  const endings = failures.map((failure) => seen.observe(failure).ended);
  if (endings.includes('failed')) return { violations: input.literals.map(violationFor), notes: [] };
  return endings.every((one) => one === 'passed') ? nothing : forReview;
}

/** Null where the files are not what the guard read: somebody edited them meanwhile. */
async function alteredTests(
  { workspace, folder }: Session,
  { id, root }: Change,
  { files }: OtherInput,
): Promise<Change | null> {
  const contents = contentsOf(folder.dir);
  const edits: FileEdit[] = [];
  for (const { path: file, before, after } of files) {
    const state = stateOf(workspace.root, file);
    if (state === null || state === 'other' || state.kind !== 'file') return null;
    const bytes = readFileSync(path.join(workspace.root, file));
    if (!bytes.equals(Buffer.from(before))) return null;
    const hash = await contents.put(bytes);
    edits.push({
      path: file,
      before: { ...state, hash },
      after: { ...state, hash: await contents.put(Buffer.from(after)) },
    });
  }
  // No agent's change has such a number.
  return { id: `${id}000000`, root, edits, folders: [] };
}

function noteOf({ file, line, value }: OtherInput['literals'][number]): Note {
  const says = `the fix decides by ${JSON.stringify(value)}, which the healed test types: nobody could try another input`;
  return { file, line, says };
}

function violationFor({ file, line, value }: OtherInput['literals'][number]): Violation {
  return violationOf('input-hard-coded', {
    file,
    line,
    detail: `with another one than ${JSON.stringify(value)} the test is red`,
  });
}
