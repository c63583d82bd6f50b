import type { ProofOutcome } from '../model/proof.js';

/**
 * The part of a proof for which a run was made: `trial` before it; `shared` with the tests of all fixes; `apart` to tell fixes from each other; `alone` with the
 * tests of one fix; `rest` for the tests around them; `culprit` to find out which fix broke a test.
 */
export type ProofPart = 'trial' | 'shared' | 'apart' | 'alone' | 'rest' | 'culprit';

/** What one Playwright run showed of one test. */
export interface Sighting {
  /** The number of the run. */
  readonly run: number;
  readonly part: ProofPart;
  /** The changes that were in the tree. */
  readonly changes: readonly string[];
  /** The changes that were taken out for it; those that are built on them were out, too. */
  readonly without: readonly string[];
  /** Whether it was in a clean copy, rather than in the project. */
  readonly isClean: boolean;
  /** `nothing` if the test did not run. */
  readonly shown: 'green' | 'red' | 'nothing';
  /** Why nothing was shown. */
  readonly because?: string;
}

/** A fix that is in the tree. */
export interface FixInProof {
  readonly id: string;
  readonly changes: readonly string[];
  /** Its changes, and those made for the errors that it revealed, which cannot stay without it. */
  readonly withRevealed: readonly string[];
  /** The files outside of git that changed since the work on it began; taking it out does not restore them. */
  readonly leftovers: readonly string[];
}

/** A test that a fix turned green. */
export interface TestInProof {
  readonly key: string;
  /** The id of its fix, which may have no changes of its own: then those of others turned it green. */
  readonly fix: string;
  /** Whether the fix was made for this test. */
  readonly isLead: boolean;
  /** Whether it is run without the fix, too. */
  readonly isFlipped: boolean;
  /** Whether it stands for the suite itself. */
  readonly isSuite: boolean;
  /** Whether other tests run along with it, which may be what makes it red. */
  readonly isInCompany: boolean;
  /** The first run of its proof. */
  readonly since: number;
  /** The changes with which it was first red, without those of its own fix: another failure would hide its own without them. */
  readonly redWith: readonly string[];
  /** Everything that was seen of it, oldest first. */
  readonly sightings: readonly Sighting[];
  /** Null while it takes part. */
  readonly ended: ProofOutcome | null;
}

/** A test that was green, and has to stay so. */
export interface TestToStayGreen {
  readonly key: string;
  readonly sightings: readonly Sighting[];
  /** Whether it is marked to fail, so that a person has to remove the mark now. */
  readonly isMarked: boolean;
}

/** What is to be proven, and everything that runs have shown so far. */
export interface ProofQuestion {
  /** Those with changes, in the order in which these were applied. */
  readonly fixes: readonly FixInProof[];
  readonly tests: readonly TestInProof[];
  /** How often each test has to be green with its fix, and red without. */
  readonly greens: number;
  readonly reds: number;
  /** Whether each fix is proven in a clean copy, too. */
  readonly inCleanCopy: boolean;
  /** Whether other runs than those of the proof have shown that two fixes mend different faults. */
  readonly areApart: (fix: string, other: string) => boolean;
  /** The tests around the fixes; null if they are not run. */
  readonly rest: { readonly hasRun: boolean; readonly tests: readonly TestToStayGreen[] } | null;
}

/** Why a fix does not stay. */
export type FixRefuted =
  | { readonly kind: 'still-failing' | 'flaky'; readonly because: string }
  /** Its test is green without it, with the fix of another cause. */
  | { readonly kind: 'needless' };

/** What a proof needs next. */
export type NextInProof =
  /** Run these tests without these changes, `alone` for a fix that a shared run contradicted, for the reason. */
  | {
      readonly kind: 'run';
      readonly part: 'shared' | 'apart' | 'alone';
      readonly tests: readonly TestInProof[];
      readonly without: readonly string[];
      readonly doubt?: Doubt;
    }
  /** Run these tests in a clean copy, without these changes and with all, perhaps for a reason that a person should know. */
  | {
      readonly kind: 'run-clean';
      readonly tests: readonly TestInProof[];
      readonly without: readonly string[];
      readonly because: string | null;
    }
  /** Run the rest of the suite, or these of its tests again. */
  | { readonly kind: 'run-rest'; readonly again: readonly string[] | null }
  /** Run these tests without these changes, to find out which fix broke them. */
  | { readonly kind: 'run-culprit'; readonly keys: readonly string[]; readonly without: readonly string[] }
  /** Decide about one test. */
  | { readonly kind: 'end'; readonly test: TestInProof; readonly as: 'red' | 'unsteady' | 'flaky' }
  /** Take out a fix. */
  | { readonly kind: 'refute'; readonly fix: string; readonly how: FixRefuted }
  /** Take out the fixes that broke tests, which are listed by fix. */
  | { readonly kind: 'broke'; readonly tests: ReadonlyMap<string, readonly string[]> }
  /** All that is left holds. */
  | { readonly kind: 'settled' };

/** What a shared run contradicted, and how. */
export interface Doubt {
  readonly fix: string;
  readonly run: number;
  readonly why: string;
}

/** Whether two lists hold the same changes, in whichever order. */
export function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((id) => others.includes(id));
}

/** Whether a run was made in the state in which these changes are taken out of those that are kept. */
export function isWithout(
  sighting: Pick<Sighting, 'changes' | 'without'>,
  { kept, without }: { readonly kept: readonly string[]; readonly without: readonly string[] },
): boolean {
  const rest = kept.filter((id) => !without.includes(id));
  const isAsked = without.length > 0 && isSameSet(sighting.without, without);
  return isSameSet(sighting.changes, rest) || (isAsked && sighting.changes.every((id) => rest.includes(id)));
}

/** Returns a fix that is one change, on which nothing else is built. */
export function createSingleFix(change: string): FixInProof {
  return { id: change, changes: [change], withRevealed: [change], leftovers: [] };
}

/** Returns a test of such a fix, which counts by its runs alone. */
export function createPlainTest(
  test: Pick<TestInProof, 'key' | 'fix' | 'sightings'> & Partial<TestInProof>,
): TestInProof {
  return {
    isLead: true,
    isFlipped: true,
    isSuite: false,
    isInCompany: false,
    since: 0,
    redWith: [],
    ended: null,
    ...test,
  };
}
