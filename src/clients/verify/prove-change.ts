import {
  type Candidate,
  listCandidates,
  compareFiles,
  createRevertEdits,
} from '../../workspace/candidates.js';
import type { ChangedFile } from '../../workspace/hunks.js';
import { withChange } from '../../workspace/with-change.js';
import { groupIntoCauses } from '../../diagnose/group.js';
import { type Review, formatReview } from '../../model/attempt.js';
import type { ProofStep } from '../../model/proof.js';
import type { ChangeVerdict } from '../../model/verification.js';
import { findSuitePaths } from '../../guard/run-guard.js';
import { createTestPathPredicate } from '../../guard/test-paths.js';
import { counted } from '../../format.js';
import { formatReportTestName } from '../../outputs/wording.js';
import { toPlaywrightArgs } from '../../playwright/selection.js';
import { isRed, type SuiteRun } from '../../playwright/suite-run.js';
import { unreachable } from '../../unreachable.js';
import { dropUndefined } from '../../without-undefined.js';
import { openContentStore } from '../../workspace/change.js';
import { recordFlakes } from '../../heal/apply-result.js';
import { confirm } from '../../heal/confirm.js';
import type { Observation } from '../../heal/judge.js';
import { suiteKey } from '../../heal/observations.js';
import { followPlan } from '../../heal/follow-plan.js';
import { judgeOtherTests } from '../../heal/plan-proof.js';
import {
  createTestInProof,
  createSingleFix,
  type NextProofStep,
  type ProofPart,
  type ProofQuestion,
} from '../../heal/proof-question.js';
import type { OpenRun } from '../../command/open-run.js';
import { type HealResult, createProgress, summarizeCause } from '../../heal/progress.js';
import type { Session } from '../../heal/session.js';
import { createSuiteRuns } from '../../command/suite-runs.js';
import { announceTests } from '../../heal/announce-tests.js';
import { changeCauseId, reviewWorkingChange } from './review-change.js';
import { type ComparedChange, announceVerdict, type ProofResults } from './compare-change.js';

/** The only change of a verification. It is in the project, except while it is reverted for a run. */
const changeInProof = createSingleFix('change');

/**
 * Proves a change in the working tree (HN-12) by the same plan as the fixes of a run: its tests are green with it and red without it and, with depth
 * `full`, no other test is red because of it. For the runs without the change, reverts it under the journal and restores it.
 */
export async function verifyChange(
  opened: OpenRun,
  session: Session,
  { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
): Promise<HealResult> {
  const green = await findGreenRun(opened, session, { first, change });
  if (session.signal.aborted) return stopped;
  if ('verdict' in green) return announceVerdict(opened, change, green);
  const proof = new ChangeProof(opened, session, { first: green.run, change });
  // The agent reviews the change while the proof runs.
  const reviews = change.request.review ? await reviewWorkingChange(session, change) : null;
  const conclusion = await proof.prove();
  const mayBeProven = conclusion.verdict === 'proven' || conclusion.verdict === 'review';
  const review = mayBeProven ? await reviews?.waitFor(changeCauseId) : null;
  await reviews?.stop();
  if (session.signal.aborted) return stopped;
  const judged = (review && proof.judgeReview(review.reading)) ?? conclusion;
  return announceVerdict(opened, change, { ...judged, ...proof.getResults() });
}

/** The verdict on a change, and its reason. */
interface Conclusion {
  readonly verdict: ChangeVerdict;
  readonly reason: string;
}

const stopped: HealResult = { suiteRed: false, paused: false };
const interrupted: Conclusion = { verdict: 'unproven', reason: 'interrupted' };

/** Returns a run that is green with the change: the first run or, if that used an old build, one after `verify.prepare`. */
async function findGreenRun(
  { request }: OpenRun,
  session: Session,
  { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
): Promise<Conclusion | { readonly run: SuiteRun }> {
  const redBefore = change.request.red?.tests.map(({ id }) => id) ?? [];
  let run = first;
  if (isRed(run)) {
    const progress = createProgress(session, run);
    const { confirmed, flaky, blockedBy } = await confirm(progress, await session.diagnostics.diagnose(run));
    if (session.signal.aborted) return interrupted;
    const causes = groupIntoCauses(blockedBy ? [blockedBy] : confirmed);
    for (const cause of causes) session.bus.emit({ type: 'cause.found', cause: summarizeCause(cause) });
    if (causes.length > 0)
      return { verdict: 'red', reason: `red with the change: ${counted(causes.length, 'cause')}` };
    await recordFlakes(progress, flaky);
    if (session.settings.verify.prepare === null)
      return { verdict: 'unsteady', reason: 'red with the change, then green' };
    run = await session.suite.rerun({ ids: listRerunIds(first, redBefore), purpose: 'proof', causeId: null });
    if (isRed(run)) return { verdict: 'unsteady', reason: 'red with the change, then green' };
  }
  const ran = new Set(run.tests.flatMap(({ test, outcome }) => (outcome === 'skipped' ? [] : test.id)));
  const missing = request.filters.length > 0 ? [] : redBefore.filter((id) => !ran.has(id));
  if (missing.length === 0) return { run };
  const reason = `${counted(missing.length, 'test')} that had been red did not run with the change`;
  return { verdict: 'red', reason };
}

/** Returns the ids that re-run these tests of a run, or all of its tests if it ran none of these. */
function listRerunIds({ tests, rerunIds }: SuiteRun, ids: readonly string[]): readonly string[] {
  const all = tests.map(({ test }) => test.id);
  const wanted = all.filter((id) => ids.includes(id));
  return [...new Set((wanted.length > 0 ? wanted : all).flatMap((id) => rerunIds[id] ?? [id]))];
}

/** The results of a run; a failing `verify.prepare` counts as a failure of the suite. */
type TestOutcomes = Pick<SuiteRun, 'tests' | 'suiteFailure'>;

/** Runs the tests with and without a change until the plan settles, and keeps the results. */
class ChangeProof {
  readonly #opened: OpenRun;
  readonly #session: Session;
  readonly #first: SuiteRun;
  readonly #change: ComparedChange;
  /** True if an earlier run showed which tests were red before the change. */
  readonly #isRedKnown: boolean;
  /** The number of the first run of the proof. */
  readonly #since: number;
  /** The ids of the tests that the change should fix. */
  readonly #ids: readonly string[];
  /** The ids of those tests that are green without the change, too. */
  readonly #needlessTests = new Set<string>();
  readonly #proven: string[] = [];
  readonly #notProven: string[] = [];
  /** The whole suite with the change; null if it did not run. */
  #suite: SuiteRun | null = null;
  #repeatedRun: SuiteRun | null = null;
  #hasRunOtherTests = false;
  /** The conclusion; null until a step ends the proof. */
  #conclusion: Conclusion | null = null;

  constructor(
    opened: OpenRun,
    session: Session,
    { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
  ) {
    this.#opened = opened;
    this.#session = session;
    this.#first = first;
    this.#change = change;
    this.#since = session.observations.getNextRun();
    const redBefore = new Set(change.request.red?.tests.map(({ id }) => id));
    const ids = first.tests.flatMap(({ test }) => test.id);
    this.#isRedKnown = ids.some((id) => redBefore.has(id));
    // If no earlier run shows which tests were red, a run without the change will.
    this.#ids = this.#isRedKnown ? ids.filter((id) => redBefore.has(id)) : ids;
    this.#record(first, this.#ids, { part: 'trial', isReverted: false });
  }

  getResults(): ProofResults {
    const tests = this.#ids.filter((id) => !this.#needlessTests.has(id) || this.#isRedKnown);
    return {
      tests: new Map(tests.map((id) => [id, this.#listSteps(id)])),
      proven: this.#proven,
      notProven: [...this.#notProven, ...this.#describeLeftOutTests()],
    };
  }

  #listSteps(id: string): ProofStep[] {
    const results = this.#session.observations.listResults(id);
    return results.flatMap(({ run, shown }) => (run < this.#since || shown === 'nothing' ? [] : shown));
  }

  /** Lists the red tests that the user's selection leaves out, as sentences. */
  #describeLeftOutTests(): string[] {
    const ids = new Set(this.#first.tests.map(({ test }) => test.id));
    const others = this.#opened.request.filters.length > 0 ? (this.#change.request.red?.tests ?? []) : [];
    return others.flatMap((test) =>
      ids.has(test.id) ? [] : `that ${formatReportTestName(test)} is fixed: it was not selected`,
    );
  }

  /** Makes the runs that the plan requests, and returns the conclusion. */
  async prove(): Promise<Conclusion> {
    const { signal } = this.#session;
    const part = await this.#findRemovablePart();
    const removable = typeof part === 'string' ? [] : part;
    await followPlan(
      () => this.#createQuestion(removable.length > 0),
      signal,
      async (next) => {
        if (next.kind === 'settled') return false;
        this.#conclusion = await this.#carryOut(next, removable);
        return this.#conclusion === null;
      },
    );
    if (signal.aborted) return interrupted;
    const conclusion = (await this.#concludeIfEdited(removable)) ?? this.#conclusion;
    return conclusion ?? (typeof part === 'string' ? createUnproven(part) : this.#concludeUncontradicted());
  }

  /** Concludes that nothing is proven if somebody edited the changed files during the proof, because the tests may have seen either content. */
  async #concludeIfEdited(part: readonly Candidate[]): Promise<Conclusion | null> {
    const unchanged = await this.#listUnchangedFiles();
    const edited = part.flatMap(({ file }) =>
      unchanged.some(({ path }) => path === file.path) ? [] : file.path,
    );
    if (edited.length === 0) return null;
    return createUnproven(
      `${[...new Set(edited)].join(', ')} changed during the proof; run self-heal verify again`,
    );
  }

  /** Returns the files of the change that have not changed since. */
  async #listUnchangedFiles(): Promise<ChangedFile[]> {
    const { changed, files } = this.#change;
    const paths = files.map((file) => file.path);
    const now = new Map((await compareFiles(changed, paths)).map(({ path, after }) => [path, after]));
    return files.filter(({ path, after }) => now.get(path) === after);
  }

  #createQuestion(isRemovable: boolean): ProofQuestion {
    const { observations, settings } = this.#session;
    const { repeat, flips } = settings.verify;
    const isFull = this.#change.request.depth === 'full';
    const others = this.#suite ? [...this.#suite.tests.map(({ test }) => test.id), suiteKey] : [];
    const keys = [...new Set([...this.#ids.filter((id) => !this.#needlessTests.has(id)), ...others])];
    return {
      fixes: [changeInProof],
      tests: this.#ids.map((key) =>
        createTestInProof({
          key,
          fix: changeInProof.id,
          isLead: this.#isRedKnown,
          since: this.#since,
          results: observations.listResults(key),
          ended: this.#needlessTests.has(key) ? 'flaky' : null,
        }),
      ),
      greens: isFull ? repeat : 1,
      reds: !isRemovable ? 0 : isFull ? Math.max(1, flips) : 1,
      needsCleanCopy: false,
      haveDifferentCauses: () => true,
      otherTests:
        !isRemovable || this.#countRedRuns() === 0
          ? null
          : {
              hasRun: this.#hasRunOtherTests,
              tests: keys.map((key) => ({
                key,
                results: observations.listResults(key),
                isMarked: false,
              })),
            },
    };
  }

  /** Counts the tests that were red without the change. */
  #countRedRuns(): number {
    return this.#ids.filter((id) => !this.#needlessTests.has(id) && this.#listSteps(id).includes('red'))
      .length;
  }

  /** Carries out a step of the plan; returns a conclusion if it ends the proof. */
  async #carryOut(
    next: Exclude<NextProofStep, { kind: 'settled' }>,
    removable: readonly Candidate[],
  ): Promise<Conclusion | null> {
    switch (next.kind) {
      case 'run':
        return this.#runTests(
          next.tests.map(({ key }) => key),
          { ...next, removable },
        );
      case 'run-culprit':
        return this.#runTests(next.keys, { part: 'culprit', without: next.without, removable });
      case 'run-others':
        return this.#runOtherTests(next.again);
      case 'end':
        if (next.outcome !== 'flaky') return unsteady;
        this.#needlessTests.add(next.test.key);
        return null;
      case 'refute':
        return next.refutation.kind === 'flaky' ? needless : unsteady;
      case 'broke':
        return this.#concludeBroken(next.tests.get(changeInProof.id) ?? []);
      case 'run-clean':
        throw new Error('A change is not proven in a clean copy');
      default:
        return unreachable(next);
    }
  }

  async #runTests(
    keys: readonly string[],
    {
      part,
      without,
      removable,
    }: { part: ProofPart; without: readonly string[]; removable: readonly Candidate[] },
  ): Promise<Conclusion | null> {
    const isReverted = without.length > 0;
    const ids = keys.includes(suiteKey) ? null : listRerunIds(this.#suite ?? this.#first, keys);
    const run = await (isReverted ? this.#runReverted(removable, ids) : this.#runAgain(ids));
    if (this.#session.signal.aborted) return interrupted;
    if (run === null) return createUnproven('the change could not be reverted: its files changed meanwhile');
    this.#record(run, keys, { part, isReverted });
    const isRedNow = keys.some((id) => this.#ids.includes(id) && readOutcome(run, id) !== 'green');
    return !isReverted && isRedNow ? unsteady : null;
  }

  /** Runs the tests of the change once more or, with depth `full`, the whole suite. */
  async #runOtherTests(again: readonly string[] | null): Promise<Conclusion | null> {
    const session = this.#session;
    if (this.#change.request.depth === 'quick') {
      this.#hasRunOtherTests = true;
      return this.#runTests(again ?? this.#ids, { part: 'others', without: [], removable: [] });
    }
    if (again) {
      const ids = again.includes(suiteKey) ? null : listRerunIds(this.#suite ?? this.#first, again);
      this.#repeatedRun = await session.suite.rerun({ ids, purpose: 'regression', causeId: null });
      this.#record(this.#repeatedRun, again, { part: 'others', isReverted: false });
      return null;
    }
    const { config, project, workers } = this.#opened.request.options;
    const selection = dropUndefined({ config, project, workers });
    const suites = createSuiteRuns({ ...this.#opened, args: toPlaywrightArgs(selection) });
    if ((await session.suite.prepare()) !== null)
      return { verdict: 'red', reason: 'verify.prepare failed with the change' };
    const run = await suites.rerun({ ids: null, purpose: 'regression', causeId: null });
    if (session.signal.aborted) return interrupted;
    [this.#suite, this.#hasRunOtherTests] = [run, true];
    announceTests(session, run);
    this.#record(run, [...run.tests.map(({ test }) => test.id), suiteKey], {
      part: 'others',
      isReverted: false,
    });
    return this.#ids.some((id) => readOutcome(run, id) === 'red')
      ? { verdict: 'unsteady', reason: 'green with the change, then red in a run of the whole suite' }
      : null;
  }

  /** Concludes a proof that nothing contradicted. */
  #concludeUncontradicted(): Conclusion {
    const [healed, reds] = [this.#ids.filter((id) => !this.#needlessTests.has(id)), this.#countRedRuns()];
    if (reds === 0)
      return this.#needlessTests.size > 0
        ? needless
        : createUnproven('without the change, its tests did not run');
    if (this.#isRedKnown && this.#needlessTests.size > 0)
      return {
        verdict: 'needless',
        reason: `${counted(this.#needlessTests.size, 'test')} that had been red passed without the change, too`,
      };
    const greens = healed.map((id) => this.#listSteps(id).filter((step) => step === 'green').length);
    this.#proven.push(
      `green ${counted(Math.min(...greens), 'time')} with the change`,
      `${counted(reds, 'test')} red without the change`,
    );
    if (this.#suite) this.#concludeOtherTests(this.#suite);
    else this.#notProven.push('that nothing else broke: the rest of the suite did not run');
    return this.#change.openFindings.length > 0
      ? { verdict: 'review', reason: 'a person must decide whether the listed findings are acceptable' }
      : { verdict: 'proven', reason: 'green with the change and red without' };
  }

  #concludeOtherTests({ tests }: SuiteRun): void {
    const { bus } = this.#session;
    const outcome = judgeOtherTests({
      kept: changeInProof.changes,
      tests: this.#createQuestion(true).otherTests?.tests ?? [],
    });
    const flaky = outcome.unsteady.filter((key) => key !== suiteKey);
    if (flaky.length > 0) bus.emit({ type: 'tests.decided', ids: flaky, verdict: 'flaky' });
    if (outcome.red.length > 0)
      this.#notProven.push(
        `anything about ${counted(outcome.red.length, 'other test')}, red with and without the change`,
      );
    this.#proven.push(`no other test broke: the whole suite ran (${counted(tests.length, 'test')})`);
  }

  async #concludeBroken(keys: readonly string[]): Promise<Conclusion> {
    const run = this.#repeatedRun ?? this.#suite;
    for (const cause of groupIntoCauses(run ? await this.#session.diagnostics.diagnose(run) : []))
      this.#session.bus.emit({ type: 'cause.found', cause: summarizeCause(cause) });
    const tests = keys.filter((key) => key !== suiteKey);
    return {
      verdict: 'breaks',
      reason:
        tests.length === 0
          ? 'the suite itself is red with the change'
          : `${counted(tests.length, 'other test')}: red with the change, green without it`,
    };
  }

  /** Turns the review of the change into a conclusion (HN-11); null if the reviewer found it honest. */
  judgeReview(reading: Review): Conclusion | null {
    const opinion = `the reviewer says: ${formatReview(reading)}`;
    if (reading.verdict === 'honest') {
      this.#proven.push(opinion);
      return null;
    }
    this.#notProven.push(`that it is honest: ${opinion}`);
    return reading.verdict === 'hides'
      ? { verdict: 'refused', reason: opinion }
      : { verdict: 'review', reason: `a person must review it: ${opinion}` };
  }

  /** Returns the changes to revert: those in the app or, if there are none, those in the tests; a sentence if they cannot be reverted. */
  async #findRemovablePart(): Promise<readonly Candidate[] | string> {
    const { workspace, folder } = this.#session;
    const { root } = workspace;
    if (root !== this.#change.changed.root) return 'the project is not a git repository of its own';
    const isTest = createTestPathPredicate(findSuitePaths(root, this.#first));
    const contents = openContentStore(folder.dir);
    // Files that the tests write are not part of the change.
    const unchanged = await this.#listUnchangedFiles();
    const candidates = await listCandidates(unchanged, { root, contents, isTest, findStepIndex: () => 0 });
    if (candidates.length === 0)
      return unchanged.length === 0
        ? 'no file has changed since the tests were red, so there is nothing to revert'
        : 'the change cannot be reverted without installing packages';
    const app = candidates.filter(({ inTests }) => !inTests);
    return app.length > 0 ? app : candidates;
  }

  /** Runs tests without the change; returns null if it could not be reverted. */
  async #runReverted(
    part: readonly Candidate[],
    ids: readonly string[] | null,
  ): Promise<TestOutcomes | null> {
    const { workspace, folder, bus, signal } = this.#session;
    const edits = await createRevertEdits(part, {
      root: workspace.root,
      contents: openContentStore(folder.dir),
    });
    if (edits === null) return null;
    const contents = openContentStore(folder.dir);
    const warn = (message: string) => bus.emit({ type: 'run.warning', message });
    // No agent's change gets such an id.
    const change = { id: '900000001', edits, folders: [] };
    const result = await withChange<TestOutcomes>({ workspace, contents, warn }, change, async () => {
      const broken = await this.#session.suite.prepare();
      if (broken !== null) return { tests: [], suiteFailure: { scope: 'suite', errors: [], stderr: broken } };
      return this.#session.suite.rerun({ ids, purpose: 'proof', causeId: null });
    });
    // Rebuilds with the change, because the last build lacks it.
    if (result && !signal.aborted) await this.#session.suite.prepare();
    return result?.value ?? null;
  }

  async #runAgain(ids: readonly string[] | null): Promise<SuiteRun> {
    return this.#session.suite.rerun({ ids, purpose: 'proof', causeId: null });
  }

  /** Records the outcomes of these tests in a run with or without the change. */
  #record(
    run: TestOutcomes,
    keys: readonly string[],
    { part, isReverted }: { readonly part: ProofPart; readonly isReverted: boolean },
  ): void {
    const observed = keys.map((key): [string, Observation] => {
      const step = key === suiteKey ? (run.suiteFailure ? 'red' : 'green') : readOutcome(run, key);
      return [key, { ended: endingsByStep[step ?? 'nothing'], failure: null, suiteFailure: null }];
    });
    const fixes = isReverted ? [] : changeInProof.changes;
    const without = isReverted ? changeInProof.changes : [];
    this.#session.observations.add(new Map(observed), { part, fixes, without });
  }
}

const endingsByStep = { green: 'passed', red: 'failed', nothing: 'not-run' } as const;
const unsteady: Conclusion = { verdict: 'unsteady', reason: 'green with the change, then red' };
const needless: Conclusion = {
  verdict: 'needless',
  reason: 'its tests are green without the change, too',
};
const createUnproven = (reason: string): Conclusion => ({ verdict: 'unproven', reason });

/** Returns a test's outcome in a run; null if it did not run. If the suite did not start, every test counts as red. */
function readOutcome({ tests, suiteFailure }: TestOutcomes, id: string): ProofStep | null {
  const result = tests.find(({ test }) => test.id === id);
  if (result?.outcome === 'expected' || result?.outcome === 'flaky') return 'green';
  return result?.outcome === 'unexpected' || suiteFailure ? 'red' : null;
}
