import { formatReading } from '../model/attempt.js';
import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { atMost } from '../format.js';
import { failureKey } from '../model/failure.js';
import { isGreen } from './judge.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import {
  changesOf,
  heldAttempt,
  isUnproven,
  keptAttempts,
  keptCauses,
  type Progress,
  proofTest,
  type ProofTest,
  revealing,
  stepsOf,
  summarise,
} from './progress.js';
import { isUndecided, suiteKey } from './observations.js';
import { type InCleanCopy, leftovers, proveInCleanCopy } from './clean-proof.js';
import { runRegression } from './regression.js';
import { decideLast, revertFixes, revertFixesThatBroke, revertDeadEnds } from './revert-fixes.js';
import { retest } from './retest.js';
import { abandonProof, type Remainder, type Refutation, applyProof } from './apply-proof.js';
import { failuresWithoutCause } from './apply-result.js';
import { joinedUsage } from './attempt/start-agent.js';
import { type FixToProve, type Readings, startReading } from './reading/read-fixes.js';

const nothing: Remainder = { again: [], failures: [] };

/** One shared proof of all fixes that are not proven yet. */
interface Proof {
  readonly progress: Progress;
  /** Causes that a shared run contradicted, by id, with the reason. */
  readonly doubts: Map<string, string>;
  readonly refuted: Map<string, Refutation>;
  /** Tests that were red without their own fix while others were in the project. */
  readonly shownRed: Set<ProofTest>;
  /** What runs in a clean copy showed. */
  readonly clean: Map<ProofTest, InCleanCopy>;
  /** Causes whose fix nothing could show to be needed, by id, with the reason. */
  readonly unproven: Map<string, string>;
  /** Causes that are gone with the fix that had revealed them, by id. */
  readonly gone: Set<string>;
  readonly others: Map<string, DiagnosedFailure>;
}

/**
 * Proves all fixes in shared runs (HN-5). Every test of every cause has to be green `verify.repeat` times; then three of each are `verify.flips` times red
 * without its fix, and all are green with it reapplied, which the regression run shows. Tests that were first red with the same fixes in the project
 * share a run. If a shared run contradicts a cause, that cause is proven alone. A kill before the proof is complete reverts the fixes.
 */
export async function proveFixes(progress: Progress, first: SuiteRun): Promise<Remainder> {
  const { session, proofTests } = progress;
  if (proofTests.length === 0 && keptCauses(progress).length === 0) return nothing;
  const proof: Proof = {
    progress,
    doubts: new Map(),
    refuted: new Map(),
    shownRed: new Set(),
    clean: new Map(),
    unproven: new Map(),
    gone: new Set(),
    others: new Map(),
  };
  // Whoever reads them needs no project, and reads while it is busy.
  const readings = await startReading(session, fixesIn(proof));
  try {
    return await proveWhileRead(proof, { first, readings });
  } finally {
    await readings.stop();
  }
}

async function proveWhileRead(
  proof: Proof,
  { first, readings }: { readonly first: SuiteRun; readonly readings: Readings },
): Promise<Remainder> {
  const { progress } = proof;
  const { session } = progress;
  await proveGreenWithFixes(proof);
  if (await tellApart(proof)) await proveGreenWithFixes(proof);
  for (let flip = 0; flip < session.settings.verify.flips; flip += 1) await proveRedWithoutFixes(proof);
  for (const [causeId, why] of proof.doubts) await proveAlone(proof, causeId, why);
  if (session.settings.verify.level === 'clean') await proveAllClean(proof);
  await session.workspace.takeOut([]);
  let isBroken = false;
  do {
    await dropDeadEnds(proof);
    const { red, broke, failures } = await runRegression(progress, first, testsStillInProof(proof));
    isBroken ||= broke;
    if (!session.signal.aborted) await takeRed(proof, red);
    for (const failure of failures) proof.others.set(failureKey(failure.failure), failure);
    // What is left without a fix that its reader has refused has to be shown once more.
  } while (!session.signal.aborted && (await applyReadings(proof, readings)));
  if (session.signal.aborted) {
    await abandonProof(progress);
    return nothing;
  }
  await dropDeadEnds(proof);
  if (proof.refuted.size > 0 || isBroken) await recheckOtherTests(proof);
  return applyProof(progress, proof);
}

/**
 * Shows that each of the fixes that were tried together is needed beside the others. Nothing is run for those whose blame has already told them
 * apart. The others get different numbers, and each run takes out the fixes whose number has a certain bit, so that the number of runs hardly grows
 * with the fixes. A fix without which its test is green is taken out (HL-6); returns whether there was one.
 */
async function tellApart(proof: Proof): Promise<boolean> {
  const { progress } = proof;
  const { session } = progress;
  const leads = new Map(
    testsStillInProof(proof).flatMap((test) => (test.isLead ? [[test.causeId, test]] : [])),
  );
  const fixes = keptCauses(progress).filter(({ id }) => {
    const lead = leads.get(id);
    return lead !== undefined && !isSuite(lead);
  });
  const numbers = numbersOf(progress, fixes);
  const bits = Array.from({ length: Math.ceil(Math.log2(Math.max(...numbers, 1) + 1)) }, (_, bit) => bit);
  const byBit = bits.map((bit) => fixes.filter((_, at) => ((numbers[at] ?? 0) >> bit) % 2 === 1));
  let isTaken = false;
  for (const out of [...byBit, ...fixes.map((fix) => [fix])]) {
    const isDoubtful = (cause: Cause) => {
      const others = fixes.filter((fix) => out.includes(fix) !== out.includes(cause));
      return others.some((other) => isInDoubt(progress, cause, other));
    };
    const doubtful = new Set(fixes.filter(isDoubtful).map(({ id }) => id));
    if (doubtful.size === 0 || session.signal.aborted) continue;
    const isOut = ({ causeId }: ProofTest) => out.some(({ id }) => id === causeId);
    // A fix is needed if tests of a cause without a fix of its own are green with it.
    const isHealedByOthers = ({ causeId }: ProofTest) => progress.greenWithOthers.has(causeId);
    const tests = testsStillInProof(proof).filter(
      (test) =>
        (test.isLead && doubtful.has(test.causeId)) ||
        (test.isFlipped && (isOut(test) || isHealedByOthers(test))),
    );
    const changes = out.flatMap((cause) => changesOf(progress, cause));
    if (!(await takeOut(proof, changes))) continue;
    const { green, red } = await rerunAndSort(proof, tests);
    await session.workspace.takeOut([]);
    // A test that ran along with others has to be red without them, too.
    for (const test of red) if (isOut(test) && !test.failure.along) proof.shownRed.add(test);
    for (const test of red.some(isHealedByOthers) ? [] : green) {
      if (!test.isLead || !isOut(test) || !doubtful.has(test.causeId)) continue;
      await takeNeedless(progress, test);
      isTaken = true;
    }
  }
  return isTaken;
}

/** Numbers fixes from 1, so that fixes that are not yet told apart have different numbers. */
function numbersOf(progress: Progress, fixes: readonly Cause[]): number[] {
  const numbers: number[] = [];
  for (const fix of fixes) {
    const taken = fixes
      .slice(0, numbers.length)
      .flatMap((other, at) =>
        isInDoubt(progress, fix, other) || isInDoubt(progress, other, fix) ? [numbers[at]] : [],
      );
    const free = Array.from({ length: taken.length + 1 }, (_, at) => at + 1);
    numbers.push(free.find((number) => !taken.includes(number)) ?? 1);
  }
  return numbers;
}

/** Whether a cause may not need its own fix beside that of another. */
function isInDoubt(progress: Progress, cause: Cause, other: Cause): boolean {
  if (cause === other) return false;
  const [own, others] = [changesOf(progress, cause), changesOf(progress, other)];
  if (own.length === 0 || others.length === 0) return false;
  return (
    !progress.searches.some((searches) => searches.areApart(cause.id, other.id)) &&
    !progress.session.observations.areApart(cause.lead, { own, other: others })
  );
}

/** Takes out a fix whose test is green without it, with the fixes of others. */
async function takeNeedless(progress: Progress, test: ProofTest): Promise<void> {
  const cause = progress.causes.get(test.causeId);
  if (!cause) return;
  await revertFixes(progress, changesOf(progress, cause));
  const because = 'its test is green without it, with the fix of another cause';
  await decideLast(progress, cause, { kind: 'taken-out', because });
  progress.greenWithOthers.set(cause.id, 'healed by an earlier fix of this run');
  const at = progress.proofTests.indexOf(test);
  const { failure, causeId, isFlipped } = test;
  if (at !== -1)
    progress.proofTests[at] = proofTest(progress, { failure, causeId, isLead: false, isFlipped });
}

/**
 * Applies what readers say of the fixes that no run has contradicted (HN-11); returns whether one was taken out while others stay. An honest fix enters. Of one that hides
 * the fault the next agent is told, and about any other a person is asked.
 */
async function applyReadings(proof: Proof, readings: Readings): Promise<boolean> {
  const { progress } = proof;
  const { session } = progress;
  const before = proof.refuted.size;
  for (const { cause, attempt: fix } of fixesIn(proof)) {
    const read = await readings.of(cause.id);
    if (session.signal.aborted) return false;
    if (!read || fix.reading) continue;
    const { reading } = read;
    const usage = fix.usage && read.usage ? joinedUsage(fix.usage, read.usage) : (read.usage ?? fix.usage);
    const attempt = {
      ...fix,
      reading,
      usage: usage && { ...usage, sessionId: fix.usage?.sessionId ?? null },
    };
    session.bus.emit({ type: 'attempt.held', causeId: cause.id, attempt });
    const lead = testsStillInProof(proof).find((test) => test.causeId === cause.id && test.isLead);
    if (reading.verdict === 'honest' || reading.verdict === 'not-read' || !lead) continue;
    const isHiding = reading.verdict === 'hides';
    const hides = isHiding ? { hides: true as const } : {};
    const because = `${isHiding ? '' : 'is this fix meant? '}${formatReading(reading)}`;
    const steps = stepsOf(progress, lead);
    await refute(proof, cause, { kind: 'offered', side: 'app', proof: steps, because, ...hides });
  }
  return proof.refuted.size > before && testsStillInProof(proof).length > 0;
}

/** Returns the fixes that hold so far. */
function fixesIn(proof: Proof): FixToProve[] {
  const { progress } = proof;
  const tested = new Set(testsStillInProof(proof).flatMap((test) => (test.isFlipped ? [test.causeId] : [])));
  return [...progress.causes.values()].flatMap((cause) => {
    const attempt = heldAttempt(progress, cause);
    if (attempt?.end.kind !== 'green' || !tested.has(cause.id)) return [];
    const chain = [...revealing(progress, cause), cause];
    return [{ cause, attempt, parts: chain.flatMap((part) => keptAttempts(progress, part)) }];
  });
}

/** Called before the last run of the proof, so that this shows the other fixes without them. */
async function dropDeadEnds({ progress, refuted, gone }: Proof): Promise<void> {
  if (progress.session.signal.aborted) return;
  for (const id of await revertDeadEnds(progress, refuted)) gone.add(id);
}

function testsStillInProof({ progress, refuted, doubts }: Proof, alone?: string): ProofTest[] {
  return progress.proofTests.filter(
    ({ ended, causeId }) =>
      ended === null && !refuted.has(causeId) && (alone ? causeId === alone : !doubts.has(causeId)),
  );
}

const isSuite = ({ failure }: ProofTest) => failure.failure.scope === 'suite';

/** Runs the tests with all fixes applied until each has been green often enough. */
async function proveGreenWithFixes(proof: Proof): Promise<void> {
  const { session } = proof.progress;
  const { repeat } = session.settings.verify;
  // The others were not in the re-run that showed the fix, and are not worth one more run.
  const wanted = ({ isFlipped }: ProofTest) => (isFlipped ? repeat : Math.max(1, repeat - 1));
  const greensOf = ({ failure, ...when }: ProofTest) =>
    session.observations.steps(failure, when).after.filter((step) => step === 'green').length;
  const lacking = () => testsStillInProof(proof).filter((test) => greensOf(test) < wanted(test));
  for (let tests = lacking(); tests.length > 0 && !session.signal.aborted; tests = lacking()) {
    const { red, notRun } = await rerunAndSort(proof, tests);
    for (const test of [...red, ...notRun]) {
      if (test.isLead) proof.doubts.set(test.causeId, 'it was red in a run with all fixes applied');
      else test.ended = greensOf(test) === 0 ? 'red' : 'unsteady';
    }
  }
}

/** Runs three tests of each cause without its fix, unless one was shown to be red already. */
async function proveRedWithoutFixes(proof: Proof): Promise<void> {
  const { session } = proof.progress;
  const tests = testsStillInProof(proof).filter((test) => test.isFlipped && !proof.shownRed.has(test));
  proof.shownRed.clear();
  for (const state of redStates(proof, tests)) await lookWithout(proof, state);
  if (session.settings.verify.flips > 1) await session.workspace.takeOut([]);
}

/** Tests that are red while these changes are taken out. */
interface RedState {
  readonly tests: ProofTest[];
  readonly without: readonly string[];
}

/**
 * Groups tests by the changes to take out so that each is red again as it first was: its own fix and all that came later. The changes that came before
 * stay, since another failure would hide its own. States with fewer changes come first, so the one without the fixes that the suite needs to start is last.
 */
function redStates({ progress }: Proof, tests: readonly ProofTest[]): RedState[] {
  const kept = keptCauses(progress).flatMap((cause) => changesOf(progress, cause));
  const states = new Map<string, RedState>();
  for (const test of tests) {
    const before = progress.session.observations.firstRedWith(test.failure, new Set(kept));
    // The fixes that revealed its error are a part of its own (HL-3).
    const without = kept.filter((id) => !before.includes(id) || test.base.includes(id));
    const key = `${isSuite(test)} ${without.join(' ')}`;
    const state = states.get(key) ?? { tests: [], without };
    state.tests.push(test);
    states.set(key, state);
  }
  return [...states.values()].toSorted((a, b) => a.without.length - b.without.length);
}

async function lookWithout(proof: Proof, { tests, without }: RedState): Promise<void> {
  if (proof.progress.session.signal.aborted || !(await takeOut(proof, without))) return;
  const how = { isWithoutOthers: true };
  const { green, notRun } = await rerunAndSort(proof, tests, how);
  for (const test of await flakyWithout(proof, green, how)) {
    if (test.isLead) proof.doubts.set(test.causeId, 'it was green without its fix');
    else test.ended = 'flaky';
  }
  for (const { isLead, causeId } of notRun)
    if (isLead) proof.doubts.set(causeId, 'it did not run without its fix');
}

/**
 * Returns which of these tests, green although their fixes are taken out, are flaky. If files outside of git have changed since a fix was made, its
 * effect may outlive its revert: then a test is flaky only if it is red and green in the same state, or green in a clean copy, too.
 */
async function flakyWithout(
  proof: Proof,
  green: readonly ProofTest[],
  how: LookOptions,
): Promise<readonly ProofTest[]> {
  const { progress, clean } = proof;
  const { bus, signal } = progress.session;
  const changed = green.filter((test) => !clean.has(test));
  const leftoverFiles = changed.length > 0 && !signal.aborted ? await leftovers(progress, changed) : [];
  // A database changes in every run, so the same state is tried again before it explains anything. What an old server still showed stays red now.
  const again = leftoverFiles.length > 0 ? await rerunAndSort(proof, changed, how) : null;
  const once = again && again.red.length > 0 ? await rerunAndSort(proof, again.red, how) : null;
  const tests = again?.green ?? [];
  if (tests.length > 0 && !signal.aborted) {
    const files = atMost(leftoverFiles, 3, (hidden) => `and ${hidden} more`).join(', ');
    const why = `green without its fix, but files that git does not have changed since it was made: ${files}`;
    bus.emit({ type: 'run.warning', message: `Proving ${causesOf(tests)} in a clean copy: ${why}` });
    await proveClean(proof, tests, why);
  }
  const isRed = (test: ProofTest) =>
    again?.red.includes(test) === true && once?.green.includes(test) !== true;
  return green.filter((test) => !isRed(test) && (clean.get(test)?.state ?? 'green') === 'green');
}

async function proveClean(proof: Proof, tests: readonly ProofTest[], why: string): Promise<void> {
  const ids = [...new Set(tests.flatMap(({ failure }) => failure.rerunIds))];
  const results = await proveInCleanCopy(
    proof.progress,
    tests,
    ids.length > 0 ? ids : oneTest(proof.progress),
  );
  for (const [test, result] of results) {
    proof.clean.set(test, result);
    if (result.state !== 'nothing') continue;
    const reason = `${why}; a clean copy cannot show whether it needs the fix: ${result.because}. If a fresh clone is red without the fix, keep it, else undo it`;
    proof.unproven.set(test.causeId, reason);
  }
}

/** Proves all fixes in a clean copy, as CI would see the project. */
async function proveAllClean(proof: Proof): Promise<void> {
  const { progress } = proof;
  const flipped = testsStillInProof(proof).filter((test) => test.isFlipped && !proof.clean.has(test));
  for (const { tests, without } of redStates(proof, flipped)) {
    if (progress.session.signal.aborted || !(await takeOut(proof, without))) continue;
    await proveClean(proof, tests, 'proven here');
    const because =
      'green without the change in a clean copy: what was red is only in files that git does not have';
    for (const test of tests.filter((test) => proof.clean.get(test)?.state === 'green')) {
      const cause = progress.causes.get(test.causeId);
      if (test.isLead && cause) await refute(proof, cause, { kind: 'flaky', because });
      else test.ended = 'flaky';
    }
  }
}

function causesOf(tests: readonly ProofTest[]): string {
  return [...new Set(tests.map(({ causeId }) => causeId))].join(', ');
}

/** Reverts changes for a proof; returns false if somebody edited the same files, whose edits stay, and the fix with them. */
async function takeOut({ progress: { session } }: Proof, changes: readonly string[]): Promise<boolean> {
  const { leftAlone } = await session.workspace.takeOut(changes);
  if (leftAlone.length === 0) return true;
  await session.workspace.takeOut([]);
  const message = `The fixes could not be reverted for their proof, because these files changed in the meantime: ${leftAlone.join(', ')}`;
  session.bus.emit({ type: 'run.warning', message });
  return false;
}

/** Repeats the whole proof for one cause, in its own runs and with only its own fix reverted. */
async function proveAlone(proof: Proof, causeId: string, why: string): Promise<void> {
  const { progress } = proof;
  const { session } = progress;
  const cause = progress.causes.get(causeId);
  if (!cause || !isUnproven(progress, cause) || session.signal.aborted) return;
  session.bus.emit({ type: 'run.warning', message: `Proving ${causeId} on its own: ${why}` });
  await session.workspace.takeOut([]);
  const { repeat, flips } = session.settings.verify;
  for (let n = 1; n <= repeat && !session.signal.aborted; n += 1) {
    const split = await rerunAndSort(proof, testsStillInProof(proof, causeId), { causeId });
    const red = [...split.red, ...split.notRun];
    for (const test of red.filter(({ isLead }) => !isLead)) test.ended = 'unsteady';
    const lead = red.find(({ isLead }) => isLead);
    if (!lead) continue;
    const kept = keptCauses(progress);
    const later = kept.slice(kept.indexOf(cause) + 1);
    const { red: left } = await revertFixesThatBroke(
      progress,
      later,
      new Set([failureKey(lead.failure.failure)]),
    );
    if (left.size === 0) n = 0;
    else
      return refute(proof, cause, {
        kind: 'still-failing',
        because: `green at first, then red: ${why}, and again when run alone`,
      });
  }
  for (let flip = 0; flip < flips && !session.signal.aborted; flip += 1) {
    if (!(await takeOut(proof, changesOf(progress, cause)))) return;
    const flipped = testsStillInProof(proof, causeId).filter((test) => test.isFlipped);
    const { green, red, notRun } = await rerunAndSort(proof, flipped, { causeId });
    if (red.length > 0) tellNeeds(session, cause);
    const flaky = await flakyWithout(proof, green, { causeId });
    if (session.signal.aborted) return;
    if (notRun.length > 0 && green.length + red.length === 0)
      proof.unproven.set(
        causeId,
        'without the fix, its test did not run, so that nothing shows whether it is needed',
      );
    if (red.length + notRun.length === 0 && flaky.length === green.length) {
      const because = 'also green with the change reverted: the test is flaky, or was fixed by somebody else';
      return refute(proof, cause, { kind: 'flaky', because });
    }
    for (const test of flaky) test.ended = 'flaky';
  }
  proof.doubts.delete(causeId);
}

/** A test that was green without its fix when it ran alone, and is red without it among the others, needs them. */
function tellNeeds({ bus }: Progress['session'], cause: Cause): void {
  const { along: needs, ...lead } = cause.lead;
  if (needs) bus.emit({ type: 'cause.narrowed', cause: summarise({ ...cause, lead: { ...lead, needs } }) });
}

async function refute({ progress, refuted }: Proof, cause: Cause, how: Refutation): Promise<void> {
  if (progress.session.signal.aborted) return;
  refuted.set(cause.id, how);
  await revertFixes(progress, changesOf(progress, cause));
}

/** Re-checks tests that are green with the fix of another cause, since the fix that was just reverted may have healed them. */
async function recheckOtherTests(proof: Proof): Promise<void> {
  const tests = testsStillInProof(proof).filter(({ isLead }) => !isLead);
  if (tests.length === 0) return;
  const { red } = await rerunAndSort(proof, tests);
  for (const test of red) test.ended = 'unsteady';
}

/** Handles tests that are red twice with the fixes reapplied and that no other fix broke. */
async function takeRed(proof: Proof, red: ReadonlySet<string>): Promise<void> {
  const { session, causes } = proof.progress;
  const because = 'red again when the change was reapplied';
  const unexplained: string[] = [];
  for (const id of red) {
    const test = testsStillInProof(proof).find(({ failure }) => failureKey(failure.failure) === id);
    const cause = causes.get(test?.causeId ?? '');
    if (test?.isLead && cause) await refute(proof, cause, { kind: 'still-failing', because });
    else if (test) test.ended = 'unsteady';
    else if (id !== suiteKey) unexplained.push(id);
  }
  if (unexplained.length === 0) return;
  session.bus.emit({ type: 'tests.decided', ids: unexplained, verdict: 'failed' });
  const message = `${unexplained.length} of the tests that were green are red now, and no single fix is to blame`;
  session.bus.emit({ type: 'run.warning', message });
}

/** The result of one run of several tests. */
interface Split {
  readonly green: readonly ProofTest[];
  readonly red: readonly ProofTest[];
  /** Those that did not run, which decides nothing. */
  readonly notRun: readonly ProofTest[];
}

interface LookOptions {
  readonly causeId?: string | null;
  readonly isWithoutOthers?: boolean;
}

/** Runs tests of several causes in one Playwright run and records the result of each; returns nothing if the run was interrupted. */
async function rerunAndSort(
  proof: Proof,
  tests: readonly ProofTest[],
  { causeId = null, isWithoutOthers = false }: LookOptions = {},
): Promise<Split> {
  const { progress } = proof;
  const idsOf = ({ failure: { rerunIds, along = [] } }: ProofTest) =>
    isWithoutOthers ? rerunIds.filter((id) => !along.includes(id)) : rerunIds;
  const ids = [...new Set(tests.flatMap(idsOf))];
  const rerun = await retest(progress.session, {
    failures: tests.map(({ failure }) => failure),
    purpose: 'proof',
    causeId,
    ids: ids.length > 0 ? ids : oneTest(progress),
  });
  if (progress.session.signal.aborted) return { green: [], red: [], notRun: [] };
  for (const [key, failure] of failuresWithoutCause(progress, rerun.others)) proof.others.set(key, failure);
  const split: { [Of in keyof Split]: ProofTest[] } = { green: [], red: [], notRun: [] };
  for (const test of tests) {
    const observation = rerun.observe(test.failure);
    split[isGreen(observation) ? 'green' : isUndecided(observation) ? 'notRun' : 'red'].push(test);
  }
  return split;
}

/** Returns the ids of the fastest green test, which suffices to show whether the suite starts. */
function oneTest({ session, rerunIds }: Progress): readonly string[] {
  const tests = [...session.bus.run().tests.values()].toSorted((a, b) => a.durationMs - b.durationMs);
  const id = (tests.find(({ verdict }) => verdict === 'passed') ?? tests[0])?.id;
  return id === undefined ? [] : (rerunIds[id] ?? [id]);
}
