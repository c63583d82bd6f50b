import {
  type Candidate,
  listCandidates,
  compareFiles,
  createRevertingEdits,
} from '../../workspace/candidates.js';
import { withChange } from '../../workspace/with-change.js';
import { groupCauses } from '../../diagnose/group.js';
import { type Reading, formatReading } from '../../model/attempt.js';
import type { ProofStep } from '../../model/proof.js';
import type { ChangeVerdict } from '../../model/verification.js';
import { findSuitePlaces } from '../../guard/run-guard.js';
import { createTestPlacePredicate } from '../../guard/test-places.js';
import { counted } from '../../format.js';
import { formatReportTestName } from '../../outputs/wording.js';
import { toPlaywrightArgs } from '../../playwright/selection.js';
import { isRed, type SuiteRun } from '../../playwright/suite-run.js';
import { unreachable } from '../../unreachable.js';
import { dropUndefined } from '../../without-undefined.js';
import { openContents } from '../../workspace/change.js';
import { applyFlaky } from '../../heal/apply-result.js';
import { confirm } from '../../heal/confirm.js';
import type { Observation } from '../../heal/judge.js';
import { suiteKey } from '../../heal/observations.js';
import { planProof, restOutcome } from '../../heal/plan-proof.js';
import {
  createPlainTest,
  createSingleFix,
  type NextInProof,
  type ProofPart,
  type ProofQuestion,
} from '../../heal/proof-question.js';
import type { OpenRun } from '../../command/open-run.js';
import { type HealResult, newProgress, summarise } from '../../heal/progress.js';
import type { Session } from '../../heal/session.js';
import { createSuiteRuns } from '../../command/suite-runs.js';
import { announceTests } from '../../heal/tell-tests.js';
import { causeOfChange, readWorkingChange } from './read-change.js';
import { type ComparedChange, conclude, type ProofResults } from './compare-change.js';

/** The one change of a verification, which is in the project unless a run takes it out. */
const changeInProof = createSingleFix('change');

/**
 * Proves a change that is in the working tree (HN-12), by the same plan as the fixes of a run: its tests are green with it and red without it and, with depth
 * `full`, nothing else is red because of it. To run without the change, this takes it out under the journal and puts it back.
 */
export async function verifyChange(
  opened: OpenRun,
  session: Session,
  { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
): Promise<HealResult> {
  const green = await firstGreenRun(opened, session, { first, change });
  if (session.signal.aborted) return stopped;
  if ('verdict' in green) return conclude(opened, change, green);
  const proof = new ChangeProof(opened, session, { first: green.run, change });
  // It is read while it is taken out and put back.
  const readings = change.asked.review ? await readWorkingChange(session, change) : null;
  const ended = await proof.prove();
  const isOpen = ended.verdict === 'proven' || ended.verdict === 'review';
  const read = isOpen ? await readings?.of(causeOfChange) : null;
  await readings?.stop();
  if (session.signal.aborted) return stopped;
  const judged = (read && proof.judgeReading(read.reading)) ?? ended;
  return conclude(opened, change, { ...judged, ...proof.results() });
}

/** Why the proof of a change has ended. */
interface Conclusion {
  readonly verdict: ChangeVerdict;
  readonly reason: string;
}

const stopped: HealResult = { suiteRed: false, paused: false };
const interrupted: Conclusion = { verdict: 'unproven', reason: 'interrupted' };

/** Returns a run in which no test was red with the change: the first one, or one after `verify.prepare`, since the first used a build from before the change. */
async function firstGreenRun(
  { request }: OpenRun,
  session: Session,
  { first, change }: { readonly first: SuiteRun; readonly change: ComparedChange },
): Promise<Conclusion | { readonly run: SuiteRun }> {
  const redBefore = change.asked.red?.tests.map(({ id }) => id) ?? [];
  let run = first;
  if (isRed(run)) {
    const progress = newProgress(session, run);
    const { confirmed, flaky, blockedBy } = await confirm(progress, await session.diagnostics.diagnose(run));
    if (session.signal.aborted) return interrupted;
    const causes = groupCauses(blockedBy ? [blockedBy] : confirmed);
    for (const cause of causes) session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
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

/** Returns what re-runs these tests of a run, or all of its tests if it had none of these. */
function rerunIdsIn({ tests, rerunIds }: SuiteRun, ids: readonly string[]): readonly string[] {
  const all = tests.map(({ test }) => test.id);
  const these = all.filter((id) => ids.includes(id));
  return [...new Set((these.length > 0 ? these : all).flatMap((id) => rerunIds[id] ?? [id]))];
}

/** The results of a run; a failing `verify.prepare` counts as a failure of the suite. */
type TestOutcomes = Pick<SuiteRun, 'tests' | 'suiteFailure'>;

/** The runs with a change and without it. */
class ChangeProof {
  readonly #opened: OpenRun;
  readonly #session: Session;
  readonly #first: SuiteRun;
  readonly #change: ComparedChange;
  /** Whether it is known which tests were red before the change. */
  readonly #isRedKnown: boolean;
  /** The number of the first run of the proof. */
  readonly #since: number;
  /** The tests that the change is for, and those among them that it does not heal. */
  readonly #ids: readonly string[];
  readonly #needless = new Set<string>();
  readonly #proven: string[] = [];
  readonly #notProven: string[] = [];
  /** The whole suite with the change; null if it did not run. */
  #suite: SuiteRun | null = null;
  #again: SuiteRun | null = null;
  #hasRunRest = false;

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
    const redBefore = new Set(change.asked.red?.tests.map(({ id }) => id));
    const ids = first.tests.flatMap(({ test }) => test.id);
    this.#isRedKnown = ids.some((id) => redBefore.has(id));
    // If it is unknown which tests were red, those count that are red without the change.
    this.#ids = this.#isRedKnown ? ids.filter((id) => redBefore.has(id)) : ids;
    this.#record(first, this.#ids, { part: 'trial', isOut: false });
  }

  results(): ProofResults {
    const tests = this.#ids.filter((id) => !this.#needless.has(id) || this.#isRedKnown);
    return {
      tests: new Map(tests.map((id) => [id, this.#steps(id)])),
      proven: this.#proven,
      notProven: [...this.#notProven, ...this.#leftOutTests()],
    };
  }

  #steps(id: string): ProofStep[] {
    const sightings = this.#session.observations.sightings(id);
    return sightings.flatMap(({ run, shown }) => (run < this.#since || shown === 'nothing' ? [] : shown));
  }

  /** Says which tests were red and are not among those that the change is for. */
  #leftOutTests(): string[] {
    const ids = new Set(this.#first.tests.map(({ test }) => test.id));
    const others = this.#opened.request.filters.length > 0 ? (this.#change.asked.red?.tests ?? []) : [];
    return others.flatMap((test) =>
      ids.has(test.id) ? [] : `that ${formatReportTestName(test)} is fixed: it was left out`,
    );
  }

  /** Makes the runs that the plan asks for. */
  async prove(): Promise<Conclusion> {
    const { signal } = this.#session;
    const out = await this.#removablePart();
    while (!signal.aborted) {
      const next = planProof(this.#question(typeof out !== 'string'));
      const ended = await this.#carryOut(next, typeof out === 'string' ? [] : out);
      if (ended) return ended;
      if (next.kind === 'settled') return typeof out === 'string' ? unproven(out) : this.#settle();
    }
    return interrupted;
  }

  #question(isRemovable: boolean): ProofQuestion {
    const { observations, settings } = this.#session;
    const { repeat, flips } = settings.verify;
    const isFull = this.#change.asked.depth === 'full';
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
        !isRemovable || this.#reds() === 0
          ? null
          : {
              hasRun: this.#hasRunRest,
              tests: keys.map((key) => ({ key, sightings: observations.sightings(key), isMarked: false })),
            },
    };
  }

  /** How many of its tests were red without the change. */
  #reds(): number {
    return this.#ids.filter((id) => !this.#needless.has(id) && this.#steps(id).includes('red')).length;
  }

  /** Carries out a step of the plan; returns a conclusion if it ends the proof. */
  async #carryOut(next: NextInProof, out: readonly Candidate[]): Promise<Conclusion | null> {
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
        return this.#breaks(next.tests.get(changeInProof.id) ?? []);
      case 'run-clean':
        throw new Error('A change is not proven in a clean copy');
      case 'settled':
        return null;
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
    if (run === null) return unproven('the change could not be taken out: its files changed meanwhile');
    this.#record(run, keys, { part, isOut });
    const isRedNow = keys.some((id) => this.#ids.includes(id) && stepOf(run, id) !== 'green');
    return !isOut && isRedNow ? unsteady : null;
  }

  /** Runs the tests of the change once more or, with depth `full`, the whole suite. */
  async #runRest(again: readonly string[] | null): Promise<Conclusion | null> {
    const session = this.#session;
    if (this.#change.asked.depth === 'quick') {
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
    const run = await suites.again({ ids: null, purpose: 'regression', causeId: null });
    if (session.signal.aborted) return interrupted;
    [this.#suite, this.#hasRunRest] = [run, true];
    announceTests(session, run);
    this.#record(run, [...run.tests.map(({ test }) => test.id), suiteKey], { part: 'rest', isOut: false });
    return this.#ids.some((id) => stepOf(run, id) === 'red')
      ? { verdict: 'unsteady', reason: 'green with the change, then red in a run of the whole suite' }
      : null;
  }

  /** Concludes from a proof in which nothing contradicts the change. */
  #settle(): Conclusion {
    const [healed, reds] = [this.#ids.filter((id) => !this.#needless.has(id)), this.#reds()];
    if (reds === 0)
      return this.#needless.size > 0 ? needless : unproven('without the change, its tests did not run');
    if (this.#isRedKnown && this.#needless.size > 0)
      return {
        verdict: 'needless',
        reason: `green without the change, too: ${counted(this.#needless.size, 'test')} of those that were red`,
      };
    const greens = healed.map((id) => this.#steps(id).filter((step) => step === 'green').length);
    this.#proven.push(
      `green ${counted(Math.min(...greens), 'time')} with the change`,
      `${counted(reds, 'test')} red without the change`,
    );
    if (this.#suite) this.#settleRest(this.#suite);
    else this.#notProven.push('that nothing else broke: the rest did not run');
    return this.#change.toReview.length > 0
      ? { verdict: 'review', reason: 'only a person can say whether what is listed may stay' }
      : { verdict: 'proven', reason: 'green with the change and red without' };
  }

  #settleRest({ tests }: SuiteRun): void {
    const { bus } = this.#session;
    const outcome = restOutcome({
      kept: changeInProof.changes,
      tests: this.#question(true).rest?.tests ?? [],
    });
    const flaky = outcome.unsteady.filter((key) => key !== suiteKey);
    if (flaky.length > 0) bus.emit({ type: 'tests.decided', ids: flaky, verdict: 'flaky' });
    if (outcome.red.length > 0)
      this.#notProven.push(
        `what ${counted(outcome.red.length, 'other test')} would show: red with and without the change`,
      );
    this.#proven.push(`nothing else is red because of it: ${counted(tests.length, 'test')} of the suite ran`);
  }

  async #breaks(keys: readonly string[]): Promise<Conclusion> {
    const run = this.#again ?? this.#suite;
    for (const cause of groupCauses(run ? await this.#session.diagnostics.diagnose(run) : []))
      this.#session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
    const tests = keys.filter((key) => key !== suiteKey);
    return {
      verdict: 'breaks',
      reason:
        tests.length === 0
          ? 'the suite itself is red with the change'
          : `${counted(tests.length, 'other test')} red with the change and green without`,
    };
  }

  /** Applies what a reader says of the change (HN-11). */
  judgeReading(reading: Reading): Conclusion | null {
    const says = `its reader says: ${formatReading(reading)}`;
    if (reading.verdict === 'honest') {
      this.#proven.push(says);
      return null;
    }
    this.#notProven.push(`that it is honest: ${says}`);
    return reading.verdict === 'hides'
      ? { verdict: 'refused', reason: says }
      : { verdict: 'review', reason: `a person has to read it: ${says}` };
  }

  /** Returns the part of the change that is in the app or, if there is none, all of it; a sentence if it cannot be taken out. */
  async #removablePart(): Promise<readonly Candidate[] | string> {
    const { workspace, folder } = this.#session;
    const { changed, files } = this.#change;
    const { root } = workspace;
    if (root !== changed.root) return 'the project is not a git repository of its own';
    const isTest = createTestPlacePredicate(findSuitePlaces(root, this.#first));
    const contents = openContents(folder.dir);
    // Files that the tests write are not part of the change.
    const now = new Map(
      (
        await compareFiles(
          changed,
          files.map((file) => file.path),
        )
      ).map(({ path, after }) => [path, after]),
    );
    const still = files.filter(({ path, after }) => now.get(path) === after);
    const candidates = await listCandidates(still, { root, contents, isTest, findStep: () => 0 });
    if (candidates.length === 0)
      return still.length === 0
        ? 'nothing has changed since, so there is nothing to take out'
        : 'what changed cannot be taken out without installing packages';
    const app = candidates.filter(({ inTests }) => !inTests);
    return app.length > 0 ? app : candidates;
  }

  /** Runs tests without the change; null if it could not be taken out. */
  async #runWithout(out: readonly Candidate[], ids: readonly string[] | null): Promise<TestOutcomes | null> {
    const { workspace, folder, bus, signal } = this.#session;
    const edits = await createRevertingEdits(out, {
      root: workspace.root,
      contents: openContents(folder.dir),
    });
    if (edits === null) return null;
    const contents = openContents(folder.dir);
    const warn = (message: string) => bus.emit({ type: 'run.warning', message });
    // The ids of agents' changes never look like this.
    const change = { id: '900000001', edits, folders: [] };
    const result = await withChange<TestOutcomes>({ workspace, contents, warn }, change, async () => {
      const broken = await this.#session.suite.prepare();
      if (broken !== null) return { tests: [], suiteFailure: { scope: 'suite', errors: [], stderr: broken } };
      return this.#session.suite.runAgain({ ids, purpose: 'proof', causeId: null });
    });
    // What was built with these edits must not stay.
    if (result && !signal.aborted) await this.#session.suite.prepare();
    return result?.value ?? null;
  }

  async #runAgain(ids: readonly string[] | null): Promise<SuiteRun> {
    return this.#session.suite.runAgain({ ids, purpose: 'proof', causeId: null });
  }

  /** Records what a run with the change, or without it, shows of tests. */
  #record(
    run: TestOutcomes,
    keys: readonly string[],
    { part, isOut }: { readonly part: ProofPart; readonly isOut: boolean },
  ): void {
    const observed = keys.map((key): [string, Observation] => {
      const step = key === suiteKey ? (run.suiteFailure ? 'red' : 'green') : stepOf(run, key);
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

/** Returns the outcome of a test in a run; null if there is none. If the suite does not start, no test is green. */
function stepOf({ tests, suiteFailure }: TestOutcomes, id: string): ProofStep | null {
  const result = tests.find(({ test }) => test.id === id);
  if (result?.outcome === 'expected' || result?.outcome === 'flaky') return 'green';
  return result?.outcome === 'unexpected' || suiteFailure ? 'red' : null;
}
