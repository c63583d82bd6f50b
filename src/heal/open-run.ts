import { systemClock } from '../clock.js';
import { runTerminal } from '../outputs/terminal.js';
import { toPlaywrightArgs } from '../playwright/selection.js';
import type { Problem } from '../problem.js';
import type { Watchdog } from '../run/watchdog.js';
import { createBus } from '../run/bus.js';
import type { RunFolder } from '../run/run-folder.js';
import { openRunJournal } from '../run/run-journal.js';
import { createRunPlan } from '../run/run-plan.js';
import { eventsWriter } from '../run/event-log.js';
import { createRedactor } from '../secrets/redactor.js';
import type { Checked } from './check-request.js';
import { cleanUp } from './clean-up.js';
import type { RunRequest } from './run-request.js';
import { lateWorkspace } from './late-workspace.js';
import { createSuiteRuns } from './suite-runs.js';

interface Ready extends Checked {
  readonly folder: RunFolder;
  readonly watchdog: Watchdog;
}

/** What is open while a run is in progress. */
export type Opened = Awaited<ReturnType<typeof openRun>>;

/** Opens everything that a run needs while it is in progress. */
export async function openRun(
  request: RunRequest,
  ready: Ready,
  run: { signal: AbortSignal; startedAt: number },
) {
  const running = await openRunJournal(ready.folder);
  const redactor = await createRedactor({ env: request.env, projectRoot: request.cwd });
  const { cwd, env, filters, passThrough, options } = request;
  const bus = createBus([eventsWriter(ready.folder.dir), runTerminal(env)], systemClock, redactor);
  const plan = createRunPlan();
  const suites = createSuiteRuns({
    ...ready,
    plan,
    cwd,
    env,
    bus,
    redactor,
    signal: run.signal,
    args: toPlaywrightArgs({ ...options, filters, passThrough }),
  });
  const workspace = lateWorkspace({ ...ready, ...run, cwd, running, bus });
  return { ...ready, ...run, cwd, env, running, redactor, bus, plan, suites, workspace };
}

/** Closes a run that could not proceed; returns the problem without secrets, which Playwright's output may have repeated (EV-9). */
export async function closed(
  opened: Pick<Opened, 'folder' | 'workspace' | 'running' | 'bus' | 'redactor'>,
  problem: Problem,
): Promise<Problem> {
  await cleanUp(opened);
  opened.bus.emit({ type: 'run.stopped', message: problem.message });
  await opened.bus.close();
  return opened.redactor.deep(problem);
}
