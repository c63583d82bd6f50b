import { createRunAgent } from '../agents/create-run-agent.js';
import type { Bus } from '../bus.js';
import { systemClock } from '../clock.js';
import type { Settings } from '../core/settings.js';
import { createDiagnose } from '../diagnose.js';
import { runPrepare } from '../prepare.js';
import { sweep } from '../process/end-processes.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { RunFolder } from '../run-folder.js';
import type { Running } from '../running.js';
import type { RunMemory } from '../run-memory.js';
import type { Session } from '../session.js';
import type { Redactor } from '../secrets/redactor.js';
import { createSpending } from '../spending.js';
import type { SuiteRuns } from '../suite-runs.js';
import { createGuard } from '../guard/create-guard.js';
import { openWorkspace } from '../workspace/workspace.js';

/** What a session is made of. */
export interface SessionParts {
  readonly settings: Settings;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: RunFolder;
  readonly suites: SuiteRuns;
  readonly bus: Bus;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
  readonly running: Running;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The run's first suite, from which the guard knows which files are tests. */
  readonly first: SuiteRun;
  readonly memory: RunMemory;
}

/** Puts the real effects together. */
export async function composeSession(parts: SessionParts): Promise<Session> {
  const { settings, cwd, env, folder, suites, bus, redactor, signal, running, startedAt, memory, first } =
    parts;
  // A green run opens no store and starts no git (CL-4).
  const isRed = first.failures.length > 0 || first.suiteFailure !== null;
  if (isRed) await redactor.load();
  const workspace = isRed ? await openWorkspace(cwd) : null;
  if (isRed && !workspace) {
    const message =
      'git is not installed: nobody can tell what an agent changes, and nothing can be taken back';
    bus.emit({ type: 'run.warning', message });
  }
  const { prepare } = settings.verify;
  return {
    settings,
    cwd,
    folder,
    bus,
    signal,
    workspace,
    running,
    guard: workspace && createGuard(workspace, first),
    clock: systemClock,
    spending: createSpending(startedAt),
    redactor,
    memory,
    runAgent: createRunAgent(undefined, (text) => redactor.clean(text)),
    runAgain: (request) => suites.again(request),
    prepare: async () => (prepare === null ? null : runPrepare(prepare, { cwd, env, signal })),
    diagnose: createDiagnose({ settings, folder, cwd, redactor }),
    sweep: () => sweep({ name: 'SELF_HEAL_RUN_ID', value: folder.runId }),
  };
}
