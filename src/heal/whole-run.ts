import path from 'node:path';
import { systemClock } from '../clock.js';
import { say } from '../outputs/streams.js';
import { showPlan } from '../outputs/terminal.js';
import { firstRunProblem } from '../playwright/refusals.js';
import { isNarrowed } from '../playwright/selection.js';
import { isRed, type SuiteRun } from '../playwright/suite-run.js';
import { type Problem, reasonOf } from '../problem.js';
import { isKept } from '../core/attempt.js';
import { interruptedBy, type Interrupts, listenForInterrupts } from '../process/interrupts.js';
import { startWatchdog } from '../run/watchdog.js';
import { ok, type Result } from '../result.js';
import type { ProjectLock } from '../run/project-lock.js';
import { recover, underLock } from './under-lock.js';
import { createRunFolder, newRunId } from '../run/run-folder.js';
import { checkedOut } from '../git/git.js';
import {
  type Checked,
  checkRequest,
  type RunRequest,
  shardsIn,
  typed,
  type VerifyAsked,
} from './run-request.js';
import type { ComparedChange } from './verify/compare-change.js';
import { cleanUp, cleanUpAfterError, closed, type Opened, openRun } from './open-run.js';
import type { Healed } from './progress.js';
import type { ReportedRun } from './reported-run.js';
import type { Session } from './session.js';
import { showTraces } from './show-trace.js';
import { tellSeen } from './tell-tests.js';
import { builtIn } from '../core/built-in.js';
import type { SuiteProgress } from '../playwright/report-state.js';
import { interactiveVariablesIn } from '../playwright/unattended.js';
import { avoidedIn, reportOf } from '../run/report.js';
import { reduce } from '../run/run-state.js';
import { outcomeOf } from '../core/verdict.js';
import { exitCodes } from '../core/exit-codes.js';
import { writeProgramReports, showResult } from '../outputs/show-result.js';
import { writeState } from '../state-folder.js';

/** Runs `self-heal run` as a whole: returns the exit code, or the problem that prevented it. */
export async function runSelfHeal(request: RunRequest): Promise<number | Problem> {
  const { cwd, lock, options } = request;
  const checked = await checkRequest(request);
  if (!checked.ok) return checked.error;
  const run = (held: ProjectLock) => runLocked(request, checked.value, held);
  const command = request.verifies ? 'verify' : options.from ? 'heal' : 'run';
  if (lock) return (await recover(cwd)) ?? (await run(lock));
  return underLock({ cwd, command, wait: options.wait ?? false }, run);
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
  // After the lock has restored what a killed run left, because blame looks at what was written since.
  const startedAt = systemClock.now();
  const found = await createRunFolder(request.cwd, newRunId(startedAt, systemClock.random()));
  if (!found.ok) return found.error;
  const folder = found.value;
  await lock.tell(folder.runId);
  using watchdog = startWatchdog(folder);
  using interrupts = request.host ? interruptedBy(request.host.signal) : listenForInterrupts(say);
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
  const isFlaky =
    request.flaky || (request.options.flaky && first.tests.some(({ outcome }) => outcome === 'flaky'));
  const isOver = !isRed(first) && !change.value && !isFlaky;
  if (isOver) tellSeen(opened, first);
  const session = isOver ? ok(null) : await sessionOf(opened, ran.value);
  if (!session.ok) return await closed(opened, session.error);
  const healed = session.value
    ? await planOrHeal(opened, session.value, { first, change: change.value?.compared ?? null })
    : { suiteRed: false, paused: false };
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
  const { blame, flaky: isFlaky, options } = opened.request;
  tellSeen(session, first);
  if (change) {
    const { verifyChange } = await import('./verify/prove-change.js');
    return verifyChange(opened, session, { first, change });
  }
  if (blame) {
    const { blameRun } = await import('./plan-run.js');
    return blameRun(session, first);
  }
  if (isFlaky) {
    const { flakyRun } = await import('./flaky-run.js');
    return flakyRun(opened, session, { first });
  }
  if (options.dryRun) {
    const { planRun } = await import('./plan-run.js');
    return planRun(session, first, options.json ? () => undefined : showPlan);
  }
  const { healRun } = await import('./run.js');
  const healed = await healRun(session, first);
  const flaky = [...session.bus.run().tests.values()].filter(({ verdict }) => verdict === 'flaky');
  if (!options.flaky || flaky.length === 0) return healed;
  const { flakyRun } = await import('./flaky-run.js');
  await flakyRun(opened, session, { first, suspected: flaky.map(({ id }) => id) });
  return healed;
}

/** Announces the run, before anything is run. */
function tellStarted({ request, reports, bus, folder, settings, playwright }: Opened): void {
  const { options } = request;
  bus.emit({
    type: 'run.started',
    runId: folder.runId,
    project: settings.project,
    playwright: playwright.version,
    dryRun: options.dryRun ?? false,
    verify: settings.verify.level,
    ...shardsIn(reports),
    request: typed(request),
  });
}

/**
 * Makes the run of the suite that everything starts from: here, or of what the reports of other runs name as red.
 * `onStart` is called once Playwright has been started.
 */
async function firstRun(opened: Opened, onStart: () => unknown): Promise<Result<ReportedRun, Problem>> {
  const { request, reports, bus, suites } = opened;
  const { options } = request;
  for (const name of interactiveVariablesIn(request.env)) {
    const message = `Ignored ${name}, because it makes Playwright wait for input.`;
    bus.emit({ type: 'run.warning', message });
  }
  const stdout = options.json || request.host ? 2 : 1;
  const mayCopy = startsAgents(opened);
  let loading: Promise<void> | undefined;
  // Work done while the suite is still running costs no extra time.
  const onProgress = ({ failed, done, total }: SuiteProgress) => {
    if (failed === 0) return;
    if (mayCopy && done < total) opened.workspace.begin();
    // Whoever needs it later reports what is wrong with it.
    loading ??= loadForRed().catch(() => undefined);
  };
  const watching = { onStart: () => void onStart(), onProgress };
  if (reports) {
    const { runReported } = await import('./reported-run.js');
    return runReported(opened, reports, watching);
  }
  const only = request.chosenFor ?? request.onlyIds ?? [];
  const first = await (only.length > 0 || request.flaky
    ? suites.again({ ids: only.length > 0 ? only : null, purpose: 'first', causeId: null, watching })
    : suites.first(stdout, watching));
  if (first.reusedServer) bus.emit({ type: 'run.warning', message: staleServer(first.reusedServer) });
  return ok({ run: first, reportedRed: new Set() });
}

/** Loads what a red run needs while its suite is still running. */
async function loadForRed(): Promise<void> {
  const [{ compileRules }] = await Promise.all([
    import('../core/classify/classify.js'),
    import('./compose-session.js'),
    import('./run.js'),
  ]);
  compileRules();
}

/** Whether an agent may need a copy; the built-in fixer does not. */
function startsAgents({ request, settings, missing }: Opened): boolean {
  const { options, blame, chosenFor } = request;
  if (options.dryRun || blame || chosenFor) return false;
  return Object.entries(settings.agents).some(
    ([name, { runner }]) => runner !== builtIn && !missing.has(name),
  );
}

function staleServer(url: string): string {
  return `${url} was already being served when Playwright started, so the tests ran against that server, which may serve old code. Stop it, or set reuseExistingServer: false.`;
}

/** A run at its end. */
interface Finished {
  readonly healed: Healed;
  /** Null if nothing was red. */
  readonly session: Pick<Session, 'store' | 'spending'> | null;
  /** The commit it ran on; null if there were uncommitted changes. */
  readonly commit: string | null;
  readonly interrupts: Interrupts;
}

/** Writes and shows the result of a run; returns its exit code. */
async function finishRun(
  { request, folder, bus, redactor, startedAt }: Opened,
  { healed, session, commit, interrupts }: Finished,
): Promise<number> {
  const { options } = request;
  const tests = [...bus.run().tests.values()].map(({ verdict }) => verdict);
  const isWithheld = await keepFix(bus, { dir: folder.dir, ...request });
  const final = outcomeOf({
    ...healed,
    isWithheld,
    tests,
    causes: bus.run().causes.flatMap(({ ended }) => ended ?? []),
    interruptedBy: interrupts.by(),
    failOnHeal: options.failOnHeal ?? false,
    failOnFlaky: options.failOnFlakyTests ?? false,
  });
  const agentRunsAvoided = avoidedIn(bus.run());
  const flaky = tests.filter((verdict) => verdict === 'flaky').length;
  await session?.store.ended(final);
  // What is changed from now on is told from what was there.
  if (final.outcome !== 'green' && !healed.verified)
    await keepTree(folder.dir, request.cwd).catch(() => undefined);
  const time = systemClock.now();
  const spent = { ...(session?.spending.totals() ?? { agentRuns: 0, costUsd: null }), agentRunsAvoided };
  const ended = { type: 'run.ended', ...final, ...spent, durationMs: time - startedAt, commit } as const;
  const reportNow = () => {
    const report = reportOf(reduce(bus.run(), { ...ended, time }));
    // Texts from before a failure may contain secrets that only the failure revealed.
    return flaky + report.causes.length > 0 ? redactor.deep(report) : report;
  };
  const asJson = options.list ? (await import('./matrix.js')).matrixOf : undefined;
  const { onReport } = request.host ?? {};
  const shown = { options, onReport, ...(asJson && { asJson }) };
  const place = { dir: folder.dir, cwd: request.cwd, env: request.env, ...shown };
  let report = reportNow();
  // If another tool's report cannot be written, the run has not failed: report.json and the terminal mention it.
  for (const message of await writeProgramReports(report, place)) {
    bus.emit({ type: 'run.warning', message });
    report = reportNow();
  }
  writeState(path.join(place.dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  bus.emit(ended);
  const broken = await bus.close();
  for (const problem of broken) say(redactor.clean(problem));
  await showResult(report, place);
  // That something is red is what the list is for.
  if (options.list) return exitCodes.green;
  return broken.length > 0 && final.exitCode === exitCodes.green ? exitCodes.red : final.exitCode;
}

/** Writes the fix for other programs, if there is one; returns whether it is withheld, because it holds a secret. Loaded only for a run with a fix (CL-4). */
async function keepFix(
  bus: Opened['bus'],
  { dir, cwd, env }: { readonly dir: string; readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<boolean> {
  const attempts = reportOf(bus.run()).causes.flatMap((cause) => cause.attempts);
  if (!attempts.some((one) => isKept(one) && one.change !== null)) return false;
  const { fixFile, writeFix } = await import('../outputs/fix-file.js');
  try {
    const held = await writeFix(dir, { env, cwd });
    if (held.length === 0) return false;
    bus.emit({
      type: 'run.warning',
      message: `${fixFile} was not written, because what was changed holds a secret: ${held.join(', ')}. Take it out of there; self-heal report --patch prints the rest`,
    });
    return true;
  } catch (error) {
    bus.emit({ type: 'run.warning', message: `${fixFile} could not be written: ${reasonOf(error)}` });
    return false;
  }
}

/** Loaded only after a red run (CL-4). */
async function keepTree(dir: string, cwd: string): Promise<void> {
  const { keepTreeState } = await import('../run/tree-state.js');
  await keepTreeState(dir, cwd);
}
