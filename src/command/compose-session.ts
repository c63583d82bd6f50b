import { createRunAgent } from '../agents/create-run-agent.js';
import { systemClock } from '../clock.js';
import type { Settings } from '../model/settings.js';
import { createGuard, findSuitePlaces } from '../guard/run-guard.js';
import { createTestPlacePredicate } from '../guard/test-places.js';
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
  /** The root of the working tree, which paths are relative to. */
  readonly root: string;
  /** Whether a file belongs to the tests, by its path from the root. */
  readonly isTest: (file: string) => boolean;
}

/** Creates the hooks of a run in which something is red. */
export type MakeHooks = (parts: HookParts) => Promise<Hooks>;

/** Creates the search for the changes that broke causes. */
export type MakeExplain = (opened: OpenRun, session: Omit<Session, 'blame'>) => BlameCauses;

/** The options of a session, by command. */
export interface SessionParts {
  /** Searches for the changes that broke causes; absent for no search. */
  readonly explain?: MakeExplain;
  /** Absent for a run that heals nothing. */
  readonly hooks?: MakeHooks;
  /** Whether only the tests to heal are run. Other tests that a fix affects are left to the next run of the suite. */
  readonly theseTestsOnly?: true;
}

/**
 * Assembles a session with the real effects, on top of the run's first Playwright run, from which the guard knows which files are tests. A green
 * run needs none, so this code is loaded only for a red one (CL-4).
 */
export async function composeSession(
  opened: OpenRun,
  { run: first, reportedRed }: ReportedRun,
  { explain, hooks, theseTestsOnly }: SessionParts,
): Promise<Result<Session, Problem>> {
  const { request, cwd, folder, bus, redactor, signal, startedAt, missing } = opened;
  const { verify } = opened.settings;
  const settings: Settings = theseTestsOnly
    ? { ...opened.settings, verify: { ...verify, regression: 'none' } }
    : opened.settings;
  const store = request.options.dryRun ? ok(noStore) : await openRunStore(opened);
  if (!store.ok) return store;
  // A question about an older fault must not hold back agents (ME-5).
  await closeSettledQuestions(store.value, cwd);
  if (isRed(first))
    for (const message of missingWarnings(missing)) bus.emit({ type: 'run.warning', message });
  const workspace = await opened.workspace.open();
  const { root } = workspace;
  const places = findSuitePlaces(root, first);
  const isTest = createTestPlacePredicate(places);
  const testFiles = new TestFiles(root, { places, files: await listTestFiles(root, places), workspace });
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
  return ok(explain ? { ...session, blame: explain(opened, session) } : session);
}

/** Returns one warning per remedy, since several agents may lack the same thing. */
function missingWarnings(missing: ReadonlyMap<string, Problem>): string[] {
  const byRemedy = new Map([...missing.values()].map((problem) => [problem.remedy, problem]));
  return [...byRemedy.values()].map(
    ({ message, remedy }) =>
      `${message}: failures routed to it are diagnosed and reported, but not fixed. ${remedy}`,
  );
}

/**
 * Opens the store for a run. If it cannot be reached or written, the run warns and continues without it (ME-9). If it cannot be
 * understood, the run ends, because continuing would forget every count and pay for every open question again.
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
