import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { builtIn, isBuiltIn } from '../../model/built-in.js';
import type { Cause } from '../../model/cause.js';
import { updateExpectations } from './update-expectations.js';
import type { FixerProposal } from './proposal.js';
import type { Fixer } from './propose.js';
import type { PreparedPatch, Propose, ProposedFix } from '../../heal/hooks.js';
import { describeError } from '../../problem.js';
import { err, ok } from '../../result.js';
import type { ContentStore } from '../../workspace/change.js';
import { type FileEdit, hashContent, readFileState } from '../../workspace/file-state.js';
import { safePath } from '../../workspace/safe-path.js';

/** Proposes the fixes that the built-in fixer is sure of, except those that failed in earlier runs. */
export function createFixerProposer(fixer: Fixer, warn: (message: string) => void): Propose {
  return async function* ({ cause, memory }) {
    try {
      const proposal = await fixer(cause);
      const hasFailed = memory.failedAttempts.some(
        (attempt) => isBuiltIn(attempt) && attempt.claim?.summary === proposal?.summary,
      );
      if (proposal && !hasFailed) yield wrapProposal(proposal);
    } catch (error) {
      warn(`${cause.id}: the built-in fixer failed: ${describeError(error)}`);
    }
  };
}

/** Wraps a proposal of the built-in fixer (BF-1). */
export function wrapProposal({ summary, files }: FixerProposal): ProposedFix {
  return {
    agent: builtIn,
    proposedBy: 'fixer',
    summary,
    edits: async (root, contents) => {
      const edits: FileEdit[] = [];
      for (const { file, before: text, after } of files) {
        const relative = path.relative(root, await realpath(file)).replaceAll(path.sep, '/');
        const before = safePath.safeParse(relative).success ? readFileState(root, relative) : 'other';
        // Bytes that are not UTF-8 would not survive the round trip.
        if (before === null || before === 'other' || before.hash !== hashContent(Buffer.from(text)))
          return err(`${file} has changed, or is not UTF-8`);
        await contents.put(Buffer.from(text));
        edits.push({
          path: relative,
          before,
          after: { ...before, hash: await contents.put(Buffer.from(after)) },
        });
      }
      return ok(edits);
    },
  };
}

/** Creates a patch that updates the tests' expectations to the current page (BL-6); null if more than a literal differs. */
export async function createExpectationPatch(
  cause: Cause,
  { root, contents }: { readonly root: string; readonly contents: ContentStore },
): Promise<PreparedPatch | null> {
  const proposal = await updateExpectations(cause);
  const edits = await (proposal && wrapProposal(proposal).edits(root, contents));
  return proposal && edits?.ok ? { side: 'tests', summary: proposal.summary, edits: edits.value } : null;
}
