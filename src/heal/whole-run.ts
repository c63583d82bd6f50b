import { systemClock } from '../clock.js';
import type { Settings } from '../core/settings.js';
import { showPlan } from '../outputs/terminal.js';
import { say } from '../outputs/say.js';
import { firstRunProblem } from '../playwright/refusals.js';
import { isRed, type SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import type { Patience } from '../queue/patient.js';
import { sweep } from '../process/end-processes.js';
import { listenForInterrupts } from '../process/interrupts.js';
import { startWatchdog, type Watchdog } from '../run/watchdog.js';
import { ok, type Result } from '../result.js';
import type { ProjectLock } from '../run/project-lock.js';
import { recover } from '../run/recover-if-needed.js';
import { createRunFolder, newRunId } from '../run/run-folder.js';
import { noStore, type RunStore } from '../run/run-store.js';
import { repositoryLock, type RepositoryLock } from '../run/repository-lock.js';
import { underLock } from '../run/under-lock.js';
import { checkedOut } from '../run/checked-out.js';
import type { ShardCount } from '../shards/check-shards.js';
import type { ShardRun } from '../shards/read-shard.js';
import { type Checked, checkRequest } from './check-request.js';
import type { BlameRequest } from './compose-blame.js';
import { type Finished, finishRun } from './finish-run.js';
import { firstRun, shardsIn, typed } from './first-run.js';
import { closed, type Opened, openRun } from './open-run.js';
import type { RunRequest } from './run-request.js';
import type { Healed } from './progress.js';
import type { Session } from './session.js';
import type { Shards } from './shards.js';
import { tellSeen } from './tell-tests.js';
import type { HealedHere } from './workers/healed-here.js';
import type { Queued } from './workers/open-workers.js';
import type { Workers } from './workers/workers.js';

/** Runs `self-heal run` as a whole: returns the exit code, or the problem that prevented it. */
export async function runSelfHeal(request: RunRequest): Promise<number | Problem> {
  const { cwd, lock, options } = request;
  const checked = await checkRequest(request);
  if (!checked.ok) return checked.error;
  const shards = await shardsFor(request, checked.value);
  if (!shards.ok) return shards.error;
  const queued = await queuedHere(request, checked.value);
  if (!queued.ok) return queued.error;
  const ready = { ...checked.value, shards: shards.value, queued: queued.value };
  const run = (held: ProjectLock) => runLocked(request, ready, held);
  const command = options.from ? 'heal' : 'run';
  return lock ? run(lock) : underLock({ cwd, command, wait: options.wait ?? false }, run);
}

/** Returns the shards that take the place of the first run (SC-1); null if the suite runs here. */
async function shardsFor(request: RunRequest, checked: Checked): Promise<Result<Shards | null, Problem>> {
  const { from } = request.options;
  // If it is known which tests are left, only those are run.
  if (from === undefined || (request.resumed && request.resumed.open !== null)) return ok(null);
  const { shardsOf } = await import('./shards.js');
  return shardsOf(request, from, checked);
}

/** Returns the queue for causes to be healed on other machines (SC-2); null if they are healed here. */
async function queuedHere(
  request: RunRequest,
  checked: Checked,
): Promise<Result<HealedHere | null, Problem>> {
  if (!request.options.queue) return ok(null);
  const { healedHere } = await import('./workers/healed-here.js');
  return healedHere(request, checked);
}

/** A request that passed its checks, with its shards and its queue. */
type Ready = Checked & { readonly shards: Shards | null; readonly queued: HealedHere | null };

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

/** Runs in its folder. If it throws, for example because the disk is full, the watchdog cleans up. */
async function runWatched(
  request: RunRequest,
  checked: Ready & Pick<Opened, 'folder'> & { readonly watchdog: Watchdog },
  startedAt: number,
): Promise<number | Problem> {
  using interrupts = listenForInterrupts(say);
  interrupts.started(checked.folder.runId);
  const opened = await openRun(request, checked, { signal: interrupts.signal, startedAt });
  let checkout: ReturnType<typeof checkedOut> | undefined;
  const lookAtCheckout = () => (checkout ??= checkedOut(request.cwd));
  // Runs in other projects of the repository may test at the same time, but not while files are changed.
  using repository = repositoryLock(request.cwd, { signal: interrupts.signal, onWait: say });
  await repository.hold('shared');
  const ran = await firstRun(request, opened, { shards: checked.shards, onStart: lookAtCheckout });
  if (!ran.ok) return await closed(opened, ran.error);
  const { run: first, known } = ran.value;
  const problem = interrupts.signal.aborted ? null : firstRunProblem(first);
  if (problem) return await closed(opened, problem);
  if (request.options.collect) {
    const { collectRun } = await import('./collect-run.js');
    return await collectRun(request, opened, { first, interrupts, checkout: lookAtCheckout() });
  }
  // A run with nothing to heal needs no store, no copy and no session (CL-4).
  const isOver = !isRed(first) && !request.resumed;
  if (isOver) tellSeen(opened, first);
  if (!isOver && changesFiles(request)) await changeFiles(opened, repository);
  const worked = isOver ? ok(green) : await work(request, opened, { ...checked, first, known });
  if (!worked.ok) return await closed(opened, worked.error);
  await sweep({ runId: opened.folder.runId });
  await worked.value.close(!interrupts.signal.aborted);
  await opened.workspace.close();
  await opened.running.ended();
  const { commit, isDirty } = await lookAtCheckout();
  const isOfCommit = !isDirty && checked.shards?.isOfCommit !== false;
  return await finishRun(request, opened, {
    ...worked.value,
    interrupts,
    commit: isOfCommit ? commit : null,
  });
}

/** A dry run changes nothing in the project, not even temporarily; a search for changes to blame does. */
function changesFiles({ options, blame }: RunRequest): boolean {
  return blame !== undefined || !options.dryRun;
}

async function changeFiles({ bus }: Opened, repository: RepositoryLock): Promise<void> {
  if ((await repository.hold('exclusive')) !== 'waited') return;
  const message =
    'While this run waited, another one in this repository may have changed files: what passes now may be its fix.';
  bus.emit({ type: 'run.warning', message });
}

/** What a run has done about its failures. */
interface Worked extends Pick<Finished, 'healed' | 'store' | 'totals'> {
  /** Closes the connection to the workers, if any. */
  close(isOver: boolean): Promise<void>;
}

const green: Worked = {
  healed: { causes: [], suiteRed: false, paused: false },
  store: noStore,
  totals: () => ({ agentRuns: 0, costUsd: null }),
  close: async () => undefined,
};

/** Heals what is red, or only plans it. */
async function work(
  request: RunRequest,
  opened: Opened,
  { first, known, ...checked }: Ready & { readonly first: SuiteRun; readonly known: ShardRun['known'] },
): Promise<Result<Worked, Problem>> {
  const shards = checked.shards ?? request.resumed?.shards ?? null;
  const queued = checked.queued && { here: checked.queued, patience: await patienceOf(opened) };
  // Before the store, so that a run that may not send its causes leaves nothing in it.
  const workers = await workersOf(opened, first, queued);
  if (!workers.ok) return workers;
  const store = await remember(request, { ...opened, shards, patience: queued?.patience });
  if (!store.ok) {
    await workers.value?.close(false);
    return store;
  }
  // Loaded only after the suite, because people wait for Playwright to start.
  const { composeSession } = await import('./compose-session.js');
  const session = await composeSession({
    ...opened,
    store: store.value,
    first,
    ...(workers.value ? { workers: workers.value } : {}),
    ...(checked.shards ? { known } : {}),
    ...(request.resumed ? { kept: request.resumed.kept } : {}),
    ...blameOf(request, checked.settings),
  });
  return ok({
    healed: await planOrHeal(request, session, first),
    store: store.value,
    totals: () => session.spending.totals(),
    close: async (isOver) => workers.value?.close(isOver),
  });
}

/** Creates the patience with which a queued run waits for its store, without which neither it nor its workers can continue. */
async function patienceOf({ bus, signal }: Opened): Promise<Patience> {
  const { createPatience, longestAwayMs } = await import('../queue/patient.js');
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  return createPatience({
    clock: systemClock,
    signal,
    forMs: longestAwayMs,
    onAway: (reason) => warn(`Cannot reach the store (${reason}); retrying.`),
    onBack: () => warn('The store is reachable again.'),
  });
}

async function workersOf(
  opened: Opened,
  first: SuiteRun,
  queued: Queued | null,
): Promise<Result<Workers | null, Problem>> {
  if (queued === null || !isRed(first)) return ok(null);
  const { openWorkers } = await import('./workers/open-workers.js');
  return openWorkers(opened, first, queued);
}

/** A dry run changes nothing in the project, not even temporarily, so it does not search for changes to blame. */
function blameOf({ blame, options }: RunRequest, settings: Settings): { blame?: BlameRequest } {
  if (blame) return { blame: { ...blame, always: true } };
  return options.dryRun || !settings.blame.enabled ? {} : { blame: { base: null, always: false } };
}

async function planOrHeal(
  { blame, options, resumed }: RunRequest,
  session: Session,
  first: SuiteRun,
): Promise<Healed> {
  // What an earlier run has finished is carried over (ME-8).
  if (resumed) session.bus.emit({ type: 'tests.seen', tests: resumed.carried });
  tellSeen(session, first);
  if (blame) {
    const { blameRun } = await import('./blame-run.js');
    return blameRun(session, first);
  }
  if (options.dryRun) {
    const { planRun } = await import('./plan-run.js');
    return planRun(session, first, options.json ? () => undefined : showPlan);
  }
  const { healRun } = await import('./run.js');
  return healRun(session, first);
}

/** Opens the store; a dry run stores nothing. */
async function remember(
  request: RunRequest,
  opened: Opened & { readonly shards: ShardCount | null; readonly patience: Patience | undefined },
): Promise<Result<RunStore, Problem>> {
  const { resumed, options } = request;
  if (options.dryRun) return ok(noStore);
  const { openRunStore } = await import('./open-run-store.js');
  const store = await openRunStore({ ...opened, runId: opened.folder.runId });
  const asked = { ...typed(request), ...shardsIn(opened.shards) };
  if (store.ok) await store.value.started(asked, resumed?.runId ?? null);
  return store;
}
