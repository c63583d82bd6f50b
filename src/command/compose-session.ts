import { listDistinctProblems } from '../agents/check-agents.js';
import { createRunAgent } from '../agents/create-run-agent.js';
import { systemClock } from '../clock.js';
import type { Settings } from '../model/settings.js';
import { createGuard, findSuitePaths } from '../guard/run-guard.js';
import { createTestPathPredicate } from '../guard/test-paths.js';
import { isRed } from '../playwright/suite-run.js';
import { formatProblem, type Problem } from '../problem.js';
import { err, ok, type Result } from '../result.js';
import type { Store } from '../store/store.js';
import { closeSettledQuestions } from '../run/settled-questions.js';
import { noStore, createWarningStore } from '../store/warning-store.js';
import { createSpending } from '../run/spending.js';
import { createStore } from '../store/create-store.js';
import { openStore } from '../store/open-store.js';
import type { BlameCauses, Hooks } from '../heal/hooks.js';
import { Observations } from '../heal/observations.js';
import { listTestFiles, TestFiles } from '../heal/test-files.js';
import type { OpenRun } from './open-run.js';
import { createDiagnostics, createSuite } from './project-suite.js';
import type { ReportedRun } from './reported-run.js';
import type { Session } from '../heal/session.js';

/** The parts of a run that its hooks use. */
export interface HookParts {
  readonly opened: OpenRun;
  readonly store: Store;
  /** The root of the working tree; paths are relative to it. */
  readonly root: string;
  /** True if the file at this path from the root belongs to the tests. */
  readonly isTest: (file: string) => boolean;
}

/** Creates the hooks of a red run. */
export type CreateHooks = (parts: HookParts) => Promise<Hooks>;

/** Creates the search for the changes that broke the tests of a run. */
export type CreateBlameSearch = (opened: OpenRun, session: Omit<Session, 'blame'>) => BlameCauses;

/** The parts of a session that differ between commands. */
export interface SessionParts {
  /** Absent for a run that does not search for the changes to blame. */
  readonly blameSearch?: CreateBlameSearch;
  /** Absent for a run that heals nothing. */
  readonly hooks?: CreateHooks;
  /** Set to run only the tests to heal. The next run of the suite then shows whether a fix broke other tests. */
  readonly skipsRegression?: true;
}

/**
 * Assembles a session with the real effects. The run's first Playwright run tells the guard which files are tests. Only a red run needs a
 * session, so this code is loaded only then (CL-4).
 */
export async function composeSession(
  opened: OpenRun,
  { run: first, reportedRed }: ReportedRun,
  { blameSearch, hooks, skipsRegression }: SessionParts,
): Promise<Result<Session, Problem>> {
  const { request, cwd, folder, bus, redactor, signal, startedAt, missing } = opened;
  const { verify } = opened.settings;
  const settings: Settings = skipsRegression
    ? { ...opened.settings, verify: { ...verify, regression: 'none' } }
    : opened.settings;
  const store = request.options.dryRun ? ok(noStore) : await openRunStore(opened);
  if (!store.ok) return store;
  // An escalation that is already settled must not hold back agents (ME-5).
  await closeSettledQuestions(store.value, cwd);
  if (isRed(first))
    for (const message of describeMissingAgents(missing)) bus.emit({ type: 'run.warning', message });
  const workspace = await opened.workspace.open();
  const { root } = workspace;
  const suitePaths = findSuitePaths(root, first);
  const isTest = createTestPathPredicate(suitePaths);
  const files = await listTestFiles(root, suitePaths);
  const testFiles = new TestFiles(root, { suitePaths, files, workspace });
  testFiles.observe(first);
  const suite = createSuite(opened, workspace);
  const session: Omit<Session, 'blame'> = {
    settings,
    cwd,
    folder,
    bus,
    signal,
    suite,
    diagnostics: createDiagnostics(opened, suite),
    workspace,
    observations: new Observations(workspace),
    testFiles,
    guard: createGuard(root, first),
    isTest,
    hooks: (await hooks?.({ opened, store: store.value, root, isTest })) ?? {},
    clock: systemClock,
    spending: createSpending(startedAt, await store.value.sumLastDay()),
    redactor,
    store: store.value,
    reportedRed,
    missingAgents: new Map([...missing].map(([name, { message }]) => [name, message])),
    runAgent: createRunAgent(undefined, redactor),
  };
  return ok(blameSearch ? { ...session, blame: blameSearch(opened, session) } : session);
}

function describeMissingAgents(missing: ReadonlyMap<string, Problem>): string[] {
  return listDistinctProblems(missing).map(
    ({ message, remedy }) =>
      `${message}: failures routed to its agents are diagnosed and reported, but not fixed. ${remedy}`,
  );
}

/**
 * Opens the store for a run. If it cannot be reached or written, the run warns and continues without it (ME-9). If its contents cannot be
 * read, the run ends, because continuing would forget every count and start agents again for every open escalation.
 */
export async function openRunStore(
  opened: Pick<OpenRun, 'settings' | 'cwd' | 'bus' | 'redactor'>,
): Promise<Result<Store, Problem>> {
  const { settings, cwd, bus, redactor } = opened;
  const warn = (message: string) => bus.emit({ type: 'run.warning', message });
  const opening = await openStore(settings.store, cwd);
  if (opening.ok) {
    const store = createStore(opening.value, settings.project, () => Date.now());
    return ok(createWarningStore(store, { mask: (value) => redactor.deep(value), warn }));
  }
  if (opening.error.kind !== 'store-unusable') return err(opening.error);
  const message = `${formatProblem(opening.error).replace(/^self-heal: /, '')}\nHealing continues, but this run is not stored.`;
  warn(message.replaceAll(/\s+/g, ' '));
  return ok(noStore);
}
