import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../clock.js';
import { printMessage } from '../outputs/streams.js';
import { type Problem, describeError } from '../problem.js';
import { isKept } from '../model/attempt.js';
import { endOwnedProcesses } from '../process/end-processes.js';
import { createInterrupts, type Interrupts, listenForInterrupts } from '../process/interrupts.js';
import { err, type Result } from '../result.js';
import { startWatchdog } from '../run/watchdog.js';
import type { ProjectLock } from '../run/project-lock.js';
import { recoverProject, withLock } from './with-lock.js';
import { deleteAllUnmaskedFiles } from '../run/mask-suite-folder.js';
import {
  moveRunIntoProject,
  createRunFolder,
  createRunId,
  describeMoveFailure,
  removeRunFolder,
  type RunFolder,
} from '../run/run-folder.js';
import { markEnded } from '../run/run-journal.js';
import {
  type CheckedRequest,
  checkRequest,
  type RunRequest,
  createShardsField,
  readCommandLine,
} from './run-request.js';
import { closeWorkspace, type OpenRun, openRun } from './open-run.js';
import type { HealResult } from '../heal/progress.js';
import { type Command, Run } from './run.js';
import { unpackTraces } from './unpack-trace.js';
import { type Ending, Teardown } from './teardown.js';
import { type Report, createReport } from '../run/report.js';
import { reduce } from '../run/run-state.js';
import { decideOutcome } from '../model/verdict.js';
import { exitCodes } from '../model/exit-codes.js';
import { type ResultTarget, writeMachineReports, showResult } from '../outputs/show-result.js';
import { writeStateFile } from '../state-folder.js';

/** Runs a command from its check to its report; returns the exit code, or the problem that prevented it. */
export async function runCommand(request: RunRequest, command: Command): Promise<number | Problem> {
  const { cwd, lock, options, name } = request;
  const checked = await checkRequest(request);
  if (!checked.ok) return checked.error;
  const run = (acquired: ProjectLock) =>
    runUnderLock(request, { checked: checked.value, lock: acquired, command });
  if (lock) return (await recoverProject(cwd)) ?? (await run(lock));
  return withLock({ cwd, command: name, wait: options.wait ?? false }, run);
}

/** How long a command may take to end its processes after an uncaught error. */
const SETTLE_MS = 30_000;

/** Opens a run, carries out its command and closes it. A result, a problem, a signal and an error all end it through the same teardown. */
async function runUnderLock(
  request: RunRequest,
  {
    checked,
    lock,
    command,
  }: { readonly checked: CheckedRequest; readonly lock: ProjectLock; readonly command: Command },
): Promise<number | Problem> {
  // Taken after the recovery of killed runs, because blame treats files written since then as somebody's edits.
  const startedAt = systemClock.now();
  const created = await createRunFolder(request.cwd, createRunId(startedAt, systemClock.random()));
  if (!created.ok) return created.error;
  const folder = created.value;
  await lock.setRun(folder.runId);
  using interrupts = request.host ? createInterrupts(request.host.signal) : listenForInterrupts(printMessage);
  const { signal } = interrupts;
  const teardown = new Teardown();
  const watchdog = startWatchdog(folder);
  teardown.add(({ kind }) => {
    // After an error, the watchdog makes sure that no process is left.
    if (kind !== 'error') watchdog.markEnded();
    watchdog[Symbol.dispose]();
  });
  const outcome: { hasRun: boolean; final: FinalReport | null; troubles: string[] } = {
    hasRun: false,
    final: null,
    troubles: [],
  };
  teardown.add(async ({ kind }) => {
    // If the folder of a run that did nothing cannot be removed, the next command moves it.
    if (kind === 'problem' && !outcome.hasRun) return removeRunFolder(folder).catch(() => undefined);
    await moveRunIntoProject(folder).catch(
      (error: unknown) => void outcome.troubles.push(describeMoveFailure(folder, error)),
    );
  });
  const openAndRun = async () => {
    const opened = await openRun(request, checked, { folder, watchdog, signal, startedAt });
    const { bus, redactor } = opened;
    const run = new Run(opened);
    teardown.add(async (ending) => {
      if (ending.kind !== 'healed') bus.emit({ type: 'run.stopped', message: describeEnding(ending) });
      outcome.hasRun = bus.getRun().playwrightRuns > 0;
      outcome.troubles.push(...(await bus.close()).map((trouble) => redactor.clean(trouble)));
    });
    teardown.add(async (ending) => {
      if (ending.kind === 'healed')
        outcome.final = await writeReports(run, { healed: ending.healed, interrupts });
    });
    teardown.add(async ({ kind }) => {
      // If this fails, the next command tries to recover the run and finds nothing to do.
      if (kind !== 'error') await markEnded(folder).catch(() => undefined);
    });
    // These run in reverse: end all processes, which could use up the reserved space (AG-10), revert unproven fixes, and delete unmasked files (EV-9).
    teardown.add(() => deleteAllUnmaskedFiles(folder.dir));
    teardown.add(() => closeWorkspace(opened));
    teardown.add(() => endOwnedProcesses({ runId: folder.runId }).then(() => undefined));
    announceRun(opened);
    const result = await command(run);
    if (!result.ok) return err(redactor.deep(result.error));
    await unpackTraces(opened).catch((error: unknown) => warn(bus, 'A trace could not be written', error));
    return result;
  };
  const ended = await teardown.run(await waitForEnding(openAndRun(), interrupts.watchRun(folder.runId)));
  for (const trouble of outcome.troubles) printMessage(trouble);
  if (ended.kind === 'problem') return ended.problem;
  if (ended.kind === 'error') throw ended.error;
  if (!outcome.final) throw new Error('The run ended without a report');
  const exitCode = await showFinalReport(request, outcome.final, folder);
  return outcome.troubles.length > 0 && exitCode === exitCodes.green ? exitCodes.red : exitCode;
}

/** Waits for a command and returns how it ended. After an uncaught error, which interrupts the command, waits until its processes have ended. */
async function waitForEnding(
  command: Promise<Result<HealResult, Problem>>,
  uncaught: Promise<never>,
): Promise<Ending> {
  try {
    const result = await Promise.race([command, uncaught]);
    return result.ok ? { kind: 'healed', healed: result.value } : { kind: 'problem', problem: result.error };
  } catch (error) {
    await Promise.race([command.catch(() => undefined), delay(SETTLE_MS, undefined, { ref: false })]);
    return { kind: 'error', error };
  }
}

function describeEnding(ending: Exclude<Ending, { kind: 'healed' }>): string {
  return ending.kind === 'problem' ? ending.problem.message : describeError(ending.error);
}

function warn(bus: OpenRun['bus'], summary: string, error: unknown): void {
  bus.emit({ type: 'run.warning', message: `${summary}: ${describeError(error)}` });
}

function announceRun({ request, reports, bus, folder, settings, playwright }: OpenRun): void {
  bus.emit({
    type: 'run.started',
    runId: folder.runId,
    project: settings.project,
    playwright: playwright.version,
    dryRun: request.options.dryRun ?? false,
    verify: settings.verify.level,
    ...createShardsField(reports),
    request: readCommandLine(request),
  });
}

/** The report of a run, its exit code, and where to show it. */
interface FinalReport {
  readonly report: Report;
  readonly exitCode: number;
  readonly output: Omit<ResultTarget, 'dir'>;
}

/** Writes the reports of a run and announces its end. */
async function writeReports(
  run: Run,
  { healed, interrupts }: { readonly healed: HealResult; readonly interrupts: Interrupts },
): Promise<FinalReport> {
  const { request, folder, bus, redactor, startedAt } = run.opened;
  const ledger = run.getLedger();
  const { options } = request;
  const tests = [...bus.getRun().tests.values()].map(({ verdict }) => verdict);
  const isWithheld = await writeFixUnlessSecret(bus, { dir: folder.dir, ...request });
  const final = decideOutcome({
    ...healed,
    isWithheld,
    tests,
    causes: bus.getRun().causes.flatMap(({ ended }) => ended ?? []),
    interruptedBy: interrupts.getInterruptSignal(),
    failOnHeal: options.failOnHeal ?? false,
    failOnFlaky: options.failOnFlakyTests ?? false,
  });
  const flaky = tests.filter((verdict) => verdict === 'flaky').length;
  await ledger?.store.close();
  // `self-heal verify` later compares the project with this state.
  if (ledger !== null && !healed.verified)
    await keepProjectState(folder.dir, request.cwd).catch((error: unknown) =>
      warn(
        bus,
        'The state of the project could not be saved, so self-heal verify will compare with the last commit',
        error,
      ),
    );
  const time = systemClock.now();
  const spent = ledger?.spending.getTotals() ?? { agentRuns: 0, costUsd: null };
  const ended = {
    type: 'run.ended',
    ...final,
    ...spent,
    durationMs: time - startedAt,
    commit: await run.getCommit(),
  } as const;
  const createMaskedReport = () => {
    const report = createReport(reduce(bus.getRun(), { ...ended, time }));
    // Texts from before a failure may contain secrets that only the failure revealed.
    return flaky + report.causes.length > 0 ? redactor.deep(report) : report;
  };
  const toJson = options.list ? (await import('../outputs/matrix.js')).createMatrix : undefined;
  const { onReport } = request.host ?? {};
  const { cwd, env } = request;
  const output = { cwd, env, options, onReport, ...(toJson && { toJson }) };
  let report = createMaskedReport();
  // A report for another tool that cannot be written does not fail the run: report.json and the terminal mention it.
  for (const message of await writeMachineReports(report, { ...output, ...folder })) {
    bus.emit({ type: 'run.warning', message });
    report = createMaskedReport();
  }
  writeStateFile(path.join(folder.dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  bus.emit(ended);
  return { report, exitCode: final.exitCode, output };
}

/** Shows the result of a run after its files have moved; returns the exit code. */
async function showFinalReport(
  { options }: RunRequest,
  { report, exitCode, output }: FinalReport,
  { finalDir, dir }: RunFolder,
): Promise<number> {
  await showResult(report, { ...output, dir: existsSync(finalDir) ? finalDir : dir });
  // Red tests are the purpose of `--list`, not a failure.
  return options.list ? exitCodes.green : exitCode;
}

/** Writes the file with the run's fix, if there is one. Returns true if the fix is withheld because it contains a secret. */
async function writeFixUnlessSecret(
  bus: OpenRun['bus'],
  { dir, cwd, env }: { readonly dir: string; readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<boolean> {
  const attempts = createReport(bus.getRun()).causes.flatMap((cause) => cause.attempts);
  if (!attempts.some((attempt) => isKept(attempt) && attempt.change !== null)) return false;
  // Loaded only for a run with a fix (CL-4).
  const { explainMissingFix: explainWithheld, fixFile, writeFix } = await import('../outputs/fix-file.js');
  try {
    const withSecrets = await writeFix(dir, { env, cwd });
    if (withSecrets.length === 0) return false;
    bus.emit({ type: 'run.warning', message: explainWithheld(withSecrets) });
    return true;
  } catch (error) {
    bus.emit({ type: 'run.warning', message: `${fixFile} could not be written: ${describeError(error)}` });
    return false;
  }
}

/** Loaded only after a red run (CL-4). */
async function keepProjectState(dir: string, cwd: string): Promise<void> {
  const { storeTreeState } = await import('../run/tree-state.js');
  await storeTreeState(dir, cwd);
}
