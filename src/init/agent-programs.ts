import type { BuiltInRunner } from '../core/built-in-runner.js';

/** How a program wants the file of a slash command. */
export type CommandFormat = 'claude' | 'markdown' | 'toml' | 'plain';

/** A coding-agent program for which self-heal can be set up. */
export interface AgentProgram {
  /** Its executable, and its name as a runner in agents.yaml. */
  readonly name: BuiltInRunner;
  readonly title: string;
  /** The npm package that installs it. */
  readonly packageName: string;
  /** The variable by which it takes a key where nobody can log in. */
  readonly keyVariable: string;
  readonly format: CommandFormat;
}

/** In the order in which one is chosen where nobody is asked. */
export const agentPrograms: readonly AgentProgram[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    packageName: '@anthropic-ai/claude-code',
    keyVariable: 'ANTHROPIC_API_KEY',
    format: 'claude',
  },
  {
    name: 'codex',
    title: 'Codex',
    packageName: '@openai/codex',
    keyVariable: 'CODEX_API_KEY',
    // It expands no slash commands: self-heal reads the file and puts it into the prompt.
    format: 'plain',
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    packageName: '@google/gemini-cli',
    keyVariable: 'GEMINI_API_KEY',
    format: 'toml',
  },
  {
    name: 'opencode',
    title: 'opencode',
    packageName: 'opencode-ai',
    keyVariable: 'ANTHROPIC_API_KEY',
    format: 'markdown',
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    packageName: '@github/copilot',
    keyVariable: 'COPILOT_GITHUB_TOKEN',
    // As with codex, self-heal reads the file.
    format: 'plain',
  },
];

/** The program of this name, or null. */
export function agentProgram(name: string): AgentProgram | null {
  return agentPrograms.find((one) => one.name === name) ?? null;
}
