import { acpPrograms, type BuiltInRunner, isBuiltInRunner } from '../model/built-in.js';

/** The format of a program's slash-command files. */
export type CommandFormat = 'claude' | 'markdown' | 'toml' | 'plain';

/** A coding-agent program. */
export interface AgentProgram {
  /** Its name as a runner in agents.yaml. */
  readonly name: string;
  /** Its executable. */
  readonly file: string;
  /** Its display name. */
  readonly title: string;
  /** The npm package that installs it; null if its own documentation says how. */
  readonly packageName: string | null;
  /** The environment variable with an API key, for machines without a login; null if only the program's documentation names it. */
  readonly keyVariable: string | null;
  /** How to log in, as a sentence. */
  readonly login: string;
  readonly commandFormat: CommandFormat;
  /**
   * The paths of a slash command's file, relative to the project or to the user's home folder; a new command goes to the first one. `{name}` is the
   * command without its slash, in which `:` separates folders.
   */
  readonly commandFiles: readonly string[];
  /** The names of the user's environment variables that it gets; `CODEX_*` matches several. */
  readonly passedVariables: readonly string[];
  /** The environment variables that self-heal sets for it. */
  readonly env: Readonly<Record<string, string>>;
}

/** The variables with the keys of model providers, for programs that work with any model. */
const providerKeys = [
  'ANTHROPIC_* OPENAI_* GEMINI_* GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY MISTRAL_API_KEY',
  'XAI_API_KEY DEEPSEEK_API_KEY GITHUB_TOKEN AZURE_*',
].flatMap((line) => line.split(' '));

const claudeFiles = ['.claude/commands/{name}.md', '.claude/skills/{name}/SKILL.md'];

/** The command files for a program that self-heal does not know; either of them may read the files. */
const sharedFiles = ['.agents/commands/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudeFiles];

type BuiltInProgram = Pick<AgentProgram, 'title' | 'packageName' | 'keyVariable' | 'login'> &
  Partial<AgentProgram>;

/** The programs of the built-in runners, in the order in which `init` prefers them if it cannot prompt. */
const builtInPrograms: Readonly<Record<BuiltInRunner, BuiltInProgram>> = {
  claude: {
    title: 'Claude Code',
    packageName: '@anthropic-ai/claude-code',
    keyVariable: 'ANTHROPIC_API_KEY',
    login: 'Run `claude` and /login, or set ANTHROPIC_API_KEY.',
    commandFormat: 'claude',
    commandFiles: claudeFiles,
    passedVariables: ['ANTHROPIC_*', 'CLAUDE_*', 'API_TIMEOUT_MS', 'DISABLE_*'],
    // Background tasks would keep the process alive after its result.
    env: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
  },
  codex: {
    title: 'Codex',
    packageName: '@openai/codex',
    keyVariable: 'CODEX_API_KEY',
    login: 'Run `codex login`, or set CODEX_API_KEY.',
    // It expands no slash command without a terminal, so self-heal puts the file's text into the prompt, and any file will do.
    commandFiles: ['.codex/prompts/{name}.md', '.agents/skills/{name}/SKILL.md', ...claudeFiles],
    passedVariables: ['CODEX_*', 'OPENAI_*', 'AZURE_OPENAI_*'],
  },
  gemini: {
    title: 'Gemini CLI',
    packageName: '@google/gemini-cli',
    keyVariable: 'GEMINI_API_KEY',
    login: 'Run `gemini` and log in, or set GEMINI_API_KEY.',
    commandFormat: 'toml',
    commandFiles: ['.gemini/commands/{name}.toml'],
    passedVariables: ['GEMINI_*', 'GOOGLE_*'],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  opencode: {
    title: 'opencode',
    packageName: 'opencode-ai',
    keyVariable: 'ANTHROPIC_API_KEY',
    login: "Run `opencode auth login`, or set the key of your model's provider.",
    commandFormat: 'markdown',
    commandFiles: [
      '.opencode/command/{name}.md',
      '.opencode/commands/{name}.md',
      '.config/opencode/command/{name}.md',
      '.config/opencode/commands/{name}.md',
      '.claude/skills/{name}/SKILL.md',
    ],
    // By default, it never asks about project files.
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_PERMISSION: '{"*":"ask"}' },
  },
  copilot: {
    title: 'GitHub Copilot CLI',
    packageName: '@github/copilot',
    keyVariable: 'COPILOT_GITHUB_TOKEN',
    login: 'Run `copilot` and /login, or set COPILOT_GITHUB_TOKEN.',
    // It expands no slash command over the protocol, so self-heal reads the file.
    commandFiles: [
      '.github/prompts/{name}.prompt.md',
      '.github/skills/{name}/SKILL.md',
      '.copilot/skills/{name}/SKILL.md',
      ...claudeFiles,
    ],
    passedVariables: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST'],
    env: { COPILOT_AUTO_UPDATE: 'false' },
  },
};

/** Describes a runner's program. By default, it gets the variables with its name (`CODEX_*` for `codex-acp`) and the providers' keys. */
export function describeProgram(name: string): AgentProgram {
  const file = acpPrograms[name]?.command[0] ?? name;
  const [prefix] = name.toUpperCase().split(/[^A-Z0-9]/);
  return {
    name,
    file,
    title: name,
    packageName: null,
    keyVariable: null,
    login: `Log in with \`${file}\`, or name the variable with its key under \`env\` in agents.yaml.`,
    commandFormat: 'plain',
    commandFiles: sharedFiles,
    passedVariables: [`${prefix}_*`, ...providerKeys],
    env: {},
    ...(isBuiltInRunner(name) ? builtInPrograms[name] : {}),
  };
}

/** Returns the program with this name, or null if self-heal does not know it. */
export function findAgentProgram(name: string): AgentProgram | null {
  return isBuiltInRunner(name) || acpPrograms[name] ? describeProgram(name) : null;
}

/** Returns all programs that self-heal knows, in the order in which `init` prefers them. */
export function listPrograms(): AgentProgram[] {
  const names = new Set([...Object.keys(builtInPrograms), ...Object.keys(acpPrograms)]);
  return [...names].map(describeProgram);
}

/** Returns the patterns of the files that any program treats as slash commands. */
export function listAllCommandFiles(): readonly string[] {
  return [...sharedFiles, ...listPrograms().flatMap(({ commandFiles }) => commandFiles)];
}
