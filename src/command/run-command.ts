import path from 'node:path';
import { systemClock } from '../clock.js';
import { say } from '../outputs/streams.js';
import { type Problem, reasonOf } from '../problem.js';
import { isKept } from '../model/attempt.js';
import { interruptedBy, type Interrupts, listenForInterrupts } from '../process/interrupts.js';
import { startWatchdog } from '../run/watchdog.js';
import type { ProjectLock } from '../run/project-lock.js';
import { recover, underLock } from './under-lock.js';
import { bringIn, createRunFolder, newRunId, notMoved } from '../run/run-folder.js';
import { type CheckedRequest, checkRequest, type RunRequest, shardsIn, typed } from './run-request.js';
import { cleanUp, cleanUpAfterError, closed, type OpenRun, openRun } from './open-run.js';
import type { HealResult } from '../heal/progress.js';
import { type Command, Run } from './run.js';
import { showTraces } from './show-trace.js';
import { reportOf } from '../run/report.js';
import { reduce } from '../run/run-state.js';
import { outcomeOf } from '../model/verdict.js';
import { exitCodes } from '../model/exit-codes.js';
import { writeProgramReports, showResult } from '../outputs/show-result.js';
import { writeState } from '../state-folder.js';

/** Runs a command from its check to its report; returns the exit code, or the problem that prevented it. */
export async function runCommand(request: RunRequest, command: Command): Promise<number | Problem> {
  const { cwd, lock, options, name } = request;
  const checked = await checkRequest(request);
  if (!checked.ok) return checked.error;
  const run = (held: ProjectLock) => runLocked(request, { checked: checked.value, lock: held, command });
  if (lock) return (await recover(cwd)) ?? (await run(lock));
  return underLock({ cwd, command: name, wait: options.wait ?? false }, run);
}

/**
 * Opens a run, step by step, and closes it in the reverse order. If it throws, for example because the disk is full, nothing that is not proven
 * stays, and the watchdog ends the processes.
 */
async function runLocked(
  request: RunRequest,
  {
    checked,
    lock,
    command,
  }: { readonly checked: CheckedRequest; readonly lock: ProjectLock; readonly command: Command },
): Promise<number | Problem> {
  // Blame takes files written since this time for somebody's edits, so it comes after the recovery of a killed run.
  const startedAt = systemClock.now();
  const created = await createRunFolder(request.cwd, newRunId(startedAt, systemClock.random()));
  if (!created.ok) return created.error;
  const folder = created.value;
  await lock.setRun(folder.runId);
  using watchdog = startWatchdog(folder);
  using interrupts = request.host ? interruptedBy(request.host.signal) : listenForInterrupts(say);
  const uncaught = interrupts.started(folder.runId);
  const { signal } = interrupts;
  const opened = await openRun(request, checked, { folder, watchdog, signal, startedAt });
  const result = await Promise.race([runOpened(opened, { command, interrupts }), uncaught]).catch(
    async (error: unknown) => {
      await cleanUpAfterError(opened);
      throw error;
    },
  );
  watchdog.ended();
  return result;
}

async function runOpened(
  opened: OpenRun,
  { command, interrupts }: { readonly command: Command; readonly interrupts: Interrupts },
): Promise<number | Problem> {
  tellStarted(opened);
  const run = new Run(opened);
  const healed = await command(run);
  if (!healed.ok) return closed(opened, healed.error);
  await showTraces(opened).catch(() => undefined);
  await cleanUp(opened);
  return finishRun(run, { healed: healed.value, interrupts });
}

/** Announces the run, before anything is run. */
function tellStarted({ request, reports, bus, folder, settings, playwright }: OpenRun): void {
  bus.emit({
    type: 'run.started',
    runId: folder.runId,
    project: settings.project,
    playwright: playwright.version,
    dryRun: request.options.dryRun ?? false,
    verify: settings.verify.level,
    ...shardsIn(reports),
    request: typed(request),
  });
}

/** Writes and shows the result of a run; returns its exit code. */
async function finishRun(
  run: Run,
  { healed, interrupts }: { readonly healed: HealResult; readonly interrupts: Interrupts },
): Promise<number> {
  const { request, folder, bus, redactor, startedAt } = run.opened;
  const ledger = run.ledger();
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
  const flaky = tests.filter((verdict) => verdict === 'flaky').length;
  await ledger?.store.close();
  // `self-heal verify` later distinguishes what is changed from now on.
  if (final.outcome !== 'green' && !healed.verified)
    await keepTree(folder.dir, request.cwd).catch(() => undefined);
  const time = systemClock.now();
  const spent = ledger?.spending.totals() ?? { agentRuns: 0, costUsd: null };
  const ended = {
    type: 'run.ended',
    ...final,
    ...spent,
    durationMs: time - startedAt,
    commit: await run.commit(),
  } as const;
  const reportNow = () => {
    const report = reportOf(reduce(bus.run(), { ...ended, time }));
    // Texts from before a failure may contain secrets that only the failure revealed.
    return flaky + report.causes.length > 0 ? redactor.deep(report) : report;
  };
  const asJson = options.list ? (await import('../outputs/matrix.js')).matrixOf : undefined;
  const { onReport } = request.host ?? {};
  const { cwd, env } = request;
  const output = { cwd, env, options, onReport, ...(asJson && { asJson }) };
  let report = reportNow();
  // If another tool's report cannot be written, the run has not failed: report.json and the terminal mention it.
  for (const message of await writeProgramReports(report, { ...output, ...folder })) {
    bus.emit({ type: 'run.warning', message });
    report = reportNow();
  }
  writeState(path.join(folder.dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  bus.emit(ended);
  const broken = [...(await bus.close())];
  const dir = await bringIn(folder).then(
    () => folder.final,
    (error: unknown) => {
      broken.push(notMoved(folder, error));
      return folder.dir;
    },
  );
  for (const problem of broken) say(redactor.clean(problem));
  await showResult(report, { ...output, dir });
  // The list is meant to name what is red.
  if (options.list) return exitCodes.green;
  return broken.length > 0 && final.exitCode === exitCodes.green ? exitCodes.red : final.exitCode;
}

/** Writes the fix for other programs, if there is one; returns whether it is withheld, because it holds a secret. Loaded only for a run with a fix (CL-4). */
async function keepFix(
  bus: OpenRun['bus'],
  { dir, cwd, env }: { readonly dir: string; readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<boolean> {
  const attempts = reportOf(bus.run()).causes.flatMap((cause) => cause.attempts);
  if (!attempts.some((attempt) => isKept(attempt) && attempt.change !== null)) return false;
  const { fixFile, writeFix } = await import('../outputs/fix-file.js');
  try {
    const withSecrets = await writeFix(dir, { env, cwd });
    if (withSecrets.length === 0) return false;
    bus.emit({
      type: 'run.warning',
      message: `${fixFile} was not written, because what was changed holds a secret: ${withSecrets.join(', ')}. Take it out of there; self-heal report --patch prints the rest`,
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
