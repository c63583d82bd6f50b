import { environment } from '../environment.js';
import path from 'node:path';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { builtIn, builtInRunners, isBuiltInRunner, reviewer } from '../model/built-in.js';
import type { AgentSettings, RunnerSettings, Settings } from '../model/settings.js';
import type { Problem } from '../problem.js';
import { findProgram } from '../process/find-program.js';
import { locateCommandFile, listCommandFiles } from './command-files.js';
import { findAgentProgram } from './programs.js';

/** Returns the names of all agents that a run may start, except a reviewer that agents.yaml does not name. */
export function listAgentsInUse({
  routes,
  verify,
  reviewer: namedReviewer,
}: Pick<Settings, 'routes' | 'verify' | 'reviewer'>): string[] {
  const isReviewing = verify.review === 'always' && namedReviewer !== null;
  return [...new Set([...Object.values(routes).flat(), ...(isReviewing ? [reviewer] : [])])];
}

/**
 * Chooses the programs that may review a fix by the program `author`: the one that agents.yaml names, or else those that are set up here. Programs other
 * than the author come first, because a model tends to excuse its own kind of mistakes. If the author is the user's own command and agents.yaml names no
 * reviewer, returns a sentence that says so.
 */
export async function chooseReviewers(
  { agents, runners, reviewer: namedReviewer }: Pick<Settings, 'agents' | 'runners' | 'reviewer'>,
  { author, cwd }: { readonly author: string | null; readonly cwd: string },
): Promise<readonly string[] | string> {
  if (namedReviewer !== null) return [namedReviewer];
  if (author !== null && runners[author]?.kind === 'command')
    return `${author} is a custom command, so agents.yaml must name a runner for the agent ${reviewer}`;
  const agent = agents[reviewer];
  if (!agent) return [];
  const otherPrograms = builtInRunners.filter((program) => program !== author);
  const checks = [...otherPrograms, ...(author === null ? [] : [author])].map(async (program) => {
    const runner = runners[program];
    return runner && (await checkAgent({ ...agent, runner: program }, runner, cwd)) === null ? [program] : [];
  });
  return (await Promise.all(checks)).flat();
}

/** Returns the agents in use that cannot start here, each with the reason. */
export async function findMissingAgents(settings: Settings, cwd: string): Promise<Map<string, Problem>> {
  const problems = new Map<string, Problem>();
  for (const name of listAgentsInUse(settings)) {
    const agent = settings.agents[name];
    const runner = agent && settings.runners[agent.runner];
    const problem = runner ? await checkAgent(agent, runner, cwd) : null;
    if (problem) problems.set(name, problem);
  }
  return problems;
}

/** Returns one problem per remedy, since several agents may lack the same thing. */
export function listDistinctProblems(missing: ReadonlyMap<string, Problem>): Problem[] {
  return [...new Map([...missing.values()].map((problem) => [problem.remedy, problem])).values()];
}

/** If the default runner is not installed, removes it from the agents that use it only by default, so that only the built-in fixer heals (BF-1). */
export async function dropMissingRunner(settings: Settings, cwd: string): Promise<Settings> {
  const [first] = settings.agentsWithDefaultRunner;
  const runner = first === undefined ? undefined : settings.runners[settings.agents[first]?.runner ?? ''];
  const file = runner && runner.kind !== 'command' ? getExecutable(runner) : null;
  if (file === null || (await findProgram(file, { cwd, env: environment() }))) return settings;
  const agents = settings.agentsWithDefaultRunner.flatMap((name) => settings.agents[name] ?? []);
  const reassigned = agents.map((agent) => [agent.name, { ...agent, runner: builtIn }] as const);
  return { ...settings, agents: { ...settings.agents, ...Object.fromEntries(reassigned) } };
}

/**
 * Checks that an agent's program and slash command exist, because most programs send an unknown command to the model as prose, and exit with success.
 * A program that self-heal does not know lists its own commands when it starts.
 */
async function checkAgent(
  agent: AgentSettings,
  runner: RunnerSettings,
  cwd: string,
): Promise<Problem | null> {
  const createProblem = (missing: string, remedy: string): Problem => ({
    kind: 'agent-not-installed',
    message: missing,
    remedy,
  });
  const file = getExecutable(runner);
  if (!(await findProgram(file, { cwd, env: environment() }))) {
    const program = runner.kind === 'command' ? null : findAgentProgram(getProgramName(runner));
    const install = program?.packageName ? `${program.title} (npm install -g ${program.packageName})` : file;
    return createProblem(
      `the program ${file} was not found`,
      runner.kind === 'command'
        ? 'Install it, or correct the command in agents.yaml.'
        : `Install ${install}, or name another runner in agents.yaml.`,
    );
  }
  if (runner.kind === 'command') {
    const script = findScript(runner.command);
    return script === null || (await isReadable(path.resolve(cwd, script)))
      ? null
      : createProblem(`the script ${script} was not found in ${cwd}`, 'Correct the command in agents.yaml.');
  }
  const program = getProgramName(runner);
  if (!isBuiltInRunner(program)) return null;
  const { slashCommand } = agent;
  const files = listCommandFiles(program, slashCommand, { project: cwd, home: homedir() });
  for (const commandFile of files) if (await isReadable(commandFile)) return null;
  return createProblem(
    `the slash command ${slashCommand} does not exist for ${program}`,
    `Create it as ${locateCommandFile(program, slashCommand)}, or set another one in agents.yaml.`,
  );
}

type CodingAgent = Exclude<RunnerSettings, { kind: 'command' }>;

/** Returns the name of the coding-agent program that a runner starts. */
function getProgramName(runner: CodingAgent): string {
  return runner.kind === 'acp' ? runner.program : runner.kind;
}

/** Returns the executable that a runner starts. */
export function getExecutable(runner: RunnerSettings): string {
  return 'command' in runner ? (runner.command[0] ?? '') : runner.kind;
}

const interpreters = /^(?:node|bun|deno|python3?|ruby|bash|sh)(?:\.exe)?$/;

/** Returns the script of a command like `[node, tools/fixer.mjs]`, or null. */
function findScript([file = '', script = '']: readonly string[]): string | null {
  return interpreters.test(path.basename(file)) && /^[^-{].*\.\w+$/.test(script) ? script : null;
}

async function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}
