import { systemClock } from '../clock.js';
import { say } from '../outputs/streams.js';
import { runTerminal } from '../outputs/terminal.js';
import { toPlaywrightArgs } from '../playwright/selection.js';
import type { Problem } from '../problem.js';
import { sweep } from '../process/end-processes.js';
import type { Watchdog } from '../run/watchdog.js';
import { type Bus, createBus } from '../run/bus.js';
import { dropAllUnmasked } from '../run/mask-suite-folder.js';
import { bringIn, notMoved, removeRunFolder, type RunFolder } from '../run/run-folder.js';
import { markEnded, markRunning } from '../run/run-journal.js';
import { createRunPlan } from '../run/run-plan.js';
import { eventsWriter } from '../run/event-log.js';
import { createRedactor } from '../secrets/redactor.js';
import { contentsOf } from '../workspace/change.js';
import type { Workspace } from '../workspace/workspace.js';
import type { CheckedRequest, RunRequest } from './run-request.js';
import { createSuiteRuns } from './suite-runs.js';

/** What a run holds before it is opened. */
interface RunResources {
  readonly folder: RunFolder;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
  readonly startedAt: number;
}

/** A run in progress: its request, as checked, and the resources that are open for it. */
export type OpenRun = Awaited<ReturnType<typeof openRun>>;

/** Opens everything that a run needs before its first Playwright run; `cleanUp` closes it. */
export async function openRun(request: RunRequest, checked: CheckedRequest, run: RunResources) {
  await markRunning(run.folder);
  const redactor = await createRedactor({ env: request.env, projectRoot: request.cwd });
  const { cwd, env, filters, passThrough, options } = request;
  const { host } = request;
  const display = host ? { name: 'host', handle: host.onEvent } : runTerminal(env);
  const bus = createBus([eventsWriter(run.folder.dir), display], systemClock, redactor);
  const plan = createRunPlan();
  const suites = createSuiteRuns({
    ...checked,
    ...run,
    plan,
    cwd,
    env,
    bus,
    redactor,
    args: toPlaywrightArgs({ ...options, filters, passThrough }),
  });
  const workspace = lateWorkspace({ ...run, cwd, bus });
  return { ...checked, ...run, request, cwd, env, redactor, bus, plan, suites, workspace };
}

/**
 * Closes a run that could not proceed, and removes its files if it was refused before its first Playwright run. Returns the problem without secrets,
 * which Playwright's output may have repeated (EV-9).
 */
export async function closed(
  opened: Pick<OpenRun, 'folder' | 'workspace' | 'bus' | 'redactor'>,
  problem: Problem,
): Promise<Problem> {
  await cleanUp(opened);
  opened.bus.emit({ type: 'run.stopped', message: problem.message });
  await opened.bus.close();
  const hasRun = opened.bus.run().playwrightRuns > 0;
  if (hasRun) await bringIn(opened.folder).catch((error: unknown) => say(notMoved(opened.folder, error)));
  // The next command moves what is left of it.
  else await removeRunFolder(opened.folder).catch(() => undefined);
  return opened.redactor.deep(problem);
}

/** Leaves no process of a run that is over (AG-10), no copy of the project, and no file that may hold secrets (EV-9). */
export async function cleanUp({ folder, workspace }: Pick<OpenRun, 'folder' | 'workspace'>): Promise<void> {
  await sweep({ runId: folder.runId });
  await workspace.close();
  await dropAllUnmasked(folder.dir);
  await markEnded(folder).catch(() => undefined);
}

/**
 * After an error, such as a full disk: reverts every fix that is not decided. If no new journal can be written, the one for a kill, whose disk space is
 * reserved, reverts the same. If that fails, too, the user is told, and the next command does it.
 */
export async function cleanUpAfterError({
  folder,
  workspace,
  cwd,
}: Pick<OpenRun, 'folder' | 'workspace' | 'cwd'>): Promise<void> {
  // Processes that are still running would take the reserved space.
  await sweep({ runId: folder.runId }).catch(() => undefined);
  await dropAllUnmasked(folder.dir).catch(() => undefined);
  const finish = async () => (await import('../run/recover.js')).finishJournal(cwd);
  await workspace.close().catch(async () => {
    const finished = await finish().catch(() => null);
    if (finished && !finished.ok) say(`${finished.error.message}\n  → ${finished.error.remedy}`);
  });
  await bringIn(folder).catch((error: unknown) => say(notMoved(folder, error)));
}

/** What a workspace needs from its run. */
interface WorkspaceParts extends Pick<RunResources, 'folder' | 'watchdog' | 'signal'> {
  readonly cwd: string;
  readonly bus: Bus;
}

/** Creates the workspace of a run, which a green run never opens (CL-4). */
function lateWorkspace(parts: WorkspaceParts) {
  let opened: Promise<Workspace> | undefined;
  const open = () => (opened ??= openWorkspaceOf(parts));
  let hasBegun = false;
  return {
    /** Opens it on the first call, and returns it. */
    open,
    /** Opens it and starts its first copy while the suite is still running, so that the copy is ready when an agent needs it. */
    begin: () => {
      if (hasBegun) return;
      hasBegun = true;
      // The next caller of `open` gets the error.
      open().then(
        (workspace) => void workspace.prepare(),
        () => undefined,
      );
    },
    /** Deletes its copies if it was opened. */
    close: async () => {
      const workspace = await opened?.catch(() => undefined);
      await workspace?.close();
    },
  };
}

async function openWorkspaceOf(parts: WorkspaceParts): Promise<Workspace> {
  const { cwd, folder, signal, bus, watchdog } = parts;
  const { openWorkspace } = await import('../workspace/workspace.js');
  return openWorkspace({
    project: cwd,
    runId: folder.runId,
    runDir: folder.dir,
    contents: contentsOf(folder.dir),
    signal,
    onCopy: (copies) => watchdog.watch(copies),
    warn: (message) => bus.emit({ type: 'run.warning', message }),
  });
}
