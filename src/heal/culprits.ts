import { searchMinimalSet, type SetOutcome } from '../minimal-set.js';
import { type FixInProof, isWithout, type TestRunResult } from './proof-question.js';

/** Which fixes broke a test, or the run that the search needs next. */
export type CulpritSearch =
  | { readonly kind: 'run'; readonly without: readonly string[] }
  | { readonly kind: 'broken-by'; readonly fixes: readonly FixInProof[] }
  /** `unsteady` if the test was green and red with the same changes; `nobody` if it stays red without any of the fixes. */
  | { readonly kind: 'unsteady' | 'nobody' };

interface CulpritQuestion {
  /** The changes in the tree with all fixes. */
  readonly kept: readonly string[];
  /** The fixes that may have broken the test, oldest first. */
  readonly suspects: readonly FixInProof[];
  /** The runs of the search. */
  readonly results: readonly TestRunResult[];
  /** How often the test must be green without them, and red again with them. */
  readonly greens: number;
  readonly reds: number;
}

/**
 * Finds the fixes that broke a test: it is red with all fixes, but green without these. First tries without each single fix, newest first. If the test
 * stays red, several fixes may have broken it, and the search looks for the smallest set. The result is repeated like a proof: green without the fixes,
 * red with them.
 */
export function searchCulprits(question: CulpritQuestion): CulpritSearch {
  const { kept, results, greens, reds } = question;
  const listResultsWithout = (without: readonly string[]) =>
    results.filter((result) => isWithout(result, { kept, without }));
  const found = findSmallestSet(question, (changes) => listResultsWithout(changes)[0]?.shown);
  if ('kind' in found) return found;
  const without = listAllChanges(found.fixes);
  const [green, red] = [listResultsWithout(without), listResultsWithout([])];
  if (green.some(({ shown }) => shown === 'red') || red.some(({ shown }) => shown === 'green'))
    return { kind: 'unsteady' };
  if (green.length < greens) return { kind: 'run', without };
  if (red.length < reds) return { kind: 'run', without: [] };
  return { kind: 'broken-by', fixes: found.fixes };
}

/** Returns the smallest set of fixes without which the test is green, or the run that the search needs next. */
function findSmallestSet(
  { suspects }: CulpritQuestion,
  findOutcomeWithout: (changes: readonly string[]) => TestRunResult['shown'] | undefined,
): { readonly fixes: readonly FixInProof[] } | CulpritSearch {
  const newestFirst = suspects.toReversed();
  for (const fix of newestFirst) {
    const shown = findOutcomeWithout(fix.withRevealed);
    if (shown === undefined) return { kind: 'run', without: fix.withRevealed };
    if (shown === 'green') return { fixes: [fix] };
  }
  const search = searchMinimalSet(newestFirst, () => 0);
  let step = search.next();
  while (!step.done) {
    const without = listAllChanges(step.value);
    const shown = findOutcomeWithout(without);
    if (shown === undefined) return { kind: 'run', without };
    step = search.next(outcomes[shown]);
  }
  return step.value?.isMinimal ? { fixes: step.value.set } : { kind: 'nobody' };
}

const outcomes: Readonly<Record<TestRunResult['shown'], SetOutcome>> = {
  green: 'green',
  red: 'red',
  nothing: 'unresolved',
};

function listAllChanges(fixes: readonly FixInProof[]): readonly string[] {
  return [...new Set(fixes.flatMap(({ withRevealed }) => withRevealed))];
}
