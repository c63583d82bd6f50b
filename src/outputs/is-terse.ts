/** Whether to print few words and no color, because an agent reads the output. */
export function isTerse(env: NodeJS.ProcessEnv, { terse }: { readonly terse?: boolean }): boolean {
  return terse ?? drivingAgent(env) !== null;
}

/**
 * Environment variables that coding agents set for the commands they run. Only variables that indicate an agent are listed: those that an
 * editor also sets in a person's terminal (CURSOR_TRACE_ID, TERM_PROGRAM, REPL_ID) prove nothing.
 */
const marks: readonly (readonly [agent: string, variables: readonly string[]])[] = [
  ['claude', ['CLAUDECODE', 'CLAUDE_CODE']],
  ['codex', ['CODEX_THREAD_ID', 'CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_CI']],
  ['gemini', ['GEMINI_CLI']],
  ['opencode', ['OPENCODE']],
  ['copilot', ['COPILOT_CLI', 'COPILOT_AGENT']],
  ['cursor', ['CURSOR_AGENT']],
  ['augment', ['AUGMENT_AGENT']],
  ['antigravity', ['ANTIGRAVITY_AGENT']],
  ['cline', ['CLINE_ACTIVE']],
  ['amp', ['AMP_CURRENT_THREAD_ID']],
  ['goose', ['GOOSE_TERMINAL']],
  // Agents that self-heal started may run it themselves.
  ['self-heal', ['SELF_HEAL_ATTEMPT']],
];

/** Values of AGENT, a variable that other programs use as well: the names of agents, and the values that Bun's test runner accepts. */
const agentValues = new Set(['1', 'true', 'amp', 'goose', 'claude', 'codex', 'gemini', 'opencode', 'cursor']);

/**
 * Returns the coding agent that runs this process, or null for a person or CI. AI_AGENT is shared by vendors and may contain any name
 * (https://github.com/agentsmd/agents.md/issues/136). A variable is not proof, so this affects nothing except what is printed.
 */
export function drivingAgent(env: NodeJS.ProcessEnv): string | null {
  const named = env['AI_AGENT'];
  if (isSet(named)) return named;
  const known = marks.find(([, variables]) => variables.some((name) => isSet(env[name])));
  if (known) return known[0];
  const generic = env['AGENT'] ?? '';
  return agentValues.has(generic) ? generic : null;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && !['', '0', 'false'].includes(value);
}
