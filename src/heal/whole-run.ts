import { systemClock } from '../clock.js';
import { say } from '../outputs/streams.js';
import { firstRunProblem } from '../playwright/refusals.js';
import { isRed } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { type Interrupts, listenForInterrupts } from '../process/interrupts.js';
import { startWatchdog, type Watchdog } from '../run/watchdog.js';
import { ok, type Result } from '../result.js';
import type { ProjectLock } from '../run/project-lock.js';
import { recover } from '../run/recover-if-needed.js';
import { createRunFolder, newRunId } from '../run/run-folder.js';
import { underLock } from '../run/under-lock.js';
import { checkedOut } from '../run/checked-out.js';
import { checkRequest } from './check-request.js';
import { cleanUp, cleanUpAfterError } from './clean-up.js';
import { finishRun } from './finish-run.js';
import { firstRun } from './first-run.js';
import { closed, type Opened, openRun } from './open-run.js';
import type { RunRequest } from './run-request.js';
import type { Reports } from './reported-run.js';
import { showTraces } from './show-trace.js';
import { tellSeen } from './tell-tests.js';
import { green, type Ready, work } from './work-on-failures.js';

/** Runs `self-heal run` as a whole: returns the exit code, or the problem that prevented it. */
export async function runSelfHeal(request: RunRequest): Promise<number | Problem> {
  const { cwd, lock, options } = request;
  const checked = await checkRequest(request);
  if (!checked.ok) return checked.error;
  const reports = await reportsFor(request);
  if (!reports.ok) return reports.error;
  const ready = { ...checked.value, reports: reports.value };
  const run = (held: ProjectLock) => runLocked(request, ready, held);
  const command = options.from ? 'heal' : 'run';
  return lock ? run(lock) : underLock({ cwd, command, wait: options.wait ?? false }, run);
}

/** Returns the reports that say what to run here (SC-1); null if the suite itself runs. */
async function reportsFor(request: RunRequest): Promise<Result<Reports | null, Problem>> {
  const { from } = request.options;
  // If it is known which tests are left, only those are run.
  if (from === undefined || (request.resumed && request.resumed.open !== null)) return ok(null);
  const { reportsOf } = await import('./reported-run.js');
  return reportsOf(request, from);
}

async function runLocked(request: RunRequest, checked: Ready, lock: ProjectLock): Promise<number | Problem> {
  const unrecovered = await recover(request.cwd);
  if (unrecovered) return unrecovered;
  // Recovery restored what a killed run left. The start time is taken after it, because blame looks at what was written since.
  const startedAt = systemClock.now();
  const folder = await createRunFolder(request.cwd, newRunId(startedAt, systemClock.random()));
  if (!folder.ok) return folder.error;
  await lock.tell(folder.value.runId);
  using watchdog = startWatchdog(folder.value);
  const result = await runWatched(request, { ...checked, folder: folder.value, watchdog }, startedAt);
  watchdog.ended();
  return result;
}

/** Runs in its folder. If it throws, for example because the disk is full, nothing that is not proven stays, and the watchdog ends the processes. */
async function runWatched(
  request: RunRequest,
  checked: Ready & Pick<Opened, 'folder'> & { readonly watchdog: Watchdog },
  startedAt: number,
): Promise<number | Problem> {
  using interrupts = listenForInterrupts(say);
  const uncaught = interrupts.started(checked.folder.runId);
  const opened = await openRun(request, checked, { signal: interrupts.signal, startedAt });
  return await Promise.race([runOpened(request, checked, { opened, interrupts }), uncaught]).catch(
    async (error: unknown) => {
      await cleanUpAfterError(opened);
      throw error;
    },
  );
}

async function runOpened(
  request: RunRequest,
  checked: Ready,
  { opened, interrupts }: { readonly opened: Opened; readonly interrupts: Interrupts },
): Promise<number | Problem> {
  let checkout: ReturnType<typeof checkedOut> | undefined;
  const lookAtCheckout = () => (checkout ??= checkedOut(request.cwd));
  const ran = await firstRun(request, opened, { reports: checked.reports, onStart: lookAtCheckout });
  if (!ran.ok) return await closed(opened, ran.error);
  const { run: first, reportedRed } = ran.value;
  const problem = interrupts.signal.aborted ? null : firstRunProblem(first);
  if (problem) return await closed(opened, problem);
  // A run with nothing to heal needs no store, no copy and no session (CL-4).
  const isOver = !isRed(first) && !request.resumed;
  if (isOver) tellSeen(opened, first);
  const worked = isOver ? ok(green) : await work(request, opened, { ...checked, first, reportedRed });
  if (!worked.ok) return await closed(opened, worked.error);
  await showTraces(opened).catch(() => undefined);
  await cleanUp(opened);
  const { commit, isDirty } = await lookAtCheckout();
  const isOfCommit = !isDirty && checked.reports?.isOfCommit !== false;
  return await finishRun(request, opened, {
    ...worked.value,
    interrupts,
    commit: isOfCommit ? commit : null,
  });
}
