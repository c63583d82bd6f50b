import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Cause } from '../../core/cause.js';
import type { Note } from '../../core/guard/note.js';
import type { Violation } from '../../core/guard/violation.js';
import type { OtherInput } from '../../guard/other-input.js';
import { violationOf } from '../../guard/rules.js';
import { retestWith } from '../retest.js';
import type { Session } from '../session.js';
import { type Change, contentsOf } from '../../workspace/change.js';
import { type FileEdit, stateOf } from '../../workspace/file-state.js';

/** What a cause's tests show about its fix when they type a different input. */
export interface OtherInputVerdict {
  /** The violation of a fix that handles only the tests' own input. */
  readonly violations: readonly Violation[];
  /** What a reviewer has to judge if no other input could be tried. */
  readonly notes: readonly Note[];
}

const nothing: OtherInputVerdict = { violations: [], notes: [] };

/**
 * If a fix depends on the input that the tests type, runs them once with a different one: a metamorphic check (HN-3). The altered
 * tests are in the project only for this run, under the journal like any change (HN-2).
 */
export async function tryOtherInput(
  session: Session,
  cause: Cause,
  { fix, input }: { fix: Change; input: OtherInput },
): Promise<OtherInputVerdict> {
  const forReview = { violations: [], notes: noteOf(input) };
  const change = await alteredTests(session, fix, input);
  const seen = await retestWith(session, cause, { change, purpose: 'other-input' });
  if (seen === null) return forReview;
  if (session.signal.aborted) return nothing;
  const ends = seen.map(({ ended }) => ended);
  if (ends.includes('failed')) return { violations: [violationFor(input, fix)], notes: [] };
  return ends.every((one) => one === 'passed') ? nothing : forReview;
}

/** Returns null if the files are no longer what the guard read because somebody edited them. */
async function alteredTests(
  { workspace, folder }: Session,
  { id }: Change,
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
  // No agent's change has an id like this.
  return { id: `${id}000000`, edits, folders: [] };
}

function noteOf({ named }: OtherInput): Note[] {
  if (!named) return [];
  const { file, line, input } = named;
  const says = `the fix names ${JSON.stringify(input)}, which the healed test types, and no other input could be tried`;
  return [{ file, line, says }];
}

function violationFor({ named, inputs }: OtherInput, fix: Change): Violation {
  return violationOf('input-hard-coded', {
    file: named?.file ?? fix.edits[0]?.path ?? '',
    line: named?.line ?? null,
    detail: `the test is red with an input other than ${inputs.map((one) => JSON.stringify(one)).join(', ')}`,
  });
}
