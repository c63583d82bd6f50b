import { atMost } from '../format.js';
import { searchCulprits } from './culprits.js';
import {
  type Doubt,
  type FixInProof,
  type TestToStayGreen,
  isSameSet,
  isWithout,
  type NextProofStep,
  type ProofQuestion,
  type TestRunResult,
  type TestInProof,
} from './proof-question.js';

/** The next step that one test needs in the proof. */
type TestPlan =
  | Extract<NextProofStep, { kind: 'end' }>
  | { readonly kind: 'doubt'; readonly doubt: Doubt }
  | { readonly kind: 'with' }
  | { readonly kind: 'without' | 'clean'; readonly without: readonly string[] }
  | { readonly kind: 'shown' };

/**
 * Decides the next step of a proof (HN-5), as a pure function of the runs so far. Every test must be green with all fixes, red without its own fix in the
 * state in which it was first red, and green again; the other tests must stay green (HN-6). The tests of all fixes share runs. A fix that a shared run
 * contradicts is proven alone.
 */
export function planProof(question: ProofQuestion): NextProofStep {
  const tests = question.tests.filter(({ ended }) => ended === null);
  const plans = tests.map((test) => ({ test, plan: planForTest(question, test) }));
  const doubts = listFirstDoubts(plans.flatMap(({ plan }) => (plan.kind === 'doubt' ? plan.doubt : [])));
  const shared = plans.filter(({ test }) => !doubts.some(({ fix }) => fix === test.fix));
  const ended = shared.find(({ plan }) => plan.kind === 'end');
  if (ended?.plan.kind === 'end') return ended.plan;
  const testsToRun = shared.flatMap(({ test, plan }) => (plan.kind === 'with' ? test : []));
  if (testsToRun.length > 0) return { kind: 'run', part: 'shared', tests: testsToRun, without: [] };
  const testsWithoutDoubt = shared.map(({ test }) => test);
  return (
    planSeparateRuns(question, testsWithoutDoubt) ??
    planRunWithout(question, shared) ??
    findFirst(doubts, (doubt) => planProofAlone(question, doubt)) ??
    (question.needsCleanCopy ? planCleanRun(question, tests) : null) ??
    planOtherTests(question, tests) ?? { kind: 'settled' }
  );
}

/** Returns the fixes for which no run could show whether they are needed: the reasons, by id. */
export function findUnclearFixes(question: ProofQuestion): ReadonlyMap<string, string> {
  const unclear = new Map<string, string>();
  for (const test of question.tests) {
    if (test.ended !== null || !test.runsBothWays) continue;
    const { leftovers } = findTestFix(question, test);
    const [clean] = listResultsSince(test).filter(({ isClean, shown }) => isClean && shown === 'nothing');
    if (clean) {
      const why = leftovers.length > 0 ? explainLastingEffect(leftovers) : 'proven here';
      unclear.set(
        test.fix,
        `${why}; a clean copy cannot show whether the test needs the fix: ${clean.because ?? ''}. If a fresh clone is red without the fix, keep the fix; otherwise, undo it`,
      );
    }
  }
  for (const { id } of question.fixes) {
    const tests = question.tests.filter(({ fix, runsBothWays }) => fix === id && runsBothWays);
    const runs = tests.flatMap((test) => listRunsWithoutFix(question, test));
    if (runs.length > 0 && runs.every(({ shown }) => shown === 'nothing'))
      unclear.set(id, 'without the fix, its test did not run, so nothing shows whether the fix is needed');
  }
  return unclear;
}

/** Explains why a fix may look needless although it is needed. */
function explainLastingEffect(leftovers: readonly string[]): string {
  const files = atMost(leftovers, 3, (hidden) => `and ${hidden} more`).join(', ');
  return `green without its fix, but files outside of git have changed since the fix was made: ${files}`;
}

function findFirst<T, R>(items: readonly T[], step: (item: T) => R | null): R | null {
  for (const item of items) {
    const result = step(item);
    if (result !== null) return result;
  }
  return null;
}

function listFixChanges({ fixes }: ProofQuestion): readonly string[] {
  return [...new Set(fixes.flatMap(({ changes }) => changes))];
}

function findTestFix({ fixes }: ProofQuestion, { fix }: Pick<TestInProof, 'fix'>): FixInProof {
  return fixes.find(({ id }) => id === fix) ?? { id: fix, changes: [], withRevealed: [], leftovers: [] };
}

function listResultsSince({ results, since }: TestInProof): readonly TestRunResult[] {
  return results.filter(({ run }) => run >= since);
}

const hasAll = (changes: readonly string[], wanted: readonly string[]) =>
  wanted.every((id) => changes.includes(id));
const hasNone = (changes: readonly string[], unwanted: readonly string[]) =>
  !unwanted.some((id) => changes.includes(id));

/** Returns the changes to revert to restore the state in which a test was first red: its own fix, and all later ones. */
function listChangesToRevert(question: ProofQuestion, test: TestInProof): readonly string[] {
  return listFixChanges(question).filter((id) => !test.redWith.includes(id));
}

/** Returns the first doubt about each fix, oldest first. */
function listFirstDoubts(doubts: readonly Doubt[]): readonly Doubt[] {
  const oldestFirst = doubts.toSorted((a, b) => a.run - b.run);
  return oldestFirst.filter(
    ({ fix }, index) => oldestFirst.findIndex((other) => other.fix === fix) === index,
  );
}

/** Returns what the shared proof needs for a test. */
function planForTest(question: ProofQuestion, test: TestInProof): TestPlan {
  const kept = listFixChanges(question);
  const { changes: ownIds } = findTestFix(question, test);
  const reverted = listChangesToRevert(question, test);
  const last = test.results.at(-1);
  // The test was red and green with the same changes.
  if (reverted.length === 0 && last)
    return createContradiction(test, last, { why: 'it was red with the same changes', outcome: 'flaky' });
  const isReverted = (result: TestRunResult) => isWithout(result, { kept, without: reverted });
  const recorded = listResultsSince(test).filter(({ isClean }) => !isClean);
  const withFix = recorded.filter((result) => hasAll(result.changes, ownIds) && !isReverted(result));
  const greens = withFix.filter(({ shown }) => shown === 'green').length;
  const red = withFix.find(
    ({ part, shown, changes }) => part === 'shared' && shown !== 'green' && hasAll(kept, changes),
  );
  if (red) {
    const earlier = withFix.some(({ run, shown }) => shown === 'green' && run < red.run);
    return createContradiction(test, red, {
      why: 'it was red in a run with all fixes applied',
      outcome: earlier ? 'unsteady' : 'red',
    });
  }
  // A test outside the re-run of the fix needs one green run fewer, because an extra run for it alone is not worthwhile.
  if (greens < (test.runsBothWays ? countNeededGreenRuns(question, test) : Math.max(1, question.greens - 1)))
    return { kind: 'with' };
  if (!test.runsBothWays || question.reds === 0) return { kind: 'shown' };
  const runs = recorded.filter(
    (result) =>
      (result.part === 'shared' && isReverted(result)) ||
      (result.part === 'separate' && showsNeed(test, result, ownIds)),
  );
  const judged = judgeRunsWithoutFix(question, test, { runs, out: reverted });
  const newest = runs.at(-1);
  if (judged === 'again') return { kind: 'without', without: reverted };
  if (judged === 'clean') return { kind: 'clean', without: reverted };
  if (newest && judged === 'needless')
    return createContradiction(test, newest, { why: 'it was green without its fix', outcome: 'flaky' });
  if (newest && judged === 'nothing' && test.isLead)
    return createContradiction(test, newest, { why: 'it did not run without its fix', outcome: 'flaky' });
  return { kind: 'shown' };
}

/**
 * True if a run without some fixes shows that a test needs its own fix. A run whose other failure may have hidden the test's own shows nothing. A test that ran
 * together with others must also be red without them.
 */
function showsNeed(
  { runsWithOthers, redWith }: TestInProof,
  { changes, shown }: Pick<TestRunResult, 'changes' | 'shown'>,
  ownIds: readonly string[],
): boolean {
  return (
    !runsWithOthers &&
    shown === 'red' &&
    ownIds.length > 0 &&
    hasNone(changes, ownIds) &&
    hasAll(changes, redWith)
  );
}

function createContradiction(
  test: TestInProof,
  { run }: TestRunResult,
  { why, outcome }: { readonly why: string; readonly outcome: 'red' | 'unsteady' | 'flaky' },
): TestPlan {
  const { fix, isLead } = test;
  return isLead ? { kind: 'doubt', doubt: { fix, run, why } } : { kind: 'end', test, outcome };
}

/**
 * Judges runs without a fix. If files outside git have changed since the fix was made, its effect may outlast its reversal: a green run then counts only
 * if a second one in the same state is green, too, and a clean copy agrees. A database changes in every run, so the state is tried again first.
 */
function judgeRunsWithoutFix(
  question: ProofQuestion,
  test: TestInProof,
  { runs, out: reverted }: { readonly runs: readonly TestRunResult[]; readonly out: readonly string[] },
): 'needed' | 'needless' | 'again' | 'clean' | 'nothing' | 'unclear' {
  const clean = findCleanRun(question, test, reverted);
  if (clean) return ({ red: 'needed', green: 'needless', nothing: 'unclear' } as const)[clean.shown];
  if (runs.some(({ shown }) => shown === 'nothing')) return 'nothing';
  const green = runs.findIndex(({ shown }) => shown === 'green');
  if (green === -1) return runs.length < question.reds ? 'again' : 'needed';
  if (findTestFix(question, test).leftovers.length === 0) return 'needless';
  const [next, last] = runs.slice(green + 1);
  if (next?.shown === 'green') return 'clean';
  if (!last) return 'again';
  // The first run may have used an old server.
  return last.shown === 'green' ? 'needless' : 'needed';
}

function findCleanRun(
  question: ProofQuestion,
  test: TestInProof,
  reverted: readonly string[],
): TestRunResult | undefined {
  return listResultsSince(test).find(
    (result) => result.isClean && isWithout(result, { kept: listFixChanges(question), without: reverted }),
  );
}

/** Returns the runs of a test without its own fix. */
function listRunsWithoutFix(question: ProofQuestion, test: TestInProof): readonly TestRunResult[] {
  const { changes: ownIds } = findTestFix(question, test);
  return listResultsSince(test).filter(({ changes }) => hasNone(changes, ownIds));
}

/** The accepted probability that a test passes its proof by luck. */
const ACCEPTED_LUCK = 0.01;

/**
 * Returns how often a test must be green with its fix: more often if, with the same changes but without the fix, it was sometimes red and sometimes
 * green.
 */
function countNeededGreenRuns(question: ProofQuestion, test: TestInProof): number {
  const runs = listRunsWithoutFix(question, test).filter(
    ({ isClean, shown }) => !isClean && shown !== 'nothing',
  );
  // Tests that run at the same time, or effects that outlast the fix, explain a green run without it.
  if (test.runsWithOthers || findTestFix(question, test).leftovers.length > 0) return question.greens;
  const rates = runs.map(({ changes }) => {
    const same = runs.filter((other) => isSameSet(other.changes, changes));
    return same.filter(({ shown }) => shown === 'red').length / same.length;
  });
  const lucky = rates.filter((rate) => rate > 0 && rate < 1);
  const needed = lucky.map((rate) => Math.ceil(Math.log(ACCEPTED_LUCK) / Math.log(1 - rate)));
  return Math.max(question.greens, ...needed);
}

/** Plans runs without the fixes, beginning with the fewest reverted, so that the state without the fixes that the suite needs to start comes last. */
function planRunWithout(
  question: ProofQuestion,
  shared: readonly { readonly test: TestInProof; readonly plan: TestPlan }[],
): NextProofStep | null {
  const wanted = shared.flatMap(({ test, plan }) =>
    plan.kind === 'without' || plan.kind === 'clean' ? [{ test, ...plan }] : [],
  );
  const [first] = wanted.toSorted((a, b) => a.without.length - b.without.length);
  if (!first) return null;
  const { kind, without } = first;
  const tests = wanted.filter(
    (other) =>
      other.kind === kind && other.test.isSuite === first.test.isSuite && isSameSet(other.without, without),
  );
  const these = tests.map(({ test }) => test);
  if (kind === 'without') return { kind: 'run', part: 'shared', tests: these, without };
  const because = explainLastingEffect([
    ...new Set(tests.flatMap(({ test }) => findTestFix(question, test).leftovers)),
  ]);
  return { kind: 'run-clean', tests: these, without, because };
}

/**
 * Plans runs which show that each of the fixes that were tried together is needed even with the others, unless earlier runs have shown it. Each fix gets a
 * number, and each run reverts the fixes whose number has a given bit set, so that the number of runs grows only with the logarithm. This shows for each
 * pair that neither fix replaces the other; a fix may stay although either of two others also heals its test.
 */
function planSeparateRuns(question: ProofQuestion, tests: readonly TestInProof[]): NextProofStep | null {
  const kept = listFixChanges(question);
  const leads = question.fixes.flatMap((fix) => {
    const lead = tests.find((test) => test.fix === fix.id && test.isLead && !test.isSuite);
    return lead ? [{ fix, lead }] : [];
  });
  type Lead = (typeof leads)[number];
  const isInDoubt = (one: Lead, other: Lead, results = one.lead.results) =>
    one !== other &&
    !question.haveDifferentCauses(one.fix.id, other.fix.id) &&
    !isShownIndependent(one.lead, results, [one.fix, other.fix]);
  // The numbers stay the same from run to run.
  const isInitiallyInDoubt = (one: Lead, other: Lead) =>
    isInDoubt(
      one,
      other,
      one.lead.results.filter(({ part }) => part !== 'separate'),
    );
  const isHealedByOthers = (test: TestInProof) => findTestFix(question, test).changes.length === 0;
  for (const { fix, lead } of leads) {
    const healed = tests.filter(isHealedByOthers);
    const without = listResultsSince(lead).filter(
      ({ part, changes }) => part === 'separate' && hasAll(kept, changes) && hasNone(changes, fix.changes),
    );
    // A fix is needed if tests of a cause without a fix of its own are red without it.
    const isGreen = ({ run, shown }: TestRunResult) =>
      shown === 'green' && !healed.some((test) => wasRedIn(test, run));
    const runsAlone = without.filter((result) => isWithout(result, { kept, without: fix.changes }));
    const greens = without.filter(isGreen).length;
    if (greens === 0 || !runsAlone.every(isGreen)) continue;
    if (greens > 1 && runsAlone.length > 0) {
      const { id, changes: ownIds, leftovers } = fix;
      const clean = findCleanRun(question, lead, ownIds);
      if (leftovers.length === 0 || clean?.shown === 'green')
        return { kind: 'refute', fix: id, refutation: { kind: 'needless' } };
      if (clean) continue;
      // The effect of the fix may outlast it here, so a run in a clean copy decides.
      return { kind: 'run-clean', tests: [lead], without: ownIds, because: explainLastingEffect(leftovers) };
    }
    // A verdict on a fix needs two runs.
    const along = healed.filter(({ runsBothWays }) => runsBothWays);
    return { kind: 'run', part: 'separate', tests: [lead, ...along], without: fix.changes };
  }
  const numbers = assignNumbers(
    leads,
    (one, other) => isInitiallyInDoubt(one, other) || isInitiallyInDoubt(other, one),
  );
  const bits = Array.from({ length: 32 - Math.clz32(Math.max(0, ...numbers.values())) }, (_, bit) => bit);
  const byBit = bits.map((bit) => leads.filter((one) => ((numbers.get(one) ?? 0) >> bit) % 2 === 1));
  for (const reverted of [...byBit, ...leads.map((one) => [one])]) {
    const leadsInDoubt = leads.filter((one) =>
      leads.some((other) => reverted.includes(one) !== reverted.includes(other) && isInDoubt(one, other)),
    );
    const without = reverted.flatMap(({ fix }) => fix.changes);
    const hasRun = leadsInDoubt.some(({ lead }) =>
      lead.results.some((result) => result.part === 'separate' && isWithout(result, { kept, without })),
    );
    if (leadsInDoubt.length === 0 || hasRun) continue;
    const isReverted = ({ fix }: TestInProof) => reverted.some((one) => one.fix.id === fix);
    const along = tests.filter(
      (test) =>
        leadsInDoubt.some(({ lead }) => lead === test) ||
        (test.runsBothWays && (isReverted(test) || isHealedByOthers(test))),
    );
    return { kind: 'run', part: 'separate', tests: along, without };
  }
  return null;
}

function wasRedIn({ results }: TestInProof, number: number): boolean {
  return results.some(({ run, shown }) => run === number && shown === 'red');
}

/**
 * True if runs show that a test needs its own fix and not the other: it was red with only the other, or green with only its own. A red run does not count
 * if the fix that revealed the error was reverted, because another failure may have hidden it.
 */
function isShownIndependent(
  { redWith }: TestInProof,
  results: readonly TestRunResult[],
  [fix, other]: readonly [FixInProof, FixInProof],
): boolean {
  return results.some(({ shown, changes }) => {
    if (shown === 'green') return hasAll(changes, fix.changes) && hasNone(changes, other.changes);
    const isHidden = !hasAll(changes, redWith);
    return shown === 'red' && !isHidden && hasAll(changes, other.changes) && hasNone(changes, fix.changes);
  });
}

/** Numbers items from 1, so that items which are alike have different numbers. */
function assignNumbers<T>(items: readonly T[], areAlike: (item: T, other: T) => boolean): Map<T, number> {
  const numbers = new Map<T, number>();
  for (const item of items) {
    const used = new Set([...numbers].flatMap(([other, number]) => (areAlike(item, other) ? number : [])));
    let number = 1;
    while (used.has(number)) number += 1;
    numbers.set(item, number);
  }
  return numbers;
}

/** Repeats the whole proof for one fix in separate runs that revert only its own changes. Returns null if the fix holds. */
function planProofAlone(question: ProofQuestion, doubt: Doubt): NextProofStep | null {
  const kept = listFixChanges(question);
  const fix = findTestFix(question, doubt);
  const tests = question.tests.filter((test) => test.fix === fix.id && test.ended === null);
  const listRunsAlone = (test: TestInProof, without: readonly string[]) =>
    listResultsSince(test).filter(
      (result) =>
        result.part === 'alone' &&
        !result.isClean &&
        result.run > doubt.run &&
        isWithout(result, { kept, without }),
    );
  const run = (these: readonly TestInProof[], without: readonly string[]): NextProofStep => ({
    kind: 'run',
    part: 'alone',
    tests: these,
    without,
    doubt,
  });
  const unsteady = tests.find((test) => listRunsAlone(test, []).some(({ shown }) => shown !== 'green'));
  if (unsteady) {
    if (!unsteady.isLead) return { kind: 'end', test: unsteady, outcome: 'unsteady' };
    const later = question.fixes.slice(question.fixes.findIndex(({ id }) => id === fix.id) + 1);
    const because = `green at first, then red: ${doubt.why}, and again when run alone`;
    return (
      planCulpritSearch(question, [unsteady], later) ?? {
        kind: 'refute',
        fix: fix.id,
        refutation: { kind: 'still-failing', because },
      }
    );
  }
  if (tests.some((test) => listRunsAlone(test, []).length < countNeededGreenRuns(question, test)))
    return run(tests, []);
  if (question.reds === 0) return null;
  const judged = tests
    .filter(({ runsBothWays }) => runsBothWays)
    .map((test) => {
      const runs = listRunsAlone(test, fix.changes);
      return { test, runs, says: judgeRunsWithoutFix(question, test, { runs, out: fix.changes }) };
    });
  const these = (wanted: string) => judged.flatMap(({ test, says }) => (says === wanted ? [test] : []));
  if (these('again').length > 0) return run(these('again'), fix.changes);
  if (these('clean').length > 0)
    return {
      kind: 'run-clean',
      tests: these('clean'),
      without: fix.changes,
      because: explainLastingEffect(fix.leftovers),
    };
  const flaky = these('needless');
  const [first] = flaky;
  if (!first) return null;
  if (flaky.length < judged.length) return { kind: 'end', test: first, outcome: 'flaky' };
  const because = 'also green with the change reverted: the test is flaky, or was fixed by somebody else';
  return { kind: 'refute', fix: fix.id, refutation: { kind: 'flaky', because } };
}

/** Plans the runs that prove each fix in a clean copy, as in CI. */
function planCleanRun(question: ProofQuestion, tests: readonly TestInProof[]): NextProofStep | null {
  const states = tests.flatMap((test) => {
    if (!test.runsBothWays) return [];
    const without = listChangesToRevert(question, test);
    const clean =
      findCleanRun(question, test, without) ??
      findCleanRun(question, test, findTestFix(question, test).changes);
    return [{ test, without, clean }];
  });
  const green = states.find(({ clean }) => clean?.shown === 'green');
  if (green) {
    const { test } = green;
    const because = 'green without the change in a clean copy: the fault is only in files outside of git';
    return test.isLead
      ? { kind: 'refute', fix: test.fix, refutation: { kind: 'flaky', because } }
      : { kind: 'end', test, outcome: 'flaky' };
  }
  const [first] = states
    .filter(({ clean }) => !clean)
    .toSorted((a, b) => a.without.length - b.without.length);
  if (!first) return null;
  const same = states.filter(
    ({ test, without, clean }) =>
      !clean && test.isSuite === first.test.isSuite && isSameSet(without, first.without),
  );
  return {
    kind: 'run-clean',
    tests: same.map(({ test }) => test),
    without: first.without,
    because: null,
  };
}

/** Plans the runs which show that green tests stay green with all fixes (HN-6). */
function planOtherTests(question: ProofQuestion, tests: readonly TestInProof[]): NextProofStep | null {
  const { otherTests } = question;
  if (!otherTests) return null;
  if (!otherTests.hasRun) return { kind: 'run-others', again: null };
  const kept = listFixChanges(question);
  const listResults = ({ results }: TestToStayGreen) =>
    results.flatMap(({ part, changes, shown }) =>
      part === 'others' && isSameSet(changes, kept) ? [shown] : [],
    );
  const once = otherTests.tests.filter((test) => listResults(test).join() === 'red');
  if (once.length > 0) return { kind: 'run-others', again: once.map(({ key }) => key) };
  const broken = otherTests.tests.filter(
    (test) =>
      !test.isMarked && listResults(test).length > 1 && listResults(test).every((shown) => shown === 'red'),
  );
  const culprits = planCulpritSearch(question, broken, question.fixes);
  if (culprits) return culprits;
  for (const { key } of broken) {
    const test = tests.find((other) => other.key === key);
    if (!test) continue;
    if (!test.isLead) return { kind: 'end', test, outcome: 'unsteady' };
    const because = 'red again when the change was reapplied';
    return { kind: 'refute', fix: test.fix, refutation: { kind: 'still-failing', because } };
  }
  return null;
}

/** Returns which of the other tests were red and green in the same state, and which stayed red although no fix is to blame. */
export function judgeOtherTests({
  kept,
  tests,
}: {
  readonly kept: readonly string[];
  readonly tests: readonly TestToStayGreen[];
}): { readonly unsteady: readonly string[]; readonly red: readonly string[] } {
  const runs = tests.map(({ key, results, isMarked }) => {
    const recorded = results.filter(
      ({ part, shown }) => (part === 'others' || part === 'culprit') && shown !== 'nothing',
    );
    const red = recorded.filter(({ shown }) => shown === 'red');
    const isUnsteady = red.some((one) =>
      recorded.some(({ shown, changes }) => shown === 'green' && isSameSet(changes, one.changes)),
    );
    const isBroken = !isMarked && red.filter(({ changes }) => isSameSet(changes, kept)).length > 1;
    return { key, isUnsteady, isBroken };
  });
  return {
    unsteady: runs.flatMap(({ key, isUnsteady }) => (isUnsteady ? key : [])),
    red: runs.flatMap(({ key, isUnsteady, isBroken }) => (isBroken && !isUnsteady ? key : [])),
  };
}

/** Plans the search for the fixes that broke these tests; returns null if no fix did. */
function planCulpritSearch(
  question: ProofQuestion,
  tests: readonly Pick<TestToStayGreen, 'key' | 'results'>[],
  suspects: readonly FixInProof[],
): NextProofStep | null {
  const { greens, reds } = question;
  const kept = listFixChanges(question);
  const searches = tests.map(({ key, results }) => {
    const searchResults = results.filter(({ part, changes }) => part === 'culprit' && hasAll(kept, changes));
    return { key, search: searchCulprits({ kept, suspects, results: searchResults, greens, reds }) };
  });
  const states = searches.flatMap(({ key, search }) => (search.kind === 'run' ? [{ key, ...search }] : []));
  const [first] = states;
  if (first) {
    const same = states.filter(({ without }) => isSameSet(without, first.without));
    return { kind: 'run-culprit', keys: same.map(({ key }) => key), without: first.without };
  }
  const testsByFix = new Map<string, string[]>();
  for (const { key, search } of searches)
    for (const { id } of search.kind === 'broken-by' ? search.fixes : [])
      testsByFix.set(id, [...(testsByFix.get(id) ?? []), key]);
  return testsByFix.size > 0 ? { kind: 'broke', tests: testsByFix } : null;
}
