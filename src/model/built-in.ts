/** The name of self-heal itself as a runner and as an agent (BF-1): no program, no model, no network. */
export const builtIn = 'built-in';

/** The agent that reads the fixes of others (HN-11). */
export const reader = 'review-fix';

/** Whether the built-in fixer made an attempt; such attempts do not use up retries (BF-5). */
export function isBuiltIn({ runner }: { readonly runner: string | null }): boolean {
  return runner === builtIn;
}

/** Returns how an agent is named in sentences. */
export function agentName(agent: string): string {
  return agent === builtIn ? 'the built-in fixer' : agent;
}

/** The coding-agent programs with built-in support (AG-1). */
export const builtInRunners = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const;

/** A coding-agent program with built-in support. */
export type BuiltInRunner = (typeof builtInRunners)[number];

/** Whether a runner's name is that of a built-in one. */
export function isBuiltInRunner(name: string): name is BuiltInRunner {
  return builtInRunners.some((runner) => runner === name);
}
