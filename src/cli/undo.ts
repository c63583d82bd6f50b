import path from 'node:path';
import type { Command } from 'commander';
import { createAction } from './end-command.js';
import { printText } from './print-text.js';
import { addWaitFlag, storeFlag } from './options.js';
import { exitCodes } from '../model/exit-codes.js';
import { readRunState, appendEvent } from '../run/event-log.js';
import { readKeptChanges, nullIfMissing, undoChanges } from '../run/undo.js';
import type { WriteResult } from '../workspace/write-files.js';
import { type StoredRun, findRun, readRun, listRunIds } from '../run/find-run.js';
import { formatProblem, type Problem } from '../problem.js';
import { withStore } from '../store/with-store.js';
import { withLockIfNeeded } from '../command/with-lock.js';
import { findActivePid } from '../run/run-journal.js';
import { counted, localTime } from '../format.js';
import { err, ok, type Result } from '../result.js';
import { type Change, readChange } from '../workspace/change.js';
import { capitalize } from '../outputs/wording.js';
import { canAskPerson, askToConfirm } from '../outputs/ask.js';

/** `self-heal undo`: reverts everything that a run's agents changed (HN-8). */
export function define(command: Command): Command {
  return addWaitFlag(command)
    .option(...storeFlag)
    .argument('[run]', 'the run to undo, or the beginning of its id (default: the newest that left changes)')
    .option('--yes', 'do not ask for confirmation if the run is not the last one')
    .option('--tests', 'also revert changes that other people made to tests during the run')
    .action(createAction(runUndo));
}

/** The flags of `self-heal undo`. */
interface UndoOptions {
  yes?: boolean;
  wait?: boolean;
  tests?: boolean;
  store?: string;
}

/** Runs `self-heal undo`; returns the exit code, or the problem that prevented it. */
async function runUndo(
  word: string | undefined,
  { yes = false, wait = false, tests = false, store }: UndoOptions,
): Promise<number | Problem> {
  return withLockIfNeeded({ cwd: process.cwd(), command: 'undo', wait }, () =>
    undoChosenRun({ cwd: process.cwd(), word, yes, tests }, store),
  );
}

async function undoChosenRun(request: UndoRequest, store: string | undefined): Promise<number | Problem> {
  const { cwd } = request;
  const target = await chooseRun(request);
  if (!target.ok) return target.error;
  if (target.value === null) return exitCodes.interrupted;
  const { runId, dir } = target.value;
  const run = await readRunState(dir);
  const keptChanges = readKeptChanges(dir, run);
  const testEdits = run.editedTests === null ? null : readChange(dir, run.editedTests);
  if (keptChanges === null || (request.tests && run.editedTests !== null && testEdits === null))
    return createMissingContentsProblem(runId);
  const changes = request.tests && testEdits ? [testEdits, ...keptChanges] : keptChanges;
  if (changes.length === 0)
    return printText(
      run.undone
        ? describeRevertedRun(runId)
        : `run ${runId} left no changes in the project: nothing to undo${testEdits ? `, but somebody changed tests during the run: self-heal undo ${runId} --tests reverts that` : ''}`,
    );
  const result = await undoChanges(cwd, { runId, dir }, changes).catch(nullIfMissing);
  if (result === null) return createMissingContentsProblem(runId);
  await recordUndo(target.value, result, store);
  printText(
    [
      ...formatUndo(runId, result),
      ...(result.installed === null ? [] : [`ran ${result.installed}, because the dependencies changed`]),
      `the patches are kept in ${path.relative(cwd, path.join(dir, 'attempts'))}`,
    ].join('\n'),
  );
  return result.leftAlone.length > 0 ? exitCodes.red : exitCodes.green;
}

/** Records the undo in the run's events and in the store, where its heals no longer count as lasting (ME-7). */
async function recordUndo(
  { runId, dir }: StoredRun,
  result: WriteResult,
  storeFlag: string | undefined,
): Promise<void> {
  const { written: restored, leftAlone } = result;
  appendEvent(dir, { type: 'run.undone', restored, leftAlone });
  if (result.written.length === 0) return;
  const problem = await withStore({ store: storeFlag }, async (store) => {
    await store?.recordUndo(runId);
    return null;
  });
  if (problem) process.stderr.write(`${formatProblem(problem)}\n`);
}

function formatUndo(runId: string, { written, leftAlone }: WriteResult): string[] {
  return [
    ...(written.length > 0 ? [`reverted the changes of run ${runId} in:`] : []),
    ...(written.length + leftAlone.length === 0 ? [describeRevertedRun(runId)] : []),
    ...written.map((file) => `  ${file}`),
    ...(leftAlone.length > 0 ? [`left alone, because they have changed since run ${runId}:`] : []),
    ...leftAlone.map((file) => `  ${file}`),
  ];
}

function describeRevertedRun(runId: string): string {
  return `run ${runId} has already been reverted`;
}

function createMissingContentsProblem(runId: string): Problem {
  return {
    kind: 'run-missing',
    message: `The changes of run ${runId} can no longer be read from .self-heal; nothing was reverted`,
    remedy: `Revert with git apply -R: the patches are in .self-heal/runs/${runId}/attempts.`,
  };
}

/** The arguments of `undo`, and the current folder. */
interface UndoRequest {
  readonly cwd: string;
  readonly word: string | undefined;
  /** Never ask for confirmation. */
  readonly yes: boolean;
  /** Also revert other people's changes to tests. */
  readonly tests: boolean;
}

const MAX_FILES_NAMED = 5;

/**
 * Returns the run to undo: the named one, or else the newest that left changes and has not been undone. If that is not the last run, asks the
 * user; returns null if they decline.
 */
async function chooseRun({ cwd, word, yes, tests }: UndoRequest): Promise<Result<StoredRun | null, Problem>> {
  const last = await findRun(cwd, word ?? null);
  if (!last.ok) return last;
  if ((await findActivePid(last.value.dir)) !== null) return err(createStillRunningProblem(last.value.runId));
  if (word !== undefined || tests || (await readRemainingChanges(last.value))?.length !== 0) return last;
  const newest = await findNewestRunWithChanges(cwd);
  if (newest === null) return last;
  if (yes) return ok(newest);
  if (!canAskPerson(process.env, process)) return err(await createNotLastRunProblem(last.value, newest));
  const isWanted = await askToConfirm(
    `${capitalize(await explainSkippedRun(last.value))}. Undo ${await describeRun(newest)}?`,
  );
  return ok(isWanted ? newest : null);
}

async function findNewestRunWithChanges(cwd: string): Promise<StoredRun | null> {
  for (const runId of (await listRunIds(cwd)).toReversed()) {
    const run = await readRun(cwd, runId);
    if ((await readRemainingChanges(run))?.length) return run;
  }
  return null;
}

/** Returns the changes of a run that are still in the project; null if they can no longer be read. */
async function readRemainingChanges({ dir }: StoredRun): Promise<Change[] | null> {
  return readKeptChanges(dir, await readRunState(dir));
}

async function listChangedFiles(run: StoredRun): Promise<string[]> {
  const changes = (await readRemainingChanges(run)) ?? [];
  return [...new Set(changes.flatMap(({ edits }) => edits.map((edit) => edit.path)))];
}

async function describeRun(run: StoredRun): Promise<string> {
  const files = await listChangedFiles(run);
  const more = files.length > MAX_FILES_NAMED ? ` and ${files.length - MAX_FILES_NAMED} more` : '';
  return `run ${run.runId}${formatStart(run)}, which changed ${files.slice(0, MAX_FILES_NAMED).join(', ')}${more}`;
}

function formatStart({ report }: StoredRun): string {
  return report === null ? '' : ` of ${localTime(report.startedAt)}`;
}

/** Explains why the last run is not the one to undo. */
async function explainSkippedRun({ dir }: StoredRun): Promise<string> {
  const { undone } = await readRunState(dir);
  return undone ? 'the last run has already been reverted' : 'the last run changed nothing';
}

async function createNotLastRunProblem(last: StoredRun, run: StoredRun): Promise<Problem> {
  const files = await listChangedFiles(run);
  return {
    kind: 'usage',
    message: `${await explainSkippedRun(last)}; the newest run with remaining changes is ${run.runId}${formatStart(run)}, with ${counted(files.length, 'file')}`,
    detail: files.map((file) => `  ${file}`).join('\n'),
    remedy: `Run \`self-heal undo ${run.runId}\` or \`self-heal undo --yes\`.`,
  };
}

function createStillRunningProblem(runId: string): Problem {
  return {
    kind: 'usage',
    message: `run ${runId} is still running`,
    remedy: 'Wait for it, or interrupt it: it then reverts every unproven change.',
  };
}
