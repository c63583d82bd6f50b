/** Few words and no colour, where an agent reads. */
export function isTerse(env: NodeJS.ProcessEnv, { terse }: { readonly terse?: boolean }): boolean {
  return terse ?? drivingAgent(env) !== null;
}

/**
 * What coding agents put into the environment of the commands that they run. Only what says that an agent types: variables that
 * an editor sets in a person's own terminal as well (CURSOR_TRACE_ID, TERM_PROGRAM, REPL_ID) say nothing.
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
  // Self-heal's own agents, who may run it.
  ['self-heal', ['SELF_HEAL_ATTEMPT']],
];

/** Values of AGENT, which other programs use for other things: the agents' own names, and what Bun's test runner takes. */
const agentValues = new Set(['1', 'true', 'amp', 'goose', 'claude', 'codex', 'gemini', 'opencode', 'cursor']);

/**
 * The coding agent that runs us, or null for a person or CI. AI_AGENT is the vendors' common variable and may hold any name
 * (https://github.com/agentsmd/agents.md/issues/136). It decides what is printed, and nothing else: a variable is no proof.
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
