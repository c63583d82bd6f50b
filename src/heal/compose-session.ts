import { Mutex } from 'async-mutex';
import type { BlameRequest } from './compose-blame.js';
import type { Bus } from '../run/bus.js';
import { systemClock } from '../clock.js';
import type { Settings } from '../core/settings.js';
import { sweep } from '../process/end-processes.js';
import { isRed, type SuiteRun } from '../playwright/suite-run.js';
import type { RunFolder } from '../run/run-folder.js';
import type { RunPlan } from '../run/run-plan.js';
import type { RunStore } from '../run/run-store.js';
import type { LateWorkspace } from './late-workspace.js';
import type { Session } from './session.js';
import type { Problem } from '../problem.js';
import type { Redactor } from '../secrets/redactor.js';
import { createSpending, type Spending } from '../run/spending.js';
import type { Workers } from './workers/workers.js';
import type { SuiteRuns } from './suite-runs.js';
import type { Propose } from '../fixer/propose.js';
import type { ShardRun } from '../shards/read-shard.js';
import type { Workspace } from '../workspace/workspace.js';

/** What a session is made of. */
export interface SessionParts {
  readonly settings: Settings;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: RunFolder;
  readonly suites: SuiteRuns;
  readonly plan: RunPlan;
  readonly bus: Bus;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
  readonly workspace: LateWorkspace;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The run's first suite, from which the guard knows which files are tests. */
  readonly first: SuiteRun;
  /** Those of its failures that were diagnosed elsewhere, if the run was joined from shards. */
  readonly known?: ShardRun['known'];
  readonly store: RunStore;
  /** Other machines on which the agents work. */
  readonly workers?: Workers;
  /** Agents that cannot be started here. */
  readonly missing: ReadonlyMap<string, Problem>;
  /** How to search for the change to blame; absent if there is no search. */
  readonly blame?: BlameRequest;
  /** Fixes from the run that this one resumes. */
  readonly kept?: Session['kept'];
}

/** Assembles a session with the real effects. Code that only a red run needs is loaded on demand (CL-4). */
export async function composeSession(parts: SessionParts): Promise<Session> {
  const { settings, cwd, env, folder, suites, bus, redactor, signal, startedAt, store, first, plan } = parts;
  // A green run opens no store and makes no copy.
  const red = isRed(first);
  if (red) await redactor.load();
  if (red) for (const message of missingWarnings(parts.missing)) bus.emit({ type: 'run.warning', message });
  const workspace = red ? await parts.workspace.open() : idleWorkspace(cwd);
  const { prepare } = settings.verify;
  const diagnose = late(async () => {
    const { createDiagnose } = await import('./diagnose.js');
    const { known } = parts;
    return createDiagnose({ settings, folder, cwd, redactor, ...(known ? { known } : {}) });
  });
  const session: Omit<Session, 'blame'> = {
    settings,
    cwd,
    folder,
    bus,
    signal,
    workspace,
    tree: new Mutex(),
    copy: 0,
    guard: late(async () => {
      const { createGuard } = await import('../guard/create-guard.js');
      return createGuard(workspace.root, first);
    }),
    // A queue keeps the fixes of a killed run itself, and workers ask the built-in fixer themselves.
    ...(parts.kept && !parts.workers ? { kept: parts.kept } : {}),
    ...(settings.fixer === 'none' || parts.workers
      ? {}
      : { propose: fixer({ cwd, root: workspace.root, first }) }),
    ...(parts.workers ? { workers: parts.workers } : {}),
    clock: systemClock,
    spending: spendingOf(createSpending(startedAt), parts.workers),
    plan,
    redactor,
    store,
    missingAgents: new Map([...parts.missing].map(([name, { message }]) => [name, message])),
    runAgent: late(async () => {
      const { createRunAgent } = await import('../agents/create-run-agent.js');
      return createRunAgent(undefined, redactor);
    }),
    runAgain: (request) => suites.again(request),
    prepare: async (own = signal) => {
      if (prepare === null) return null;
      const { runPrepare } = await import('./prepare.js');
      return runPrepare(prepare, { cwd, env, signal: own, runId: folder.runId });
    },
    diagnose: async (run) => (isRed(run) ? diagnose(run) : []),
    sweep: () => sweep({ runId: folder.runId }),
  };
  const { blame } = parts;
  if (!blame) return session;
  const find = late(async () => {
    const { composeBlame } = await import('./compose-blame.js');
    return composeBlame(session, first, { ...blame, startedAt });
  });
  return { ...session, blame: find };
}

/** With workers, what agents have spent on all machines is known only to the queue. */
function spendingOf(own: Spending, workers: Workers | undefined): Spending {
  return workers ? { ...own, totals: () => ({ ...own.totals(), ...workers.spent() }) } : own;
}

function fixer({ cwd, root, first }: { cwd: string; root: string; first: SuiteRun }): Propose {
  return late(async () => {
    const { createPropose } = await import('../fixer/propose.js');
    const specs = first.tests.map(({ test }) => test.location.file);
    return createPropose({ cwd, root, testFiles: [...specs, ...(first.testFiles ?? [])] });
  });
}

/** Returns one warning per remedy, since several agents may lack the same thing. */
function missingWarnings(missing: ReadonlyMap<string, Problem>): string[] {
  const byRemedy = new Map([...missing.values()].map((problem) => [problem.remedy, problem]));
  return [...byRemedy.values()].map(
    ({ message, remedy }) =>
      `${message}: failures routed to it are diagnosed and reported, but not fixed. ${remedy}`,
  );
}

/** Defers loading the code of a step until the step is first called. */
function late<Given, Outcome>(
  load: () => Promise<(given: Given) => Promise<Outcome>>,
): (given: Given) => Promise<Outcome> {
  let step: Promise<(given: Given) => Promise<Outcome>> | undefined;
  return async (given) => {
    step ??= load();
    return (await step)(given);
  };
}

/** The workspace of a run without agents: it copies nothing and costs nothing (CL-4). */
function idleWorkspace(root: string): Workspace {
  const never = () => Promise.reject(new Error('This run has no agents.'));
  return {
    root,
    prepare: () => undefined,
    ready: never,
    edit: () => {
      throw new Error('This run has no agents.');
    },
    collect: never,
    apply: never,
    without: never,
    revert: never,
    edited: () => new Set(),
    decided: async () => undefined,
    close: async () => undefined,
  };
}
