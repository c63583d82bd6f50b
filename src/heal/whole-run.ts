import { systemClock } from '../clock.js';
import { nameOf } from '../outputs/format.js';
import { say } from '../outputs/streams.js';
import { showPlan } from '../outputs/terminal.js';
import { firstRunProblem } from '../playwright/refusals.js';
import { isNarrowed } from '../playwright/selection.js';
import { isRed, type SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { type Interrupts, listenForInterrupts } from '../process/interrupts.js';
import { startWatchdog } from '../run/watchdog.js';
import { ok, type Result } from '../result.js';
import type { ProjectLock } from '../run/project-lock.js';
import { recover } from '../run/recover-if-needed.js';
import { createRunFolder, newRunId } from '../run/run-folder.js';
import { underLock } from '../run/under-lock.js';
import { checkedOut } from '../run/checked-out.js';
import { type Checked, checkRequest } from './check-request.js';
import { finishRun } from './finish-run.js';
import { firstRun, tellStarted } from './first-run.js';
import type { ComparedChange, VerifyAsked } from './verify/compare-change.js';
import { cleanUp, cleanUpAfterError, closed, type Opened, openRun } from './open-run.js';
import type { RunRequest } from './run-request.js';
import type { Healed } from './progress.js';
import type { ReportedRun } from './reported-run.js';
import { goneTests, type Resumed } from './resumed.js';
import type { Session } from './session.js';
import { showTraces } from './show-trace.js';
import { tellSeen } from './tell-tests.js';

/** Runs `self-heal run` as a whole: returns the exit code, or the problem that prevented it. */
export async function runSelfHeal(request: RunRequest): Promise<number | Problem> {
  const { cwd, lock, options } = request;
  const checked = await checkRequest(request);
  if (!checked.ok) return checked.error;
  const run = (held: ProjectLock) => runLocked(request, checked.value, held);
  const command = options.from ? 'heal' : 'run';
  return lock ? run(lock) : underLock({ cwd, command, wait: options.wait ?? false }, run);
}

/**
 * Opens a run, step by step, and closes it in the reverse order. If it throws, for example because the disk is full, nothing that is not proven
 * stays, and the watchdog ends the processes.
 */
async function runLocked(
  request: RunRequest,
  checked: Checked,
  lock: ProjectLock,
): Promise<number | Problem> {
  const unrecovered = await recover(request.cwd);
  if (unrecovered) return unrecovered;
  // Recovery restored what a killed run left. The start time is taken after it, because blame looks at what was written since.
  const startedAt = systemClock.now();
  const found = await createRunFolder(request.cwd, newRunId(startedAt, systemClock.random()));
  if (!found.ok) return found.error;
  const folder = found.value;
  await lock.tell(folder.runId);
  using watchdog = startWatchdog(folder);
  using interrupts = listenForInterrupts(say);
  const uncaught = interrupts.started(folder.runId);
  const { signal } = interrupts;
  const opened = await openRun(request, checked, { folder, watchdog, signal, startedAt });
  const result = await Promise.race([runOpened(opened, interrupts), uncaught]).catch(
    async (error: unknown) => {
      await cleanUpAfterError(opened);
      throw error;
    },
  );
  watchdog.ended();
  return result;
}

async function runOpened(opened: Opened, interrupts: Interrupts): Promise<number | Problem> {
  const { request, reports, signal } = opened;
  let checkout: ReturnType<typeof checkedOut> | undefined;
  const lookAtCheckout = () => (checkout ??= checkedOut(request.cwd));
  tellStarted(opened);
  const change = request.verifies ? await compared(opened, request.verifies) : ok(null);
  if (!change.ok) return await closed(opened, change.error);
  if (change.value?.refused) {
    await cleanUp(opened);
    return await finishRun(opened, { healed: change.value.refused, session: null, interrupts, commit: null });
  }
  const ran = await firstRun(opened, lookAtCheckout);
  if (!ran.ok) return await closed(opened, ran.error);
  const { run: first } = ran.value;
  const problem = signal.aborted ? null : firstRunProblem(first, askedOf(opened));
  if (problem) return await closed(opened, problem);
  // A run with nothing to heal needs no store, no copy and no session (CL-4).
  const isOver = !isRed(first) && !request.resumed && !change.value && !request.flaky;
  if (isOver) tellSeen(opened, first);
  const session = isOver ? ok(null) : await sessionOf(opened, ran.value);
  if (!session.ok) return await closed(opened, session.error);
  const healed = session.value
    ? await planOrHeal(opened, session.value, { first, change: change.value?.compared ?? null })
    : { causes: [], suiteRed: false, paused: false };
  await showTraces(opened).catch(() => undefined);
  await cleanUp(opened);
  const { commit, isDirty } = await lookAtCheckout();
  const isOfCommit = !isDirty && reports?.isOfCommit !== false;
  const finished = { healed, session: session.value, interrupts, commit: isOfCommit ? commit : null };
  return await finishRun(opened, finished);
}

function askedOf({ request, settings }: Opened) {
  const selection = { ...request.options, filters: request.filters, passThrough: request.passThrough };
  return { isNarrowed: isNarrowed(selection), prepare: settings.verify.prepare };
}

/** Loaded only after the suite, because people wait for Playwright to start. */
async function sessionOf(opened: Opened, first: ReportedRun): Promise<Result<Session, Problem>> {
  const { composeSession } = await import('./compose-session.js');
  return composeSession(opened, first);
}

/** Judges a change before anything is run with it, and says if it is refused as it stands. */
async function compared(
  opened: Opened,
  asked: VerifyAsked,
): Promise<Result<{ readonly compared: ComparedChange; readonly refused: Healed | null }, Problem>> {
  const { compareChange, refusedAtOnce } = await import('./verify/compare-change.js');
  const change = await compareChange(opened, asked);
  return change.ok ? ok({ compared: change.value, refused: refusedAtOnce(opened, change.value) }) : change;
}

async function planOrHeal(
  opened: Opened,
  session: Session,
  { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange | null },
): Promise<Healed> {
  const { blame, flaky, options, resumed } = opened.request;
  if (resumed) tellResumed(session, resumed, first);
  tellSeen(session, first);
  if (change) {
    const { verifyChange } = await import('./verify/prove-change.js');
    return verifyChange(opened, session, { first, change });
  }
  if (blame) {
    const { blameRun } = await import('./plan-run.js');
    return blameRun(session, first);
  }
  if (flaky) {
    const { flakyRun } = await import('./flaky-run.js');
    return flakyRun(opened, session, { first });
  }
  if (options.dryRun) {
    const { planRun } = await import('./plan-run.js');
    return planRun(session, first, options.json ? () => undefined : showPlan);
  }
  const { healRun } = await import('./run.js');
  return healRun(session, first);
}

/** Carries over what an earlier run has finished (ME-8), and what it had not and cannot be run any more. */
function tellResumed({ bus }: Session, resumed: Resumed, first: SuiteRun): void {
  const gone = goneTests(resumed, first);
  bus.emit({ type: 'tests.seen', tests: [...resumed.carried, ...gone] });
  if (gone.length === 0) return;
  const names = gone.map(nameOf).join(', ');
  const message = `Still red, because they no longer exist under these names: ${names}. Start a new run with \`self-heal run\`.`;
  bus.emit({ type: 'run.warning', message });
}
