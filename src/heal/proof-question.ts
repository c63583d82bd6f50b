import type { ProofOutcome } from '../model/proof.js';

/**
 * The part of a proof for which a run was made: `trial` before the proof; `shared` with the tests of all fixes; `separate` to show that each fix is needed
 * even with the others; `alone` with the tests of one fix; `others` with the tests of no fix; `culprit` to find the fix that broke a test.
 */
export type ProofPart = 'trial' | 'shared' | 'separate' | 'alone' | 'others' | 'culprit';

/** The result of one Playwright run for one test. */
export interface TestRunResult {
  /** The number of the run. */
  readonly run: number;
  readonly part: ProofPart;
  /** The changes that were in the tree. */
  readonly changes: readonly string[];
  /** The changes that were reverted for the run; changes built on them were reverted, too. */
  readonly without: readonly string[];
  /** True if the run was in a clean copy instead of the project. */
  readonly isClean: boolean;
  /** `nothing` if the test did not run. */
  readonly shown: 'green' | 'red' | 'nothing';
  /** The reason for `nothing`. */
  readonly because?: string;
}

/** A fix that is in the tree. */
export interface FixInProof {
  readonly id: string;
  readonly changes: readonly string[];
  /** Its changes, and those made for errors that it revealed, which cannot stay without it. */
  readonly withRevealed: readonly string[];
  /** The files outside git that changed since work on it began; reverting the fix does not restore them. */
  readonly leftovers: readonly string[];
}

/** A test that a fix turned green. */
export interface TestInProof {
  readonly key: string;
  /** The id of its fix. A fix without changes means that other causes' fixes turned the test green. */
  readonly fix: string;
  /** True if the fix was made for this test. */
  readonly isLead: boolean;
  /** True if it runs with and without the fix. */
  readonly runsBothWays: boolean;
  /** True if it stands for the suite itself. */
  readonly isSuite: boolean;
  /** True if it runs together with other tests, which may cause its failure. */
  readonly runsWithOthers: boolean;
  /** The first run of its proof. */
  readonly since: number;
  /** The changes in the tree when it was first red, except its own fix. Without them, another failure would hide this one. */
  readonly redWith: readonly string[];
  /** Its results in all runs, oldest first. */
  readonly results: readonly TestRunResult[];
  /** Null until its proof has ended. */
  readonly ended: ProofOutcome | null;
}

/** A test that was green and must stay green. */
export interface TestToStayGreen {
  readonly key: string;
  readonly results: readonly TestRunResult[];
  /** True if it is marked to fail but passes, so that a person must remove the mark. */
  readonly isMarked: boolean;
}

/** The fixes and tests to prove, and the results of all runs so far. */
export interface ProofQuestion {
  /** The fixes that have changes, in the order in which these were applied. */
  readonly fixes: readonly FixInProof[];
  readonly tests: readonly TestInProof[];
  /** How often each test must be green with its fix, and red without it. */
  readonly greens: number;
  readonly reds: number;
  /** True to prove each fix in a clean copy, too. */
  readonly needsCleanCopy: boolean;
  /** True if runs outside the proof have shown that two fixes are for different faults. */
  readonly haveDifferentCauses: (fix: string, other: string) => boolean;
  /** The other tests; null if they do not run. */
  readonly otherTests: { readonly hasRun: boolean; readonly tests: readonly TestToStayGreen[] } | null;
}

/** The reason for reverting a fix. */
export type RefutedFix =
  | { readonly kind: 'still-failing' | 'flaky'; readonly because: string }
  /** The test is green without the fix, thanks to another cause's fix. */
  | { readonly kind: 'needless' };

/** The next step of a proof. */
export type NextProofStep =
  /** Run these tests without these changes; `alone` for a fix that a shared run contradicted. */
  | {
      readonly kind: 'run';
      readonly part: 'shared' | 'separate' | 'alone';
      readonly tests: readonly TestInProof[];
      readonly without: readonly string[];
      readonly doubt?: Doubt;
    }
  /** Run these tests in a clean copy, both without these changes and with all; `because` is a reason to tell the user. */
  | {
      readonly kind: 'run-clean';
      readonly tests: readonly TestInProof[];
      readonly without: readonly string[];
      readonly because: string | null;
    }
  /** Run the rest of the suite, or these of its tests again. */
  | { readonly kind: 'run-others'; readonly again: readonly string[] | null }
  /** Run these tests without these changes, to find out which fix broke them. */
  | { readonly kind: 'run-culprit'; readonly keys: readonly string[]; readonly without: readonly string[] }
  /** Decide the outcome of one test. */
  | { readonly kind: 'end'; readonly test: TestInProof; readonly outcome: 'red' | 'unsteady' | 'flaky' }
  /** Revert a fix. */
  | { readonly kind: 'refute'; readonly fix: string; readonly refutation: RefutedFix }
  /** Revert the fixes that broke tests; the tests are listed by fix. */
  | { readonly kind: 'broke'; readonly tests: ReadonlyMap<string, readonly string[]> }
  /** All remaining fixes hold. */
  | { readonly kind: 'settled' };

/** A fix that a shared run contradicted. */
export interface Doubt {
  readonly fix: string;
  readonly run: number;
  readonly why: string;
}

/** True if two lists contain the same changes, in any order. */
export function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((id) => others.includes(id));
}

/** True if a run had exactly the kept changes without these. */
export function isWithout(
  result: Pick<TestRunResult, 'changes' | 'without'>,
  { kept, without }: { readonly kept: readonly string[]; readonly without: readonly string[] },
): boolean {
  const remaining = kept.filter((id) => !without.includes(id));
  const isExact = without.length > 0 && isSameSet(result.without, without);
  return (
    isSameSet(result.changes, remaining) || (isExact && result.changes.every((id) => remaining.includes(id)))
  );
}

/** Creates a fix that consists of one change and on which no other is built. */
export function createSingleFix(change: string): FixInProof {
  return { id: change, changes: [change], withRevealed: [change], leftovers: [] };
}

/** Creates a test of such a fix. */
export function createTestInProof(
  test: Pick<TestInProof, 'key' | 'fix' | 'results'> & Partial<TestInProof>,
): TestInProof {
  return {
    isLead: true,
    runsBothWays: true,
    isSuite: false,
    runsWithOthers: false,
    since: 0,
    redWith: [],
    ended: null,
    ...test,
  };
}
