import type { AgentsFile } from './config/schema.js';
import type { ProofDepth } from './model/verification.js';
import type { StampedEvent } from './event.js';
import { runHosted } from './command/hosted-run.js';
import type { CommandRequest } from './command/run.js';
import type { RunOptions, RunRequest } from './command/run-request.js';
import type { Selection } from './playwright/selection.js';
import { type Problem, reasonOf } from './problem.js';
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
/** Follows a run. What it throws ends it, not the run. */
export type Reporter = (event: Event) => void;

/** What every call takes. */
export interface CallOptions extends Pick<Selection, 'config' | 'project'> {
  /** The project; the current folder if absent. */
  readonly cwd?: string | undefined;
  /** The environment; that of this process if absent. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Interrupts the run as Ctrl-C does: all its processes end, and what is not proven is taken out. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: Reporter | undefined;
  /** Takes precedence over agents.yaml and over the environment. */
  readonly settings?: Settings | undefined;
  /** A file to read in place of the project's agents.yaml. */
  readonly agentsFile?: string | undefined;
  /** Whether to wait for another self-heal in the project, in place of an error. */
  readonly wait?: boolean | undefined;
}

/** Which tests run; the names and meanings are Playwright's. */
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
  /** Whether to go on to measure, explain and heal what the run found flaky. */
  readonly flaky?: boolean | undefined;
  /** Folders with Playwright's reports: heals what they name as red, in place of a run of the whole suite. */
  readonly from?: readonly string[] | undefined;
}

/** Options of `verify`. */
export interface VerifyOptions extends CallOptions {
  /** The tests that the change is for; those that the last red run left red if absent. */
  readonly tests?: readonly string[] | undefined;
  /** The commit to compare with; what the last red run ran on if absent. */
  readonly base?: string | undefined;
  /** Without the whole suite: `quick`. Default: `full`. */
  readonly depth?: ProofDepth | undefined;
  /** Whether another agent reads the change, which costs an agent run. Default: false. */
  readonly review?: boolean | undefined;
}

/** Options of `blame`. */
export interface BlameOptions extends CallOptions {
  /** A test filter, a run, or a cause of the last run, such as `c1`; what the last run left red if absent. */
  readonly test?: string | undefined;
  /** A commit at which the tests passed. */
  readonly base?: string | undefined;
}

/** Runs the suite and heals what is red (CL-15). Throws a `SelfHealError` if that is impossible here. */
export async function heal(options: HealOptions = {}): Promise<Report> {
  return reported('heal', options, async (project, { tests, playwrightArgs, from, ...own }) => {
    const commands = await import('./commands.js');
    const request = {
      ...project,
      name: 'heal',
      filters: tests ?? [],
      passThrough: playwrightArgs ?? [],
      options: { ...runOptionsOf(own), ...(from && { from: [...from] }) },
    };
    return ok({ request, command: own.dryRun ? commands.plan : commands.heal });
  });
}

/** Measures, explains and heals what is flaky (CL-15). Throws a `SelfHealError` if that is impossible here. */
export async function flaky(options: TestOptions = {}): Promise<Report> {
  return reported('flaky', options, async (project, { tests, playwrightArgs, ...own }) => {
    const commands = await import('./commands.js');
    const [filters, passThrough] = [tests ?? [], playwrightArgs ?? []];
    const request = { ...project, name: 'flaky', filters, passThrough, options: runOptionsOf(own) };
    return ok({ request, command: commands.flaky });
  });
}

/** Proves the changes in the working tree (CL-15). Throws a `SelfHealError` if that is impossible here. */
export async function verify(options: VerifyOptions = {}): Promise<Report> {
  return reported('verify', options, async (project, { tests, base, depth, review, ...own }) => {
    const { verifyRequest } = await import('./clients/verify/verify-request.js');
    return verifyRequest(project, { ...runOptionsOf(own), base, depth, review, filters: tests });
  });
}

/** Searches for the change that broke what is red (CL-15). Throws a `SelfHealError` if that is impossible here. */
export async function blame(options: BlameOptions = {}): Promise<Report> {
  return reported('blame', options, async (project, { test, base, ...own }) => {
    const { createBlameRequest: blameRequest } = await import('./clients/blame/blame-request.js');
    return blameRequest(project, { ...runOptionsOf(own), base, test });
  });
}

/** Returns the options of a command that a call stands for. */
function runOptionsOf({ agentsFile, ...options }: Own<CallOptions>): RunOptions {
  return dropUndefined({ ...options, agents: agentsFile, json: true });
}

/** The options of a call without those that every command has in its request. */
type Own<Options extends CallOptions> = Omit<Options, 'cwd' | 'env' | 'signal' | 'onEvent' | 'settings'>;

async function reported<Options extends CallOptions>(
  call: 'heal' | 'flaky' | 'verify' | 'blame',
  options: Options,
  prepare: (
    project: Pick<RunRequest, 'cwd' | 'env'>,
    own: Own<Options>,
  ) => Promise<Result<CommandRequest, Problem>>,
): Promise<Report> {
  try {
    const { checkOptions } = await import('./call-options.js');
    const checked = checkOptions(call, options);
    if (!checked.ok) throw new SelfHealError(checked.error);
    const { cwd = process.cwd(), env = process.env, signal, onEvent, settings, ...own } = options;
    const prepared = await prepare({ cwd, env }, own);
    if (!prepared.ok) throw new SelfHealError(prepared.error);
    const { request, command } = prepared.value;
    const result = await runHosted({ ...request, settings }, command, { signal, onEvent });
    if (!result.ok) throw new SelfHealError(result.error);
    const report = result.value;
    if (report.outcome === 'agent-unusable') throw new SelfHealError(unusable(report), { report });
    return report;
  } catch (error) {
    if (error instanceof SelfHealError) throw error;
    throw new SelfHealError(
      { kind: 'bug', message: reasonOf(error), remedy: 'Report it, with its stack.' },
      { cause: error },
    );
  }
}

function unusable({ causes }: Report): Problem {
  const reason = causes.find(({ verdict }) => verdict === 'agent-unusable')?.reason;
  return {
    kind: 'agent-unusable',
    message: reason ?? 'no agent could be started',
    remedy: 'Set up the agent program, or name another in agents.yaml; self-heal doctor checks it.',
  };
}
