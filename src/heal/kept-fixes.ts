import path from 'node:path';
import { isBuiltIn } from '../core/built-in-fixer.js';
import { readRunState } from '../run/event-log.js';
import { type Change, readChange } from '../workspace/change.js';

/** A fix of a run that was killed before it was decided: it was green once, or it led to another error. */
export interface KeptFix {
  /** The agent that made it. */
  readonly agent: string;
  readonly change: Change;
  /** The folder of its run. */
  readonly runDir: string;
}

/** Returns the agents' fixes that the end of a run left undecided, by signature, so that nobody is paid for them again (ME-8). */
export async function keptFixes(runDir: string): Promise<ReadonlyMap<string, KeptFix>> {
  const { causes } = await readRunState(runDir);
  const kept = new Map<string, KeptFix>();
  for (const { summary, attempts } of causes) {
    const { held, judged } = attempts.at(-1) ?? {};
    // An interrupted attempt has not been judged.
    const isOpen = !judged || judged.judged === 'not-judged';
    if (!isOpen || !held?.agent || !held.change || isBuiltIn({ runner: held.agent })) continue;
    const change = readChange(runDir, held.change);
    if (change) kept.set(summary.signature, { agent: held.agent, change, runDir });
  }
  return kept;
}

/** Returns the text that describes the fix. */
export function keptFixSummary({ runDir }: KeptFix): string {
  return `its fix from run ${path.basename(runDir)}, whose proof was interrupted`;
}
