import type { BuiltInProgram } from '../core/settings.js';

/** What any program needs to find its files, its language and its way to the network. */
const forAll =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|TMPDIR|TEMP|TMP|XDG_\w+|CI|(?:https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|NVM_\w+|PNPM_HOME|COREPACK_\w+|SELF_HEAL_AGENT_\w+|SystemRoot|ComSpec|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|ProgramFiles\w*|ProgramData|windir|HOMEDRIVE|HOMEPATH)$/i;

/** What each program reads for itself: its keys, its endpoints, its switches. */
const own: Readonly<Record<BuiltInProgram, RegExp>> = {
  claude: /^(?:ANTHROPIC|CLAUDE|API_TIMEOUT_MS|DISABLE_(?:AUTOUPDATER|TELEMETRY|ERROR_REPORTING)|IS_SANDBOX)/,
  codex: /^(?:OPENAI|CODEX)_/,
  gemini: /^(?:GEMINI|GOOGLE)_/,
  opencode: /^(?:OPENCODE|ANTHROPIC|OPENAI|GEMINI|GOOGLE_GENERATIVE_AI|OPENROUTER)_/,
  copilot: /^(?:COPILOT_|GH_TOKEN$|GITHUB_TOKEN$)/,
};

/**
 * The part of the environment that a built-in program is given. Its tools inherit all of it, so the secrets of the project and of CI
 * stay out; `allowed` names what agents.yaml lets through beside.
 */
export function agentEnvironment(
  program: BuiltInProgram,
  env: NodeJS.ProcessEnv,
  allowed: readonly string[],
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => forAll.test(name) || own[program].test(name) || allowed.includes(name),
  );
  return Object.fromEntries(kept);
}
