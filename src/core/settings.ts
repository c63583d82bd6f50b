import type { BuiltInRunner } from './built-in-runner.js';
import type { ProjectRules } from './classify/project-rules.js';
import type { Category } from './diagnosis.js';

/** An agent as the routes name it: a slash command, the program that runs it, and how long it may take. */
export interface AgentSettings {
  readonly name: string;
  readonly slashCommand: string;
  readonly runner: string;
  readonly timeoutMs: number;
}

/** A program that runs slash commands: one built in, or any other by its command line. */
export type RunnerSettings =
  | {
      readonly kind: BuiltInRunner;
      /** Further arguments of its command line, such as a model or a permission. */
      readonly args?: readonly string[];
      /** Names of variables of the environment that it is given beside those it needs (`MY_*` names several). */
      readonly env?: readonly string[];
    }
  | {
      readonly kind: 'command';
      /** argv, never given to a shell; may hold {slashCommand} {contextFile} {promptFile} {screenshot}. */
      readonly command: readonly string[];
      readonly prompt: 'stdin' | 'argument' | 'none';
    };

/** How often, and after which waits, a failure that came back is tried again. */
export interface RetrySettings {
  /** Re-runs after agents' work, per cause (HL-2). */
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
  /** Agents at work at the same time, each in a copy of its own (SC-3). */
  readonly parallel: number;
}

/** How much a heal is proven. */
export const verifyLevels = ['quick', 'full', 'none'] as const;

/** One of `verifyLevels`. */
export type VerifyLevel = (typeof verifyLevels)[number];

/** agents.yaml with every default filled in. */
export interface Settings {
  readonly project: string;
  readonly agents: Readonly<Record<string, AgentSettings>>;
  readonly runners: Readonly<Record<string, RunnerSettings>>;
  /** Agents by class, the first goes first. */
  readonly routes: Readonly<Record<Category, readonly string[]>>;
  /** What the project adds to the built-in rules of classification (CS-9). */
  readonly classify: ProjectRules;
  readonly retries: RetrySettings;
  readonly limits: LimitSettings;
  /** How many console entries and requests an agent is shown. */
  readonly evidence: { readonly console: number; readonly network: number };
  readonly verify: {
    /**
     * How much a heal is proven (HN-5): `full` asks for all of it, `quick` for a green regression run, `none` for nothing, and then nothing
     * is called healed.
     */
    readonly level: VerifyLevel;
    /** A shell command to run in the project before each re-run (HL-9), or null. */
    readonly prepare: string | null;
    /** How often a red test is run unchanged before an agent is paid (HL-7). */
    readonly confirm: number;
    /** How often a fix must be green, its first re-run included (HN-5). */
    readonly repeat: number;
    /** How often it is taken out, to be red, and put back, to be green (HN-5). */
    readonly flips: number;
    /** What runs again after healing, to see that nothing else broke (HN-6). */
    readonly regression: 'suite' | 'none';
    /** The longest that the regression run may be expected to take, in milliseconds. */
    readonly regressionTimeMs: number;
  };
  /** The search for the change that broke a test (BL-1, BL-2). */
  readonly blame: {
    /** In a run, before the first agent; the command asks for it by itself. */
    readonly enabled: boolean;
    /** Playwright runs of one search. */
    readonly runs: number;
    /** The longest that all searches of a run may take together, in milliseconds. */
    readonly timeMs: number;
  };
  /** A path, relative to the project, or a `postgres://` URL, which may hold a password (ME-10). */
  readonly store: string;
  /** Workers on several machines (SC-2). */
  readonly queue: {
    /** How long a worker may give no sign before its cause goes to another, in milliseconds. */
    readonly leaseMs: number;
  };
  /** What goes before the agents where it is sure (BF-1). */
  readonly fixer: 'built-in' | 'none';
  /** Agents whose runner nobody named: the default one. */
  readonly runnerByDefault: readonly string[];
  /** Absolute path of the agents.yaml that was read, or null for the built-in defaults. */
  readonly file: string | null;
}
