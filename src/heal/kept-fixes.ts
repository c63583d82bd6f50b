import path from 'node:path';
import { isBuiltIn } from '../core/built-in-fixer.js';
import { readRunState } from '../run/read-events.js';
import { type Change, readChange } from '../workspace/change.js';

/** A fix that was green once in a run that was killed before it was proven. */
export interface KeptFix {
  /** The agent that made it. */
  readonly agent: string;
  readonly change: Change;
  /** The folder of its run. */
  readonly runDir: string;
}

/** The agents' fixes whose proof the end of that run cut off, by the signatures that they are for: nobody is paid for them again (ME-8). */
export async function keptFixes(runDir: string): Promise<ReadonlyMap<string, KeptFix>> {
  const { causes } = await readRunState(runDir);
  const kept = new Map<string, KeptFix>();
  for (const { summary, attempts } of causes) {
    const { green, judged } = attempts.at(-1) ?? {};
    // One that was interrupted is judged by nobody.
    const isOpen = !judged || judged.judged === 'not-judged';
    if (!isOpen || !green?.agent || !green.change || isBuiltIn({ runner: green.agent })) continue;
    const change = await readChange(runDir, green.change);
    if (change) kept.set(summary.signature, { agent: green.agent, change, runDir });
  }
  return kept;
}

/** What is said of it. */
export function keptFixSummary({ runDir }: KeptFix): string {
  return `its fix of run ${path.basename(runDir)}, whose proof was cut off`;
}
