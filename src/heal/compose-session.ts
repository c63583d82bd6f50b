import { Mutex } from 'async-mutex';
import { createRunAgent } from '../agents/create-run-agent.js';
import { systemClock } from '../clock.js';
import { createPropose } from '../fixer/propose.js';
import { createGuard, placesOf } from '../guard/create-guard.js';
import { testPlaces } from '../guard/test-places.js';
import { type BrokenBuild, brokenBuildOf } from '../playwright/broken-build.js';
import { isRed, type SuiteRun } from '../playwright/suite-run.js';
import type { Problem } from '../problem.js';
import type { RunStore } from '../run/run-store.js';
import { createSpending } from '../run/spending.js';
import { type BlameRequest, composeBlame } from './compose-blame.js';
import { createDiagnose } from './diagnose.js';
import type { Opened } from './open-run.js';
import { Observations } from './observations.js';
import { runPrepare } from './prepare.js';
import type { Session } from './session.js';

/** What a session is made of. */
export interface SessionParts extends Opened {
  /** The run's first suite, from which the guard knows which files are tests. */
  readonly first: SuiteRun;
  /** Tests that reports of other runs name as red. */
  readonly reportedRed: ReadonlySet<string>;
  readonly store: RunStore;
  /** How to search for the change to blame; absent if there is no search. */
  readonly blame?: BlameRequest;
  /** Fixes from the run that this one resumes. */
  readonly kept?: Session['kept'];
  readonly onlyChosen?: true;
}

/** Assembles a session with the real effects. A green run needs none, so this code is loaded only for a red one (CL-4). */
export async function composeSession(parts: SessionParts): Promise<Session> {
  const { settings, cwd, env, folder, bus, redactor, signal, startedAt, store, first, plan } = parts;
  if (isRed(first))
    for (const message of missingWarnings(parts.missing)) bus.emit({ type: 'run.warning', message });
  const workspace = await parts.workspace.open();
  const { root } = workspace;
  const isTest = testPlaces(placesOf(root, first));
  const diagnose = createDiagnose({ ...parts });
  const { prepare } = settings.verify;
  let brokenBuild: BrokenBuild | null = null;
  const session: Omit<Session, 'blame'> = {
    settings,
    playwright: parts.playwright,
    cwd,
    folder,
    bus,
    signal,
    workspace,
    observations: new Observations(workspace),
    tree: new Mutex(),
    copy: 0,
    guard: createGuard(root, first),
    ...(parts.kept ? { kept: parts.kept } : {}),
    ...(parts.onlyChosen ? { onlyChosen: true } : {}),
    ...(settings.fixer === 'none' ? {} : { propose: createPropose({ cwd, root, isTest }) }),
    clock: systemClock,
    spending: createSpending(startedAt),
    plan,
    redactor,
    store,
    reportedRed: parts.reportedRed,
    missingAgents: new Map([...parts.missing].map(([name, { message }]) => [name, message])),
    runAgent: createRunAgent(undefined, redactor),
    runAgain: (request) => parts.suites.again({ ...request, brokenBuild }),
    prepare: async (own = signal) =>
      prepare === null ? null : runPrepare(prepare, { cwd, env, signal: own, runId: folder.runId }),
    diagnose: async (run) => {
      const found = isRed(run) ? await diagnose(run) : [];
      const [lead] = found;
      brokenBuild = (lead && brokenBuildOf(lead)) ?? brokenBuild;
      return found;
    },
  };
  const { blame } = parts;
  return blame ? { ...session, blame: composeBlame(session, first, { ...blame, startedAt }) } : session;
}

/** Returns one warning per remedy, since several agents may lack the same thing. */
function missingWarnings(missing: ReadonlyMap<string, Problem>): string[] {
  const byRemedy = new Map([...missing.values()].map((problem) => [problem.remedy, problem]));
  return [...byRemedy.values()].map(
    ({ message, remedy }) =>
      `${message}: failures routed to it are diagnosed and reported, but not fixed. ${remedy}`,
  );
}
