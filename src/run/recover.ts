import path from 'node:path';
import { endOwnedProcesses } from '../process/end-processes.js';
import { type Problem, describeError } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import { listKilledRuns, markEnded } from './run-journal.js';
import { MissingContentError } from '../workspace/change.js';
import { findCopies, removeCopy } from '../workspace/copy-folder.js';
import { isSameState, readFileState } from '../workspace/file-state.js';
import { createInstaller, restoreLockFiles } from '../workspace/install.js';
import {
  closeJournal,
  openJournalContentStore,
  type Journal,
  type JournalFolders,
  readJournal,
  releaseDiskSpace,
  setJournalAside,
} from '../workspace/journal.js';
import { findRoot } from '../workspace/project-files.js';
import { writeFiles } from '../workspace/write-files.js';
import { deleteAllUnmaskedFiles } from './mask-suite-folder.js';
import { moveRunIntoProject, describeMoveFailure, findRunDir } from './run-folder.js';
import { stateFolder } from '../state-folder.js';
import { claimWorkFolders, listRunsAtWork } from '../work-folder.js';

/** The clean-up after a killed run, described in lines for the user. */
export type Recovery = readonly string[];

/**
 * Cleans up after killed runs of a project: ends their processes, deletes their copies, and brings the tree to the state in the journal (HN-2, AG-10).
 * Sets an unusable journal aside without changing files, and returns it as a `Problem` once. Usually only lists a folder, because there is nothing to
 * do. The caller holds the project's lock.
 */
export async function recoverKilledRuns(project: string): Promise<Result<Recovery, Problem>> {
  const stoppedProcesses: string[] = [];
  await claimWorkFolders(project);
  const killed = await listKilledRuns(project);
  // Only one run at a time works on a project, so no copy is in use.
  const copies = killed.length === 0 ? [] : await findCopies(project);
  for (const run of killed) {
    const processes = await endOwnedProcesses({ runId: run.runId });
    for (const copy of copies)
      processes.push(...(await endOwnedProcesses({ runId: run.runId }, { workDir: copy })));
    await deleteAllUnmaskedFiles(run.dir);
    await markEnded(run);
    stoppedProcesses.push(
      ...processes.map((process) => `  stopped a leftover process of run ${run.runId}: ${process}`),
    );
  }
  for (const copy of copies) await removeCopy(copy);
  const moved = await moveAllRunsIntoProject(project);
  const finished = await finishJournal(project);
  return finished.ok ? ok([...moved, ...createRecovery([...finished.value, ...stoppedProcesses])]) : finished;
}

/** Moves the files of ended runs into the project, if those runs did not do so. */
async function moveAllRunsIntoProject(project: string): Promise<string[]> {
  const lines: string[] = [];
  for (const [runId, dir] of listRunsAtWork(project)) {
    const finalDir = stateFolder(project, 'runs', runId);
    lines.push(
      await moveRunIntoProject({ dir, finalDir }).then(
        () => `moved the files of run ${runId} to ${path.relative(project, finalDir)}`,
        (error: unknown) => describeMoveFailure({ dir, finalDir }, error),
      ),
    );
  }
  return lines;
}

/** Brings the tree to the state in the journal, if there is one. */
export async function finishJournal(project: string): Promise<Result<string[], Problem>> {
  const location = { project, root: await findRoot(project) };
  const journal = readJournal(location);
  if (journal === null) return ok([]);
  if ('refused' in journal) return err(createRefusedProblem(project, journal.refused));
  return carryOutJournal(location, journal);
}

function createRecovery(lines: readonly string[]): Recovery {
  return lines.length === 0 ? [] : ['cleaned up after an earlier run that was killed', ...lines];
}

async function carryOutJournal(
  { project, root }: JournalFolders,
  journal: Journal,
): Promise<Result<string[], Problem>> {
  const contents = openJournalContentStore(project, journal.runId);
  try {
    await releaseDiskSpace(project);
    const { written, leftAlone } = await writeFiles(root, journal, contents);
    const relativeNames = (files: readonly string[]) =>
      files.map((file) => path.relative(project, path.join(root, file))).join(', ');
    const installed =
      journal.install && written.length > 0 ? await reinstall({ project, root }, journal) : [];
    await closeJournal(project);
    const patches = journal.changes.map((id) =>
      path.join(findRunDir(project, journal.runId), 'attempts', `${id}.patch`),
    );
    return ok([
      ...(written.length > 0 ? [`  ${doneWords[journal.purpose]}: ${relativeNames(written)}`] : []),
      ...(leftAlone.length > 0
        ? [`  not touched, because they changed since: ${relativeNames(leftAlone)}`]
        : []),
      ...journal.files.flatMap(({ path: file, goal }) =>
        goal && leftAlone.includes(file)
          ? [
              `    intended content of ${relativeNames([file])}: ${path.relative(project, contents.contentPath(goal.hash))}`,
            ]
          : [],
      ),
      ...(written.length > 0 ? [`  patch: ${patches.join(', ')}`] : []),
      ...installed,
    ]);
  } catch (error) {
    if (error instanceof MissingContentError) return err(createRefusedProblem(project, error.message));
    return err(createUnwritableProblem({ project, root }, journal, error));
  }
}

const doneWords: Record<Journal['purpose'], string> = {
  'take-out': 'reverted an unproven change',
  'put-back': 'reapplied a proven change that had been reverted for a check',
  undo: 'finished an undo that had been interrupted',
};

async function reinstall({ project, root }: JournalFolders, { runId }: Journal): Promise<string[]> {
  const contents = openJournalContentStore(project, runId);
  const { command, ...install } = await createInstaller({ project, root, runId, contents });
  const { failed, lockEdits } = await install.run();
  await restoreLockFiles(root, lockEdits, contents);
  return [failed === null ? `  ran ${command}` : `  ${command} failed; run it yourself`];
}

function createRefusedProblem(project: string, why: string): Problem {
  const aside = path.relative(project, setJournalAside(project));
  return {
    kind: 'journal-refused',
    message: `an earlier run was killed while it was changing files, and its journal cannot be used: ${why}`,
    remedy: `Nothing was changed. Compare your files with the patches in .self-heal/runs/*/attempts; the journal was moved to ${aside}, so the next run can start.`,
  };
}

const failureWords: Record<Journal['purpose'], string> = {
  'take-out': 'an unproven change could not be reverted, and is still in',
  'put-back': 'a proven change could not be reapplied, and is missing from',
  undo: "an undo could not be finished; these files still have the run's changes:",
};

function createUnwritableProblem(
  { project, root }: JournalFolders,
  { purpose, files }: Journal,
  error: unknown,
): Problem {
  const unwritten = files.filter(({ path: file, goal }) => {
    const now = readFileState(root, file);
    return now !== 'other' && !isSameState(now, goal);
  });
  const names = unwritten.map(({ path: file }) => path.relative(project, path.join(root, file)));
  return {
    kind: 'folder-not-writable',
    message: `${failureWords[purpose]} ${names.join(', ')}`,
    detail: describeError(error),
    remedy: 'Make the files writable, or free some disk space: the next command tries again.',
  };
}
