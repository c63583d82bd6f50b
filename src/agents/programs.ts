import { isBuiltInRunner, type BuiltInRunner } from '../model/built-in.js';

/** The format of a program's slash-command files. */
export type CommandFormat = 'claude' | 'markdown' | 'toml' | 'plain';

/** A coding-agent program, as `init`, `doctor` and messages need it. */
export interface AgentProgram {
  /** Its executable, and its name as a runner in agents.yaml. */
  readonly name: BuiltInRunner;
  /** Its name as shown to users. */
  readonly title: string;
  /** The npm package that installs it. */
  readonly packageName: string;
  /** The environment variable for an API key, for places where nobody can log in. */
  readonly keyVariable: string;
  /** How to log in, as a sentence. */
  readonly login: string;
  readonly commandFormat: CommandFormat;
}

/** The programs of the built-in runners, in the order in which `init` prefers them if it cannot ask. */
export const programs: Readonly<Record<BuiltInRunner, AgentProgram>> = {
  claude: {
    name: 'claude',
    title: 'Claude Code',
    packageName: '@anthropic-ai/claude-code',
    keyVariable: 'ANTHROPIC_API_KEY',
    login: 'Run `claude` and /login, or set ANTHROPIC_API_KEY.',
    commandFormat: 'claude',
  },
  codex: {
    name: 'codex',
    title: 'Codex',
    packageName: '@openai/codex',
    keyVariable: 'CODEX_API_KEY',
    login: 'Run `codex login`, or set CODEX_API_KEY.',
    // It does not expand slash commands, so self-heal puts the file's text into the prompt.
    commandFormat: 'plain',
  },
  gemini: {
    name: 'gemini',
    title: 'Gemini CLI',
    packageName: '@google/gemini-cli',
    keyVariable: 'GEMINI_API_KEY',
    login: 'Run `gemini` and log in, or set GEMINI_API_KEY.',
    commandFormat: 'toml',
  },
  opencode: {
    name: 'opencode',
    title: 'opencode',
    packageName: 'opencode-ai',
    keyVariable: 'ANTHROPIC_API_KEY',
    login: "Run `opencode auth login`, or set the key of your model's provider.",
    commandFormat: 'markdown',
  },
  copilot: {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    packageName: '@github/copilot',
    keyVariable: 'COPILOT_GITHUB_TOKEN',
    login: 'Run `copilot` and /login, or set COPILOT_GITHUB_TOKEN.',
    // As with codex, self-heal reads the file.
    commandFormat: 'plain',
  },
};

/** Returns the program with this name, or null. */
export function programNamed(name: string): AgentProgram | null {
  return isBuiltInRunner(name) ? programs[name] : null;
}
