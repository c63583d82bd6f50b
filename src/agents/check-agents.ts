import { environment } from '../environment.js';
import path from 'node:path';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { builtIn, builtInRunners, isBuiltInRunner, reader } from '../model/built-in.js';
import type { AgentSettings, RunnerSettings, Settings } from '../model/settings.js';
import type { Problem } from '../problem.js';
import { findProgram } from '../process/find-program.js';
import { commandFileOf, commandFilesOf } from './command-files.js';
import { type AgentProgram, programNamed } from './programs.js';

/** Returns the names of all agents that a run may start, but for a reader that agents.yaml does not name. */
export function agentsInUse({
  routes,
  verify,
  reader: named,
}: Pick<Settings, 'routes' | 'verify' | 'reader'>): string[] {
  const isReading = verify.review === 'always' && named !== null;
  return [...new Set([...Object.values(routes).flat(), ...(isReading ? [reader] : [])])];
}

/**
 * Returns the programs that may read what `maker`, another program, has fixed: the one that agents.yaml names; or else those that are set up here, any
 * other first, since the kind of model that wrote a fix is the kind that excuses it. A command of the user's has no reader unless one is named, and a
 * sentence says so.
 */
export async function programsThatRead(
  { agents, runners, reader: named }: Pick<Settings, 'agents' | 'runners' | 'reader'>,
  { maker, cwd }: { readonly maker: string | null; readonly cwd: string },
): Promise<readonly string[] | string> {
  if (named !== null) return [named];
  if (maker !== null && runners[maker]?.kind === 'command')
    return `${maker} is a command, and agents.yaml names no runner for the agent ${reader}`;
  const agent = agents[reader];
  if (!agent) return [];
  const candidates = new Set<string>([...builtInRunners, ...(maker === null ? [] : [maker])]);
  const known = [...candidates].filter((program) => runners[program]);
  const checked = known.map(async (program) => {
    const isMissing = await checkAgent(
      { agents: { [reader]: { ...agent, runner: program } }, runners },
      reader,
      cwd,
    );
    return isMissing ? [] : [program];
  });
  const ready = (await Promise.all(checked)).flat();
  return [...ready.filter((program) => program !== maker), ...ready.filter((program) => program === maker)];
}

/** Returns the routed agents that cannot be started here, each with the reason; empty if all can. */
export async function missingAgents(settings: Settings, cwd: string): Promise<Map<string, Problem>> {
  const missing = new Map<string, Problem>();
  for (const name of agentsInUse(settings)) {
    const problem = await checkAgent(settings, name, cwd);
    if (problem) missing.set(name, problem);
  }
  return missing;
}

/**
 * If the default runner is not installed, returns settings in which the agents that use it only by default have no program, so that only the
 * built-in fixer heals (BF-1).
 */
export async function withInstalledRunner(settings: Settings, cwd: string): Promise<Settings> {
  const [first] = settings.runnerByDefault;
  const runner = first === undefined ? undefined : settings.runners[settings.agents[first]?.runner ?? ''];
  const file = runner && runner.kind !== 'command' ? fileOf(runner) : null;
  if (file === null || (await findProgram(file, { cwd, env: environment() }))) return settings;
  const agents = settings.runnerByDefault.flatMap((name) => settings.agents[name] ?? []);
  const without = agents.map((agent) => [agent.name, { ...agent, runner: builtIn }] as const);
  return { ...settings, agents: { ...settings.agents, ...Object.fromEntries(without) } };
}

/**
 * Checks that an agent's program and slash command exist. Most programs send an unknown command to the model as prose, and end well. A program of which
 * only its command is known names its own commands when it starts.
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
    const remedy = `Install ${installOf(programNamed(name), fileOf(runner))}, or name another runner in agents.yaml.`;
    const problem = await checkProgram(agent, { file: fileOf(runner), cwd, remedy });
    return problem ?? (isBuiltInRunner(name) ? checkSlashCommand(agent, name, cwd) : null);
  }
  const [file = '', ...args] = runner.command;
  const remedy = 'Install it, or correct the command in agents.yaml.';
  return (await checkProgram(agent, { file, cwd, remedy })) ?? checkScript(agent, [file, ...args], cwd);
}

/** Returns the executable of a coding-agent program. */
export function fileOf(runner: Exclude<RunnerSettings, { kind: 'command' }>): string {
  return runner.kind === 'acp' ? (runner.command[0] ?? '') : runner.kind;
}

function installOf(program: AgentProgram | null, file: string): string {
  return program?.packageName ? `${program.title} (npm install -g ${program.packageName})` : file;
}

async function checkProgram(
  agent: AgentSettings,
  { file, cwd, remedy }: { file: string; cwd: string; remedy: string },
): Promise<Problem | null> {
  if (await findProgram(file, { cwd, env: environment() })) return null;
  return missing(`the program ${file} of agent ${agent.name} was not found`, remedy);
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
  return missing(
    `the script ${script} of agent ${agent.name} was not found in ${cwd}`,
    'Correct the command in agents.yaml.',
  );
}

async function checkSlashCommand(
  { name, slashCommand }: AgentSettings,
  runner: string,
  cwd: string,
): Promise<Problem | null> {
  const files = commandFilesOf(runner, slashCommand, { project: cwd, home: homedir() });
  for (const file of files) if (await isReadable(file)) return null;
  return missing(
    `the slash command ${slashCommand} of agent ${name} does not exist for ${runner}`,
    `Create it as ${commandFileOf(runner, slashCommand)}, or set another one in agents.yaml.`,
  );
}

async function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}

function missing(message: string, remedy: string): Problem {
  return { kind: 'agent-not-installed', message, remedy };
}
