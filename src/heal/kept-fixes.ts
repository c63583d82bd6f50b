import path from 'node:path';
import { isBuiltIn } from '../core/built-in-fixer.js';
import { readEvents } from '../run/read-events.js';
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
  const signatures = new Map<string, string>();
  const open = new Map<string, { agent: string; change: string }>();
  for (const event of await readEvents(runDir)) {
    if (event.type === 'cause.found') signatures.set(event.cause.id, event.cause.signature);
    else if (event.type === 'attempt.green' && event.change && event.agent)
      open.set(event.causeId, { agent: event.agent, change: event.change });
    // One that was interrupted is judged by nobody.
    else if (event.type === 'attempt.judged' && event.attempt.judged !== 'not-judged')
      open.delete(event.causeId);
  }
  const kept = new Map<string, KeptFix>();
  for (const [causeId, { agent, change: id }] of open) {
    const change = await readChange(runDir, id);
    const signature = signatures.get(causeId);
    if (change && signature !== undefined && !isBuiltIn({ runner: agent }))
      kept.set(signature, { agent, change, runDir });
  }
  return kept;
}

/** What is said of it. */
export function keptFixSummary({ runDir }: KeptFix): string {
  return `its fix of run ${path.basename(runDir)}, whose proof was cut off`;
}
