import type { BuiltInRunner } from '../core/built-in-runner.js';

/** What a person needs to know of a built-in runner's program. */
export interface AgentProgram {
  /** Its name for people. */
  readonly title: string;
  /** The executable. */
  readonly file: string;
  readonly install: string;
  /** What to do when it is not logged in, as a sentence. */
  readonly login: string;
  /** Asks whether it is logged in, at no cost; null where the program has no such question. */
  readonly loginCheck: readonly string[] | null;
}

/** The programs of the built-in runners. */
export const programs: Readonly<Record<BuiltInRunner, AgentProgram>> = {
  claude: {
    title: 'Claude Code',
    file: 'claude',
    install: 'npm install -g @anthropic-ai/claude-code',
    login: 'Run `claude` and /login, or set ANTHROPIC_API_KEY.',
    // The first line, `system/init`, names `apiKeySource` and every slash command; no request is made.
    loginCheck: ['claude', '-p', '/cost', '--output-format', 'stream-json', '--verbose'],
  },
  codex: {
    title: 'Codex',
    file: 'codex',
    install: 'npm install -g @openai/codex',
    login: 'Run `codex login`, or set CODEX_API_KEY.',
    loginCheck: ['codex', 'login', 'status'],
  },
  gemini: {
    title: 'Gemini CLI',
    file: 'gemini',
    install: 'npm install -g @google/gemini-cli',
    login: 'Run `gemini` and choose how to log in, or set GEMINI_API_KEY.',
    loginCheck: null,
  },
  opencode: {
    title: 'opencode',
    file: 'opencode',
    install: 'npm install -g opencode-ai',
    login: "Run `opencode auth login`, or set the key of your model's provider.",
    loginCheck: ['opencode', 'auth', 'list'],
  },
  copilot: {
    title: 'Copilot CLI',
    file: 'copilot',
    install: 'npm install -g @github/copilot',
    login: 'Run `copilot` and /login, or set GH_TOKEN.',
    loginCheck: null,
  },
};
