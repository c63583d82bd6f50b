import path from 'node:path';
import type { Escalation } from '../core/escalation.js';
import { readRun } from './find-run.js';
import { say } from '../outputs/say.js';
import type { Problem } from '../problem.js';
import { lockProject } from './project-lock.js';
import { contentsOf, readChange } from '../workspace/change.js';
import { appendEvent } from './write-events.js';
import { openWorkspace } from '../workspace/workspace.js';
import { recover } from './recover-if-needed.js';

/**
 * Reverts the change that a question is about in the project (BL-4), under the journal like any other change, so that `undo` restores it.
 * Returns what prevented it, or null.
 */
export async function revertChange({ id, runId }: Escalation): Promise<Problem | null> {
  const cwd = process.cwd();
  const lock = await lockProject(cwd, { command: 'escalations resolve', wait: false });
  if (!lock.ok) return lock.error;
  using _held = lock.value;
  const unrecovered = await recover(cwd);
  if (unrecovered) return unrecovered;
  const { dir, report } = await readRun(cwd, runId);
  const causeId = report?.escalations.find((one) => one.id === id)?.causeId;
  const blame = report?.causes.find((one) => one.id === causeId)?.blame;
  const change = blame ? readChange(dir, blame.change) : null;
  if (!causeId || !change) return gone(runId);
  const workspace = await openWorkspace({
    project: cwd,
    runId,
    runDir: dir,
    contents: contentsOf(dir),
    warn: say,
    onCopy: () => undefined,
  });
  const applied = await workspace.apply(change).catch(() => null);
  if (applied?.kind === 'applied') {
    // The event comes first: if a kill takes the change out again, `undo` simply finds nothing to do.
    appendEvent(dir, { type: 'change.reverted', causeId, change: change.id });
    await workspace.decided([applied.change.id]);
    return null;
  }
  const files = applied?.kind === 'conflict' ? applied.files : change.edits.map((edit) => edit.path);
  const shown = files.map((file) => path.relative(cwd, path.join(workspace.root, file))).join(', ');
  return {
    kind: 'usage',
    message: `the change can no longer be reverted automatically: ${shown} changed since`,
    remedy: `Nothing was changed, and the question is still open. Revert it by hand; its lines are in .self-heal/runs/${runId}/report.html.`,
  };
}

function gone(runId: string): Problem {
  return {
    kind: 'run-missing',
    message: `the folder of run ${runId}, which contains the change, is not in this project`,
    remedy:
      'Answer on the machine where the run took place, or revert the change with git and answer with guide.',
  };
}
