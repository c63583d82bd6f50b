import { missingAgents, withInstalledRunner } from '../agents/check-agents.js';
import { createBus, type Bus } from '../run/bus.js';
import { systemClock } from '../clock.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../core/settings.js';
import type { Plan } from '../heal/plan-run.js';
import { findPlaywrightConfig } from '../playwright/find-config.js';
import { findPlaywright, type Playwright } from '../playwright/find-playwright.js';
import { firstRunProblem } from '../playwright/refusals.js';
import { toPlaywrightArgs } from '../playwright/selection.js';
import { waitingVariablesIn, waitingWords } from '../playwright/unattended.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import { paletteFor, unpainted } from '../outputs/palette.js';
import { startWatchdog, type Watchdog } from '../process/watchdog.js';
import { terminalReporter } from '../outputs/terminal.js';
import { err, ok, type Result } from '../result.js';
import type { ProjectLock } from '../run/project-lock.js';
import { createRunFolder, newRunId, type RunFolder } from '../run/run-folder.js';
import { createRedactor, type Redactor } from '../secrets/redactor.js';
import { noMemory, type RunMemory } from '../run/run-memory.js';
import type { Session } from '../heal/session.js';
import type { Resumed } from './resumed.js';
import { createRunPlan } from '../run/run-plan.js';
import { eventsWriter } from '../run/write-events.js';
import { createSuiteRuns } from '../heal/suite-runs.js';
import { openRunJournal } from '../run/run-journal.js';
import { finishRun } from './finish-run.js';
import { isTerse } from './is-terse.js';
import { recover } from './recover.js';
import { listenForInterrupts } from './interrupts.js';
import type { RunOptions } from './options.js';
import { underLock } from './under-lock.js';
import { isLive } from './is-live.js';

/** `self-heal run`, as it was typed. */
export interface RunRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly filters: readonly string[];
  readonly passThrough: readonly string[];
  readonly options: RunOptions;
  /** The unfinished run to go on with; absent for a new one. */
  readonly resumed?: Resumed;
  /** The project's lock, where the command has it already. */
  readonly lock?: ProjectLock;
}

/** What must be there before anything is run. */
interface Checked {
  readonly settings: Settings;
  readonly playwright: Playwright;
  /** Agents that cannot be started here; none where none is needed. */
  readonly missing: ReadonlyMap<string, Problem>;
}

interface Ready extends Checked {
  readonly folder: RunFolder;
  readonly watchdog: Watchdog;
}

/** The whole of `self-heal run`: gives the exit code, or the problem that kept it from running. */
export async function runSelfHeal(request: RunRequest): Promise<number | Problem> {
  const { cwd, lock, options } = request;
  const checked = await check(request);
  if (!checked.ok) return checked.error;
  const run = (held: ProjectLock) => runLocked(request, checked.value, held);
  return lock ? run(lock) : underLock({ cwd, command: 'run', wait: options.wait ?? false }, run);
}

async function runLocked(
  request: RunRequest,
  checked: Checked,
  lock: ProjectLock,
): Promise<number | Problem> {
  const startedAt = systemClock.now();
  const unrecovered = await recover(request.cwd);
  if (unrecovered) return unrecovered;
  const folder = await createRunFolder(request.cwd, newRunId(startedAt, systemClock.random()));
  if (!folder.ok) return folder.error;
  await lock.tell(folder.value.runId);
  using watchdog = startWatchdog(folder.value.runId);
  const ready = { ...checked, folder: folder.value, watchdog };
  using interrupts = listenForInterrupts((text) => process.stderr.write(`self-heal ${text}\n`));
  const opened = await open(request, ready, { signal: interrupts.signal, startedAt });
  const first = await firstRun(request, opened);
  const problem = interrupts.signal.aborted ? null : firstRunProblem(first);
  if (problem) return closed(opened, problem);
  const memory = await remember(request, opened, first);
  if (!memory.ok) return closed(opened, memory.error);
  // What comes after the suite is loaded after it: people wait for Playwright's start.
  const { composeSession } = await import('./compose-session.js');
  const session = await composeSession({
    ...opened,
    memory: memory.value,
    first,
    startsAgents: request.options.dryRun !== true,
  });
  const record = await planOrHeal(request, session, first);
  await session.sweep();
  await session.workspace.close();
  await opened.running.ended();
  return finishRun(request, { ...opened, session, record, interrupts });
}

async function planOrHeal({ options, resumed }: RunRequest, session: Session, first: SuiteRun) {
  if (options.dryRun) {
    const { planRun } = await import('../heal/plan-run.js');
    return planRun(session, first, options.json ? () => undefined : showPlan);
  }
  const { healRun } = await import('../heal/run.js');
  return healRun(session, first, resumed?.carried ?? []);
}

/** What is open while a run is at work. */
type Opened = Awaited<ReturnType<typeof open>>;

async function open(request: RunRequest, ready: Ready, run: { signal: AbortSignal; startedAt: number }) {
  const running = await openRunJournal(ready.folder);
  const redactor = await createRedactor({ env: request.env, projectRoot: request.cwd });
  const warnings: string[] = [];
  const bus = createRunBus(request, { folder: ready.folder, warnings, redactor });
  const { cwd, env } = request;
  const plan = createRunPlan();
  const suites = createSuiteRuns({
    ...ready,
    plan,
    cwd,
    env,
    bus,
    redactor,
    signal: run.signal,
    args: argsOf(request),
  });
  return { ...ready, ...run, cwd, env, running, redactor, warnings, bus, plan, suites };
}

/** Ends a run that came to nothing. */
async function closed({ running, bus }: Opened, problem: Problem): Promise<Problem> {
  await running.ended();
  await bus.close();
  return problem;
}

async function firstRun(request: RunRequest, opened: Opened): Promise<SuiteRun> {
  const { cwd, options, resumed } = request;
  const { bus, folder, settings, playwright, suites } = opened;
  bus.emit({
    type: 'run.started',
    runId: folder.runId,
    project: settings.project,
    cwd,
    playwright: playwright.version,
    dryRun: options.dryRun ?? false,
    request: typed(request),
    ...(resumed ? { resumedFrom: resumed.runId } : {}),
  });
  for (const name of waitingVariablesIn(request.env)) {
    const message = `${name} is set, which makes Playwright wait for input: it was not passed on.`;
    bus.emit({ type: 'run.warning', message });
  }
  const stdout = options.json ? 2 : 1;
  const first = resumed ? await resumed.firstRun(suites, stdout) : await suites.first(stdout);
  if (first.reusedServer) bus.emit({ type: 'run.warning', message: staleServer(first.reusedServer) });
  return first;
}

/** A green run opens no store (CL-4), and one that is only shown keeps nothing. */
async function remember(
  request: RunRequest,
  opened: Opened,
  first: SuiteRun,
): Promise<Result<RunMemory, Problem>> {
  const { resumed, options } = request;
  if ((!isRed(first) && resumed === undefined) || options.dryRun) return ok(noMemory);
  const { openMemory } = await import('./open-memory.js');
  const memory = await openMemory({ ...opened, runId: opened.folder.runId });
  if (memory.ok) await memory.value.started(typed(request), resumed?.runId ?? null);
  return memory;
}

async function check({ cwd, env, options, passThrough }: RunRequest): Promise<Result<Checked, Problem>> {
  const waiting = waitingWords(passThrough);
  if (waiting) return err(waiting);
  const config = findPlaywrightConfig(cwd, options.config);
  const playwright = findPlaywright(cwd, config.ok ? config.value : undefined);
  if (!playwright.ok) return playwright;
  if (!config.ok) return config;
  const { agents, verify } = options;
  const named = { ...(agents ? { file: agents } : {}), ...(verify ? { verify } : {}) };
  const loaded = await loadSettings({ cwd, env, ...named });
  if (!loaded.ok) return loaded;
  const settings = options.dryRun ? loaded.value : await withInstalledRunner(loaded.value, cwd);
  const missing = options.dryRun ? new Map<string, Problem>() : await missingAgents(settings, cwd);
  return ok({ settings, playwright: playwright.value, missing });
}

interface BusParts {
  folder: RunFolder;
  warnings: string[];
  redactor: Redactor;
}

function createRunBus({ env, options }: RunRequest, { folder, warnings, redactor }: BusParts): Bus {
  const terminal = terminalReporter({
    stream: process.stderr,
    paint: isTerse(env, options) ? unpainted : paletteFor(env),
    live: isLive(env, process.stderr.isTTY),
    terse: isTerse(env, options),
    now: () => systemClock.now(),
  });
  const keepWarnings = {
    name: 'warnings',
    handle: (event: { type: string; message?: string }) => {
      if (event.type === 'run.warning' && event.message) warnings.push(event.message);
    },
  };
  return createBus([eventsWriter(folder.dir), terminal, keepWarnings], systemClock, redactor);
}

/** The prompt is data: it goes to standard output (CL-7). */
function showPlan({ cause, slashCommand, runner, prompt }: Plan): void {
  const head = `${cause.id} ${cause.lead.diagnosis.category} → ${slashCommand} (${runner})`;
  process.stdout.write(`\n${head}\n\n${prompt.trimEnd()}\n`);
}

function argsOf({ options, filters, passThrough }: RunRequest) {
  return toPlaywrightArgs({ ...options, filters, passThrough });
}

/** What `resume` needs to go on. */
function typed({ filters, passThrough, options }: RunRequest) {
  return { filters, passThrough, options };
}

function isRed(first: SuiteRun): boolean {
  return first.failures.length > 0 || first.suiteFailure !== null;
}

function staleServer(url: string): string {
  return `${url} was already served when Playwright started, so the tests ran against that server: it may serve old code. Stop it, or set reuseExistingServer: false.`;
}
