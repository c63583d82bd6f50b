import { compareTrees, type Difference } from '../code/compare-trees.js';
import type { SyntaxNode } from '../code/syntax.js';
import type { Note } from '../core/guard/note.js';
import type { Change } from './change.js';
import { operationsIn, type Tree, treesIn } from './operations.js';

/** Longer files, in characters, are hardly written by hand, and are not compared. */
const MAX_TEXT = 200_000;
/** How many places are named individually for the reviewer. */
const MAX_NOTES = 12;

/**
 * Names for the reviewer what the app did and does no longer: a call, a condition, a setting that was removed, or replaced by something that
 * does only a part of it. What occurs as often as before in the changed files has only moved.
 */
export function nameLosses({ ofApp }: Change): Note[] {
  const states = ofApp
    .filter(({ before, after }) => before?.text && after?.text && before.text.length < MAX_TEXT)
    .map(({ path: file, before, after }) => {
      return { file, was: treesIn(file, before?.text ?? ''), is: treesIn(file, after?.text ?? '') };
    });
  const [was, is] = [countsOf(states.flatMap((one) => one.was)), countsOf(states.flatMap((one) => one.is))];
  const isLess = (operation: string) => (is.get(operation) ?? 0) < (was.get(operation) ?? 0);
  const notes = states.flatMap(({ file, was: olds, is: news }) =>
    olds.flatMap((old, index) => {
      const now = news[index];
      if (!now) return [];
      return compareTrees(old.program, now.program)
        .filter((one) => isLoss(one, isLess))
        .map((one): Note => {
          const line = one.now ? now.lineAt(one.now.start) : old.lineAt(one.old?.start ?? 0);
          const by = one.now ? `was replaced by ${shown(one.now, now)}` : 'was removed';
          return { file, line, says: `${shown(one.old, old)} ${by}` };
        });
    }),
  );
  const [next, ...others] = notes.splice(MAX_NOTES);
  const says = `${others.length + 1} more parts of the app do less than before`;
  return next ? [...notes, { file: next.file, line: null, says }] : notes;
}

/** Whether a difference takes something away: what was added in its place does nothing that the old code did not do. */
function isLoss({ old, now }: Difference, isLess: (operation: string) => boolean): boolean {
  if (!old) return false;
  const all = operationsIn(old);
  return (
    all.some(isLess) && (!now || operationsIn(now).every((one) => all.includes(one) || one.startsWith('is ')))
  );
}

function countsOf(trees: readonly Tree[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of trees.flatMap(({ program }) => operationsIn(program)))
    counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

function shown(node: SyntaxNode | null, { text }: Tree): string {
  const code = node ? text.slice(node.start, node.end).replaceAll(/\s+/g, ' ') : '';
  return `\`${code.length > 80 ? `${code.slice(0, 80)}…` : code}\``;
}
