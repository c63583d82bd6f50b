import { environment } from '../environment.js';
import path from 'node:path';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { builtIn, builtInRunners, isBuiltInRunner, reviewer } from '../model/built-in.js';
import type { AgentSettings, RunnerSettings, Settings } from '../model/settings.js';
import type { Problem } from '../problem.js';
import { findProgram } from '../process/find-program.js';
import { locateCommandFile, listCommandFiles } from './command-files.js';
import { type AgentProgram, findAgentProgram } from './programs.js';

/** Returns the names of all agents that a run may start, except a reviewer that agents.yaml does not name. */
export function listAgentsInUse({
  routes,
  verify,
  reviewer: named,
}: Pick<Settings, 'routes' | 'verify' | 'reviewer'>): string[] {
  const isReviewing = verify.review === 'always' && named !== null;
  return [...new Set([...Object.values(routes).flat(), ...(isReviewing ? [reviewer] : [])])];
}

/**
 * Chooses the programs that may review a fix by the program `maker`: the one that agents.yaml names, or else those that are set up here. Programs other
 * than the maker come first, because a model tends to excuse its own kind of mistakes. For a fix by the user's own command, a reviewer must be named
 * in agents.yaml; otherwise returns a sentence that says so.
 */
export async function chooseReviewers(
  { agents, runners, reviewer: named }: Pick<Settings, 'agents' | 'runners' | 'reviewer'>,
  { maker, cwd }: { readonly maker: string | null; readonly cwd: string },
): Promise<readonly string[] | string> {
  if (named !== null) return [named];
  if (maker !== null && runners[maker]?.kind === 'command')
    return `${maker} is a command, and agents.yaml names no runner for the agent ${reviewer}`;
  const agent = agents[reviewer];
  if (!agent) return [];
  const candidates = new Set<string>([...builtInRunners, ...(maker === null ? [] : [maker])]);
  const available = [...candidates].filter((program) => runners[program]);
  const checked = available.map(async (program) => {
    const isMissing = await checkAgent(
      { agents: { [reviewer]: { ...agent, runner: program } }, runners },
      reviewer,
      cwd,
    );
    return isMissing ? [] : [program];
  });
  const ready = (await Promise.all(checked)).flat();
  return [...ready.filter((program) => program !== maker), ...ready.filter((program) => program === maker)];
}

/** Returns the routed agents that cannot start here, each with the reason. */
export async function findMissingAgents(settings: Settings, cwd: string): Promise<Map<string, Problem>> {
  const problems = new Map<string, Problem>();
  for (const name of listAgentsInUse(settings)) {
    const problem = await checkAgent(settings, name, cwd);
    if (problem) problems.set(name, problem);
  }
  return problems;
}

/**
 * If the default runner is not installed, removes it from the agents that use it only by default, so that only the built-in fixer heals (BF-1).
 */
export async function dropMissingRunner(settings: Settings, cwd: string): Promise<Settings> {
  const [first] = settings.runnerByDefault;
  const runner = first === undefined ? undefined : settings.runners[settings.agents[first]?.runner ?? ''];
  const file = runner && runner.kind !== 'command' ? executableOf(runner) : null;
  if (file === null || (await findProgram(file, { cwd, env: environment() }))) return settings;
  const agents = settings.runnerByDefault.flatMap((name) => settings.agents[name] ?? []);
  const without = agents.map((agent) => [agent.name, { ...agent, runner: builtIn }] as const);
  return { ...settings, agents: { ...settings.agents, ...Object.fromEntries(without) } };
}

/**
 * Checks that an agent's program and slash command exist, because most programs send an unknown command to the model as prose, and exit with success.
 * A program that self-heal does not know lists its own commands when it starts.
 */
export async function checkAgent(
  { agents, runners }: Pick<Settings, 'agents' | 'runners'>,
  name: string,
  cwd: string,
): Promise<Problem | null> {
  const agent = agents[name];
  const runner = agent && runners[agent.runner];
  return runner ? checkRunner(agent, runner, cwd) : null;
}

async function checkRunner(
  agent: AgentSettings,
  runner: RunnerSettings,
  cwd: string,
): Promise<Problem | null> {
  if (runner.kind !== 'command') {
    const name = runner.kind === 'acp' ? runner.program : runner.kind;
    const remedy = `Install ${describeInstall(findAgentProgram(name), executableOf(runner))}, or name another runner in agents.yaml.`;
    const problem = await checkProgram(agent, { file: executableOf(runner), cwd, remedy });
    return problem ?? (isBuiltInRunner(name) ? checkSlashCommand(agent, name, cwd) : null);
  }
  const [file = '', ...args] = runner.command;
  const remedy = 'Install it, or correct the command in agents.yaml.';
  return (await checkProgram(agent, { file, cwd, remedy })) ?? checkScript(agent, [file, ...args], cwd);
}

/** Returns the executable of a coding-agent program. */
export function executableOf(runner: Exclude<RunnerSettings, { kind: 'command' }>): string {
  return runner.kind === 'acp' ? (runner.command[0] ?? '') : runner.kind;
}

function describeInstall(program: AgentProgram | null, file: string): string {
  return program?.packageName ? `${program.title} (npm install -g ${program.packageName})` : file;
}

async function checkProgram(
  agent: AgentSettings,
  { file, cwd, remedy }: { file: string; cwd: string; remedy: string },
): Promise<Problem | null> {
  if (await findProgram(file, { cwd, env: environment() })) return null;
  return createProblem(`the program ${file} of agent ${agent.name} was not found`, remedy);
}

const interpreters = /^(?:node|bun|deno|python3?|ruby|bash|sh)(?:\.exe)?$/;

/** Checks the script of a command like `[node, tools/fixer.mjs]`. */
async function checkScript(
  agent: AgentSettings,
  command: readonly string[],
  cwd: string,
): Promise<Problem | null> {
  const [file = '', script] = command;
  if (!interpreters.test(path.basename(file)) || script === undefined || !/^[^-{].*\.\w+$/.test(script))
    return null;
  if (await isReadable(path.resolve(cwd, script))) return null;
  return createProblem(
    `the script ${script} of agent ${agent.name} was not found in ${cwd}`,
    'Correct the command in agents.yaml.',
  );
}

async function checkSlashCommand(
  { name, slashCommand }: AgentSettings,
  runner: string,
  cwd: string,
): Promise<Problem | null> {
  const files = listCommandFiles(runner, slashCommand, { project: cwd, home: homedir() });
  for (const file of files) if (await isReadable(file)) return null;
  return createProblem(
    `the slash command ${slashCommand} of agent ${name} does not exist for ${runner}`,
    `Create it as ${locateCommandFile(runner, slashCommand)}, or set another one in agents.yaml.`,
  );
}

async function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}

function createProblem(message: string, remedy: string): Problem {
  return { kind: 'agent-not-installed', message, remedy };
}
