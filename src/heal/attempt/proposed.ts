import { readFile, writeFile } from 'node:fs/promises';
import { builtIn, isBuiltIn } from '../../core/built-in-fixer.js';
import type { Cause } from '../../core/cause.js';
import type { Proposal } from '../../fixer/proposal.js';
import type { KnownFailure } from '../../store/store.js';
import { contentsOf } from '../../workspace/change.js';
import type { AgentPlace, Workspace } from '../../workspace/workspace.js';
import { writeFiles } from '../../workspace/write-files.js';
import { type KeptFix, keptFixSummary } from '../kept-fixes.js';
import type { Session } from '../session.js';

/** A fix that needs no agent's work: the built-in fixer's, or one that an agent made in the run that this one goes on with. */
export interface Proposed {
  /** Whose fix it is. */
  readonly agent: string;
  readonly summary: string;
  /** Writes it into the copy; gives null, or why a file was left as it is. */
  write(workspace: Workspace, place: AgentPlace): Promise<string | null>;
}

/** A fix of the run that this one goes on with; else what the built-in fixer is sure of, but nothing that it tried in an earlier run. */
export async function proposedFor(
  { propose, kept, bus }: Pick<Session, 'propose' | 'kept' | 'bus'>,
  cause: Cause,
  { tried }: KnownFailure,
): Promise<Proposed | null> {
  const fix = kept?.get(cause.lead.signature);
  if (fix) return ofKilledRun(fix);
  try {
    const proposal = (await propose?.(cause)) ?? null;
    const isOld = tried.some((one) => isBuiltIn(one) && one.claim?.summary === proposal?.summary);
    return proposal === null || isOld ? null : ofFixer(proposal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    bus.emit({ type: 'run.warning', message: `${cause.id}: the built-in fixer failed: ${reason}` });
    return null;
  }
}

/** What the built-in fixer proposes (BF-1). */
export function ofFixer({ summary, files }: Proposal): Proposed {
  return {
    agent: builtIn,
    summary,
    write: async (_, { toCopy }) => {
      for (const { file, before, after } of files) {
        const copied = toCopy(file);
        // Bytes that are no UTF-8 would not come back as they were.
        if (!(await readFile(copied)).equals(Buffer.from(before)))
          return `${file} changed in the meantime, or is not UTF-8`;
        await writeFile(copied, after);
      }
      return null;
    },
  };
}

/** What an agent fixed in a run that was killed (ME-8). */
function ofKilledRun(fix: KeptFix): Proposed {
  const { agent, change, runDir } = fix;
  return {
    agent,
    summary: keptFixSummary(fix),
    write: async ({ root }, { toCopy }) => {
      const files = change.edits.map(({ path, before, after }) => ({ path, known: [before], goal: after }));
      const { leftAlone } = await writeFiles(toCopy(root), { files, folders: [] }, contentsOf(runDir));
      return leftAlone.length > 0 ? `${leftAlone.join(', ')} changed meanwhile` : null;
    },
  };
}
