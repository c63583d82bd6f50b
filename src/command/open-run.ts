import { systemClock } from '../clock.js';
import { printMessage } from '../outputs/streams.js';
import { createTerminal } from '../outputs/terminal.js';
import { toPlaywrightArgs } from '../playwright/selection.js';
import type { Watchdog } from '../run/watchdog.js';
import { type Bus, createBus } from '../run/bus.js';
import type { RunFolder } from '../run/run-folder.js';
import { markRunning } from '../run/run-journal.js';
import { createRunPlan } from '../run/run-plan.js';
import { createEventsWriter } from '../run/event-log.js';
import { createRedactor } from '../secrets/redactor.js';
import { openContentStore } from '../workspace/change.js';
import type { Workspace } from '../workspace/workspace.js';
import type { CheckedRequest, RunRequest } from './run-request.js';
import { createSuiteRuns } from './suite-runs.js';

/** The resources that a run has before it is opened. */
interface RunResources {
  readonly folder: RunFolder;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
  readonly startedAt: number;
}

/** A run in progress: its checked request and its open resources. */
export type OpenRun = Awaited<ReturnType<typeof openRun>>;

/** Opens everything that a run needs before its first Playwright run. */
export async function openRun(request: RunRequest, checked: CheckedRequest, run: RunResources) {
  await markRunning(run.folder);
  const redactor = await createRedactor({ env: request.env, projectRoot: request.cwd });
  const { cwd, env, filters, passThrough, options } = request;
  const { host } = request;
  const display = host ? { name: 'host', handle: host.onEvent } : createTerminal(env);
  const bus = createBus([createEventsWriter(run.folder.dir), display], systemClock, redactor);
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
  const workspace = createLazyWorkspace({ ...run, cwd, bus });
  return { ...checked, ...run, request, cwd, env, redactor, bus, plan, suites, workspace };
}

/**
 * Reverts all unproven fixes and deletes the copies. If no new journal can be written, as on a full disk, this uses the journal for a killed run,
 * whose disk space is reserved. If that fails too, it tells the user, and the next command reverts them.
 */
export async function closeWorkspace({ workspace, cwd }: Pick<OpenRun, 'workspace' | 'cwd'>): Promise<void> {
  try {
    await workspace.close();
  } catch (error) {
    const { finishJournal } = await import('../run/recover.js');
    const finished = await finishJournal(cwd).catch(() => null);
    if (finished && !finished.ok) printMessage(`${finished.error.message}\n  → ${finished.error.remedy}`);
    throw error;
  }
}

/** The parts of a run that its workspace needs. */
interface WorkspaceParts extends Pick<RunResources, 'folder' | 'watchdog' | 'signal'> {
  readonly cwd: string;
  readonly bus: Bus;
}

/** Creates the workspace of a run, which opens on first use. A green run never opens it (CL-4). */
function createLazyWorkspace(parts: WorkspaceParts) {
  let opened: Promise<Workspace> | undefined;
  const open = () => (opened ??= openRunWorkspace(parts));
  let isPreparing = false;
  return {
    /** Opens the workspace on the first call. */
    open,
    /** Opens the workspace and starts the first copy while the suite is still running, so that the copy is ready when an agent needs it. */
    startPreparing: () => {
      if (isPreparing) return;
      isPreparing = true;
      // The next caller of `open` gets the error.
      open().then(
        (workspace) => void workspace.prepare(),
        () => undefined,
      );
    },
    /** Deletes the copies if the workspace was opened. */
    close: async () => {
      const workspace = await opened?.catch(() => undefined);
      await workspace?.close();
    },
  };
}

async function openRunWorkspace(parts: WorkspaceParts): Promise<Workspace> {
  const { cwd, folder, signal, bus, watchdog } = parts;
  const { openWorkspace } = await import('../workspace/workspace.js');
  return openWorkspace({
    project: cwd,
    runId: folder.runId,
    runDir: folder.dir,
    contents: openContentStore(folder.dir),
    signal,
    onCopy: (copies) => watchdog.watch(copies),
    warn: (message) => bus.emit({ type: 'run.warning', message }),
  });
}
