import type { OwnCommandLine } from './built-in.js';
import type { ProjectRules } from '../diagnose/rule.js';
import type { Category } from './diagnosis.js';

/** An agent of the routes: a slash command, the program that runs it, and its time limit. */
export interface AgentSettings {
  readonly name: string;
  readonly slashCommand: string;
  readonly runner: string;
  readonly timeoutMs: number;
}

/** A program that runs slash commands. */
export type RunnerSettings =
  | {
      readonly kind: OwnCommandLine;
      /** Additional command-line arguments, such as a model or a permission. */
      readonly args?: readonly string[];
      /** Names of environment variables to pass in addition to those the program needs (`MY_*` matches several). */
      readonly env?: readonly string[];
    }
  /** Any program that speaks the Agent Client Protocol. */
  | {
      readonly kind: 'acp';
      /** Its name as a runner. */
      readonly program: string;
      /** argv, never passed to a shell. */
      readonly command: readonly string[];
      readonly env?: readonly string[];
      /** The commands that it may run, with further arguments; none by default. */
      readonly allow?: readonly string[];
    }
  | {
      readonly kind: 'command';
      /** argv, never passed to a shell; may contain {slashCommand} {contextFile} {promptFile} {screenshot}. */
      readonly command: readonly string[];
      readonly prompt: 'stdin' | 'argument' | 'none';
    };

/** How often, and after which waits, self-heal tries again after a fix that did not hold. */
export interface RetrySettings {
  /** The maximum number of re-runs after an agent's work, per cause (HL-2). */
  readonly max: number;
  readonly backoff: { readonly initialMs: number; readonly factor: number; readonly maxMs: number };
}

/** The limits of a run. */
export interface LimitSettings {
  readonly agentRuns: number;
  readonly agentRunsPerTest: number;
  readonly costUsd: number;
  readonly timeMs: number;
  readonly escalations: number;
  /** How many agents may work at the same time, each in its own copy (SC-3). */
  readonly parallel: number;
  /** The limits of all runs that share the store, in 24 hours (CI-6). */
  readonly perDay: { readonly agentRuns: number; readonly costUsd: number };
}

/** How thoroughly a heal is proven. */
export const verifyLevels = ['quick', 'full', 'clean'] as const;

export type VerifyLevel = (typeof verifyLevels)[number];

/** agents.yaml with all defaults filled in. */
export interface Settings {
  readonly project: string;
  readonly agents: Readonly<Record<string, AgentSettings>>;
  readonly runners: Readonly<Record<string, RunnerSettings>>;
  /** The agents of each class, in the order in which they are tried. */
  readonly routes: Readonly<Record<Category, readonly string[]>>;
  /** The project's changes to the built-in classification rules (CS-9). */
  readonly classify: ProjectRules;
  readonly retries: RetrySettings;
  readonly limits: LimitSettings;
  /** How many console entries and requests an agent gets. */
  readonly evidence: { readonly console: number; readonly network: number };
  readonly verify: {
    /**
     * How thoroughly a heal is proven (HN-5): `full` requires the whole proof, `clean` also one in a clean copy, and `quick` only a green
     * regression run.
     */
    readonly level: VerifyLevel;
    /** Who decides about a fix that reverts an author's change: a person, or the tests, because they are the specification (BL-6). */
    readonly intent: 'ask' | 'tests';
    /** Which fixes to the app another agent reviews (HN-11). */
    readonly review: 'always' | 'off';
    /** A shell command to run in the project before each re-run (HL-9), or null. */
    readonly prepare: string | null;
    /** How often a red test is re-run unchanged before an agent is paid (HL-7). */
    readonly confirm: number;
    /** How often a fix must be green, including its first re-run (HN-5). */
    readonly repeat: number;
    /** How often a fix is reverted (the test must be red) and reapplied (it must be green) (HN-5). */
    readonly flips: number;
    /** The tests that run again after healing, to check that nothing else broke (HN-6). */
    readonly regression: 'suite' | 'none';
    /** The maximum expected duration of the regression run, in milliseconds. */
    readonly regressionTimeMs: number;
  };
  /** The search for the change that broke a test (BL-1, BL-2). */
  readonly blame: {
    /** True if a run searches before its first agent; the `blame` command searches regardless. */
    readonly enabled: boolean;
    /** The maximum time of all searches of a run together, in milliseconds. */
    readonly timeMs: number;
  };
  /** Tests that agents.yaml quarantines, each until the end of a day in UTC, `YYYY-MM-DD` (ME-7). */
  readonly quarantine: readonly { readonly test: string; readonly until: string }[];
  /** True if fixes of earlier runs are tried before an agent, and fixes of this run are kept for later ones (ME-8). */
  readonly memory: { readonly fixes: boolean };
  /** The limits for finding the condition of a flaky test: runs per condition, and time (FL-1). */
  readonly flaky: { readonly runs: number; readonly timeMs: number };
  /** A path relative to the project, or a `postgres://` URL, which may contain a password (ME-10). */
  readonly store: string;
  /** `built-in` if the built-in fixer tries the fixes it is sure of before any agent starts (BF-1). */
  readonly fixer: 'built-in' | 'none';
  /** Agents without a configured runner, which use the default one. */
  readonly agentsWithDefaultRunner: readonly string[];
  /** The program that reviews fixes, if agents.yaml names one. */
  readonly reviewer: string | null;
  /** Absolute path of the agents.yaml that was read, or null for the built-in defaults. */
  readonly file: string | null;
}
