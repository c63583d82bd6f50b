import path from 'node:path';
import { chooseReviewers } from '../../agents/check-agents.js';
import { groupIntoCauses } from '../../diagnose/group.js';
import { gatherFix } from '../../heal/review/gather-fix.js';
import { reviewAll, type Reviews } from '../../heal/review/review-fixes.js';
import { formatReportTestName } from '../../outputs/wording.js';
import type { Session } from '../../heal/session.js';
import { readFailureRecords } from '../../run/failure-record.js';
import { findRunDir } from '../../run/run-folder.js';
import { openContentStore } from '../../workspace/change.js';
import type { FileEdit, FileState } from '../../workspace/file-state.js';
import { renderChange } from '../../workspace/patch-text.js';
import type { ComparedChange } from './compare-change.js';

/** The id of the verified change in place of a cause's id. */
export const changeCauseId = 'c1';

/**
 * Starts a review of the change in the working tree, in a copy, as for a run's fix (HN-11). The reviewer gets the first cause of the last red
 * run, for which the change was made; without one, there is no review.
 */
export async function reviewWorkingChange(
  session: Session,
  { request: { red }, files }: Pick<ComparedChange, 'request' | 'files'>,
): Promise<Reviews> {
  const { cwd, settings, redactor, workspace, folder } = session;
  const redDir = red && findRunDir(cwd, red.runId);
  const { failures } = redDir ? await readFailureRecords(redDir, { root: cwd }) : { failures: [] };
  const [first] = groupIntoCauses(failures);
  if (!first || !redDir) return createMissingReview('no red run recorded the failure that it should fix');
  const cause = { ...first, id: changeCauseId };
  const contents = openContentStore(folder.dir);
  const storeState = async (text: string | null): Promise<FileState | null> =>
    text === null
      ? null
      : { kind: 'file', mode: 0o644, hash: await contents.put(Buffer.from(text, 'latin1')) };
  const edits: FileEdit[] = [];
  for (const { path: file, before, after } of files)
    edits.push({ path: file, before: await storeState(before), after: await storeState(after) });
  const { patch } = await renderChange({ id: '1', edits, folders: [] }, contents);
  const fix = await gatherFix(
    { root: workspace.root, cwd, contents, clean: (text) => redactor.clean(text) },
    {
      cause,
      edits,
      patch: Buffer.from(patch).toString('utf8'),
      ran: red.tests.map(formatReportTestName),
      facts: [],
    },
  );
  const programs = await chooseReviewers(settings, { author: null, cwd });
  if (typeof programs === 'string') return createMissingReview(programs);
  const evidence = path.join(redDir, 'failures', String(cause.lead.n));
  return reviewAll(session, [{ cause, n: 1, programs, evidence, fix: redactor.deep(fix) }]);
}

function createMissingReview(why: string): Reviews {
  const reading = { verdict: 'no-answer', by: null, file: null, line: null, why } as const;
  return { waitFor: async () => ({ reading, usage: null }), stop: async () => undefined };
}
