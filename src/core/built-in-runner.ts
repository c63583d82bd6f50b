/** The coding-agent programs with built-in support (AG-1). */
export const builtInRunners = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const;

/** A coding-agent program with built-in support. */
export type BuiltInRunner = (typeof builtInRunners)[number];

/** Whether a runner's name is that of a built-in one. */
export function isBuiltInRunner(name: string): name is BuiltInRunner {
  return builtInRunners.some((one) => one === name);
}
