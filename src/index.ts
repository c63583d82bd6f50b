import type { AgentsFile } from './config/schema.js';
import type { ProofDepth } from './model/verification.js';
import type { StampedEvent } from './event.js';
import { runHosted } from './command/hosted-run.js';
import type { CommandRequest } from './command/run.js';
import type { RunOptions, RunRequest } from './command/run-request.js';
import type { Selection } from './playwright/selection.js';
import { type Problem, describeError } from './problem.js';
import { ok, type Result } from './result.js';
import type { Report } from './run/report.js';
import { SelfHealError } from './self-heal-error.js';
import { dropUndefined } from './without-undefined.js';

export type { ProblemKind } from './problem.js';
export type { Report } from './run/report.js';
export { SelfHealError };
/** Something that happened in a run, with its time in milliseconds since 1970. */
export type Event = StampedEvent;
/** agents.yaml as an object. */
export type Settings = AgentsFile;
/** A program that runs slash commands, as `runners` of agents.yaml describes it. */
export type Runner = NonNullable<Settings['runners']>[string];
/** Receives the events of a run. If it throws, it gets no further events, and the run continues. */
export type Reporter = (event: Event) => void;

/** The options of every call. */
export interface CallOptions extends Pick<Selection, 'config' | 'project'> {
  /** The project's folder. Default: the current folder. */
  readonly cwd?: string | undefined;
  /** The environment variables. Default: this process's. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Interrupts the run as Ctrl-C does: all its processes end, and unproven fixes are reverted. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: Reporter | undefined;
  /** Takes precedence over agents.yaml and over the environment. */
  readonly settings?: Settings | undefined;
  /** A file to read instead of the project's agents.yaml. */
  readonly agentsFile?: string | undefined;
  /** Waits for another self-heal process in the project instead of failing. */
  readonly wait?: boolean | undefined;
}

/** Selects the tests to run. The options have the same names and meanings as in Playwright. */
export interface TestOptions extends CallOptions, Omit<Selection, 'filters' | 'passThrough'> {
  /** Test files: regular expressions on the path, or `file:line`. */
  readonly tests?: readonly string[] | undefined;
  /** More arguments for Playwright. */
  readonly playwrightArgs?: readonly string[] | undefined;
  /** Starts no agent and changes nothing. */
  readonly dryRun?: boolean | undefined;
}

/** Options of `heal`. */
export interface HealOptions extends TestOptions {
  /** After healing, also measures, explains and heals the tests that turned out to be flaky. */
  readonly flaky?: boolean | undefined;
  /** Folders with Playwright reports. Heals the tests that failed there, instead of running the whole suite first. */
  readonly from?: readonly string[] | undefined;
}

/** Options of `verify`. */
export interface VerifyOptions extends CallOptions {
  /** The tests that the change should fix. Default: those that the last red run left failing. */
  readonly tests?: readonly string[] | undefined;
  /** The commit to compare with. Default: the state in which the last red run ran. */
  readonly base?: string | undefined;
  /** `quick` does not run the whole suite. Default: `full`. */
  readonly depth?: ProofDepth | undefined;
  /** Lets another agent review the change, which costs an agent run. Default: false. */
  readonly review?: boolean | undefined;
}

/** Options of `blame`. */
export interface BlameOptions extends CallOptions {
  /** A test filter, a run, or a cause of the last run, such as `c1`. Default: the tests that the last run left failing. */
  readonly test?: string | undefined;
  /** A commit at which the tests passed. */
  readonly base?: string | undefined;
}

/** Runs the suite and heals failing tests (CL-15). Throws a `SelfHealError` if it cannot run. */
export async function heal(options: HealOptions = {}): Promise<Report> {
  return runCall('heal', options, async (project, { tests, playwrightArgs, from, ...callOptions }) => {
    const commands = await import('./commands.js');
    const request = {
      ...project,
      name: 'heal',
      filters: tests ?? [],
      passThrough: playwrightArgs ?? [],
      options: { ...toRunOptions(callOptions), ...(from && { from: [...from] }) },
    };
    return ok({ request, command: callOptions.dryRun ? commands.plan : commands.heal });
  });
}

/** Measures, explains and heals flaky tests (CL-15). Throws a `SelfHealError` if it cannot run. */
export async function flaky(options: TestOptions = {}): Promise<Report> {
  return runCall('flaky', options, async (project, { tests, playwrightArgs, ...callOptions }) => {
    const commands = await import('./commands.js');
    const [filters, passThrough] = [tests ?? [], playwrightArgs ?? []];
    const request = { ...project, name: 'flaky', filters, passThrough, options: toRunOptions(callOptions) };
    return ok({ request, command: commands.flaky });
  });
}

/** Proves the changes in the working tree (CL-15). Throws a `SelfHealError` if it cannot run. */
export async function verify(options: VerifyOptions = {}): Promise<Report> {
  return runCall('verify', options, async (project, { tests, base, depth, review, ...callOptions }) => {
    const { createVerifyRequest } = await import('./clients/verify/verify-request.js');
    return createVerifyRequest(project, {
      ...toRunOptions(callOptions),
      base,
      depth,
      review,
      filters: tests,
    });
  });
}

/** Searches for the change that broke the failing tests (CL-15). Throws a `SelfHealError` if it cannot run. */
export async function blame(options: BlameOptions = {}): Promise<Report> {
  return runCall('blame', options, async (project, { test, base, ...callOptions }) => {
    const { createBlameRequest } = await import('./clients/blame/blame-request.js');
    return createBlameRequest(project, { ...toRunOptions(callOptions), base, test });
  });
}

/** Converts a call's options to its command's options. */
function toRunOptions({ agentsFile, ...options }: CommandOptions<CallOptions>): RunOptions {
  return dropUndefined({ ...options, agents: agentsFile, json: true });
}

/** The options that a call passes on to its command. */
type CommandOptions<Options extends CallOptions> = Omit<
  Options,
  'cwd' | 'env' | 'signal' | 'onEvent' | 'settings'
>;

async function runCall<Options extends CallOptions>(
  call: 'heal' | 'flaky' | 'verify' | 'blame',
  options: Options,
  prepare: (
    project: Pick<RunRequest, 'cwd' | 'env'>,
    options: CommandOptions<Options>,
  ) => Promise<Result<CommandRequest, Problem>>,
): Promise<Report> {
  try {
    const { checkOptions } = await import('./call-options.js');
    const checked = checkOptions(call, options);
    if (!checked.ok) throw new SelfHealError(checked.error);
    const { cwd = process.cwd(), env = process.env, signal, onEvent, settings, ...commandOptions } = options;
    const prepared = await prepare({ cwd, env }, commandOptions);
    if (!prepared.ok) throw new SelfHealError(prepared.error);
    const { request, command } = prepared.value;
    const result = await runHosted({ ...request, settings }, command, { signal, onEvent });
    if (!result.ok) throw new SelfHealError(result.error);
    const report = result.value;
    if (report.outcome === 'agent-unusable')
      throw new SelfHealError(createUnusableProblem(report), { report });
    return report;
  } catch (error) {
    if (error instanceof SelfHealError) throw error;
    throw new SelfHealError(
      { kind: 'bug', message: describeError(error), remedy: 'Report this bug with its stack trace.' },
      { cause: error },
    );
  }
}

function createUnusableProblem({ causes }: Report): Problem {
  const reason = causes.find(({ verdict }) => verdict === 'agent-unusable')?.reason;
  return {
    kind: 'agent-unusable',
    message: reason ?? 'no agent could be started',
    remedy: 'Set up the agent program, or name another in agents.yaml; self-heal doctor checks it.',
  };
}
