import { atMost } from '../format.js';
import { searchCulprits } from './culprits.js';
import {
  type Doubt,
  type FixInProof,
  type TestToStayGreen,
  isSameSet,
  isWithout,
  type NextInProof,
  type ProofQuestion,
  type Sighting,
  type TestInProof,
} from './proof-question.js';

/** What is to be done for one test. */
type Wish =
  | Extract<NextInProof, { kind: 'end' }>
  | { readonly kind: 'doubt'; readonly doubt: Doubt }
  | { readonly kind: 'with' }
  | { readonly kind: 'without' | 'clean'; readonly without: readonly string[] }
  | { readonly kind: 'shown' };

/**
 * Returns what a proof of fixes needs next (HN-5), as a pure function of what runs have shown. Every test has to be green with all fixes, red without its own in the
 * state in which it was first red, and green again, like the tests around it (HN-6). The tests of all fixes share runs. If one contradicts a fix, that fix is
 * proven alone.
 */
export function planProof(question: ProofQuestion): NextInProof {
  const tests = question.tests.filter(({ ended }) => ended === null);
  const wishes = tests.map((test) => ({ test, wish: wishOf(question, test) }));
  const doubts = doubtsIn(wishes.flatMap(({ wish }) => (wish.kind === 'doubt' ? wish.doubt : [])));
  const shared = wishes.filter(({ test }) => !doubts.some(({ fix }) => fix === test.fix));
  const ended = shared.find(({ wish }) => wish.kind === 'end');
  if (ended?.wish.kind === 'end') return ended.wish;
  const lacking = shared.flatMap(({ test, wish }) => (wish.kind === 'with' ? test : []));
  if (lacking.length > 0) return { kind: 'run', part: 'shared', tests: lacking, without: [] };
  const undoubted = shared.map(({ test }) => test);
  return (
    tellApart(question, undoubted) ??
    runWithout(question, shared) ??
    firstOf(doubts, (doubt) => proveAlone(question, doubt)) ??
    (question.inCleanCopy ? runClean(question, tests) : null) ??
    checkRest(question, tests) ?? { kind: 'settled' }
  );
}

/** Returns the fixes of which nothing could show whether they are needed, by id, with the reason. */
export function unclearFixes(question: ProofQuestion): ReadonlyMap<string, string> {
  const unclear = new Map<string, string>();
  for (const test of question.tests) {
    if (test.ended !== null || !test.isFlipped) continue;
    const { leftovers } = fixOf(question, test);
    const [clean] = sightingsSince(test).filter(({ isClean, shown }) => isClean && shown === 'nothing');
    if (clean) {
      const why = leftovers.length > 0 ? outlived(leftovers) : 'proven here';
      unclear.set(
        test.fix,
        `${why}; a clean copy cannot show whether it needs the fix: ${clean.because ?? ''}. If a fresh clone is red without the fix, keep it, else undo it`,
      );
    }
  }
  for (const { id } of question.fixes) {
    const tests = question.tests.filter(({ fix, isFlipped }) => fix === id && isFlipped);
    const runs = tests.flatMap((test) => withoutFix(question, test));
    if (runs.length > 0 && runs.every(({ shown }) => shown === 'nothing'))
      unclear.set(id, 'without the fix, its test did not run, so that nothing shows whether it is needed');
  }
  return unclear;
}

/** Says why a fix may seem needless although it is not. */
function outlived(leftovers: readonly string[]): string {
  const files = atMost(leftovers, 3, (hidden) => `and ${hidden} more`).join(', ');
  return `green without its fix, but files that git does not have changed since it was made: ${files}`;
}

function firstOf<T, R>(items: readonly T[], step: (item: T) => R | null): R | null {
  for (const item of items) {
    const result = step(item);
    if (result !== null) return result;
  }
  return null;
}

function keptIn({ fixes }: ProofQuestion): readonly string[] {
  return [...new Set(fixes.flatMap(({ changes }) => changes))];
}

function fixOf({ fixes }: ProofQuestion, { fix }: Pick<TestInProof, 'fix'>): FixInProof {
  return fixes.find(({ id }) => id === fix) ?? { id: fix, changes: [], withRevealed: [], leftovers: [] };
}

function sightingsSince({ sightings, since }: TestInProof): readonly Sighting[] {
  return sightings.filter(({ run }) => run >= since);
}

const hasAll = (changes: readonly string[], wanted: readonly string[]) =>
  wanted.every((id) => changes.includes(id));
const hasNone = (changes: readonly string[], unwanted: readonly string[]) =>
  !unwanted.some((id) => changes.includes(id));

/** The changes to take out so that a test is red as it first was: its own fix, and all that came later. */
function outOf(question: ProofQuestion, test: TestInProof): readonly string[] {
  return keptIn(question).filter((id) => !test.redWith.includes(id));
}

/** The first doubt about each fix, oldest first. */
function doubtsIn(doubts: readonly Doubt[]): readonly Doubt[] {
  const oldestFirst = doubts.toSorted((a, b) => a.run - b.run);
  return oldestFirst.filter(({ fix }, at) => oldestFirst.findIndex((other) => other.fix === fix) === at);
}

/** What the shared proof wants of a test. */
function wishOf(question: ProofQuestion, test: TestInProof): Wish {
  const kept = keptIn(question);
  const { changes: own } = fixOf(question, test);
  const out = outOf(question, test);
  const last = test.sightings.at(-1);
  // Nothing that is left has changed between red and green.
  if (out.length === 0 && last)
    return contradicted(test, last, { why: 'it was red with the same changes', as: 'flaky' });
  const isOut = (sighting: Sighting) => isWithout(sighting, { kept, without: out });
  const seen = sightingsSince(test).filter(({ isClean }) => !isClean);
  const withFix = seen.filter((sighting) => hasAll(sighting.changes, own) && !isOut(sighting));
  const greens = withFix.filter(({ shown }) => shown === 'green').length;
  const red = withFix.find(
    ({ part, shown, changes }) => part === 'shared' && shown !== 'green' && hasAll(kept, changes),
  );
  if (red) {
    const earlier = withFix.some(({ run, shown }) => shown === 'green' && run < red.run);
    return contradicted(test, red, {
      why: 'it was red in a run with all fixes applied',
      as: earlier ? 'unsteady' : 'red',
    });
  }
  // The others were not in the re-run that showed the fix, and are not worth one more run.
  if (greens < (test.isFlipped ? greensFor(question, test) : Math.max(1, question.greens - 1)))
    return { kind: 'with' };
  if (!test.isFlipped || question.reds === 0) return { kind: 'shown' };
  const runs = seen.filter(
    (sighting) =>
      (sighting.part === 'shared' && isOut(sighting)) ||
      (sighting.part === 'apart' && showsNeed(test, sighting, own)),
  );
  const judged = judgeWithout(question, test, { runs, out });
  const newest = runs.at(-1);
  if (judged === 'again') return { kind: 'without', without: out };
  if (judged === 'clean') return { kind: 'clean', without: out };
  if (newest && judged === 'needless')
    return contradicted(test, newest, { why: 'it was green without its fix', as: 'flaky' });
  if (newest && judged === 'nothing' && test.isLead)
    return contradicted(test, newest, { why: 'it did not run without its fix', as: 'flaky' });
  return { kind: 'shown' };
}

/**
 * Whether a run without some fixes shows that a test needs its own: not if another failure may have hidden its own. A test that ran along with others has
 * to be red without them, too.
 */
function showsNeed(
  { isInCompany, redWith }: TestInProof,
  { changes, shown }: Pick<Sighting, 'changes' | 'shown'>,
  own: readonly string[],
): boolean {
  return (
    !isInCompany && shown === 'red' && own.length > 0 && hasNone(changes, own) && hasAll(changes, redWith)
  );
}

function contradicted(
  test: TestInProof,
  { run }: Sighting,
  { why, as }: { readonly why: string; readonly as: 'red' | 'unsteady' | 'flaky' },
): Wish {
  const { fix, isLead } = test;
  return isLead ? { kind: 'doubt', doubt: { fix, run, why } } : { kind: 'end', test, as };
}

/**
 * Judges runs without a fix. If files outside of git have changed since it was made, its effect may outlive it: then a green run counts only if another one
 * in the same state is green, too, and a clean copy agrees. A database changes in every run, so the same state is tried again before that explains anything.
 */
function judgeWithout(
  question: ProofQuestion,
  test: TestInProof,
  { runs, out }: { readonly runs: readonly Sighting[]; readonly out: readonly string[] },
): 'needed' | 'needless' | 'again' | 'clean' | 'nothing' | 'unclear' {
  const clean = cleanWithout(question, test, out);
  if (clean) return ({ red: 'needed', green: 'needless', nothing: 'unclear' } as const)[clean.shown];
  if (runs.some(({ shown }) => shown === 'nothing')) return 'nothing';
  const green = runs.findIndex(({ shown }) => shown === 'green');
  if (green === -1) return runs.length < question.reds ? 'again' : 'needed';
  if (fixOf(question, test).leftovers.length === 0) return 'needless';
  const [next, last] = runs.slice(green + 1);
  if (next?.shown === 'green') return 'clean';
  if (!last) return 'again';
  // What an old server still showed is red from now on.
  return last.shown === 'green' ? 'needless' : 'needed';
}

function cleanWithout(
  question: ProofQuestion,
  test: TestInProof,
  out: readonly string[],
): Sighting | undefined {
  return sightingsSince(test).find(
    (sighting) => sighting.isClean && isWithout(sighting, { kept: keptIn(question), without: out }),
  );
}

/** The runs of a test without its own fix. */
function withoutFix(question: ProofQuestion, test: TestInProof): readonly Sighting[] {
  const { changes: own } = fixOf(question, test);
  return sightingsSince(test).filter(({ changes }) => hasNone(changes, own));
}

/** The chance of a test to pass its proof by luck. */
const LUCK = 0.01;

/** How often a test has to be green with its fix: more often if it was both green and red in one state without it, at the rate at which it was red. */
function greensFor(question: ProofQuestion, test: TestInProof): number {
  const runs = withoutFix(question, test).filter(({ isClean, shown }) => !isClean && shown !== 'nothing');
  // What runs along, or outlives the fix, explains a green run.
  if (test.isInCompany || fixOf(question, test).leftovers.length > 0) return question.greens;
  const rates = runs.map(({ changes }) => {
    const same = runs.filter((other) => isSameSet(other.changes, changes));
    return same.filter(({ shown }) => shown === 'red').length / same.length;
  });
  const lucky = rates.filter((rate) => rate > 0 && rate < 1);
  const needed = lucky.map((rate) => Math.ceil(Math.log(LUCK) / Math.log(1 - rate)));
  return Math.max(question.greens, ...needed);
}

/** Runs without the fixes, first with the fewest taken out: the state without the fixes that the suite needs to start is last. */
function runWithout(
  question: ProofQuestion,
  shared: readonly { readonly test: TestInProof; readonly wish: Wish }[],
): NextInProof | null {
  const wanted = shared.flatMap(({ test, wish }) =>
    wish.kind === 'without' || wish.kind === 'clean' ? [{ test, ...wish }] : [],
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
  const because = outlived([...new Set(tests.flatMap(({ test }) => fixOf(question, test).leftovers))]);
  return { kind: 'run-clean', tests: these, without, because };
}

/**
 * Shows that each of the fixes that were tried together is needed beside the others. Nothing is run for those that are told apart already. The others get
 * different numbers, and each run takes out the fixes whose number has a certain bit, so that the number of runs hardly grows with the fixes. That shows of each
 * two that one does not do for the other; a fix may stay whose test each of two others heals.
 */
function tellApart(question: ProofQuestion, tests: readonly TestInProof[]): NextInProof | null {
  const kept = keptIn(question);
  const leads = question.fixes.flatMap((fix) => {
    const lead = tests.find((test) => test.fix === fix.id && test.isLead && !test.isSuite);
    return lead ? [{ fix, lead }] : [];
  });
  type Lead = (typeof leads)[number];
  const isInDoubt = (one: Lead, other: Lead, sightings = one.lead.sightings) =>
    one !== other &&
    !question.areApart(one.fix.id, other.fix.id) &&
    !areSeenApart(one.lead, sightings, [one.fix, other.fix]);
  // The numbers stay the same from run to run.
  const wereInDoubt = (one: Lead, other: Lead) =>
    isInDoubt(
      one,
      other,
      one.lead.sightings.filter(({ part }) => part !== 'apart'),
    );
  const isHealedByOthers = (test: TestInProof) => fixOf(question, test).changes.length === 0;
  for (const { fix, lead } of leads) {
    const healed = tests.filter(isHealedByOthers);
    const without = sightingsSince(lead).filter(
      ({ part, changes }) => part === 'apart' && hasAll(kept, changes) && hasNone(changes, fix.changes),
    );
    // A fix is needed if tests of a cause without a fix of its own are red without it.
    const isGreen = ({ run, shown }: Sighting) =>
      shown === 'green' && !healed.some((test) => wasRedIn(test, run));
    const alone = without.filter((sighting) => isWithout(sighting, { kept, without: fix.changes }));
    const greens = without.filter(isGreen).length;
    if (greens === 0 || !alone.every(isGreen)) continue;
    if (greens > 1 && alone.length > 0) return { kind: 'refute', fix: fix.id, how: { kind: 'needless' } };
    // What is said of a fix is seen twice.
    const along = healed.filter(({ isFlipped }) => isFlipped);
    return { kind: 'run', part: 'apart', tests: [lead, ...along], without: fix.changes };
  }
  const numbers = numbered(leads, (one, other) => wereInDoubt(one, other) || wereInDoubt(other, one));
  const bits = Array.from({ length: 32 - Math.clz32(Math.max(0, ...numbers.values())) }, (_, bit) => bit);
  const byBit = bits.map((bit) => leads.filter((one) => ((numbers.get(one) ?? 0) >> bit) % 2 === 1));
  for (const out of [...byBit, ...leads.map((one) => [one])]) {
    const doubtful = leads.filter((one) =>
      leads.some((other) => out.includes(one) !== out.includes(other) && isInDoubt(one, other)),
    );
    const without = out.flatMap(({ fix }) => fix.changes);
    const hasRun = doubtful.some(({ lead }) =>
      lead.sightings.some((sighting) => sighting.part === 'apart' && isWithout(sighting, { kept, without })),
    );
    if (doubtful.length === 0 || hasRun) continue;
    const isOut = ({ fix }: TestInProof) => out.some((one) => one.fix.id === fix);
    const along = tests.filter(
      (test) =>
        doubtful.some(({ lead }) => lead === test) ||
        (test.isFlipped && (isOut(test) || isHealedByOthers(test))),
    );
    return { kind: 'run', part: 'apart', tests: along, without };
  }
  return null;
}

function wasRedIn({ sightings }: TestInProof, number: number): boolean {
  return sightings.some(({ run, shown }) => run === number && shown === 'red');
}

/**
 * Whether runs have told two fixes apart for a test: it was red with the other and without its own, or green with its own and without the other. If a fix that
 * revealed its error was out, another failure may have hidden it.
 */
function areSeenApart(
  { redWith }: TestInProof,
  sightings: readonly Sighting[],
  [own, other]: readonly [FixInProof, FixInProof],
): boolean {
  return sightings.some(({ shown, changes }) => {
    if (shown === 'green') return hasAll(changes, own.changes) && hasNone(changes, other.changes);
    const isHidden = !hasAll(changes, redWith);
    return shown === 'red' && !isHidden && hasAll(changes, other.changes) && hasNone(changes, own.changes);
  });
}

/** Numbers items from 1, so that those that are not told apart have different numbers. */
function numbered<T>(items: readonly T[], areAlike: (item: T, other: T) => boolean): Map<T, number> {
  const numbers = new Map<T, number>();
  for (const item of items) {
    const taken = new Set([...numbers].flatMap(([other, number]) => (areAlike(item, other) ? number : [])));
    let number = 1;
    while (taken.has(number)) number += 1;
    numbers.set(item, number);
  }
  return numbers;
}

/** Repeats the whole proof for one fix, in its own runs and with only its own changes taken out. Returns null if it holds. */
function proveAlone(question: ProofQuestion, doubt: Doubt): NextInProof | null {
  const kept = keptIn(question);
  const fix = fixOf(question, doubt);
  const tests = question.tests.filter((test) => test.fix === fix.id && test.ended === null);
  const alone = (test: TestInProof, without: readonly string[]) =>
    sightingsSince(test).filter(
      (sighting) =>
        sighting.part === 'alone' &&
        !sighting.isClean &&
        sighting.run > doubt.run &&
        isWithout(sighting, { kept, without }),
    );
  const run = (these: readonly TestInProof[], without: readonly string[]): NextInProof => ({
    kind: 'run',
    part: 'alone',
    tests: these,
    without,
    doubt,
  });
  const unsteady = tests.find((test) => alone(test, []).some(({ shown }) => shown !== 'green'));
  if (unsteady) {
    if (!unsteady.isLead) return { kind: 'end', test: unsteady, as: 'unsteady' };
    const later = question.fixes.slice(question.fixes.findIndex(({ id }) => id === fix.id) + 1);
    const because = `green at first, then red: ${doubt.why}, and again when run alone`;
    return (
      findCulprits(question, [unsteady], later) ?? {
        kind: 'refute',
        fix: fix.id,
        how: { kind: 'still-failing', because },
      }
    );
  }
  if (tests.some((test) => alone(test, []).length < greensFor(question, test))) return run(tests, []);
  if (question.reds === 0) return null;
  const judged = tests
    .filter(({ isFlipped }) => isFlipped)
    .map((test) => {
      const runs = alone(test, fix.changes);
      return { test, runs, says: judgeWithout(question, test, { runs, out: fix.changes }) };
    });
  const these = (wanted: string) => judged.flatMap(({ test, says }) => (says === wanted ? [test] : []));
  if (these('again').length > 0) return run(these('again'), fix.changes);
  if (these('clean').length > 0)
    return {
      kind: 'run-clean',
      tests: these('clean'),
      without: fix.changes,
      because: outlived(fix.leftovers),
    };
  const flaky = these('needless');
  const [first] = flaky;
  if (!first) return null;
  if (flaky.length < judged.length) return { kind: 'end', test: first, as: 'flaky' };
  const because = 'also green with the change reverted: the test is flaky, or was fixed by somebody else';
  return { kind: 'refute', fix: fix.id, how: { kind: 'flaky', because } };
}

/** Proves each fix in a clean copy, as CI would see the project. */
function runClean(question: ProofQuestion, tests: readonly TestInProof[]): NextInProof | null {
  const states = tests.flatMap((test) => {
    if (!test.isFlipped) return [];
    const without = outOf(question, test);
    const clean =
      cleanWithout(question, test, without) ?? cleanWithout(question, test, fixOf(question, test).changes);
    return [{ test, without, clean }];
  });
  const green = states.find(({ clean }) => clean?.shown === 'green');
  if (green) {
    const { test } = green;
    const because =
      'green without the change in a clean copy: what was red is only in files that git does not have';
    return test.isLead
      ? { kind: 'refute', fix: test.fix, how: { kind: 'flaky', because } }
      : { kind: 'end', test, as: 'flaky' };
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

/** What was green has to stay green, with all fixes applied again (HN-6). */
function checkRest(question: ProofQuestion, tests: readonly TestInProof[]): NextInProof | null {
  const { rest } = question;
  if (!rest) return null;
  if (!rest.hasRun) return { kind: 'run-rest', again: null };
  const kept = keptIn(question);
  const seen = ({ sightings }: TestToStayGreen) =>
    sightings.filter(({ part, changes }) => part === 'rest' && isSameSet(changes, kept));
  const once = rest.tests.filter(
    (test) =>
      seen(test)
        .map(({ shown }) => shown)
        .join() === 'red',
  );
  if (once.length > 0) return { kind: 'run-rest', again: once.map(({ key }) => key) };
  const broken = rest.tests.filter(
    (test) => !test.isMarked && seen(test).length > 1 && seen(test).every(({ shown }) => shown === 'red'),
  );
  const culprits = findCulprits(question, broken, question.fixes);
  if (culprits) return culprits;
  for (const { key } of broken) {
    const test = tests.find((other) => other.key === key);
    if (!test) continue;
    if (!test.isLead) return { kind: 'end', test, as: 'unsteady' };
    const because = 'red again when the change was reapplied';
    return { kind: 'refute', fix: test.fix, how: { kind: 'still-failing', because } };
  }
  return null;
}

/**
 * Returns, of the tests around the fixes that are kept, those that were red and green in the same state, and those that stayed red although no fix is to blame.
 */
export function restOutcome({
  kept,
  tests,
}: {
  readonly kept: readonly string[];
  readonly tests: readonly TestToStayGreen[];
}): { readonly unsteady: readonly string[]; readonly red: readonly string[] } {
  const runs = tests.map(({ key, sightings, isMarked }) => {
    const seen = sightings.filter(
      ({ part, shown }) => (part === 'rest' || part === 'culprit') && shown !== 'nothing',
    );
    const red = seen.filter(({ shown }) => shown === 'red');
    const isUnsteady = red.some((one) =>
      seen.some(({ shown, changes }) => shown === 'green' && isSameSet(changes, one.changes)),
    );
    const isBroken = !isMarked && red.filter(({ changes }) => isSameSet(changes, kept)).length > 1;
    return { key, isUnsteady, isBroken };
  });
  return {
    unsteady: runs.flatMap(({ key, isUnsteady }) => (isUnsteady ? key : [])),
    red: runs.flatMap(({ key, isUnsteady, isBroken }) => (isBroken && !isUnsteady ? key : [])),
  };
}

/** Searches for the fixes that broke these tests; returns null if no fix did. */
function findCulprits(
  question: ProofQuestion,
  tests: readonly Pick<TestToStayGreen, 'key' | 'sightings'>[],
  suspects: readonly FixInProof[],
): NextInProof | null {
  const { greens, reds } = question;
  const kept = keptIn(question);
  const searches = tests.map(({ key, sightings }) => {
    const ofSearch = sightings.filter(({ part, changes }) => part === 'culprit' && hasAll(kept, changes));
    return { key, search: searchCulprits({ kept, suspects, sightings: ofSearch, greens, reds }) };
  });
  const states = searches.flatMap(({ key, search }) => (search.kind === 'run' ? [{ key, ...search }] : []));
  const [first] = states;
  if (first) {
    const same = states.filter(({ without }) => isSameSet(without, first.without));
    return { kind: 'run-culprit', keys: same.map(({ key }) => key), without: first.without };
  }
  const broke = new Map<string, string[]>();
  for (const { key, search } of searches)
    for (const { id } of search.kind === 'broken-by' ? search.fixes : [])
      broke.set(id, [...(broke.get(id) ?? []), key]);
  return broke.size > 0 ? { kind: 'broke', tests: broke } : null;
}
