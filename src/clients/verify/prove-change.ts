import {
  type Candidate,
  listCandidates,
  compareFiles,
  createRevertingEdits,
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
import { applyFlaky } from '../../heal/apply-result.js';
import { confirm } from '../../heal/confirm.js';
import type { Observation } from '../../heal/judge.js';
import { suiteKey } from '../../heal/observations.js';
import { followPlan } from '../../heal/follow-plan.js';
import { judgeRest } from '../../heal/plan-proof.js';
import {
  createPlainTest,
  createSingleFix,
  type NextInProof,
  type ProofPart,
  type ProofQuestion,
} from '../../heal/proof-question.js';
import type { OpenRun } from '../../command/open-run.js';
import { type HealResult, createProgress, summarize } from '../../heal/progress.js';
import type { Session } from '../../heal/session.js';
import { createSuiteRuns } from '../../command/suite-runs.js';
import { announceTests } from '../../heal/tell-tests.js';
import { causeOfChange, readWorkingChange } from './read-change.js';
import { type ComparedChange, conclude, type ProofResults } from './compare-change.js';

/** The only change of a verification. It is in the project except during runs without it. */
const changeInProof = createSingleFix('change');

/**
 * Proves a change in the working tree (HN-12) by the same plan as the fixes of a run: its tests are green with it and red without it and, with depth
 * `full`, no other test is red because of it. To run without the change, this reverts it under the journal and restores it.
 */
export async function verifyChange(
  opened: OpenRun,
  session: Session,
  { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
): Promise<HealResult> {
  const green = await findGreenRun(opened, session, { first, change });
  if (session.signal.aborted) return stopped;
  if ('verdict' in green) return conclude(opened, change, green);
  const proof = new ChangeProof(opened, session, { first: green.run, change });
  // The agent reviews the change while the proof runs.
  const readings = change.request.review ? await readWorkingChange(session, change) : null;
  const ended = await proof.prove();
  const isOpen = ended.verdict === 'proven' || ended.verdict === 'review';
  const read = isOpen ? await readings?.of(causeOfChange) : null;
  await readings?.stop();
  if (session.signal.aborted) return stopped;
  const judged = (read && proof.judgeReview(read.reading)) ?? ended;
  return conclude(opened, change, { ...judged, ...proof.results() });
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
    for (const cause of causes) session.bus.emit({ type: 'cause.found', cause: summarize(cause) });
    if (causes.length > 0)
      return { verdict: 'red', reason: `red with the change: ${counted(causes.length, 'cause')}` };
    await applyFlaky(progress, flaky);
    if (session.settings.verify.prepare === null)
      return { verdict: 'unsteady', reason: 'red with the change, then green' };
    run = await session.suite.runAgain({
      ids: rerunIdsIn(first, redBefore),
      purpose: 'proof',
      causeId: null,
    });
    if (isRed(run)) return { verdict: 'unsteady', reason: 'red with the change, then green' };
  }
  const ran = new Set(run.tests.flatMap(({ test, outcome }) => (outcome === 'skipped' ? [] : test.id)));
  const missing = request.filters.length > 0 ? [] : redBefore.filter((id) => !ran.has(id));
  if (missing.length === 0) return { run };
  const reason = `did not run with the change: ${counted(missing.length, 'test')} of those that were red`;
  return { verdict: 'red', reason };
}

/** Returns the ids that re-run these tests of a run, or all of its tests if it had none of these. */
function rerunIdsIn({ tests, rerunIds }: SuiteRun, ids: readonly string[]): readonly string[] {
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
  /** True if an earlier run shows which tests were red before the change. */
  readonly #isRedKnown: boolean;
  /** The number of the first run of the proof. */
  readonly #since: number;
  /** The ids of the tests that the change should fix. */
  readonly #ids: readonly string[];
  /** The tests among them that do not need the change. */
  readonly #needless = new Set<string>();
  readonly #proven: string[] = [];
  readonly #notProven: string[] = [];
  /** The whole suite with the change; null if it did not run. */
  #suite: SuiteRun | null = null;
  #again: SuiteRun | null = null;
  #hasRunRest = false;
  /** The conclusion; null until a step ends the proof. */
  #ended: Conclusion | null = null;

  constructor(
    opened: OpenRun,
    session: Session,
    { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
  ) {
    this.#opened = opened;
    this.#session = session;
    this.#first = first;
    this.#change = change;
    this.#since = session.observations.nextRun();
    const redBefore = new Set(change.request.red?.tests.map(({ id }) => id));
    const ids = first.tests.flatMap(({ test }) => test.id);
    this.#isRedKnown = ids.some((id) => redBefore.has(id));
    // If no earlier run shows which tests were red, a run without the change will.
    this.#ids = this.#isRedKnown ? ids.filter((id) => redBefore.has(id)) : ids;
    this.#record(first, this.#ids, { part: 'trial', isOut: false });
  }

  results(): ProofResults {
    const tests = this.#ids.filter((id) => !this.#needless.has(id) || this.#isRedKnown);
    return {
      tests: new Map(tests.map((id) => [id, this.#steps(id)])),
      proven: this.#proven,
      notProven: [...this.#notProven, ...this.#describeLeftOutTests()],
    };
  }

  #steps(id: string): ProofStep[] {
    const sightings = this.#session.observations.sightings(id);
    return sightings.flatMap(({ run, shown }) => (run < this.#since || shown === 'nothing' ? [] : shown));
  }

  /** Lists the red tests that the user's selection leaves out, as sentences. */
  #describeLeftOutTests(): string[] {
    const ids = new Set(this.#first.tests.map(({ test }) => test.id));
    const others = this.#opened.request.filters.length > 0 ? (this.#change.request.red?.tests ?? []) : [];
    return others.flatMap((test) =>
      ids.has(test.id) ? [] : `that ${formatReportTestName(test)} is fixed: it was not selected`,
    );
  }

  /** Makes the runs that the plan asks for. */
  async prove(): Promise<Conclusion> {
    const { signal } = this.#session;
    const part = await this.#findRemovablePart();
    const out = typeof part === 'string' ? [] : part;
    await followPlan(
      () => this.#createQuestion(out.length > 0),
      signal,
      async (next) => {
        if (next.kind === 'settled') return false;
        this.#ended = await this.#carryOut(next, out);
        return this.#ended === null;
      },
    );
    if (signal.aborted) return interrupted;
    const ended = (await this.#findEdited(out)) ?? this.#ended;
    return ended ?? (typeof part === 'string' ? unproven(part) : this.#settle());
  }

  /** Concludes that nothing is proven if somebody edited the changed files during the proof: nobody knows which content the tests saw. */
  async #findEdited(part: readonly Candidate[]): Promise<Conclusion | null> {
    const unchanged = await this.#listUnchanged();
    const edited = part.flatMap(({ file }) =>
      unchanged.some(({ path }) => path === file.path) ? [] : file.path,
    );
    if (edited.length === 0) return null;
    return unproven(
      `${[...new Set(edited)].join(', ')} changed during the proof; run self-heal verify again`,
    );
  }

  /** Returns the files of the change that have not changed since. */
  async #listUnchanged(): Promise<ChangedFile[]> {
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
    const keys = [...new Set([...this.#ids.filter((id) => !this.#needless.has(id)), ...others])];
    return {
      fixes: [changeInProof],
      tests: this.#ids.map((key) =>
        createPlainTest({
          key,
          fix: changeInProof.id,
          isLead: this.#isRedKnown,
          since: this.#since,
          sightings: observations.sightings(key),
          ended: this.#needless.has(key) ? 'flaky' : null,
        }),
      ),
      greens: isFull ? repeat : 1,
      reds: !isRemovable ? 0 : isFull ? Math.max(1, flips) : 1,
      inCleanCopy: false,
      areApart: () => true,
      rest:
        !isRemovable || this.#countReds() === 0
          ? null
          : {
              hasRun: this.#hasRunRest,
              tests: keys.map((key) => ({ key, sightings: observations.sightings(key), isMarked: false })),
            },
    };
  }

  /** Counts the tests that were red without the change. */
  #countReds(): number {
    return this.#ids.filter((id) => !this.#needless.has(id) && this.#steps(id).includes('red')).length;
  }

  /** Carries out a step of the plan; returns a conclusion if it ends the proof. */
  async #carryOut(
    next: Exclude<NextInProof, { kind: 'settled' }>,
    out: readonly Candidate[],
  ): Promise<Conclusion | null> {
    switch (next.kind) {
      case 'run':
        return this.#run(
          next.tests.map(({ key }) => key),
          { ...next, out },
        );
      case 'run-culprit':
        return this.#run(next.keys, { part: 'culprit', without: next.without, out });
      case 'run-rest':
        return this.#runRest(next.again);
      case 'end':
        if (next.as !== 'flaky') return unsteady;
        this.#needless.add(next.test.key);
        return null;
      case 'refute':
        return next.how.kind === 'flaky' ? needless : unsteady;
      case 'broke':
        return this.#concludeBroken(next.tests.get(changeInProof.id) ?? []);
      case 'run-clean':
        throw new Error('A change is not proven in a clean copy');
      default:
        return unreachable(next);
    }
  }

  async #run(
    keys: readonly string[],
    { part, without, out }: { part: ProofPart; without: readonly string[]; out: readonly Candidate[] },
  ): Promise<Conclusion | null> {
    const isOut = without.length > 0;
    const ids = keys.includes(suiteKey) ? null : rerunIdsIn(this.#suite ?? this.#first, keys);
    const run = await (isOut ? this.#runWithout(out, ids) : this.#runAgain(ids));
    if (this.#session.signal.aborted) return interrupted;
    if (run === null) return unproven('the change could not be reverted: its files changed meanwhile');
    this.#record(run, keys, { part, isOut });
    const isRedNow = keys.some((id) => this.#ids.includes(id) && readStep(run, id) !== 'green');
    return !isOut && isRedNow ? unsteady : null;
  }

  /** Runs the tests of the change once more or, with depth `full`, the whole suite. */
  async #runRest(again: readonly string[] | null): Promise<Conclusion | null> {
    const session = this.#session;
    if (this.#change.request.depth === 'quick') {
      this.#hasRunRest = true;
      return this.#run(again ?? this.#ids, { part: 'rest', without: [], out: [] });
    }
    if (again) {
      const ids = again.includes(suiteKey) ? null : rerunIdsIn(this.#suite ?? this.#first, again);
      this.#again = await session.suite.runAgain({ ids, purpose: 'regression', causeId: null });
      this.#record(this.#again, again, { part: 'rest', isOut: false });
      return null;
    }
    const { config, project, workers } = this.#opened.request.options;
    const selection = dropUndefined({ config, project, workers });
    const suites = createSuiteRuns({ ...this.#opened, args: toPlaywrightArgs(selection) });
    if ((await session.suite.prepare()) !== null)
      return { verdict: 'red', reason: 'verify.prepare failed with the change' };
    const run = await suites.rerun({ ids: null, purpose: 'regression', causeId: null });
    if (session.signal.aborted) return interrupted;
    [this.#suite, this.#hasRunRest] = [run, true];
    announceTests(session, run);
    this.#record(run, [...run.tests.map(({ test }) => test.id), suiteKey], { part: 'rest', isOut: false });
    return this.#ids.some((id) => readStep(run, id) === 'red')
      ? { verdict: 'unsteady', reason: 'green with the change, then red in a run of the whole suite' }
      : null;
  }

  /** Concludes a proof that nothing contradicted. */
  #settle(): Conclusion {
    const [healed, reds] = [this.#ids.filter((id) => !this.#needless.has(id)), this.#countReds()];
    if (reds === 0)
      return this.#needless.size > 0 ? needless : unproven('without the change, its tests did not run');
    if (this.#isRedKnown && this.#needless.size > 0)
      return {
        verdict: 'needless',
        reason: `${counted(this.#needless.size, 'test')} of those that were red are green without the change, too`,
      };
    const greens = healed.map((id) => this.#steps(id).filter((step) => step === 'green').length);
    this.#proven.push(
      `green ${counted(Math.min(...greens), 'time')} with the change`,
      `${counted(reds, 'test')} red without the change`,
    );
    if (this.#suite) this.#settleRest(this.#suite);
    else this.#notProven.push('that nothing else broke: the rest did not run');
    return this.#change.toReview.length > 0
      ? { verdict: 'review', reason: 'a person must decide whether the listed findings are acceptable' }
      : { verdict: 'proven', reason: 'green with the change and red without' };
  }

  #settleRest({ tests }: SuiteRun): void {
    const { bus } = this.#session;
    const outcome = judgeRest({
      kept: changeInProof.changes,
      tests: this.#createQuestion(true).rest?.tests ?? [],
    });
    const flaky = outcome.unsteady.filter((key) => key !== suiteKey);
    if (flaky.length > 0) bus.emit({ type: 'tests.decided', ids: flaky, verdict: 'flaky' });
    if (outcome.red.length > 0)
      this.#notProven.push(
        `anything by ${counted(outcome.red.length, 'other test')}: red with and without the change`,
      );
    this.#proven.push(`no other test broke: ${counted(tests.length, 'test')} of the suite ran`);
  }

  async #concludeBroken(keys: readonly string[]): Promise<Conclusion> {
    const run = this.#again ?? this.#suite;
    for (const cause of groupIntoCauses(run ? await this.#session.diagnostics.diagnose(run) : []))
      this.#session.bus.emit({ type: 'cause.found', cause: summarize(cause) });
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

  /** Returns the changes in the app or, if there are none, in the tests, to run without them; a sentence if they cannot be reverted. */
  async #findRemovablePart(): Promise<readonly Candidate[] | string> {
    const { workspace, folder } = this.#session;
    const { root } = workspace;
    if (root !== this.#change.changed.root) return 'the project is not a git repository of its own';
    const isTest = createTestPathPredicate(findSuitePaths(root, this.#first));
    const contents = openContentStore(folder.dir);
    // Files that the tests write are not part of the change.
    const unchanged = await this.#listUnchanged();
    const candidates = await listCandidates(unchanged, { root, contents, isTest, findStepIndex: () => 0 });
    if (candidates.length === 0)
      return unchanged.length === 0
        ? 'the content of no file has changed since then, so there is nothing to revert'
        : 'the change cannot be reverted without installing packages';
    const app = candidates.filter(({ inTests }) => !inTests);
    return app.length > 0 ? app : candidates;
  }

  /** Runs tests without the change; returns null if it could not be reverted. */
  async #runWithout(part: readonly Candidate[], ids: readonly string[] | null): Promise<TestOutcomes | null> {
    const { workspace, folder, bus, signal } = this.#session;
    const edits = await createRevertingEdits(part, {
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
      return this.#session.suite.runAgain({ ids, purpose: 'proof', causeId: null });
    });
    // Rebuilds with the change, because the last build lacks it.
    if (result && !signal.aborted) await this.#session.suite.prepare();
    return result?.value ?? null;
  }

  async #runAgain(ids: readonly string[] | null): Promise<SuiteRun> {
    return this.#session.suite.runAgain({ ids, purpose: 'proof', causeId: null });
  }

  /** Records the outcomes of these tests in a run with or without the change. */
  #record(
    run: TestOutcomes,
    keys: readonly string[],
    { part, isOut }: { readonly part: ProofPart; readonly isOut: boolean },
  ): void {
    const observed = keys.map((key): [string, Observation] => {
      const step = key === suiteKey ? (run.suiteFailure ? 'red' : 'green') : readStep(run, key);
      return [key, { ended: endings[step ?? 'nothing'], failure: null, suiteFailure: null }];
    });
    const fixes = isOut ? [] : changeInProof.changes;
    const without = isOut ? changeInProof.changes : [];
    this.#session.observations.add(new Map(observed), { part, fixes, without });
  }
}

const endings = { green: 'passed', red: 'failed', nothing: 'not-run' } as const;
const unsteady: Conclusion = { verdict: 'unsteady', reason: 'green with the change, then red' };
const needless: Conclusion = {
  verdict: 'needless',
  reason: 'its tests are green without the change, too',
};
const unproven = (reason: string): Conclusion => ({ verdict: 'unproven', reason });

/** Returns a test's outcome in a run; null if it did not run. If the suite did not start, every test counts as red. */
function readStep({ tests, suiteFailure }: TestOutcomes, id: string): ProofStep | null {
  const result = tests.find(({ test }) => test.id === id);
  if (result?.outcome === 'expected' || result?.outcome === 'flaky') return 'green';
  return result?.outcome === 'unexpected' || suiteFailure ? 'red' : null;
}
