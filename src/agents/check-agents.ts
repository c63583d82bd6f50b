import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import type { AgentSettings, BuiltInProgram, RunnerSettings, Settings } from '../core/settings.js';
import type { Problem } from '../problem.js';
import { commandFileOf, findCommandFile } from './slash-command.js';

/**
 * Finds out before the suite is run whether the programs behind the routes exist: a slash command that Claude Code does not know
 * would go to the model as prose, and end well (measured on 2.1.329).
 */
export async function checkAgents(settings: Settings, cwd: string): Promise<Problem | null> {
  const routed = new Set(Object.values(settings.routes).flat());
  for (const name of routed) {
    const agent = settings.agents[name];
    const runner = agent && settings.runners[agent.runner];
    const problem = runner ? await checkAgent(agent, runner, cwd) : null;
    if (problem) return problem;
  }
  return null;
}

async function checkAgent(
  agent: AgentSettings,
  runner: RunnerSettings,
  cwd: string,
): Promise<Problem | null> {
  if (runner.kind !== 'command')
    return (await checkProgram(agent, runner.kind, cwd)) ?? checkSlashCommand(agent, runner.kind, cwd);
  const [file = '', ...args] = runner.command;
  return (await checkProgram(agent, file, cwd)) ?? checkScript(agent, [file, ...args], cwd);
}

async function checkProgram(agent: AgentSettings, file: string, cwd: string): Promise<Problem | null> {
  if (await findProgram(file, cwd)) return null;
  const install = installOf[file];
  const remedy = install
    ? `Install it (${install}), or name another runner in agents.yaml; --dry-run needs none.`
    : 'Install it, or correct the command in agents.yaml; --dry-run needs no agent.';
  return missing(`the program ${file} of agent ${agent.name} was not found`, remedy);
}

/** How the built-in programs are installed, as their makers say. */
const installOf: Readonly<Record<string, string>> = {
  claude: 'npm install -g @anthropic-ai/claude-code',
  codex: 'npm install -g @openai/codex',
  gemini: 'npm install -g @google/gemini-cli',
  opencode: 'npm install -g opencode-ai',
  copilot: 'npm install -g @github/copilot',
};

const interpreters = /^(?:node|bun|deno|python3?|ruby|bash|sh)(?:\.exe)?$/;

/** `[node, tools/fixer.mjs]`: the interpreter is there, the script may not be. */
async function checkScript(
  agent: AgentSettings,
  command: readonly string[],
  cwd: string,
): Promise<Problem | null> {
  const [file = '', script] = command;
  if (!interpreters.test(path.basename(file)) || script === undefined || !/^[^-{].*\.\w+$/.test(script))
    return null;
  if (await exists(path.resolve(cwd, script), constants.R_OK)) return null;
  return missing(
    `the script ${script} of agent ${agent.name} was not found in ${cwd}`,
    'Correct the command in agents.yaml.',
  );
}

async function checkSlashCommand(
  { name, slashCommand }: AgentSettings,
  program: BuiltInProgram,
  cwd: string,
): Promise<Problem | null> {
  if (await findCommandFile(program, slashCommand, { cwd })) return null;
  return missing(
    `the slash command ${slashCommand} of agent ${name} does not exist for ${program}`,
    `Write it as ${commandFileOf(program, slashCommand)}, or map another one in agents.yaml.`,
  );
}

async function findProgram(file: string, cwd: string): Promise<boolean> {
  if (/[\\/]/.test(file)) return exists(path.resolve(cwd, file), constants.X_OK);
  const folders = [
    path.join(cwd, 'node_modules', '.bin'),
    ...(process.env['PATH'] ?? '').split(path.delimiter),
  ];
  const endings =
    process.platform === 'win32' ? ['', ...(process.env['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  for (const folder of folders.filter((one) => one !== '')) {
    for (const ending of endings) {
      if (await exists(path.join(folder, `${file}${ending}`), constants.X_OK)) return true;
    }
  }
  return false;
}

async function exists(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}

function missing(message: string, remedy: string): Problem {
  return { kind: 'agent-not-installed', message, remedy };
}
