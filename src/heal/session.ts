import type { RunAgent } from '../agents/runner.js';
import type { Bus } from '../run/bus.js';
import type { Clock } from '../clock.js';
import type { DiagnosedFailure } from '../model/cause.js';
import type { Settings } from '../model/settings.js';
import type { Playwright } from '../playwright/find-playwright.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { BlameCauses, Hooks } from './hooks.js';
import type { Observations } from './observations.js';
import type { TestFiles } from './test-files.js';
import type { RunFolder } from '../run/run-folder.js';
import type { RunPlan } from '../run/run-plan.js';
import type { BrokenBuild } from '../playwright/broken-build.js';
import type { SuiteOptions } from '../playwright/run-suite.js';
import type { SuitePurpose } from '../event.js';
import type { WorkingCopy } from '../workspace/workspace.js';
import type { Redactor } from '../secrets/redactor.js';
import type { Store } from '../store/store.js';
import type { Spending } from '../run/spending.js';
import type { Guard } from '../guard/run-guard.js';
import type { Workspace } from '../workspace/workspace.js';

/** Callbacks while a suite runs. */
export type Watching = Pick<SuiteOptions, 'onStart' | 'onProgress'>;

/** Which tests to run again, and what for. */
export interface AgainRequest {
  readonly ids: readonly string[] | null;
  readonly purpose: SuitePurpose;
  readonly causeId: string | null;
  /** How many of the tests the run is made for; the others run along, or before them. */
  readonly red?: number;
  /** Ends only this run; the session's own signal ends it, too. */
  readonly signal?: AbortSignal;
  readonly watching?: Watching;
  /** The copy of the project to run in, if not in the project itself. */
  readonly workingCopy?: WorkingCopy;
  /** How the tests run this time, if not as the user's selection says. */
  readonly how?: {
    readonly args: readonly string[];
    readonly env?: NodeJS.ProcessEnv;
    readonly trace?: boolean;
    /** The flaky test that is looked at, if it is one. */
    readonly about?: string;
  };
  /** Set by the suite: the build error with which a web server did not become available before. */
  readonly brokenBuild?: BrokenBuild | null;
}

/** The project's suite, as healing runs it. */
export interface Suite {
  /** The project's own Playwright. */
  readonly playwright: Pick<Playwright, 'version'>;
  /** Counts the Playwright runs, and estimates how many more there will be. */
  readonly plan: RunPlan;
  /** Runs exactly these tests again, or the whole selection if `ids` is null. */
  runAgain(request: AgainRequest): Promise<SuiteRun>;
  /** Runs these tests in a clean copy of the project as it is now; a text says why that cannot be done. */
  runInCleanCopy(request: {
    readonly ids: readonly string[];
    readonly since: number;
  }): Promise<SuiteRun | string>;
  /** Runs `verify.prepare`; returns null if it succeeded or is not set, else its output, which counts as a failure of the suite. */
  prepare(signal?: AbortSignal): Promise<string | null>;
}

/** What is known about the failures of a run. */
export interface Diagnostics {
  /** Gathers evidence for, classifies and signs each failure of a run, the suite's own first. */
  diagnose(run: SuiteRun): Promise<DiagnosedFailure[]>;
  /** Writes down what is known about a failure, in place of what was known before. */
  writeFailure(failure: DiagnosedFailure): Promise<void>;
  /** Writes what the trace of the failure with this number shows into its folder, once; without a trace, it does nothing. */
  showTrace(n: number): Promise<void>;
}

/** What every step of a run is given: the effects as functions, and the run's own state. */
export interface Session {
  readonly settings: Settings;
  /** The project's root: where Playwright and the agents are started. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly folder: RunFolder;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  readonly suite: Suite;
  readonly diagnostics: Diagnostics;
  /** The project's tree, and the copies of it in which agents work. */
  readonly workspace: Workspace;
  /** What the Playwright runs have shown of each test. */
  readonly observations: Observations;
  /** Notices who else edits tests while the run works. */
  readonly testFiles: Pick<TestFiles, 'observe' | 'editedFor' | 'change'>;
  /** Masks secrets in every text on its way out. */
  readonly redactor: Redactor;
  /** Judges what an agent changed (HN-3). */
  readonly guard?: Guard;
  /** Whether a file belongs to the tests, by its path from the root of the workspace. */
  readonly isTest: (file: string) => boolean;
  readonly hooks: Hooks;
  readonly runAgent: RunAgent;
  /** Agents that cannot be started here, each with the reason; absent if all can. */
  readonly missingAgents?: ReadonlyMap<string, string>;
  readonly spending: Spending;
  /** Tests that reports of other runs name as red (SC-1), so that the first run here was their second. */
  readonly reportedRed?: ReadonlySet<string>;
  readonly store: Store;
  /** Finds the change that broke each of these causes (BL-1); absent if blame is off. */
  readonly blame?: BlameCauses;
}
