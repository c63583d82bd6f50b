import type { OwnCommandLine } from './built-in.js';
import type { ProjectRules } from '../diagnose/rule.js';
import type { Category } from './diagnosis.js';

/** An agent as the routes name it: a slash command, the program that runs it, and how long it may take. */
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

/** How often, and after which waits, a failure that came back is retried. */
export interface RetrySettings {
  /** The maximum number of re-runs after an agent's work, per cause (HL-2). */
  readonly max: number;
  readonly backoff: { readonly initialMs: number; readonly factor: number; readonly maxMs: number };
}

/** What a run may spend. */
export interface LimitSettings {
  readonly agentRuns: number;
  readonly agentRunsPerTest: number;
  readonly costUsd: number;
  readonly timeMs: number;
  readonly escalations: number;
  /** How many agents may work at the same time, each in its own copy (SC-3). */
  readonly parallel: number;
  /** What all runs that share the store may spend in 24 hours (CI-6). */
  readonly perDay: { readonly agentRuns: number; readonly costUsd: number };
}

/** How thoroughly a heal is proven. */
export const verifyLevels = ['quick', 'full', 'clean'] as const;

/** One of `verifyLevels`. */
export type VerifyLevel = (typeof verifyLevels)[number];

/** agents.yaml with all defaults filled in. */
export interface Settings {
  readonly project: string;
  readonly agents: Readonly<Record<string, AgentSettings>>;
  readonly runners: Readonly<Record<string, RunnerSettings>>;
  /** The agents of each class, in the order in which they are tried. */
  readonly routes: Readonly<Record<Category, readonly string[]>>;
  /** What the project adds to, or removes from, the built-in classification rules (CS-9). */
  readonly classify: ProjectRules;
  readonly retries: RetrySettings;
  readonly limits: LimitSettings;
  /** How many console entries and requests an agent is shown. */
  readonly evidence: { readonly console: number; readonly network: number };
  readonly verify: {
    /**
     * How thoroughly a heal is proven (HN-5): `full` requires the whole proof, `clean` also one in a clean copy, `quick` only a green
     * regression run, and `none` nothing, in which case nothing is called healed.
     */
    readonly level: VerifyLevel;
    /** Whether a fix that takes back what an author changed waits for a person, or stands because the tests are the specification (BL-6). */
    readonly intent: 'ask' | 'tests';
    /** Whether an agent reads each fix of the app that another has made (HN-11). */
    readonly review: 'always' | 'off';
    /** A shell command to run in the project before each re-run (HL-9), or null. */
    readonly prepare: string | null;
    /** How often a red test is re-run unchanged before an agent is paid (HL-7). */
    readonly confirm: number;
    /** How often a fix must be green, including its first re-run (HN-5). */
    readonly repeat: number;
    /** How often a fix is reverted, to be red, and reapplied, to be green (HN-5). */
    readonly flips: number;
    /** What runs again after healing, to check that nothing else broke (HN-6). */
    readonly regression: 'suite' | 'none';
    /** The maximum expected duration of the regression run, in milliseconds. */
    readonly regressionTimeMs: number;
  };
  /** The search for the change that broke a test (BL-1, BL-2). */
  readonly blame: {
    /** Whether a run searches before its first agent; the `blame` command searches regardless. */
    readonly enabled: boolean;
    /** The maximum time of all searches of a run together, in milliseconds. */
    readonly timeMs: number;
  };
  /** Tests that are quarantined by the file, each until the end of a day in UTC, `YYYY-MM-DD` (ME-7). */
  readonly quarantine: readonly { readonly test: string; readonly until: string }[];
  /** Whether fixes of earlier runs are tried before an agent is started, and those of this run are kept for later ones (ME-8). */
  readonly memory: { readonly fixes: boolean };
  /** How often one test is run under one condition at most, and how long the search for what makes tests flaky may take (FL-1). */
  readonly flaky: { readonly runs: number; readonly timeMs: number };
  /** A path relative to the project, or a `postgres://` URL, which may contain a password (ME-10). */
  readonly store: string;
  /** What tries to fix a cause before any agent does, if it is certain of the fix (BF-1). */
  readonly fixer: 'built-in' | 'none';
  /** Names of the agents that have the default runner because none is configured. */
  readonly runnerByDefault: readonly string[];
  /** The program that reads fixes, if agents.yaml names one. */
  readonly reader: string | null;
  /** Absolute path of the agents.yaml that was read, or null for the built-in defaults. */
  readonly file: string | null;
}
