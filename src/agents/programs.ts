import { acpPrograms, type BuiltInRunner, isBuiltInRunner } from '../model/built-in.js';

/** The format of a program's slash-command files. */
export type CommandFormat = 'claude' | 'markdown' | 'toml' | 'plain';

/** A coding-agent program, as `init`, `doctor` and messages need it. */
export interface AgentProgram {
  /** Its name as a runner in agents.yaml. */
  readonly name: string;
  /** Its executable. */
  readonly file: string;
  /** Its name as shown to users. */
  readonly title: string;
  /** The npm package that installs it; null if its own documentation says how. */
  readonly packageName: string | null;
  /** The environment variable with an API key, for machines without a login; null if only the program's documentation names it. */
  readonly keyVariable: string | null;
  /** How to log in, as a sentence. */
  readonly login: string;
  readonly commandFormat: CommandFormat;
}

/** The programs of the built-in runners, in the order in which `init` prefers them if it cannot ask. */
export const programs: Readonly<Record<BuiltInRunner, AgentProgram>> = {
  claude: {
    name: 'claude',
    file: 'claude',
    title: 'Claude Code',
    packageName: '@anthropic-ai/claude-code',
    keyVariable: 'ANTHROPIC_API_KEY',
    login: 'Run `claude` and /login, or set ANTHROPIC_API_KEY.',
    commandFormat: 'claude',
  },
  codex: {
    name: 'codex',
    file: 'codex',
    title: 'Codex',
    packageName: '@openai/codex',
    keyVariable: 'CODEX_API_KEY',
    login: 'Run `codex login`, or set CODEX_API_KEY.',
    // It does not expand slash commands, so self-heal puts the file's text into the prompt.
    commandFormat: 'plain',
  },
  gemini: {
    name: 'gemini',
    file: 'gemini',
    title: 'Gemini CLI',
    packageName: '@google/gemini-cli',
    keyVariable: 'GEMINI_API_KEY',
    login: 'Run `gemini` and log in, or set GEMINI_API_KEY.',
    commandFormat: 'toml',
  },
  opencode: {
    name: 'opencode',
    file: 'opencode',
    title: 'opencode',
    packageName: 'opencode-ai',
    keyVariable: 'ANTHROPIC_API_KEY',
    login: "Run `opencode auth login`, or set the key of your model's provider.",
    commandFormat: 'markdown',
  },
  copilot: {
    name: 'copilot',
    file: 'copilot',
    title: 'GitHub Copilot CLI',
    packageName: '@github/copilot',
    keyVariable: 'COPILOT_GITHUB_TOKEN',
    login: 'Run `copilot` and /login, or set COPILOT_GITHUB_TOKEN.',
    // As with codex, self-heal reads the file.
    commandFormat: 'plain',
  },
};

/** Returns the program with this name, or null if self-heal does not know it. */
export function findAgentProgram(name: string): AgentProgram | null {
  if (isBuiltInRunner(name)) return programs[name];
  const known = acpPrograms[name];
  return known ? describeAcpProgram(name, known.command[0]) : null;
}

/** Returns all programs that self-heal knows, in the order in which `init` prefers them. */
export function listPrograms(): AgentProgram[] {
  const names = new Set([...Object.keys(programs), ...Object.keys(acpPrograms)]);
  return [...names].flatMap((name) => findAgentProgram(name) ?? []);
}

/** Describes an ACP program by its name and executable. */
function describeAcpProgram(name: string, file: string): AgentProgram {
  return {
    name,
    file,
    title: name,
    packageName: null,
    keyVariable: null,
    login: `Log in with \`${file}\`, or name the variable with its key under \`env\` in agents.yaml.`,
    commandFormat: 'plain',
  };
}

/** The providers' variables from which programs that work with any model take their keys. */
const providerKeys = [
  'ANTHROPIC_* OPENAI_* GEMINI_* GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY MISTRAL_API_KEY',
  'XAI_API_KEY DEEPSEEK_API_KEY GITHUB_TOKEN AZURE_*',
].flatMap((line) => line.split(' '));

interface AcpEnvironment {
  /** Variables that make the program ask for each permission over the protocol. */
  readonly env: Readonly<Record<string, string>>;
  /** The names of the user's variables that it gets. */
  readonly passes: readonly string[];
}

const acpEnvironments: Readonly<Record<string, AcpEnvironment>> = {
  gemini: { env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' }, passes: ['GEMINI_*', 'GOOGLE_*'] },
  copilot: {
    env: { COPILOT_AUTO_UPDATE: 'false' },
    passes: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST'],
  },
  opencode: {
    // By default, it never asks about files of the project.
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_PERMISSION: '{"*":"ask"}' },
    passes: ['OPENCODE_*', ...providerKeys],
  },
};

/** Returns the environment of a program that speaks the Agent Client Protocol: by default the variables with its name (`CODEX_*` for `codex-acp`), and the keys of models. */
export function createAcpEnvironment(name: string): AcpEnvironment {
  const [prefix] = name.toUpperCase().split(/[^A-Z0-9]/);
  return acpEnvironments[name] ?? { env: {}, passes: [`${prefix}_*`, ...providerKeys] };
}
