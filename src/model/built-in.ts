/** The name of self-heal itself as a runner and as an agent (BF-1): no program, no model, no network. */
export const builtIn = 'built-in';

/** The agent that reviews the fixes of others (HN-11). */
export const reviewer = 'review-fix';

/** True if the built-in fixer made an attempt; such attempts do not use up retries (BF-5). */
export function isBuiltIn({ runner }: { readonly runner: string | null }): boolean {
  return runner === builtIn;
}

/** Formats the name of an agent for sentences. Calls the built-in fixer self-heal, which makes patches without the fixer, too. */
export function formatAgentName(agent: string): string {
  return agent === builtIn ? 'self-heal' : agent;
}

/** The coding-agent programs with built-in support (AG-1). */
export const builtInRunners = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const;

/** A coding-agent program with built-in support. */
export type BuiltInRunner = (typeof builtInRunners)[number];

/** True for the name of a built-in runner. */
export function isBuiltInRunner(name: string): name is BuiltInRunner {
  return builtInRunners.some((runner) => runner === name);
}

/** Programs that self-heal drives by their own command line, because they need adapters for the Agent Client Protocol. */
export type OwnCommandLine = Extract<BuiltInRunner, 'claude' | 'codex'>;

/** A program that speaks the Agent Client Protocol. */
export interface AcpProgram {
  /** Its command line: the program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** The tested version, or null if the command comes from the program's documentation. */
  readonly tried: string | null;
}

/** The known programs that speak the Agent Client Protocol, by runner name. */
export const acpPrograms: Readonly<Record<string, AcpProgram>> = {
  gemini: { command: ['gemini', '--acp'], tried: '0.61.0' },
  opencode: { command: ['opencode', 'acp'], tried: '1.18.33' },
  copilot: { command: ['copilot', '--acp'], tried: '1.0.102' },
  auggie: { command: ['auggie', '--acp'], tried: null },
  cline: { command: ['cline', '--acp'], tried: null },
  cursor: { command: ['cursor-agent', 'acp'], tried: null },
  goose: { command: ['goose', 'acp'], tried: null },
  kimi: { command: ['kimi', 'acp'], tried: null },
  kiro: { command: ['kiro-cli', 'acp'], tried: null },
  qwen: { command: ['qwen', '--acp'], tried: null },
  vibe: { command: ['vibe-acp'], tried: null },
};
