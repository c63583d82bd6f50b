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

export type SuiteCallbacks = Pick<SuiteOptions, 'onStart' | 'onProgress'>;

/** The tests to run again, and the purpose. */
export interface RerunRequest {
  readonly ids: readonly string[] | null;
  readonly purpose: SuitePurpose;
  readonly causeId: string | null;
  /** The number of red tests among them; the others only run before them or in parallel. */
  readonly red?: number;
  /** Ends only this run; the session's own signal ends it, too. */
  readonly signal?: AbortSignal;
  readonly callbacks?: SuiteCallbacks;
  /** The copy of the project to run in, if not in the project itself. */
  readonly workingCopy?: WorkingCopy;
  /** Arguments and environment, if they differ from the user's selection. */
  readonly how?: {
    readonly args: readonly string[];
    readonly env?: NodeJS.ProcessEnv;
    readonly trace?: boolean;
    /** The flaky test that this run measures. */
    readonly about?: string;
  };
  /** The earlier build error that kept a web server from starting; set by the suite. */
  readonly brokenBuild?: BrokenBuild | null;
}

/** Runs the project's suite. */
export interface Suite {
  /** The project's own Playwright. */
  readonly playwright: Pick<Playwright, 'version'>;
  /** Counts the Playwright runs, and estimates how many more there will be. */
  readonly plan: RunPlan;
  /** Runs exactly these tests again, or the whole selection if `ids` is null. */
  rerun(request: RerunRequest): Promise<SuiteRun>;
  /** Runs these tests in a clean copy of the project as it is now; returns a sentence if that is impossible. */
  runInCleanCopy(request: {
    readonly ids: readonly string[];
    readonly since: number;
  }): Promise<SuiteRun | string>;
  /** Runs `verify.prepare`; returns null if it succeeded or is not set, else its output, which counts as a failure of the suite. */
  prepare(signal?: AbortSignal): Promise<string | null>;
}

/** Diagnoses the failures of a run. */
export interface Diagnostics {
  /** Gathers evidence for each failure of a run, classifies it and computes its signature, beginning with the suite's own failure. */
  diagnose(run: SuiteRun): Promise<DiagnosedFailure[]>;
  /** Writes the record of a failure, replacing the previous one. */
  writeFailure(failure: DiagnosedFailure): Promise<void>;
  /** Writes the contents of a failure's trace into its folder, once. Does nothing if there is no trace. */
  unpackTrace(n: number): Promise<void>;
}

/** The effects and the state that every step of healing gets. */
export interface Session {
  readonly settings: Settings;
  /** The project's root, in which Playwright and the agents start. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly folder: RunFolder;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  readonly suite: Suite;
  readonly diagnostics: Diagnostics;
  /** The working tree, and the copies in which agents work. */
  readonly workspace: Workspace;
  /** The results of all Playwright runs for each test. */
  readonly observations: Observations;
  /** Notices other people's edits to tests during the run. */
  readonly testFiles: Pick<TestFiles, 'observe' | 'listEditsToTest' | 'createChange'>;
  /** Masks secrets in every text that leaves self-heal. */
  readonly redactor: Redactor;
  /** Judges an agent's changes (HN-3). */
  readonly guard?: Guard;
  /** True if the file at this path from the root of the workspace belongs to the tests. */
  readonly isTest: (file: string) => boolean;
  readonly hooks: Hooks;
  readonly runAgent: RunAgent;
  /** Agents that cannot start here, each with the reason; absent if all can. */
  readonly missingAgents?: ReadonlyMap<string, string>;
  readonly spending: Spending;
  /** Tests that reports of other runs show as red (SC-1). For them, the first run here counts as the second. */
  readonly reportedRed?: ReadonlySet<string>;
  readonly store: Store;
  /** Finds the change that broke each of these causes (BL-1); absent if blame is off. */
  readonly blame?: BlameCauses;
}
