/** The runner, and the agent, that is self-heal itself (BF-1): no program, no model, no network. */
export const builtIn = 'built-in';

/** Whether the built-in fixer made an attempt: it uses none of the retries (BF-5). */
export function isBuiltIn({ runner }: { readonly runner: string | null }): boolean {
  return runner === builtIn;
}
