import path from 'node:path';
import { checkAgents } from '../agents/check-agents.js';
import { buildReport } from '../build-report.js';
import { createBus, type Bus } from '../bus.js';
import { systemClock } from '../clock.js';
import { loadSettings } from '../config/load-settings.js';
import { outcomeOf } from '../core/outcome.js';
import type { Settings } from '../core/settings.js';
import { planRun, type Plan } from '../plan-run.js';
import { findPlaywrightConfig } from '../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../playwright/find-playwright.js';
import { firstRunProblem } from '../playwright/refusals.js';
import { toPlaywrightArgs } from '../playwright/selection.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { exitCodes, type Problem } from '../problem.js';
import { ndjsonReporter } from '../reporters/ndjson.js';
import { paletteFor } from '../reporters/palette.js';
import type { Report } from '../reporters/report.js';
import { summaryOf } from '../reporters/summary.js';
import { terminalReporter } from '../reporters/terminal.js';
import { err, ok, type Result } from '../result.js';
import { healRun, type RunRecord } from '../run.js';
import { createRunFolder, newRunId, type RunFolder } from '../run-folder.js';
import type { Session } from '../session.js';
import { createSuiteRuns } from '../suite-runs.js';
import { writeFileAtomic } from '../write-file-atomic.js';
import { composeSession } from './compose-session.js';
import { listenForInterrupts, type Interrupts } from './interrupts.js';
import type { RunOptions } from './options.js';
import { isLive } from './is-live.js';

/** `self-heal run`, as it was typed. */
export interface RunRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly filters: readonly string[];
  readonly passThrough: readonly string[];
  readonly options: RunOptions;
}

/** What must be there before anything is run. */
interface Ready {
  readonly settings: Settings;
  readonly playwright: Playwright;
  readonly folder: RunFolder;
}

/** The whole of `self-heal run`: gives the exit code, or the problem that kept it from running. */
export async function runSelfHeal(request: RunRequest): Promise<number | Problem> {
  const startedAt = systemClock.now();
  const ready = await makeReady(request, startedAt);
  if (!ready.ok) return ready.error;
  const { folder } = ready.value;
  const warnings: string[] = [];
  using interrupts = listenForInterrupts((text) => process.stderr.write(`self-heal ${text}\n`));
  const bus = createRunBus(request, folder, warnings);
  const suites = createSuiteRuns({
    ...ready.value,
    ...request,
    bus,
    signal: interrupts.signal,
    args: argsOf(request),
  });
  bus.emit({
    type: 'run.started',
    runId: folder.runId,
    project: ready.value.settings.project,
    cwd: request.cwd,
    playwright: ready.value.playwright.version,
    dryRun: request.options.dryRun ?? false,
  });
  const first = await suites.first(request.options.json ? 2 : 1);
  const problem = interrupts.signal.aborted ? null : firstRunProblem(first);
  if (problem) {
    await bus.close();
    return problem;
  }
  if (first.reusedServer) bus.emit({ type: 'run.warning', message: staleServer(first.reusedServer) });
  const session = await composeSession({
    ...request,
    ...ready.value,
    suites,
    bus,
    startedAt,
    signal: interrupts.signal,
    isRed: isRed(first),
    first,
  });
  const record = request.options.dryRun
    ? await planRun(session, first, request.options.json ? () => undefined : showPlan)
    : await healRun(session, first);
  await session.sweep();
  return finish(request, { session, record, startedAt, warnings, bus, interrupts });
}

async function makeReady(request: RunRequest, startedAt: number): Promise<Result<Ready, Problem>> {
  const { cwd, env, options } = request;
  const config = findPlaywrightConfig(cwd, options.config);
  const playwright = findPlaywright(cwd, config.ok ? config.value : undefined);
  if (!playwright.ok) return playwright;
  if (!config.ok) return config;
  const settings = await loadSettings({ cwd, env, ...(options.agents ? { file: options.agents } : {}) });
  if (!settings.ok) return settings;
  const missing = options.dryRun ? null : await checkAgents(settings.value, cwd);
  if (missing) return err(missing);
  const folder = await createRunFolder(cwd, newRunId(startedAt, systemClock.random()));
  if (!folder.ok) return folder;
  return ok({ settings: settings.value, playwright: playwright.value, folder: folder.value });
}

function createRunBus({ env }: RunRequest, folder: RunFolder, warnings: string[]): Bus {
  const terminal = terminalReporter({
    stream: process.stderr,
    paint: paletteFor(env),
    live: isLive(env, process.stderr.isTTY),
    now: () => systemClock.now(),
  });
  const keepWarnings = {
    name: 'warnings',
    handle: (event: { type: string; message?: string }) => {
      if (event.type === 'run.warning' && event.message) warnings.push(event.message);
    },
  };
  return createBus(
    [ndjsonReporter(path.join(folder.dir, 'events.ndjson')), terminal, keepWarnings],
    systemClock,
  );
}

/** The prompt is data: it goes to standard output (CL-7). */
function showPlan({ cause, slashCommand, runner, prompt }: Plan): void {
  const head = `${cause.id} ${cause.lead.diagnosis.category} → ${slashCommand} (${runner})`;
  process.stdout.write(`\n${head}\n\n${prompt.trimEnd()}\n`);
}

function argsOf({ options, filters, passThrough }: RunRequest) {
  return toPlaywrightArgs({ ...options, filters, passThrough });
}

function isRed(first: SuiteRun): boolean {
  return first.failures.length > 0 || first.suiteFailure !== null;
}

function staleServer(url: string): string {
  return `${url} was already served when Playwright started, so the tests ran against that server: it may serve old code. End it, or set reuseExistingServer: false.`;
}

interface Finished {
  session: Session;
  record: RunRecord;
  startedAt: number;
  warnings: string[];
  bus: Bus;
  interrupts: Interrupts;
}

async function finish(request: RunRequest, finished: Finished): Promise<number> {
  const { session, record, startedAt, bus, warnings } = finished;
  const { options } = request;
  const final = outcomeOf({
    tests: record.tests.map((one) => one.verdict),
    causes: record.causes,
    suiteRed: record.suiteRed,
    paused: record.paused,
    interruptedBy: finished.interrupts.by(),
    failOnHeal: options.failOnHeal ?? false,
    failOnFlaky: options.failOnFlakyTests ?? false,
  });
  const report = buildReport(session, record, {
    final,
    startedAt,
    dryRun: options.dryRun ?? false,
    warnings,
  });
  await writeFileAtomic(path.join(session.folder.dir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  const { agentRuns, agentRunsAvoided, costUsd, durationMs } = report.totals;
  bus.emit({ type: 'run.ended', ...final, durationMs, agentRuns, agentRunsAvoided, costUsd });
  const broken = await bus.close();
  for (const trouble of broken) process.stderr.write(`self-heal: ${trouble}\n`);
  show(request, session, report);
  return broken.length > 0 && final.exitCode === exitCodes.green ? exitCodes.red : final.exitCode;
}

function show({ cwd, env, options }: RunRequest, { folder }: Session, report: Report): void {
  if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (report.causes.length === 0 && report.outcome === 'green' && report.totals.flaky === 0) return;
  const where = path.relative(cwd, folder.dir).replaceAll(path.sep, '/');
  const columns = process.stderr.columns ?? 120;
  process.stderr.write(`${summaryOf(report, { paint: paletteFor(env), columns, folder: where })}\n`);
}
